/**
 * The steps that send the client a message of their own: ask for permission, any request, any notification.
 * in: the act and its stage. out: the answer as a captured value; Cancelled when the turn ends while waiting.
 */
import { isMembers } from './json.ts';
import type { Json, Members } from './json.ts';
import { orCancelled } from './pause.ts';
import type { Reply } from './peer.ts';
import type { ActOf } from './script.ts';
import type { Stage } from './stage.ts';
import { fill, fillMembers, fillText } from './template.ts';

/** Captures `{ outcome, optionId?, kind? }`: `selected`, `cancelled`, or `error` with `code` and `message`. */
export async function ask(act: ActOf<'ask'>, stage: Stage): Promise<Json> {
  const { variables, sessionId, outside } = stage;
  const params: Members = {
    sessionId,
    toolCall: {
      toolCallId: act.toolCallId ?? `ask-${outside.newId()}`,
      title: fillText(act.title, variables),
      kind: act.kind,
      status: 'pending',
      ...fillMembers(act.toolCall, variables),
    },
    options: fill(act.options, variables) ?? [],
  };
  const reply = await roundTrip('session/request_permission', params, act.id, stage);
  if (!reply.ok) return failure(reply.error);
  const outcome = isMembers(reply.result) ? reply.result['outcome'] : undefined;
  if (!isMembers(outcome)) return { outcome: 'malformed', result: reply.result };
  const option = act.options.find((one) => isMembers(one) && one['optionId'] === outcome['optionId']);
  const kind = isMembers(option) ? option['kind'] : undefined;
  return kind === undefined ? outcome : { ...outcome, kind };
}

/** Captures `{ outcome: "result", result }` or `{ outcome: "error", code, message }`. */
export async function request(act: ActOf<'request'>, stage: Stage): Promise<Json> {
  const reply = await roundTrip(act.method, fill(act.params, stage.variables) ?? null, act.id, stage);
  return reply.ok ? { outcome: 'result', result: reply.result } : failure(reply.error);
}

export async function notify(act: ActOf<'notify'>, stage: Stage): Promise<void> {
  await stage.outside.peer.notify(act.method, fill(act.params, stage.variables) ?? null);
}

async function roundTrip(method: string, params: Json, id: Json | undefined, stage: Stage): Promise<Reply> {
  const waiting = stage.outside.peer.request(method, params, id);
  stage.owed(waiting.reply);
  try {
    return await orCancelled(waiting.reply, stage.signal);
  } finally {
    waiting.forget();
  }
}

function failure({ code = null, message = null }: Members): Json {
  return { outcome: 'error', code, message };
}
