/**
 * What the permission machine knows of one request, what it is told and what it asks for: its entries, inputs and
 * commands. The rules are in machine.ts and admission.ts.
 */
import type { PermissionAnswer, PermissionRequest } from '../acp/permission-ports.ts';
import type { CardFacts, CardResolution } from '../cards/index.ts';
import { unreachable } from '../model/index.ts';
import type { ChannelId, EventId, Milliseconds, Pubkey, Seconds } from '../model/index.ts';
import type { PolicyReason, SynchronousPolicy } from './policy.ts';

/** What a nonce is bound to (NIP-AO "Nonce binding"); the option snapshot is the entry's card. `id` keeps its type. */
export interface Binding {
  readonly nonce: string;
  readonly agent: Pubkey;
  readonly id: PermissionRequest['id'];
  readonly sessionId: string;
  readonly turnId?: string;
  readonly channelId?: ChannelId;
}

/** NIP-AO "Authorization Envelope". The reason of a challenge is text for people, that of an answer one of the words. */
export interface Authorization {
  readonly requestNonce: string;
  readonly actionable: boolean;
  readonly reason?: string;
  /** Only of a challenge that the owner can act on. */
  readonly expiresAt?: Seconds;
}

export type AnswerReason = PolicyReason | 'applied' | 'timed_out' | 'cancelled';

/** A request that was admitted under `ask`. */
export interface Ask {
  readonly binding: Binding & { readonly turnId: string; readonly channelId: ChannelId };
  readonly owner: Pubkey;
  /** The event that the card answers in the thread. */
  readonly trigger?: EventId;
  readonly card: CardFacts;
  /** min(300 s, hard deadline): denied when nobody has decided by then. */
  readonly deadline: Milliseconds;
  readonly hardDeadline: Milliseconds;
  readonly denial: PermissionAnswer;
}

export type Waiting =
  | { readonly status: 'publishing'; readonly ask: Ask; readonly publishBy: Milliseconds; readonly early?: string }
  | { readonly status: 'pending'; readonly ask: Ask };

/** One answer is on its way to the agent. `edit` where a card may be visible, and what is then to be said of it. */
export interface Writing {
  readonly status: 'writing';
  readonly binding: Binding;
  readonly reason: AnswerReason;
  readonly writeBy: Milliseconds;
  readonly edit?: { readonly ask: Ask; readonly resolution: CardResolution };
}

export type Entry = Waiting | Writing;

export function bindingOf(entry: Entry): Binding {
  return entry.status === 'writing' ? entry.binding : entry.ask.binding;
}

/** When time ends this state of it. */
export function dueAt(entry: Entry): Milliseconds {
  switch (entry.status) {
    case 'publishing':
      return entry.publishBy;
    case 'pending':
      return entry.ask.deadline;
    case 'writing':
      return entry.writeBy;
    default:
      return unreachable(entry);
  }
}

export function soonest(one: Milliseconds, other: Milliseconds): Milliseconds {
  return one < other ? one : other;
}

export interface TurnFacts {
  readonly turnId: string;
  /** Absent where the turn belongs to no channel. */
  readonly channelId?: ChannelId;
  /** Who wrote the first event of the turn. */
  readonly initiator?: Pubkey;
  readonly trigger?: EventId;
  readonly heartbeat: boolean;
  /** The turn was cancelled and the agent has not ended it yet. */
  readonly cancelling: boolean;
  readonly hardDeadline: Milliseconds;
}

export interface Requested {
  readonly type: 'requested';
  readonly request: PermissionRequest;
  /** Fresh and unpredictable, for this request alone. */
  readonly nonce: string;
  readonly policy: SynchronousPolicy | 'ask';
  /** For the owner's decision; what is above NIP-AO's 300 s counts as that. */
  readonly askMs: number;
  readonly observerActive: boolean;
  /** Whether the agent's relay connection can publish a card. */
  readonly relayReady: boolean;
  /** Absent for what is asked outside of a prompt. */
  readonly turn?: TurnFacts;
  /** Unix time, by the clock for stamps. */
  readonly at: Seconds;
  /** Bytes of the whole observer frame of the request with this envelope and the longest `seq`. Pure. */
  readonly frameBytes: (authorization: Authorization) => number;
}

/** A `permission_decision` whose signature was verified. `sender` and `createdAt` are of the signed event. */
export interface Decided {
  readonly type: 'decided';
  readonly nonce: string;
  readonly optionId: string;
  readonly channelId: ChannelId;
  readonly sender: Pubkey;
  /** The agent that the frame names. */
  readonly agent: Pubkey;
  readonly createdAt: Seconds;
  /** Unix time, by the clock for stamps. */
  readonly receivedAt: Seconds;
}

export type PermissionInput =
  | Requested
  | Decided
  /** The relay said OK to the card. */
  | { readonly type: 'card_ok'; readonly nonce: string }
  /** The relay said no, or the card was never sent: nobody can see it. */
  | { readonly type: 'card_refused'; readonly nonce: string }
  /** Sent, and no word came of it: it may be visible. */
  | { readonly type: 'card_unanswered'; readonly nonce: string }
  /** Time has passed; a deadline may have been reached. */
  | { readonly type: 'expired' }
  /** The turn was cancelled, or is over while requests of it wait. */
  | { readonly type: 'cancelled'; readonly turnId: string }
  /** The answer is in the agent's pipe. */
  | { readonly type: 'written'; readonly nonce: string }
  | { readonly type: 'write_failed'; readonly nonce: string }
  | { readonly type: 'process_ended' }
  /** The supervisor stops, or the process is to be replaced: nobody will wait for the owner any more. */
  | { readonly type: 'drained' };

export type PermissionCommand =
  /** The `acp_read` frame of the request. */
  | { readonly type: 'emit_challenge'; readonly binding: Binding; readonly authorization: Authorization }
  | { readonly type: 'publish_card'; readonly ask: Ask; readonly publishBy: Milliseconds }
  /** The one answer; a write that is not confirmed by `writeBy` has failed. */
  | { readonly type: 'write_answer'; readonly binding: Binding; readonly answer: PermissionAnswer; readonly writeBy: Milliseconds }
  /** The `acp_write` frame of the answer. */
  | { readonly type: 'emit_answer'; readonly binding: Binding; readonly authorization: Authorization }
  /** The `permission_terminal` frame of a request without a confirmed answer. */
  | { readonly type: 'emit_terminal'; readonly binding: Binding; readonly authorization: Authorization }
  | { readonly type: 'resolve_card'; readonly ask: Ask; readonly resolution: CardResolution }
  /** End the process and start another: what the agent has read is not known. */
  | { readonly type: 'poison' }
  /** The idle timeout of the session's turn stands still; after `resume_idle` it begins anew. */
  | { readonly type: 'suspend_idle'; readonly sessionId: string }
  | { readonly type: 'resume_idle'; readonly sessionId: string }
  | {
      readonly type: 'control_result';
      readonly channelId: ChannelId;
      readonly nonce: string;
      readonly optionId: string;
      readonly status: 'sent' | 'no_active_turn';
    };
