/**
 * `channel.read` (NIP-BA "Channel and messages"): stored kind 9 messages of a channel as they were signed, newest
 * first, in one second by ascending id. A thread is its root and every message whose NIP-10 root it is.
 *
 * The relay pages by whole seconds, so each question repeats the second where the last page ended, and what stands at
 * or before the cursor's place is dropped: no message of that second is skipped. What the relay's filters cannot say
 * (a thread by its markers) is filtered here, and a page may be short for it. The traversal is exhausted when a
 * complete answer brings nothing beyond the place.
 */
import type { EventId } from '../../model/index.ts';
import { mentions, newestFirst, threadOf } from '../../nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../nostr/index.ts';
import { pageLimit, toWireEvent } from '../wire/index.ts';
import type { Args } from '../wire/index.ts';
import { refused, standsIn, unanswered } from './action.ts';
import type { ActionContext, Decision, Plan, Refused } from './action.ts';
import type { Position, Traversal } from './cursor.ts';
import { MESSAGE_KIND } from './message.ts';

type ReadArgs = Args<'channel.read'>;

/** Questions to the relay for one page. A thread in a busy channel may need the next page to go on. */
const MAX_QUESTIONS = 8;
/** Asked beyond what the page still needs: messages of the cursor's own second come again. */
const OVERLAP_EVENTS = 16;
/** The most asked at once, and so the most messages one second may hold; Buzz relays serve 10,000. */
const MAX_BATCH_EVENTS = 5_000;
/** A page ends early at this many bytes of JSON: it is stored for retries, and an agent has to read it. */
const MAX_PAGE_BYTES = 4_194_304;

const UNANSWERED = 'the relay did not answer in time';
const CROWDED = `more than ${MAX_BATCH_EVENTS} messages stand in one second`;
const BAD_CURSOR = 'cursor: expired, or not of this traversal';

export const planRead: Plan<'channel.read'> = async (args, context) => {
  const traversal = traversalOf(args, context);
  const start = args.cursor === undefined ? undefined : context.cursors.open(args.cursor, traversal);
  // An invalid, expired or mismatched cursor never silently restarts the traversal.
  if (args.cursor !== undefined && start === undefined) return refused('invalid_request', BAD_CURSOR);
  const page = await readPage(args, context, start);
  return 'type' in page ? page : answer(page, (place) => context.cursors.seal(place, traversal));
};

/** `place` is the last message looked at, kept or not; none when the traversal is exhausted. */
interface Page {
  readonly messages: readonly VerifiedEvent[];
  readonly place: Position | undefined;
}

function answer({ messages, place }: Page, seal: (place: Position) => string): Decision<'channel.read'> {
  const outcome = { messages: messages.map(toWireEvent), ...(place === undefined ? {} : { nextCursor: seal(place) }) };
  return { type: 'answer', verdict: { status: 'succeeded', action: 'channel.read', outcome } };
}

async function readPage(args: ReadArgs, context: ActionContext, start: Position | undefined): Promise<Page | Refused> {
  const limit = pageLimit(args);
  const messages: VerifiedEvent[] = [];
  let place = start;
  let bytes = 0;
  let asked = limit + OVERLAP_EVENTS;
  for (let question = 0; question < MAX_QUESTIONS; question += 1) {
    const { events, complete, refusal } = await context.fetch(filtersOf(args, context, asked, place));
    if (!complete) return messages.length > 0 ? { messages, place } : unanswered(refusal, UNANSWERED);
    const beyond = contiguous(
      events.filter((event) => place === undefined || follows(event, place)),
      args.rootEventId,
      events.filter(({ id }) => id !== args.rootEventId).length >= asked,
    );
    if (beyond.length === 0) {
      if (events.length < asked) return { messages, place: undefined };
      if (asked >= MAX_BATCH_EVENTS) return refused('internal', CROWDED);
      asked = Math.min(asked * 4, MAX_BATCH_EVENTS);
      continue;
    }
    for (const event of beyond) {
      if (belongs(event, args, context)) {
        bytes += Buffer.byteLength(JSON.stringify(event));
        // The first message of a page is returned whatever its size, so that every page goes on.
        if (bytes > MAX_PAGE_BYTES && messages.length > 0) return { messages, place };
        messages.push(event);
      }
      place = { createdAtSec: event.created_at, id: event.id };
      if (messages.length === limit) return { messages, place };
    }
  }
  return { messages, place };
}

function filtersOf(
  { channelId, rootEventId, mentionsOnly }: ReadArgs,
  { agent }: ActionContext,
  limit: number,
  place: Position | undefined,
): readonly Filter[] {
  const tags = new Map<string, readonly string[]>([['h', [channelId]]]);
  if (mentionsOnly === true) tags.set('p', [agent]);
  const common = { kinds: [MESSAGE_KIND], limit, ...(place === undefined ? {} : { until: place.createdAtSec }) };
  if (rootEventId === undefined) return [{ ...common, tags }];
  return [
    { ...common, tags: new Map([...tags, ['e', [rootEventId]]]) },
    { ...common, tags, ids: [rootEventId] },
  ];
}

/** The relay's filters are a help, no authority: every returned message meets all of them by its signed tags. */
function belongs(event: VerifiedEvent, args: ReadArgs, { agent }: ActionContext): boolean {
  if (event.kind !== MESSAGE_KIND || !standsIn(event, args.channelId)) return false;
  if (args.mentionsOnly === true && !mentions(event.tags, agent)) return false;
  return args.rootEventId === undefined || inThread(event, args.rootEventId);
}

function inThread(event: VerifiedEvent, root: EventId): boolean {
  const place = threadOf(event.tags);
  return event.id === root || (place.at === 'thread' && place.root === root);
}

/**
 * Newest first, without a gap. The root is asked for by its id and so comes along however old it is; while messages
 * between may be missing from the answer, it is left for a later one. In one that is full they may be missing also
 * where the root stands alone: the messages that filled it are then all of the cursor's own second, at or before it.
 */
function contiguous(events: readonly VerifiedEvent[], root: EventId | undefined, isFull: boolean): readonly VerifiedEvent[] {
  const ordered = events.toSorted(newestFirst);
  const isEarly = ordered.at(-1)?.id === root && (isFull || ordered.length > 1);
  return isEarly ? ordered.slice(0, -1) : ordered;
}

function follows(event: VerifiedEvent, { createdAtSec, id }: Position): boolean {
  return event.created_at < createdAtSec || (event.created_at === createdAtSec && event.id > id);
}

function traversalOf({ channelId, rootEventId, mentionsOnly }: ReadArgs, context: ActionContext): Traversal {
  return {
    principal: context.agent,
    community: context.community,
    channelId,
    ...(rootEventId === undefined ? {} : { rootEventId }),
    mentionsOnly: mentionsOnly === true,
  };
}
