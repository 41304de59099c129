/**
 * What skep says in the agent's name when a turn has ended and the agent has published nothing itself: the text it
 * streamed, as its answer; or one honest notice that there is none. Pure. Agents among themselves are left alone:
 * an answer that nobody asked for is how politeness loops begin.
 */
import type { PromptOutcome } from '../acp/index.ts';
import { turnRoute } from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import type { OwnMessage } from '../broker/index.ts';
import { mayPassForCard } from '../cards/index.ts';
import { eventId, excerpt } from '../model/index.ts';
import type { EventId } from '../model/index.ts';
import type { Batch, Entry } from './inbox/entry.ts';

/** Kind 9 content, in UTF-8 bytes (NIP-BA "Channel and messages"). */
const MAX_CONTENT_BYTES = 65_536;
/** `…`, which says that the text went on. */
const CUT_MARK_BYTES = 3;

/** `attempt` counts the times this answer is signed anew, because the one before was lost on the way. */
export function answerFor(
  outcome: PromptOutcome, batch: Batch, input: TurnInput, attempt = 1,
): OwnMessage | undefined {
  if (outcome.status !== 'ended') return undefined;
  const route = turnRoute(input);
  if (route.replyTo === undefined && route.scope !== 'dm') return undefined;
  const text = outcome.seen.text.trim();
  const place = {
    channelId: batch.channelId,
    turnId: batch.turnId,
    ...(route.replyTo === undefined ? {} : { replyTo: { root: rootOf(batch), parent: eventId(route.replyTo) } }),
  };
  if (text !== '') {
    const whole = outcome.seen.textCut ? `${cutBytes(text, MAX_CONTENT_BYTES - CUT_MARK_BYTES)}…` : cutBytes(text, MAX_CONTENT_BYTES);
    const content = mayPassForCard(whole) ? quoted(whole) : whole;
    return { ...place, kind: 'answer', operationId: `${batch.turnId}:answer:${attempt}`, content };
  }
  return { ...place, kind: 'notice', operationId: `${batch.turnId}:notice`, content: silence(outcome.stopReason) };
}

/** An agent's text is its own word: as a permission card it would be the supervisor's, and the owner would decide by it. */
function quoted(card: string): string {
  return cutBytes(`\`\`\`json\n${card}\n\`\`\``, MAX_CONTENT_BYTES);
}

/** The notice in the thread of a turn that is given up: in the thread of its last event, and never a wake-up call. */
export function giveUpNotice(batch: Batch, reason: string): OwnMessage {
  const last = batch.entries.at(-1) ?? batch.entries[0];
  const content = `⚠️ This message could not be answered: ${excerpt(reason, 300)}.`;
  return noticeAt(batch, { root: last.destination, parent: last.eventId }, `${batch.turnId}:gave-up`, content);
}

/** The one notice of an outage: the agent program does not run, and `waiting` is the message that waits longest. */
export function outageNotice(waiting: Entry, lastEnd: string): OwnMessage {
  const started = ['exited', 'signalled', 'protocol'].includes(lastEnd);
  const what = started ? 'keeps ending' : 'cannot be started';
  const content = `⚠️ The agent program ${what} (${excerpt(lastEnd.replaceAll('_', ' '), 200)}). Your message is kept and will be answered.`;
  const turn = { channelId: waiting.channelId, turnId: `outage:${waiting.eventId}` };
  return noticeAt(turn, { root: waiting.destination, parent: waiting.eventId }, turn.turnId, content);
}

/** The one notice of a provider that takes no more requests. Always the same text: said twice it is one message. */
export function limitNotice({ channelId, eventId: id, destination }: Entry): OwnMessage {
  const turn = { channelId, turnId: `limit:${id}` };
  const content = '⚠️ The provider of the agent\'s model takes no more requests for now. Your message is kept and will be tried again, less and less often.';
  return noticeAt(turn, { root: destination, parent: id }, turn.turnId, content);
}

function noticeAt(
  { channelId, turnId }: Pick<Batch, 'channelId' | 'turnId'>, replyTo: OwnMessage['replyTo'], operationId: string, content: string,
): OwnMessage {
  return { kind: 'notice', operationId, channelId, turnId, content, ...(replyTo && { replyTo }) };
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

/** The thread of the turn: all its events are of one destination. */
function rootOf(batch: Batch): EventId {
  return batch.entries[0].destination;
}

/** The longest head of `text` within `maxBytes` of UTF-8 that ends between scalars. */
function cutBytes(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(maxBytes));
  return whole.slice(0, read);
}
