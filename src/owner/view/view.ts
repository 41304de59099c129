/**
 * What an owner knows of their agents, and what there is to tell: the words of `machine.ts`. Everything is bounded; what
 * an agent wrote stands in it as it came.
 */
import type { ChannelId, EventId, Milliseconds, Pubkey } from '../../model/index.ts';
import type { CardSighting, EditSighting } from './sightings.ts';
import type { Telemetry } from './telemetry.ts';

/** NIP-AO "Client Behavior": frames kept. */
export const MAX_RING = 800;
/** Beyond it the oldest goes, one that has ended first. */
export const MAX_TURNS = 256;
export const MAX_PERMISSIONS = 256;
export const MAX_TOOLS = 64;
/** Sessions whose numbers are counted; beyond it the one that was heard longest ago is forgotten. */
export const MAX_SESSIONS = 256;

export interface View {
  /** The last frames, oldest first: to know a repeated one, and to tell a gap from a number used in another session. */
  readonly ring: readonly Heard[];
  /** By agent and session, the one heard last at the end. */
  readonly counters: ReadonlyMap<string, Counter>;
  /** By agent and turn. */
  readonly turns: ReadonlyMap<string, Turn>;
  /** By agent and nonce. */
  readonly permissions: ReadonlyMap<string, Permission>;
}

export interface Heard {
  readonly identity: string;
  readonly agent: Pubkey;
  readonly session: string;
  readonly seq: number;
}

export interface Counter {
  readonly agent: Pubkey;
  readonly last: number;
  readonly at: Milliseconds;
  /** Numbers that never came. */
  readonly missing: number;
}

export interface Turn {
  readonly agent: Pubkey;
  readonly turnId: string;
  readonly channelId: ChannelId | null;
  readonly sessionId: string | null;
  readonly status: 'running' | 'failed' | 'completed';
  readonly since: Milliseconds;
  readonly stopReason?: string;
  readonly error?: string;
  /** What the agent streamed and was not told yet. */
  readonly unsaid?: { readonly speaker: Speaker; readonly text: string; readonly since: Milliseconds };
  readonly tools: ReadonlyMap<string, Tool>;
}

export type Speaker = 'agent' | 'thought';

export interface Tool {
  readonly title: string;
  readonly status: string;
}

export interface Permission {
  readonly agent: Pubkey;
  readonly nonce: string;
  readonly channelId: ChannelId | null;
  readonly turnId: string | null;
  /** `asked`: heard of, no card yet. `pending`: the owner may decide. */
  readonly status: 'asked' | 'pending' | 'resolved' | 'expired';
  /** The verified card; its first option allows, its second rejects (NIP-AO D5). */
  readonly card?: CardSighting;
  /** Two different cards speak of it: nobody knows which of them is the request. */
  readonly disputed?: true;
  /** What the actionable `acp_read` says of the same nonce, where it was heard. */
  readonly challenge?: Challenge;
  readonly end?: PermissionEnd;
  /** When it is denied without a decision. */
  readonly deadline?: Milliseconds;
  /** The last countdown told, in seconds. */
  readonly toldLeftSec?: number;
}

export interface Challenge {
  readonly channelId: ChannelId | null;
  readonly actionable: boolean;
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
}

/** `uncertain`: nobody knows whether the answer reached the agent program; it is replaced. */
export interface PermissionEnd {
  readonly outcome: string;
  readonly chosenOptionId: string | null;
  /** The card that the edit names, where an edit told it. */
  readonly originalEventId?: EventId;
}

export type Input =
  /** Of a known agent, opened by the owner's key. */
  | { readonly type: 'telemetry'; readonly agent: Pubkey; readonly event: Telemetry }
  | CardSighting
  | EditSighting
  | { readonly type: 'tick' };

/** Where something happened, and when by the agent's clock. */
interface Place {
  readonly at: Milliseconds;
  readonly agent: Pubkey;
  readonly channelId: ChannelId | null;
  readonly sessionId: string | null;
  readonly turnId: string | null;
}

export type Note = Place & (
  | { readonly type: 'turn_started'; readonly source: string | null; readonly events: number | null }
  | { readonly type: 'session_resolved'; readonly isNew: boolean | null }
  | { readonly type: 'text'; readonly speaker: Speaker; readonly text: string }
  | { readonly type: 'tool'; readonly toolCallId: string; readonly title: string; readonly status: string }
  | { readonly type: 'turn_failed'; readonly outcome: string | null; readonly error: string | null }
  | { readonly type: 'turn_completed'; readonly stopReason: string | null }
  | { readonly type: 'control_result'; readonly payload: Readonly<Record<string, unknown>> }
  /** It is not started with what its owner says now; told again as long as it is so. */
  | { readonly type: 'launch_refused'; readonly code: string | null; readonly detail: string | null }
  | { readonly type: 'gap'; readonly missing: number }
  /** A card to decide. `matches` is false where the agent's own challenge says something else: then it is not one. */
  | { readonly type: 'permission_pending'; readonly permission: Permission; readonly matches: boolean }
  | { readonly type: 'permission_waits'; readonly permission: Permission; readonly leftSec: number }
  | { readonly type: 'permission_ended'; readonly nonce: string; readonly outcome: string; readonly chosenOptionId: string | null; readonly permission?: Permission }
  /** Answered by the agent's policy, without anyone being asked. */
  | { readonly type: 'permission_unasked'; readonly nonce: string; readonly reason: string | null }
);

export interface Step {
  readonly view: View;
  readonly notes: readonly Note[];
}

export const INITIAL: View = { ring: [], counters: new Map(), turns: new Map(), permissions: new Map() };

/** The permissions that the owner may decide now, the one that ends soonest first. */
export function decidable(view: View): readonly (Permission & { readonly card: CardSighting })[] {
  return [...view.permissions.values()]
    .filter((one): one is Permission & { readonly card: CardSighting } => one.status === 'pending' && one.card !== undefined && agrees(one))
    .sort((a, b) => (a.deadline ?? 0) - (b.deadline ?? 0));
}

/** Whether there is one card, and it and the challenge speak of the same two options, where both were seen. */
export function agrees({ card, challenge, disputed }: Permission): boolean {
  if (disputed === true) return false;
  if (card === undefined || challenge === undefined) return true;
  const [allow, reject] = card.card.options;
  const offers = (optionId: string, kind: string): boolean =>
    challenge.options.some((option) => option.optionId === optionId && option.kind === kind);
  return challenge.actionable && (challenge.channelId === null || challenge.channelId === card.channelId)
    && offers(allow.optionId, 'allow_once') && offers(reject.optionId, 'reject_once');
}

export function keyOf(agent: Pubkey, id: string): string {
  return `${agent} ${id}`;
}
