/**
 * What an action is to the broker: a plan. It turns validated arguments into an unsigned event to publish, an outcome,
 * or a refusal, and has no effect of its own: signing, the journal and the publication are the same for every action.
 */
import type { ChannelId, EventId, Log, Pubkey, Refusal, Seconds } from '../../model/index.ts';
import type { Filter, Opening, Sealing, Tag, UnverifiedEvent } from '../../nostr/index.ts';
import type { TurnBinding } from '../credential-ports.ts';
import type { EventDraft } from '../draft.ts';
import { isForbidden } from '../journal/index.ts';
import type { Attached, ATTACHING, LocalWrite, PublishingAction, Verdict } from '../journal/index.ts';
import type { Registry } from '../managed/index.ts';
import type { FetchResult } from '../ports.ts';
import type { Telemetry } from '../telemetry/index.ts';
import type { ActionName, Args, FailedCode } from '../wire/index.ts';
import type { Cursors } from './cursor.ts';

export type Decision<Name extends ActionName = ActionName> =
  | Refused
  | (Name extends PublishingAction
    ? { readonly type: 'publish'; readonly action: Name; readonly draft: EventDraft } & Follows
    : Name extends typeof ATTACHING
      ? Attachment
      : { readonly type: 'answer'; readonly verdict: Extract<Verdict, { readonly action: Name }> } & Follows & Partial<Local>);

/** A publication that brings about more than its event, and what it will have come to when the relay has taken it. */
interface Attachment extends Local {
  readonly type: 'attach';
  readonly draft: EventDraft;
  readonly accepted: Attached;
}

/** What is written with the record, and who waits for the end of it: also after the answer, where it takes long. */
interface Local {
  readonly writes: readonly LocalWrite[];
  readonly release: () => void;
}

/** What a plan wants to be asked or told after it has decided. */
interface Follows {
  /** Asked at the effect's edge, with the session's permission: why it may not happen any more. */
  readonly holds?: () => Refused | undefined;
  /** Called once, when the action has ended: with `Done` when it succeeded, durably, and may be told. Never rejects. */
  readonly ended?: (done: Done | undefined) => Promise<void>;
}

export interface Done {
  /** Of the event that was published. */
  readonly eventId?: EventId;
}

/** A domain failure before any effect. `message` names no content. */
export interface Refused {
  readonly type: 'refuse';
  readonly code: FailedCode;
  readonly message: string;
}

/** What a plan may know and read: the session's own agent, and the relay as that agent. */
export interface ActionContext {
  readonly agent: Pubkey;
  readonly owner: Pubkey;
  /** The agent's NIP-OA `auth` tag, where the configuration has one. */
  readonly attestation?: Tag;
  readonly community: string;
  readonly withOwner: OwnerConversation;
  /** The turn that the asking session is in. */
  readonly turn: () => TurnBinding | undefined;
  readonly telemetry: Pick<Telemetry, 'draft' | 'reserve'>;
  /** For stamps. */
  readonly now: () => Seconds;
  readonly log: Log;
  /** Waits until no other action of this agent works on that address; false when there was no time for it. */
  readonly alone: (address: string) => Promise<boolean>;
  /** Never rejects, bounded in time. */
  readonly fetch: (filters: readonly Filter[]) => Promise<FetchResult>;
  readonly cursors: Cursors;
  readonly managed: Registry;
}

/** What agent and owner share (NIP-44, NIP-AE), without its key. */
export interface OwnerConversation {
  readonly seal: (plaintext: string) => Sealing | Refusal<'peer'>;
  readonly open: (payload: string) => Opening | Refusal<'peer'>;
  readonly engramAddress: (slug: string) => string | undefined;
}

export type Plan<Name extends ActionName> = (args: Args<Name>, context: ActionContext) => Promise<Decision<Name>>;

/**
 * How far ahead of our clock an event that is to be replaced may be stamped, and still be a matter of clocks: Buzz
 * relays take no event beyond it. Further ahead is a conflict, and it is not outrun.
 */
export const MAX_AHEAD_SEC = 900;

export function refused(code: FailedCode, message: string): Refused {
  return { type: 'refuse', code, message };
}

/** What was asked of the relay was not answered in full, and why it would not, where it said so. */
export interface Unreadable {
  readonly status: 'unreadable';
  readonly refusal: string | undefined;
}

/** The end of an action whose question was not answered; `silence` where the relay did not say why. */
export function unanswered(refusal: string | undefined, silence = 'the relay did not answer in time; nothing was sent'): Refused {
  if (refusal === undefined) return refused('internal', silence);
  return refused(isForbidden(refusal) ? 'unauthorized' : 'internal', `the relay refused to answer: ${refusal}`);
}

/** The event stands in that channel, by its signed `h` tag. */
export function standsIn(event: Pick<UnverifiedEvent, 'tags'>, channelId: ChannelId): boolean {
  const channels = event.tags.filter(([name]) => name === 'h');
  return channels.length === 1 && channels[0]?.[1] === channelId;
}
