/**
 * What skep itself writes as an agent, an answer or a notice: through the same journal as the agent's own actions, so
 * at most once over retries and restarts. Nothing is read for it: its thread comes from verified events, so it is
 * signed at once, durable with its claim, and pursued when the relay gives no verdict.
 */
import { unreachable } from '../model/index.ts';
import type { ChannelId, EventId } from '../model/index.ts';
import { OWN_MARK } from '../nostr/index.ts';
import type { Tag, VerifiedEvent } from '../nostr/index.ts';
import { messageDraft, MESSAGE_KIND, standsIn } from './actions/index.ts';
import type { Agent } from './agent.ts';
import type { EventDraft } from './draft.ts';
import type { Journal, Settled } from './journal/index.ts';
import type { OwnMessage, PublishOutcome } from './ports.ts';
import { digestOf } from './wire/index.ts';

/** Marks a notice: whoever reads it knows that it asks for no answer. */
const NOTICE_MARK: Tag = [OWN_MARK, 'notice'];
/** A space is outside the grammar of request ids, so no agent can name, or meet, an operation of ours. */
const OWN_PREFIX = ' own:';

export type Say = (message: OwnMessage) => Promise<PublishOutcome>;

export interface OwnEventsOptions {
  readonly agent: Agent;
  readonly journal: Journal;
}

/** Resolves in bounded time: one publication, and the journal's wait. */
export function openOwnMessages(options: OwnEventsOptions): Say {
  const publish = openOwnEvents(options);
  return (message) => {
    const { operationId, turnId, replyTo } = message;
    const action = replyTo === undefined ? 'message.post' : 'message.reply';
    return publish({ operationId, action, turnId, digest: digestOfMessage(message), draft: draftOf(message) });
  };
}

/** An event of skep's own. `operationId` is stable over retries and restarts. */
interface OwnEvent {
  readonly operationId: string;
  readonly action: 'message.post' | 'message.reply';
  readonly turnId: string;
  /** Of what is said: another under the same operation id is a conflict. */
  readonly digest: string;
  readonly draft: EventDraft;
}

/** Resolves in bounded time: one publication, and the journal's wait. */
export function openOwnEvents({ agent, journal }: OwnEventsOptions): (own: OwnEvent) => Promise<PublishOutcome> {
  return async ({ operationId, action, turnId, digest, draft }) => {
    // Said before, this event is never used: the journal goes on with the one it has.
    const event = agent.publisher.compose(draft);
    const settled = await journal.run({
      key: { ...agent.namespace, requestId: `${OWN_PREFIX}${operationId}` },
      digest,
      action,
      turnId,
      evidence: { action, event },
      plan: () => Promise.resolve({ type: 'publish', action, event }),
      withdrawn: () => undefined,
    });
    return outcomeOf(settled, event.id);
  };
}

function draftOf({ channelId, content, replyTo, kind }: OwnMessage): EventDraft {
  return messageDraft({
    channelId,
    content,
    ...(replyTo === undefined ? {} : { thread: replyTo }),
    marks: kind === 'notice' ? [NOTICE_MARK] : [],
  });
}

/** A message in that channel: kind 9, one of our notices among them. */
export function isMessageIn(channelId: ChannelId, event: VerifiedEvent): boolean {
  return event.kind === MESSAGE_KIND && standsIn(event, channelId);
}

export function isNotice({ tags }: VerifiedEvent): boolean {
  return tags.some(([name, value]) => name === NOTICE_MARK[0] && value === NOTICE_MARK[1]);
}

/** The same operation said with other words is a conflict, like any reused request id. */
function digestOfMessage({ channelId, content, replyTo, kind, turnId }: OwnMessage): string {
  const place = replyTo === undefined ? '' : [replyTo.root, replyTo.parent];
  return digestOf(Buffer.from(JSON.stringify([channelId, content, place, kind, turnId]), 'utf8'));
}

function outcomeOf({ verdict, eventId: known }: Settled, signed: EventId): PublishOutcome {
  const id = known ?? signed;
  switch (verdict.status) {
    case 'succeeded':
      return { status: 'accepted', eventId: id };
    case 'failed':
      return { status: 'rejected', eventId: id, reason: verdict.error.message };
    case 'indeterminate':
      return { status: 'unknown', eventId: id, reason: verdict.error.message };
    default:
      return unreachable(verdict);
  }
}
