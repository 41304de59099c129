/** One agent as the supervisor holds it (`AgentLink`): the broker's parts for this agent behind one door. */
import type { Clock } from '../model/index.ts';
import type { Agent } from './agent.ts';
import type { Feed } from './feed/index.ts';
import { mayResend, within } from './journal/index.ts';
import type { Journal, Pursuit } from './journal/index.ts';
import { isMessageIn, openOwnMessages } from './own-message.ts';
import type { AgentLink } from './ports.ts';
import type { Sessions } from './sessions.ts';

export interface LinkOptions {
  readonly agent: Agent;
  readonly feed: Feed;
  readonly journal: Journal;
  readonly pursuit: Pursuit;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly endpoint: string;
}

/** How long `publishedIn` waits for records in doubt, and again for publications under way. */
const PATIENCE_MS = 5_000;

export function openLink({ agent, feed, journal, pursuit, sessions, clock, endpoint }: LinkOptions): AgentLink {
  const { identity, namespace, upstream } = agent;
  return {
    pubkey: identity.pubkey,
    follow: (consumer) => {
      feed.follow(consumer);
    },
    fetch: (filters, options) => upstream.fetch(filters, options),
    say: openOwnMessages({ agent, journal }),
    openSession() {
      const { session, token } = sessions.open({ ...namespace, owner: identity.owner });
      return { sessionId: session.sessionId, endpoint, token };
    },
    bindTurn: (sessionId, turn) => {
      sessions.bindTurn(sessionId, turn);
    },
    closeSession: (sessionId) => {
      sessions.close(sessionId);
    },
    async publishedIn({ turnId, channelId }) {
      await within(pursuit.pass(), PATIENCE_MS, clock);
      const { events, open } = await journal.publishedIn(namespace, turnId, PATIENCE_MS);
      // An old event that a working relay does not have is not sent again either: it is decided, though its record stays.
      const hopeless = upstream.phase() === 'ready' && open.every((event) => !mayResend(event, clock.now()));
      return { events: events.filter((event) => isMessageIn(channelId, event)).map(({ id }) => id), undecided: open.length > 0 && !hopeless };
    },
    status() {
      const lastError = upstream.lastError();
      return {
        agent: identity.pubkey,
        url: upstream.url,
        phase: upstream.phase(),
        attempts: upstream.attempts(),
        channels: feed.channels(),
        ...(lastError === undefined ? {} : { lastError }),
      };
    },
  };
}
