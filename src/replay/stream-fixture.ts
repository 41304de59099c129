/**
 * A recorded stream: an agent's settings, what came in and how turns ended, and what the gate and the inbox made of it.
 * One closed JSON object, written as `JSON.stringify(value, null, 2)` and LF. Times are milliseconds since the stream
 * began; turns are numbered from 1 in the order of their dispatch.
 * in: a value, or a fixture. out: a fixture, or text. Never: verifies an event.
 */
import { arrayOf, closed, flag, hex64, oneOf, optional, refuse, text, turnEvent, uuid, whole } from '../../compiler/reading.ts';
import type { Reader } from '../../compiler/reading.ts';
import { channelId, eventId, pubkey } from '../model/index.ts';
import type { ChannelId, EventId, Pubkey } from '../model/index.ts';
import { parseEvent } from '../nostr/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import type { Apart, AuthorFacts, Ending, GateRefusal, HopCounts, MergeMode, MidTurnPolicy, RespondTo, SteerAnswer } from '../supervisor/index.ts';
import { wordOf } from './word.ts';
import { provenance } from './turn-fixture.ts';

export interface StreamSettings {
  readonly agent: Pubkey;
  readonly owner: Pubkey;
  readonly respondTo: RespondTo;
  readonly allowlist: readonly Pubkey[];
  readonly subscribe: 'mentions' | 'all';
  readonly session: 'channel' | 'thread';
  readonly gatherMs: number;
  /** Turns are taken whenever fewer than this many are running. Absent: only by `take`. */
  readonly processes?: number;
  /** What becomes of messages that come while a turn of their lane is under way; absent: they wait (`queue`). */
  readonly midTurn?: MidTurnPolicy;
  /** Of an agent that an agent made: who owns its owner, up to the person. */
  readonly ancestors?: readonly Pubkey[];
}

/** What the outside did. `hops` are as counted before; absent, the stream itself is counted. */
export type StreamStep =
  | {
      readonly atMs: number;
      readonly do: 'arrive';
      readonly channelId: ChannelId;
      readonly event: UnverifiedEvent;
      readonly author: AuthorFacts;
      readonly channelType?: string;
      readonly hops?: HopCounts;
      /** Of a command: what was made of it, where that was not `taken`. */
      readonly outcome?: string;
    }
  | { readonly atMs: number; readonly do: 'take' }
  /** A message that was offered is given to its turn, in which the agent has `published` so many messages. */
  | { readonly atMs: number; readonly do: 'steer'; readonly turn: number; readonly eventId: EventId; readonly published: number }
  /** What came of it. */
  | { readonly atMs: number; readonly do: 'steered'; readonly turn: number; readonly eventId: EventId; readonly answer: SteerAnswer }
  /** `jitter` in [0, 1); absent: 0.5. `apart`: messages that the turn was given later and that end otherwise. */
  | {
      readonly atMs: number;
      readonly do: 'finish';
      readonly turn: number;
      readonly ending: Ending;
      readonly jitter?: number;
      readonly apart?: Apart;
    }
  | { readonly atMs: number; readonly do: 'leave'; readonly channelId: ChannelId }
  /** The owner wants the turns under way in the channel no more. */
  | { readonly atMs: number; readonly do: 'cancel'; readonly channelId: ChannelId; readonly outcome: string }
  /** The supervisor dies and comes back; `answered` are the turns found answered, with so many messages, one where not said. */
  | { readonly atMs: number; readonly do: 'restart'; readonly answered: readonly number[]; readonly published?: number };

export type StepThat<Do extends StreamStep['do']> = Extract<StreamStep, { readonly do: Do }>;

/** Messages of a turn that was cut short for another. */
export interface SeenCut {
  readonly mode: MergeMode;
  readonly eventIds: readonly EventId[];
}

