/** An `AgentLink` whose relay is a list of events, whose journal is what the test says, and whose feed the test gives. */
import type { AgentLink, CommandReport, ControlConsumer, ControlFrame, FeedConsumer, FeedItem, FetchResult, ObserverFrame, OwnMessage, PublishOutcome, TurnPublications, TypingPlace, UpstreamPhase } from '../../src/broker/index.ts';
import { matchesFilter } from '../../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../src/nostr/index.ts';
import { agent, someRoot } from './people.ts';

export interface FakeLink extends AgentLink {
  /** What the relay has stored. */
  readonly stored: VerifiedEvent[];
  /** Every request of `fetch`, in order. */
  readonly asked: (readonly Filter[])[];
  readonly said: OwnMessage[];
  readonly reports: CommandReport[];
  /** What the owner was told, in order. */
  readonly told: ObserverFrame[];
  /** The payloads of the turn metrics, in order. */
  readonly metrics: string[];
  /** Where the agent is writing at present. */
  readonly typed: TypingPlace[];
  /** What was asked of credentials and of the journal, in order: `open s1`, `bind s1 <turn>`, `bind s1 -`, `close s1`,
   * `published <turn>`; and `presence online`. */
  readonly calls: string[];
  /** The answers of `publishedIn`, one after the other; the last one stays. */
  readonly publications: TurnPublications[];
  /** False: the relay does not answer in time. */
  answers: boolean;
  /** Actions of its processes that may have left something behind. */
  traced: number;
  phase: UpstreamPhase;
  /** While it is there, `fetch` waits for it. */
  held: Promise<void> | undefined;
  /** Hands a control frame to the consumer. */
  order(frame: ControlFrame): void;
  /** Hands an item to the consumer, once there is one, and resolves when the feed may forget it. */
  give(item: FeedItem): Promise<void>;
}

export function fakeLink(stored: readonly VerifiedEvent[] = []): FakeLink {
  let sessions = 0;
  let controls: ControlConsumer = () => undefined;
  let follow: (consumer: FeedConsumer) => void = () => undefined;
  const followed = new Promise<FeedConsumer>((resolve) => { follow = resolve; });
  const link: FakeLink = {
    pubkey: agent.pubkey, stored: [...stored], asked: [], said: [], reports: [], told: [], metrics: [], typed: [], calls: [], publications: [{ events: [], undecided: false }],
    answers: true, traced: 0, phase: 'ready', held: undefined, follow,
    give: async (item) => (await followed)(item),
    async fetch(filters): Promise<FetchResult> {
      link.asked.push(filters);
      await link.held;
      if (!link.answers) return { events: [], complete: false };
      const events = link.stored.filter((event) => filters.some((filter) => matchesFilter(filter, event)));
      return { events: events.sort((a, b) => b.created_at - a.created_at), complete: true };
    },
    async say(message): Promise<PublishOutcome> {
      link.said.push(message);
      return { status: 'accepted', eventId: someRoot };
    },
    async report(report): Promise<PublishOutcome> {
      link.reports.push(report);
      return { status: 'accepted', eventId: someRoot };
    },
    openSession() {
      sessions += 1;
      link.calls.push(`open s${sessions}`);
      return { sessionId: `s${sessions}`, endpoint: 'http://127.0.0.1:1', token: 't' };
    },
    bindTurn: (sessionId, turn) => { link.calls.push(`bind ${sessionId} ${turn?.turnId ?? '-'}`); },
    traces: () => link.traced,
    closeSession: (sessionId) => { link.calls.push(`close ${sessionId}`); },
    controls: (consumer) => { controls = consumer; },
    controlCounts: () => ({ taken: 0, ignored: 0 }),
    order: (frame) => { controls(frame); },
    async publishedIn({ turnId }) {
      link.calls.push(`published ${turnId}`);
      const [next = { events: [], undecided: false }] = link.publications;
      if (link.publications.length > 1) link.publications.shift();
      return next;
    },
    tell: (frame) => { link.told.push(frame); },
    presence: (status) => { link.calls.push(`presence ${status}`); },
    typing: (place) => {
      link.typed.push(place);
      return () => { link.typed.splice(link.typed.indexOf(place), 1); };
    },
    signals: () => ({ sent: 0, dropped: 0 }),
    canary: () => undefined,
    cards: { post: () => Promise.resolve('shown'), resolve: () => undefined },
    memory: { read: async () => ({ ok: true, value: undefined }), write: async () => 'unknown' },
    frameBytes: ({ payload }) => Buffer.byteLength(payload),
    packTelemetry: () => { link.calls.push('pack'); },
    telemetry: () => ({ sent: link.told.length, waiting: 0, dropped: 0, tooLong: 0, refused: 0 }),
    metric: ({ plaintext }) => { link.metrics.push(plaintext); },
    status: () => ({ agent: agent.pubkey, url: 'ws://127.0.0.1:1', phase: link.phase, attempts: 0, channels: [] }),
  };
  return link;
}
