/** An `AgentLink` whose relay is a list of events and whose journal is what the test says. */
import type { AgentLink, FetchResult, OwnMessage, PublishOutcome, TurnPublications } from '../../src/broker/index.ts';
import { matchesFilter } from '../../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../src/nostr/index.ts';
import { agent, someRoot } from './people.ts';

export interface FakeLink extends AgentLink {
  /** What the relay has stored. */
  readonly stored: VerifiedEvent[];
  /** Every request of `fetch`, in order. */
  readonly asked: (readonly Filter[])[];
  readonly said: OwnMessage[];
  /** The answers of `publishedIn`, one after the other; the last one stays. */
  readonly publications: TurnPublications[];
  /** False: the relay does not answer in time. */
  answers: boolean;
}

export function fakeLink(stored: readonly VerifiedEvent[] = []): FakeLink {
  const link: FakeLink = {
    pubkey: agent.pubkey, stored: [...stored], asked: [], said: [], publications: [{ events: [], undecided: false }], answers: true,
    follow: () => undefined,
    async fetch(filters): Promise<FetchResult> {
      link.asked.push(filters);
      if (!link.answers) return { events: [], complete: false };
      const events = link.stored.filter((event) => filters.some((filter) => matchesFilter(filter, event)));
      return { events: events.sort((a, b) => b.created_at - a.created_at), complete: true };
    },
    async say(message): Promise<PublishOutcome> {
      link.said.push(message);
      return { status: 'accepted', eventId: someRoot };
    },
    openSession: () => ({ sessionId: 's', endpoint: 'http://127.0.0.1:1', token: 't' }),
    bindTurn: () => undefined,
    closeSession: () => undefined,
    async publishedIn() {
      const [next = { events: [], undecided: false }] = link.publications;
      if (link.publications.length > 1) link.publications.shift();
      return next;
    },
    status: () => ({ agent: agent.pubkey, url: 'ws://127.0.0.1:1', phase: 'ready', attempts: 0, channels: [] }),
  };
  return link;
}
