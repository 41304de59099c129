/**
 * The steps that act through the broker, the only way this agent can say anything on Nostr.
 * in: the act and its stage. out: the verdict as a captured value, its outcome's members beside `status`.
 */
import { unreachable } from '../../src/model/index.ts';
import type { BrokerAnswer } from './broker-call.ts';
import { asText } from './json.ts';
import type { Json, Members } from './json.ts';
import { orCancelled } from './pause.ts';
import type { ActOf } from './script.ts';
import type { Stage } from './stage.ts';
import { fill, fillMembers, fillText } from './template.ts';

/** NIP-BA "Live signals": clients continue where a host does not offer these. */
const BEST_EFFORT: ReadonlySet<string> = new Set([
  'reaction.add', 'presence.set', 'typing.set', 'observer.emit', 'liveness.ping',
]);

/** Captures `{ status, requestId, replayed, ...outcome }`, or `{ status, requestId, code, message }`. */
export async function action(act: ActOf<'action'>, stage: Stage): Promise<Verdict> {
  return call({ ...act, args: fillMembers(act.args, stage.variables) }, stage);
}

/** A reply to the turn's anchor; in a thread without one, to its last event; elsewhere a post. */
export async function reply(act: ActOf<'reply'>, stage: Stage): Promise<Verdict> {
  const { variables } = stage;
  const anchored = fillText(act.to, variables);
  const inThread = variables.get('scope') === 'thread' ? fillText('{{event_id}}', variables) : '';
  const replyToEventId = anchored === '' ? inThread : anchored;
  const message = draft(act, '{{channel}}', stage);
  if (replyToEventId === '') return call({ ...act, ...DEFAULTS, action: 'message.post', args: message }, stage);
  return call({ ...act, ...DEFAULTS, action: 'message.reply', args: { ...message, replyToEventId } }, stage);
}

export async function post(act: ActOf<'post'>, stage: Stage): Promise<Verdict> {
  return call({ ...act, ...DEFAULTS, action: 'message.post', args: draft(act, act.channel, stage) }, stage);
}

/** Why the turn fails when nothing captured this verdict, or undefined where it goes on. */
export function whyFailed(name: string, verdict: Verdict): string | undefined {
  if (verdict.status === 'succeeded') return undefined;
  if (BEST_EFFORT.has(name) && verdict['code'] === 'unsupported') return undefined;
  return `${name}: ${verdict.status} ${asText(verdict['code'])}: ${asText(verdict['message'])}`;
}

export type Verdict = Members & { readonly status: string; readonly action: string };

const DEFAULTS = { attempts: 5, timeoutMs: 30_000 } as const;

function draft(act: ActOf<'reply' | 'post'>, channel: string, { variables }: Stage): Members {
  const mentions = fill(act.mentions, variables) ?? [];
  return {
    channelId: fillText(channel, variables),
    content: fillText(act.text, variables),
    // NIP-BA "Wire and normalization": omitted when empty.
    ...(Array.isArray(mentions) && mentions.length === 0 ? {} : { mentions }),
  };
}

interface Call {
  readonly action: string;
  readonly args: Members;
  readonly requestId: string | undefined;
  readonly attempts: number;
  readonly timeoutMs: number;
}

async function call(asked: Call, stage: Stage): Promise<Verdict> {
  const { action: name, args, requestId: given, attempts, timeoutMs } = asked;
  const { outside, variables, signal } = stage;
  const requestId = given === undefined ? outside.newId() : fillText(given, variables);
  if (outside.broker === undefined) throw new Error(`${name}: SKEP_BROKER_URL and SKEP_CREDENTIAL are not both set`);
  const answer = await orCancelled(
    outside.broker({ action: name, args, requestId, attempts, timeoutMs, signal }),
    signal,
  );
  return { ...captured(answer), status: answer.status, action: name, requestId };
}

function captured(answer: BrokerAnswer): { readonly [name: string]: Json } {
  switch (answer.status) {
    case 'succeeded':
      return { ...answer.outcome, replayed: answer.replayed };
    case 'failed':
    case 'indeterminate':
      return { code: answer.code, message: answer.message, replayed: answer.replayed };
    case 'unreachable':
      return { code: 'unreachable', message: answer.detail };
    default:
      return unreachable(answer);
  }
}
