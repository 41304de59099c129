/** One agent as the supervisor holds it (`AgentLink`): the broker's parts for this agent behind one door. */
import type { VerifiedEvent } from '../nostr/index.ts';
import type { Agent } from './agent.ts';
import type { Canary } from './canary/index.ts';
import type { Cards } from './cards/index.ts';
import type { Controls } from './controls/index.ts';
import type { Feed } from './feed/index.ts';
import type { Journal } from './journal/index.ts';
import { openCommandReports } from './command-report.ts';
import { openOwnMemory } from './own-memory.ts';
import { isMessageIn, isNotice, openOwnMessages } from './own-message.ts';
import type { AgentLink } from './ports.ts';
import type { Sessions } from './sessions.ts';
import { frameBytes } from './telemetry/index.ts';

export interface LinkOptions {
  readonly agent: Agent;
  readonly feed: Feed;
  readonly controls: Controls;
  readonly journal: Journal;
  readonly cards: Cards;
  readonly canary?: Canary;
  readonly sessions: Sessions;
  readonly endpoint: string;
}

/** How long `publishedIn` waits for actions under way and for the relay's word on records in doubt. */
const PATIENCE_MS = 5_000;

export function openLink({ agent, feed, controls, journal, cards, canary, sessions, endpoint }: LinkOptions): AgentLink {
  const { identity, namespace, upstream, telemetry, signals } = agent;
  return {
    pubkey: identity.pubkey,
    follow: (consumer) => {
      feed.follow(consumer);
    },
    fetch: (filters, options) => upstream.fetch(filters, options),
    say: openOwnMessages({ agent, journal }),
    report: openCommandReports({ agent, journal }),
    openSession() {
      const { session, token } = sessions.open({ ...namespace, owner: identity.owner });
      return { sessionId: session.sessionId, endpoint, token };
    },
    bindTurn: (sessionId, turn) => {
      sessions.bindTurn(sessionId, turn);
    },
    traces: (sessionId) => sessions.traces(sessionId),
    closeSession: (sessionId) => {
      sessions.close(sessionId);
    },
    async publishedIn({ turnId, channelId }) {
      const { events, open, planning } = await journal.publishedIn(namespace, turnId, PATIENCE_MS);
      const isThere = (event: VerifiedEvent): boolean => isMessageIn(channelId, event);
      const said = events.filter(isThere);
      return {
        events: said.filter((event) => !isNotice(event)).map(({ id }) => id),
        ...(said.some(isNotice) && { noticed: true }),
        undecided: planning || open.some(isThere),
      };
    },
    tell: (frame) => {
      telemetry.tell(frame);
    },
    frameBytes,
    telemetry: () => telemetry.status(),
    packTelemetry: () => {
      telemetry.pack();
    },
    controls: (consumer) => {
      controls.follow(consumer);
    },
    controlCounts: () => controls.counts(),
    metric: ({ plaintext, at }) => {
      agent.metrics.publish(plaintext, at);
    },
    cards,
    memory: openOwnMemory(agent),
    presence: (status) => {
      signals.presence(status);
    },
    typing: (place) => signals.typing(place),
    signals: () => signals.report(),
    canary: () => canary?.report(),
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
