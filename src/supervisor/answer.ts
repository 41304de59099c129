/**
 * What skep says in the agent's name when a turn has ended and the agent has published nothing itself: the text it
 * streamed, as its answer; or one honest notice that there is none. Pure. Agents among themselves are left alone:
 * an answer that nobody asked for is how politeness loops begin.
 */
import type { PromptOutcome } from '../acp/index.ts';
import { turnRoute } from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import type { OwnMessage } from '../broker/index.ts';
import { eventId, excerpt } from '../model/index.ts';
import type { EventId } from '../model/index.ts';
import type { Batch, Entry } from './inbox/entry.ts';

/** Kind 9 content, in UTF-8 bytes (NIP-BA "Channel and messages"). */
const MAX_CONTENT_BYTES = 65_536;

export function answerFor(
  outcome: PromptOutcome, batch: Batch, input: TurnInput, published: number,
): OwnMessage | undefined {
  if (outcome.status !== 'ended' || published > 0) return undefined;
  const route = turnRoute(input);
  if (route.replyTo === undefined && route.scope !== 'dm') return undefined;
  const text = outcome.seen.text.trim();
  const place = {
    channelId: batch.channelId,
    turnId: batch.turnId,
    ...(route.replyTo === undefined ? {} : { replyTo: eventId(route.replyTo) }),
  };
  if (text !== '') {
    return { ...place, kind: 'answer', operationId: `${batch.turnId}:answer`, content: cutBytes(text, MAX_CONTENT_BYTES) };
  }
  return { ...place, kind: 'notice', operationId: `${batch.turnId}:notice`, content: silence(outcome.stopReason) };
}

/** The notice in the thread of a turn that is given up: in the thread of its last event, and never a wake-up call. */
export function giveUpNotice(batch: Batch, reason: string): OwnMessage {
  const last = batch.entries.at(-1) ?? batch.entries[0];
  const content = `⚠️ This message could not be answered: ${excerpt(reason, 300)}.`;
  return noticeAt(batch, last.eventId, `${batch.turnId}:gave-up`, content);
}

/** The one notice of an outage: the agent program cannot be started, and `waiting` is the message that waits longest. */
export function outageNotice(waiting: Entry, detail: string): OwnMessage {
  const content = `⚠️ The agent program cannot be started (${excerpt(detail, 200)}). Your message is kept and will be answered.`;
  const turn = { channelId: waiting.channelId, turnId: `outage:${waiting.eventId}` };
  return noticeAt(turn, waiting.eventId, turn.turnId, content);
}

function noticeAt(
  { channelId, turnId }: Pick<Batch, 'channelId' | 'turnId'>, replyTo: EventId, operationId: string, content: string,
): OwnMessage {
  return { kind: 'notice', operationId, channelId, turnId, content, replyTo };
}

function silence(stopReason: string): string {
  switch (stopReason) {
    case 'refusal':
      return '⚠️ The agent declined to answer this message.';
    case 'cancelled':
      return '⚠️ The agent stopped before it answered this message.';
    case 'max_tokens':
    case 'max_turn_requests':
      return '⚠️ The agent reached its limit before it answered this message.';
    default:
      return '⚠️ The agent ended its turn without an answer.';
  }
}

/** The longest head of `text` within `maxBytes` of UTF-8 that ends between scalars. */
function cutBytes(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(maxBytes));
  return whole.slice(0, read);
}
