/**
 * What an action is to the broker: a plan. It turns validated arguments into an unsigned event to publish, an outcome,
 * or a refusal, and has no effect of its own: signing, the journal and the publication are the same for every action.
 */
import type { ChannelId, Pubkey } from '../../model/index.ts';
import type { EventTemplate, Filter, UnverifiedEvent } from '../../nostr/index.ts';
import type { PublishingAction, Verdict } from '../journal/index.ts';
import type { FetchResult } from '../ports.ts';
import type { ActionName, Args, FailedCode } from '../wire/index.ts';
import type { Cursors } from './cursor.ts';

/** What is to be said; the moment and the author are added when it is signed. */
export type EventDraft = Omit<EventTemplate, 'created_at'>;

export type Decision<Name extends ActionName = ActionName> =
  | Refused
  | (Name extends PublishingAction
    ? { readonly type: 'publish'; readonly action: Name; readonly draft: EventDraft }
    : { readonly type: 'answer'; readonly verdict: Extract<Verdict, { readonly action: Name }> });

/** A domain failure before any effect. `message` names no content. */
export interface Refused {
  readonly type: 'refuse';
  readonly code: FailedCode;
  readonly message: string;
}

/** What a plan may know and read: the session's own agent, and the relay as that agent. */
export interface ActionContext {
  readonly agent: Pubkey;
  readonly community: string;
  /** Never rejects, bounded in time. */
  readonly fetch: (filters: readonly Filter[]) => Promise<FetchResult>;
  readonly cursors: Cursors;
}

export type Plan<Name extends ActionName> = (args: Args<Name>, context: ActionContext) => Promise<Decision<Name>>;

export function refused(code: FailedCode, message: string): Refused {
  return { type: 'refuse', code, message };
}

/** The event stands in that channel, by its signed `h` tag. */
export function standsIn(event: Pick<UnverifiedEvent, 'tags'>, channelId: ChannelId): boolean {
  const channels = event.tags.filter(([name]) => name === 'h');
  return channels.length === 1 && channels[0]?.[1] === channelId;
}
