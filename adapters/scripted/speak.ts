/**
 * The steps that speak: session/update notifications in all their forms.
 * in: the act and its stage. out: frames on stdout, written before the step ends.
 */
import { createHash } from 'node:crypto';
import type { Json, Members } from './json.ts';
import type { ActOf } from './script.ts';
import type { Stage } from './stage.ts';
import { fill, fillMembers, fillText } from './template.ts';

export async function speak(act: ActOf<'say' | 'think'>, stage: Stage): Promise<void> {
  const sessionUpdate = act.type === 'say' ? 'agent_message_chunk' : 'agent_thought_chunk';
  for (const text of pieces(fillText(act.text, stage.variables).repeat(act.repeat), act.chunks)) {
    if (stage.signal.aborted) return;
    await sendUpdate({ sessionUpdate, content: { type: 'text', text } }, stage, act.byteByByte);
  }
}

export async function update(act: ActOf<'update'>, stage: Stage): Promise<void> {
  await sendUpdate(fillMembers(act.update, stage.variables), stage);
}

export async function tool(act: ActOf<'tool'>, stage: Stage): Promise<Json> {
  const toolCallId = act.id ?? `tool-${stage.outside.newId()}`;
  const title = fillText(act.title, stage.variables);
  const rawInput = act.rawInput === undefined ? undefined : fill(act.rawInput, stage.variables);
  const announced: Members = { sessionUpdate: 'tool_call', toolCallId, title, kind: act.kind, status: 'pending' };
  await sendUpdate(rawInput === undefined ? announced : { ...announced, rawInput }, stage);
  for (const change of act.updates) {
    if (stage.signal.aborted) break;
    const filled = fillMembers(change, stage.variables);
    await sendUpdate({ sessionUpdate: 'tool_call_update', toolCallId, ...filled }, stage);
  }
  return { toolCallId };
}

/** Says the environment as one JSON object, names sorted, so that a test can compare it with what it allowed. */
export async function sayEnvironment(act: ActOf<'env'>, stage: Stage): Promise<void> {
  const { env } = stage.outside;
  const names = (act.names ?? Object.keys(env)).toSorted();
  const shown = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, name === 'SKEP_CREDENTIAL' ? fingerprint(value) : value]];
  });
  const text = JSON.stringify(Object.fromEntries(shown));
  await sendUpdate({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }, stage);
}

// What an agent says may be stored and shown; its credential must not be, but two of them must be told apart.
function fingerprint(secret: string): string {
  return `sha256:${createHash('sha256').update(secret).digest('hex').slice(0, 16)}`;
}

function sendUpdate(content: Members, stage: Stage, byteByByte = false): Promise<void> {
  return stage.outside.peer.notify('session/update', { sessionId: stage.sessionId, update: content }, byteByByte);
}

/** `count` pieces of nearly equal length, cut between scalars; fewer where the text has fewer scalars. */
function pieces(text: string, count: number): readonly string[] {
  if (count === 1) return [text];
  const scalars = Array.from(text);
  const size = Math.max(1, Math.ceil(scalars.length / count));
  const starts = Array.from({ length: Math.ceil(scalars.length / size) }, (_, index) => index * size);
  return starts.map((start) => scalars.slice(start, start + size).join(''));
}
