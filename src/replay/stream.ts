/**
 * A recorded stream through the production gate, inbox machine and rows (a SQLite store in memory), under a virtual
 * clock. Only the relay, the profiles and the agent processes are what the stream says.
 * in: settings and steps. out: what was seen, in order, at which time. The same stream gives the same sightings.
 *
 * Between two steps every time at which a turn may become ready is passed through, one by one, and a time that both fall
 * on wakes first; after the last step too, until nothing waits for time any more. Each waking hands out a turn and takes
 * a process, and only a step gives one back: so it ends.
 */
import { unreachable } from '../model/index.ts';
import type { EventId } from '../model/index.ts';
import { parseEvent, verifyEvent } from '../nostr/index.ts';
import type { UnverifiedEvent, VerifiedEvent } from '../nostr/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../store/index.ts';
import type { Store } from '../store/index.ts';
import { acceptedInput, consider, entriesOf, Inbox, nextReadyAt } from '../supervisor/index.ts';
import type { InboxInput } from '../supervisor/index.ts';
import { sightingsOf } from './sightings.ts';
import type { Sighting, StepThat, StreamFixture, StreamSettings, StreamStep } from './stream-fixture.ts';
import { VirtualClock } from './virtual-clock.ts';

/** What the gate and the inbox make of `stream`. Its events must be true; `readFixture` sees to that. */
export async function replayStream(stream: Pick<StreamFixture, 'settings' | 'steps'>): Promise<readonly Sighting[]> {
  const store = openSqlite(':memory:', SUPERVISOR_SCHEMA);
  try {
    const replay = new StreamReplay(stream.settings, store);
    for (const step of stream.steps) await replay.step(step);
    await replay.runOut();
    return replay.seen;
  } finally {
    await store.close();
  }
}

class StreamReplay {
  readonly seen: Sighting[] = [];
  readonly #settings: StreamSettings;
  readonly #store: Store;
  readonly #clock = new VirtualClock();
  /** Turns found answered at the last restart. */
  #answered: readonly number[] = [];
  /** Messages in each of them. */
  #published = 1;
  #inbox: Inbox;
  #turns = 0;
  readonly #running = new Set<number>();
  readonly #turnOf = new Map<EventId, number>();

  constructor(settings: StreamSettings, store: Store) {
    this.#settings = settings;
    this.#store = store;
    this.#inbox = this.#openInbox();
  }

  async step(step: StreamStep): Promise<void> {
    await this.#passTimeUntil(step.atMs);
    this.#clock.set(step.atMs);
    await this.#perform(step);
    await this.#pump();
  }

  async runOut(): Promise<void> {
    await this.#passTimeUntil(Number.POSITIVE_INFINITY);
  }

