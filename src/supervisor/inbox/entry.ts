/** What the inbox keeps of one accepted event, and the limits of the queue. */
import type { ChannelId, EventId, Milliseconds, Pubkey } from '../../model/index.ts';
import type { UnverifiedEvent } from '../../nostr/index.ts';
import { limitDelayMs } from '../limit-machine.ts';

/**
 * One accepted event. `lane` is what runs one turn at a time: the channel, or one thread under the thread policy.
 * `destination` is the thread's root, or the event itself when it stands at the top of the channel.
 */
export interface Entry {
  readonly eventId: EventId;
  readonly channelId: ChannelId;
  readonly lane: string;
  readonly destination: EventId;
  readonly author: Pubkey;
  readonly rule: string;
  /** Agent-authored messages in a row up to and including this one; 0 for a person's. */
  readonly hops: number;
  readonly receivedAtMs: Milliseconds;
  /** Turns that were begun for this entry and failed. */
  readonly attempts: number;
  /** True once a turn was cut short with the entry in it: the next turn says so. */
  readonly interrupted: boolean;
  readonly notBeforeMs: Milliseconds;
  /**
   * Its turn was cut short for the messages behind it, whose turn carries its work on (`steer`) or drops it
   * (`interrupt`); or it is such a message, or one of a turn that carries such work on and has come back (`joins`).
   * Forgotten at a restart: then each has a turn of its own.
   */
  readonly merge?: MergeMode | 'joins' | undefined;
  readonly event: UnverifiedEvent;
}

export type MergeMode = 'steer' | 'interrupt';

/** Messages of a turn that was cut short for another: evidence beside its instruction. */
export interface CutTurn {
  readonly mode: MergeMode;
  readonly entries: readonly [Entry, ...Entry[]];
}

/** A turn as it leaves the inbox: entries of one lane, one author, one destination, oldest first. */
export interface Batch {
  readonly turnId: string;
  readonly lane: string;
  readonly channelId: ChannelId;
  readonly entries: readonly [Entry, ...Entry[]];
  /** Evidence here, whoever wrote it, and on disk of this turn: it ends with it. */
  readonly merged?: CutTurn;
  /** Those of a turn in which the agent had published: they are over, and no turn has them again. At most `MAX_BATCH`. */
  readonly carried?: CutTurn;
}

/** Every message that a turn answers when it begins. */
export function entriesOf({ merged, entries }: Pick<Batch, 'merged' | 'entries'>): readonly Entry[] {
  return merged === undefined ? entries : [...merged.entries, ...entries];
}

/** Every message of the turns that were cut short for a turn, oldest turn first; mostly none. */
export function evidenceOf({ carried, merged }: Pick<Batch, 'carried' | 'merged'>): readonly Entry[] {
  return [...(carried?.entries ?? []), ...(merged?.entries ?? [])];
}

export interface InboxSettings {
  /** How long quick messages in one thread are gathered before their turn begins; 0 turns it off. */
  readonly gatherMs: number;
}

/** Events of one channel that wait; beyond it the oldest is dropped (Buzz's own bound). */
export const MAX_PENDING = 500;
/** Events of one turn, and those of the turn that was cut short for it (turn input v1 takes 1..50 of each). */
export const MAX_BATCH = 50;
/** Failed turns before an event is dead-lettered (Buzz's own bound). */
export const MAX_ATTEMPTS = 10;
/** A thread that never falls silent is not gathered longer than this many gather times. */
export const GATHER_CAP = 5;

const BACKOFF_BASE_MS = 5_000;
const BACKOFF_CAP_MS = 300_000;
const BACKOFF_MAX_EXPONENT = 6;

/** The wait before attempt `attempts + 1`: 5 s doubled each time, at most 300 s, ±20 % by `jitter` in [0, 1). */
export function retryDelayMs(attempts: number, jitter: number): number {
  const exponent = Math.min(Math.max(attempts - 1, 0), BACKOFF_MAX_EXPONENT);
  const delay = Math.min(BACKOFF_BASE_MS * 2 ** exponent, BACKOFF_CAP_MS);
  return Math.round(delay * (0.8 + 0.4 * jitter));
}

/** The same where the provider of the model takes no more requests: a quarter longer than the agent waits as a whole, so that another message tries first. */
export function limitRetryDelayMs(attempts: number, jitter: number, retryAfterMs: number | undefined): number {
  return Math.round(1.25 * limitDelayMs({ times: attempts, jitter, ...(retryAfterMs !== undefined && { retryAfterMs }) }));
}