/** What was seen of the gate and the inbox. `notice`: the thread is told. */
export type Sighting =
  | { readonly atMs: number; readonly saw: 'queued'; readonly eventId: EventId; readonly rule: string; readonly lane: string; readonly hops: number }
  | { readonly atMs: number; readonly saw: 'refused'; readonly eventId: EventId; readonly reason: GateRefusal }
  | { readonly atMs: number; readonly saw: 'known'; readonly eventId: EventId }
  /** A command of the owner's: nothing waits for a turn. */
  | { readonly atMs: number; readonly saw: 'command'; readonly eventId: EventId; readonly command: string; readonly outcome: string }
  | {
      readonly atMs: number;
      readonly saw: 'turn';
      readonly turn: number;
      readonly lane: string;
      readonly channelId: ChannelId;
      readonly eventIds: readonly EventId[];
      readonly interrupted: boolean;
      /** Of the turn that was cut short for this one. */
      readonly merged?: SeenCut;
      /** The same, of one that had published: its messages are over. */
      readonly carried?: SeenCut;
    }
  /** Is the turn to be given this? */
  | { readonly atMs: number; readonly saw: 'offer'; readonly turn: number; readonly eventId: EventId }
  /** It is of the turn now, and answered by more than `above` messages of it. */
  | { readonly atMs: number; readonly saw: 'given'; readonly turn: number; readonly eventId: EventId; readonly above: number }
  | { readonly atMs: number; readonly saw: 'interrupt'; readonly turn: number }
  | { readonly atMs: number; readonly saw: 'done'; readonly turn: number; readonly eventIds: readonly EventId[]; readonly outcome: string }
  | {
      readonly atMs: number;
      readonly saw: 'again';
      readonly turn: number;
      readonly eventIds: readonly EventId[];
      readonly attempts: number;
      readonly notBeforeMs: number;
      readonly outcome: string;
    }
  | { readonly atMs: number; readonly saw: 'dead'; readonly eventIds: readonly EventId[]; readonly outcome: string; readonly notice?: true }
  | { readonly atMs: number; readonly saw: 'cut_short'; readonly turn: number };

export interface StreamFixture {
  readonly v: 1;
  readonly provenance: string;
  readonly settings: StreamSettings;
  readonly steps: readonly StreamStep[];
  /** Absent in a new fixture until its first blessing. */
  readonly expected?: readonly Sighting[];
}

// Ten years: beyond any recording, and far below what a sum of waits could overflow.
const MAX_AT_MS = 315_360_000_000;
/** As many as an agent may have. */
const MAX_PROCESSES = 32;
const MAX_GATHER_MS = 60_000;
const COUNT = 'a count';

const key: Reader<Pubkey> = (value, path) => pubkey(hex64(value, path));
const id: Reader<EventId> = (value, path) => eventId(hex64(value, path));
const channel: Reader<ChannelId> = (value, path) => channelId(uuid(value, path));
const ids = arrayOf(id, 'an array of 1 or more event ids', 1);
const count = whole(Number.MAX_SAFE_INTEGER, COUNT);
const atMs = whole(MAX_AT_MS, `whole milliseconds from 0 to ${MAX_AT_MS}`);
const turn: Reader<number> = (value, path) => (value === 0 ? refuse(path, 'the number of a turn, from 1', value) : count(value, path));
const jitter: Reader<number> = (value, path) =>
  (typeof value === 'number' && value >= 0 && value < 1 ? value : refuse(path, 'a number from 0 to below 1', value));
const told: Reader<true> = (value, path) => (value === true ? value : refuse(path, 'true, or no such member', value));

const event: Reader<UnverifiedEvent> = (value, path) => {
  const parsed = parseEvent(turnEvent(value, path));
  return parsed.ok ? parsed.event : refuse(path, 'an event', value);
};

const ending: Reader<Ending> = wordOf<Ending, 'how'>('how', {
  done: closed<Extract<Ending, { readonly how: 'done' }>>({ how: oneOf('done'), outcome: text, unfinished: optional(told) }),
  again: closed<Extract<Ending, { readonly how: 'again' }>>({
    how: oneOf('again'), reason: text, interrupted: flag, cause: oneOf('failure', 'limit', 'restart', 'stop'), retryAfterMs: optional(count),
  }),
  dead: closed({ how: oneOf('dead'), reason: text }),
});

const apart = closed<Apart>({ eventIds: ids, ending });

const step: Reader<StreamStep> = wordOf<StreamStep, 'do'>('do', {
  arrive: closed<StepThat<'arrive'>>({
    atMs, do: oneOf('arrive'), channelId: channel, event, author: closed<AuthorFacts>({ isAgent: flag, owner: optional(key) }),
    channelType: optional(text), hops: optional(closed<HopCounts>({ inDestination: count, inChannel: count })),
    outcome: optional(text),
  }),
  take: closed({ atMs, do: oneOf('take') }),
  steer: closed({ atMs, do: oneOf('steer'), turn, eventId: id, published: count }),
  steered: closed({ atMs, do: oneOf('steered'), turn, eventId: id, answer: oneOf<SteerAnswer>('injected', 'refused', 'unanswered', 'passed') }),
  finish: closed<StepThat<'finish'>>({ atMs, do: oneOf('finish'), turn, ending, jitter: optional(jitter), apart: optional(apart) }),
  leave: closed({ atMs, do: oneOf('leave'), channelId: channel }),
  cancel: closed({ atMs, do: oneOf('cancel'), channelId: channel, outcome: text }),
  restart: closed<StepThat<'restart'>>({
    atMs, do: oneOf('restart'), answered: arrayOf(turn, 'an array of turn numbers'), published: optional(count),
  }),
});