  async #perform(step: StreamStep): Promise<void> {
    switch (step.do) {
      case 'arrive':
        return this.#arrive(step);
      case 'take':
        return this.#advance([this.#take()]);
      case 'finish':
        this.#running.delete(step.turn);
        return this.#advance([
          { type: 'finished', turnId: turnIdOf(step.turn), ending: step.ending, jitter: step.jitter ?? 0.5, ...(step.apart && { apart: step.apart }) },
          ...this.#mayTake(),
        ]);
      case 'steer':
        return this.#advance([{ type: 'steering', turnId: turnIdOf(step.turn), eventId: step.eventId, published: step.published }]);
      case 'steered':
        return this.#advance([{ type: 'steered', turnId: turnIdOf(step.turn), eventId: step.eventId, answer: step.answer }]);
      case 'leave':
        return this.#advance([{ type: 'left', channelId: step.channelId }]);
      case 'cancel':
        return this.#advance([{ type: 'cancelled', channelId: step.channelId, outcome: step.outcome }]);
      case 'restart':
        return this.#restart(step);
      default:
        return unreachable(step);
    }
  }

  async #arrive({ event, channelId, author, channelType, hops, outcome = 'taken' }: StepThat<'arrive'>): Promise<void> {
    const { allowlist, ancestors = [], session, midTurn: policy = 'queue', ...gate } = this.#settings;
    const considered = await consider(verified(event), channelId, factsOf(author, channelType), {
      gate: { ...gate, allowlist: new Set(allowlist), ancestors: new Set(ancestors) },
      session, store: this.#store, link: { pubkey: gate.agent }, clock: this.#clock, ...(hops && { hops }),
    });
    const atMs = this.#clock.now();
    switch (considered.is) {
      case 'known':
        this.seen.push({ atMs, saw: 'known', eventId: event.id });
        return;
      case 'refused':
        this.seen.push({ atMs, saw: 'refused', eventId: event.id, reason: considered.reason });
        return;
      case 'command':
        return this.#advance([{ type: 'commanded', entry: considered.entry, outcome }]);
      case 'new':
        return this.#advance([acceptedInput(considered, policy, gate.owner), ...this.#mayTake()]);
      default:
        return unreachable(considered);
    }
  }

  /** The rows are all that is left of the inbox; the processes are gone. */
  async #restart({ answered, published = 1 }: StepThat<'restart'>): Promise<void> {
    this.#answered = answered;
    this.#published = published;
    this.#running.clear();
    this.#inbox = this.#openInbox();
    const restored = await this.#inbox.left(new AbortController().signal);
    if (restored !== undefined) await this.#advance([restored]);
  }

  #openInbox(): Inbox {
    return new Inbox({
      settings: { gatherMs: this.#settings.gatherMs }, store: this.#store, clock: this.#clock,
      link: {
        pubkey: this.#settings.agent,
        publishedIn: async ({ turnId }) => ({ events: this.#publishedIn(numberOf(turnId)), undecided: false }),
      },
    });
  }

  /** Which messages answered a turn does not matter to the inbox: one of the turn's own stands for each. */
  #publishedIn(turn: number): readonly EventId[] {
    const [first] = [...this.#turnOf].filter(([, number]) => number === turn);
    return first !== undefined && this.#answered.includes(turn) ? Array.from({ length: this.#published }, () => first[0]) : [];
  }

  async #advance(inputs: readonly InboxInput[]): Promise<void> {
    const commands = await this.#inbox.advance(inputs);
    for (const command of commands) {
      if (command.type !== 'dispatch') continue;
      this.#turns = numberOf(command.batch.turnId);
      this.#running.add(this.#turns);
      for (const { eventId } of entriesOf(command.batch)) this.#turnOf.set(eventId, this.#turns);
    }
    for (const command of commands) if (command.type === 'steer') this.#turnOf.set(command.entry.eventId, numberOf(command.turnId));
    this.seen.push(...sightingsOf(commands, this.#clock.now(), { turnOf: (eventId) => this.#turnOf.get(eventId), numberOf }));
  }

  /** Hands out turns while a process is free and a turn is ready. */
  async #pump(): Promise<void> {
    for (let before = -1; before !== this.#turns && this.#hasFreeProcess();) {
      before = this.#turns;
      await this.#advance(this.#mayTake());
    }
  }

  #take(): InboxInput {
    return { type: 'take', turnId: turnIdOf(this.#turns + 1) };
  }

  #mayTake(): readonly InboxInput[] {
    return this.#hasFreeProcess() ? [this.#take()] : [];
  }

  #hasFreeProcess(): boolean {
    return this.#running.size < (this.#settings.processes ?? 0);
  }

  async #passTimeUntil(atMs: number): Promise<void> {
    for (;;) {
      const readyAt = this.#hasFreeProcess() ? nextReadyAt(this.#inbox.state) : undefined;
      if (readyAt === undefined || readyAt > atMs) return;
      const before = this.#turns;
      this.#clock.set(readyAt);
      await this.#pump();
      // A machine that says "ready" and hands out nothing would hold the clock here for ever.
      if (this.#turns === before) return;
    }
  }
}

function turnIdOf(turn: number): string {
  return `turn ${turn}`;
}

function numberOf(turnId: string): number {
  return Number(turnId.slice('turn '.length));
}

/** The profiles and the channel as the stream tells them, at once. */
function factsOf(author: StepThat<'arrive'>['author'], channelType: string | undefined): Parameters<typeof consider>[2] {
  return {
    profiles: async (pubkeys) => ({ facts: new Map(pubkeys.map((pubkey) => [pubkey, author])), answered: true }),
    channel: async () => ({ facts: channelType === undefined ? undefined : { name: '', type: channelType }, answered: true }),
  };
}

function verified(event: UnverifiedEvent): VerifiedEvent {
  const parsed = parseEvent(event);
  const checked = parsed.ok ? verifyEvent(parsed.event) : parsed;
  if (!checked.ok) throw new TypeError(`stream: event ${event.id}: ${checked.detail}`);
  return checked.event;
}
