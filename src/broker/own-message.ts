/**
 * What skep itself writes as an agent, an answer or a notice: through the same journal as the agent's own actions, so
 * at most once over retries and restarts. Planned before it is claimed, so that a relay that cannot be read costs no
 * operation id: the same message may be said again.
 */
import { eventId, secondsOf, unreachable } from '../model/index.ts';
import type { Clock } from '../model/index.ts';
import { eventIdOf } from '../nostr/index.ts';
import type { Tag, VerifiedEvent } from '../nostr/index.ts';
import { messageDraft, MESSAGE_KIND } from './actions/index.ts';
import type { EventDraft } from './actions/index.ts';
import type { Agent } from './agent.ts';
import type { Journal, RecordKey, Settled } from './journal/index.ts';
import type { OwnMessage, PublishOutcome } from './ports.ts';
import { digestOf } from './wire/index.ts';

/** Marks a notice: whoever reads it knows that it asks for no answer. */
const NOTICE_MARK: Tag = ['skep', 'notice'];
/** A space is outside the grammar of request ids, so no agent can name, or meet, an operation of ours. */
const OWN_PREFIX = ' own:';

export type Say = (message: OwnMessage) => Promise<PublishOutcome>;

export interface OwnMessagesOptions {
  readonly agent: Agent;
  readonly journal: Journal;
  readonly clock: Clock;
}

type Draft =
  | { readonly status: 'ready'; readonly draft: EventDraft }
  | { readonly status: 'rejected' | 'unknown'; readonly reason: string };

/** Resolves in bounded time: two reads of the relay, one publication, and the journal's wait. */
export function openOwnMessages({ agent, journal, clock }: OwnMessagesOptions): Say {
  async function draftOf({ channelId, content, replyTo, kind }: OwnMessage): Promise<Draft> {
    const parts = { channelId, content, marks: kind === 'notice' ? [NOTICE_MARK] : [] };
    if (replyTo === undefined) return { status: 'ready', draft: messageDraft(parts) };
    return { status: 'ready', draft: messageDraft({ ...parts, thread: replyTo }) };
  }

  /** Names a message of which no event was signed: the id it would have had now. */
  function unsent({ channelId, content }: OwnMessage): PublishOutcome['eventId'] {
    const template = { ...messageDraft({ channelId, content }), created_at: secondsOf(clock.now()) };
    return eventId(eventIdOf(template, agent.identity.pubkey));
  }

  return async (message) => {
    const key: RecordKey = { ...agent.namespace, requestId: `${OWN_PREFIX}${message.operationId}` };
    const digest = digestOfMessage(message);
    const earlier = await journal.recall({ key, digest });
    if (earlier !== undefined) return outcomeOf(earlier, () => unsent(message));
    const drafted = await draftOf(message);
    if (drafted.status !== 'ready') return { ...drafted, eventId: unsent(message) };
    const action = message.replyTo === undefined ? 'message.post' : 'message.reply';
    const event = agent.publisher.compose(drafted.draft);
    const settled = await journal.run({
      key,
      digest,
      action,
      turnId: message.turnId,
      evidence: { action, event },
      plan: () => Promise.resolve({ type: 'publish', action, event }),
      withdrawn: () => undefined,
    });
    return outcomeOf(settled, () => event.id);
  };
}

/** A message of the agent's in a turn: kind 9, and not one of our notices. */
export function isMessage({ kind, tags }: VerifiedEvent): boolean {
  return kind === MESSAGE_KIND && !tags.some(([name, value]) => name === NOTICE_MARK[0] && value === NOTICE_MARK[1]);
}

/** The same operation said with other words is a conflict, like any reused request id. */
function digestOfMessage({ channelId, content, replyTo, kind, turnId }: OwnMessage): string {
  return digestOf(Buffer.from(JSON.stringify([channelId, content, replyTo ?? '', kind, turnId]), 'utf8'));
}

function outcomeOf({ verdict, eventId: known }: Settled, otherwise: () => PublishOutcome['eventId']): PublishOutcome {
  const id = known ?? otherwise();
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