const reason = oneOf<GateRefusal>('own', 'ours', 'kind', 'no-mention', 'nobody', 'not-owner', 'not-allowed', 'direct-message', 'hop-cap');

const seenCut = closed<SeenCut>({ mode: oneOf<MergeMode>('steer', 'interrupt'), eventIds: ids });

const sighting: Reader<Sighting> = wordOf<Sighting, 'saw'>('saw', {
  queued: closed({ atMs, saw: oneOf('queued'), eventId: id, rule: text, lane: text, hops: count }),
  refused: closed({ atMs, saw: oneOf('refused'), eventId: id, reason }),
  known: closed({ atMs, saw: oneOf('known'), eventId: id }),
  command: closed({ atMs, saw: oneOf('command'), eventId: id, command: text, outcome: text }),
  turn: closed<Extract<Sighting, { readonly saw: 'turn' }>>({
    atMs, saw: oneOf('turn'), turn, lane: text, channelId: channel, eventIds: ids, interrupted: flag,
    merged: optional(seenCut), carried: optional(seenCut),
  }),
  offer: closed({ atMs, saw: oneOf('offer'), turn, eventId: id }),
  given: closed({ atMs, saw: oneOf('given'), turn, eventId: id, above: count }),
  interrupt: closed({ atMs, saw: oneOf('interrupt'), turn }),
  done: closed({ atMs, saw: oneOf('done'), turn, eventIds: ids, outcome: text }),
  again: closed({ atMs, saw: oneOf('again'), turn, eventIds: ids, attempts: count, notBeforeMs: count, outcome: text }),
  dead: closed<Extract<Sighting, { readonly saw: 'dead' }>>({ atMs, saw: oneOf('dead'), eventIds: ids, outcome: text, notice: optional(told) }),
  cut_short: closed({ atMs, saw: oneOf('cut_short'), turn }),
});

const settings = closed<StreamSettings>({
  agent: key,
  owner: key,
  respondTo: oneOf('owner-only', 'allowlist', 'anyone', 'nobody'),
  allowlist: arrayOf(key, 'an array of pubkeys'),
  subscribe: oneOf('mentions', 'all'),
  session: oneOf('channel', 'thread'),
  gatherMs: whole(MAX_GATHER_MS, `whole milliseconds from 0 to ${MAX_GATHER_MS}`),
  processes: optional((value, path) =>
    (value === 0 ? refuse(path, `a number from 1 to ${MAX_PROCESSES}`, value) : whole(MAX_PROCESSES, `a number from 1 to ${MAX_PROCESSES}`)(value, path))),
  midTurn: optional(oneOf<MidTurnPolicy>('steer', 'queue', 'interrupt', 'owner-interrupt')),
  ancestors: optional(arrayOf(key, 'an array of pubkeys')),
});

const stream = closed<StreamFixture>({
  v: oneOf(1),
  provenance,
  settings,
  steps: arrayOf(step, 'an array of 1 or more steps', 1),
  expected: optional(arrayOf(sighting, 'an array of what was seen')),
});

export const streamFixture: Reader<StreamFixture> = (value, path) => {
  const read = stream(value, path);
  read.steps.forEach((one, index) => {
    const at = `steps[${index}]`;
    const before = read.steps[index - 1]?.atMs ?? 0;
    if (one.atMs < before) refuse(`${at}.atMs`, `a time not before ${before}, that of the step before`, one.atMs);
    if (one.do === 'take' && read.settings.processes !== undefined) refuse(`${at}.do`, 'no take where settings.processes takes turns', one.do);
  });
  return read;
};

/** The text of the fixture's file. */
export function streamFixtureText({ v, provenance: line, settings: given, steps, expected }: StreamFixture): string {
  return `${JSON.stringify({ v, provenance: line, settings: given, steps, ...(expected && { expected }) }, null, 2)}\n`;
}
