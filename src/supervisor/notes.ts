/**
 * What the supervisor tells about its work while it goes on: for the log, the demo's timeline, and whoever watches.
 * Facts with ids and sizes; never a message's text.
 */
import type { ChannelId, EventId, Pubkey } from '../model/index.ts';
import type { GateRefusal } from './gate.ts';
import type { OperatorSource } from './operator/machine.ts';
import type { SessionOrigin } from './sessions/lane-session.ts';

export type Note =
  | { readonly type: 'refused'; readonly agent: string; readonly eventId: EventId; readonly reason: GateRefusal; readonly unanswered: boolean }
  | { readonly type: 'accepted'; readonly agent: string; readonly eventId: EventId; readonly author: Pubkey; readonly channelId: ChannelId }
  | { readonly type: 'process_started'; readonly agent: string; readonly pid: number; readonly program: string }
  | { readonly type: 'process_ended'; readonly agent: string; readonly pid: number; readonly how: string }
  | { readonly type: 'process_failed'; readonly agent: string; readonly how: string; readonly retryInMs: number }
  | {
      readonly type: 'turn_started';
      readonly agent: string;
      readonly turnId: string;
      readonly channelId: ChannelId;
      readonly eventIds: readonly EventId[];
      readonly pid: number;
      /** How the turn came by its session. */
      readonly session: SessionOrigin;
      readonly envelopeBytes: number;
      readonly manifestHash: string;
      readonly interrupted: boolean;
    }
  | {
      readonly type: 'turn_ended';
      readonly agent: string;
      readonly turnId: string;
      readonly outcome: string;
      /** Why it failed, in the agent's words and without its secrets. */
      readonly reason?: string;
      readonly published: readonly EventId[];
      readonly tookMs: number;
    }
  /** The provider of the model takes no more requests. */
  | { readonly type: 'limited'; readonly agent: string; readonly turnId: string; readonly times: number; readonly retryInMs: number }
  /** A turn that no message asked for. */
  | {
      readonly type: 'operator_turn_started';
      readonly agent: string;
      readonly turnId: string;
      readonly source: OperatorSource;
      readonly pid: number;
      readonly envelopeBytes: number;
      readonly manifestHash: string;
    }
  | {
      readonly type: 'operator_turn_ended';
      readonly agent: string;
      readonly turnId: string;
      readonly source: OperatorSource;
      readonly outcome: string;
      readonly reason?: string;
      readonly tookMs: number;
    }
  /** A message was given to a turn under way; `outcome` is the agent's word. */
  | { readonly type: 'steered'; readonly agent: string; readonly turnId: string; readonly eventId: EventId; readonly outcome: string }
  | { readonly type: 'gave_up'; readonly agent: string; readonly turnId: string; readonly eventIds: readonly EventId[]; readonly reason: string };

export type Observer = (note: Note) => void;
