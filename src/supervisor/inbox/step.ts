/** What goes into the inbox machine, and what comes out: its inputs, changes of rows, and what is to be done. */
import type { ChannelId, EventId } from '../../model/index.ts';
import type { Batch, Entry, MergeMode } from './entry.ts';
import type { InboxState } from './state.ts';

/** How a turn ended, as far as its events are concerned. `reason` is for people and the row; never a payload. */
export type Ending =
  /** `unfinished`: it was cut short after it had published. The turn of what it was cut short for shows it, where that still waits. */
  | { readonly how: 'done'; readonly outcome: string; readonly unfinished?: true }
  /**
   * To be prompted again. A `failure` counts and waits, a `restart` counts, a `stop` of ours does neither. A `limit` of the
   * model's provider counts and waits long, where it said so as long as it asked for.
   */
  | {
      readonly how: 'again';
      readonly reason: string;
      readonly interrupted: boolean;
      readonly cause: 'failure' | 'limit' | 'restart' | 'stop';
      /** Of a limit. */
      readonly retryAfterMs?: number;
    }
  /** Never to be prompted again, which is told in the thread. */
  | { readonly how: 'dead'; readonly reason: string };

export type InboxInput =
  /** `midTurn`: what it is to a turn of its lane that is under way; absent: nothing, it waits for its own. */
  | { readonly type: 'accepted'; readonly entry: Entry; readonly midTurn?: MidTurn }
  /**
   * From the store at start: what waited, in arrival order, and the turns that were in flight, with those `answered`;
   * `unanswered` are messages given to a turn since, that it has not answered.
   */
  | {
      readonly type: 'restored';
      readonly queued: readonly Entry[];
      readonly stranded: readonly Batch[];
      readonly answered: ReadonlySet<string>;
      readonly unanswered?: ReadonlySet<EventId>;
    }
  /** A process is free: hand out the oldest turn that is ready. */
  | { readonly type: 'take'; readonly turnId: string }
  /** The message that was offered is given to the agent next; it has `published` so many messages in the turn. */
  | { readonly type: 'steering'; readonly turnId: string; readonly eventId: EventId; readonly published: number }
  /** What came of a message that was offered, or given. */
  | { readonly type: 'steered'; readonly turnId: string; readonly eventId: EventId; readonly answer: SteerAnswer }
  /** `apart`: messages that the turn was given later and that end otherwise. */
  | { readonly type: 'finished'; readonly turnId: string; readonly ending: Ending; readonly jitter: number; readonly apart?: Apart }
  /** The agent is no longer in the channel. */
  | { readonly type: 'left'; readonly channelId: ChannelId }
  /** The owner wants the turns under way in the channel no more. */
  | { readonly type: 'cancelled'; readonly channelId: ChannelId; readonly outcome: string }
  /** A message that is a command and was never to be prompted. */
  | { readonly type: 'commanded'; readonly entry: Entry; readonly outcome: string };

export interface Apart {
  readonly eventIds: readonly EventId[];
  readonly ending: Ending;
}

/** A change of one row. `insert` for an event the store does not have yet. */
export type Save =
  | { readonly change: 'insert'; readonly entry: Entry }
  /** The same, done at once. */
  | { readonly change: 'consumed'; readonly entry: Entry; readonly outcome: string }
  | { readonly change: 'dispatched'; readonly eventId: EventId; readonly turnId: string }
  /** In a turn that was under way. It is answered by more than `above` messages of that turn. */
  | { readonly change: 'given'; readonly eventId: EventId; readonly turnId: string; readonly above: number }
  | { readonly change: 'queued'; readonly entry: Entry; readonly outcome: string }
  | { readonly change: 'done'; readonly eventId: EventId; readonly outcome: string }
  | { readonly change: 'dead'; readonly eventId: EventId; readonly outcome: string };

export type InboxCommand =
  | { readonly type: 'save'; readonly save: Save }
  | { readonly type: 'dispatch'; readonly batch: Batch }
  /** End the turn under way: nobody wants its answer any more. `gently` where the agent goes on in the channel. */
  | { readonly type: 'cut_short'; readonly turnId: string; readonly gently: boolean }
  /**
   * End the turn under way for messages that came meanwhile. Its own come back and are merged with them; where it had
   * published they are over, and go with them as evidence.
   */
  | { readonly type: 'interrupt'; readonly turnId: string }
  /** See whether the turn under way can be given this; answered by `steering` and `steered`, or by `steered` alone. */
  | { readonly type: 'offer'; readonly turnId: string; readonly entry: Entry }
  /** Give it this. */
  | { readonly type: 'steer'; readonly turnId: string; readonly entry: Entry }
  /** Tell the thread that these will not be answered. */
  | { readonly type: 'give_up'; readonly batch: Batch; readonly reason: string };

export interface InboxStep {
  readonly state: InboxState;
  readonly commands: readonly InboxCommand[];
}

/** What a message is to a turn that is under way in its lane. `place`: how much of the lane is one conversation. */
export interface MidTurn {
  readonly how: MergeMode;
  readonly place: 'thread' | 'lane';
}

/**
 * What came of a message for a turn under way. `refused`: the agent will not have it, or cannot be given any; `passed`: it
 * waits for a turn of its own, because this one is ending.
 */
export type SteerAnswer = 'injected' | 'refused' | 'unanswered' | 'passed';
