/**
 * What the clients of the demo have seen, and the waiting for what they are to see. What is not seen in time, or is
 * otherwise, ends the demo with the code `not_seen`.
 */
import type { Event } from 'nostr-tools/pure';
import { parseCard } from '../../cards/index.ts';
import type { LaunchReport } from '../../control/index.ts';
import { Failure, later, pause } from '../../model/index.ts';
import type { Clock } from '../../model/index.ts';
import type { Note } from '../../supervisor/index.ts';
import type { Client } from './client.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

/** A step waits this long for what it wants to see; a retry after a crash waits about six seconds by itself. */
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 50;

export class Witness {
  /** The helper's messages, each once, as the owner's client received them. */
  readonly answers: Event[] = [];
  /** Ids of the courier's messages. */
  readonly parcels = new Set<string>();
  readonly #stage: Stage;
  readonly #timeline: Timeline;
  readonly #clock: Clock;
  /** Of the supervisor, the newest last; they go on coming. */
  readonly #notes: readonly Note[];
  readonly #seen = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(stage: Stage, timeline: Timeline, clock: Clock, notes: readonly Note[]) {
    this.#stage = stage;
    this.#timeline = timeline;
    this.#clock = clock;
    this.#notes = notes;
  }

  /** Something happened: whoever waits looks again. */
  wake(): void {
    for (const look of this.#waiting.splice(0)) look();
  }

  /** Looks on from when the agent is there. */
  async begin(): Promise<void> {
    await this.until('the agent', () => this.#notes.some(({ type }) => type === 'process_started'));
    this.#stage.owner.listen(this.#stage.channelId, (event) => { this.#receive(event); });
  }

  /** A message to the helper, in the thread of `root` or at the top of the channel. */
  async say(who: Client, text: string, root?: Event): Promise<Event> {
    const { channelId, agentPubkey } = this.#stage;
    const thread = root === undefined ? [] : [['e', root.id, '', 'reply']];
    const event = await who.publish(9, { content: text, tags: [['h', channelId], ...thread, ['p', agentPubkey]] });
    this.#timeline.tell(who.name, 'says', { event: event.id, text });
    return event;
  }

  /** Waits for the first answer in the thread of these messages that came after now. */
  async answersTo(questions: readonly Event[]): Promise<readonly Event[]> {
    const before = this.answers.length;
    const threads = new Set(questions.map((question) => question.tags.find((tag) => tag[0] === 'e')?.[1] ?? question.id));
    const inThread = (): readonly Event[] =>
      this.answers.slice(before).filter((answer) => answer.tags.some((tag) => tag[0] === 'e' && threads.has(tag[1] ?? '')));
    await this.until('an answer', () => inThread().length > 0);
    await this.until('the end of the turn', () => this.turnsEnded() === this.turnsStarted().length);
    return inThread();
  }

  turnsStarted(): readonly Extract<Note, { type: 'turn_started' }>[] {
    return this.#notes.filter((note) => note.type === 'turn_started');
  }

  turnsEnded(): number {
    return this.#notes.filter((note) => note.type === 'turn_ended').length;
  }

  /** Throws a `Failure` (`not_seen`) where it does not hold now. */
  expect(holds: boolean, what: string): void {
    if (!holds) throw new Failure('not_seen', `demo: expected that ${what}`);
  }

  /** Throws a `Failure` (`not_seen`) where it does not hold in time. `holds` is asked at every wake. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const patience = { over: false };
    const cancel = this.#clock.wake(later(this.#clock.now(), PATIENCE_MS), () => {
      patience.over = true;
      this.wake();
    });
    try {
      while (!holds()) {
        if (patience.over) throw new Failure('not_seen', `demo: ${what} was not seen within ${PATIENCE_MS / 1000} s`);
        await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
      }
    } finally {
      cancel();
    }
  }

  /** The same of how a start stands. Nothing wakes whoever waits for it: it is looked at again and again. */
  async untilStatus(what: string, holds: (launch: LaunchReport) => boolean): Promise<void> {
    const looking = new AbortController();
    const look = async (): Promise<void> => {
      while (!looking.signal.aborted) {
        await pause(this.#clock, LOOK_EVERY_MS, looking.signal);
        this.wake();
      }
    };
    const looked = look();
    await this.until(what, () => (this.#stage.running.snapshot().launches ?? []).some(holds)).finally(() => { looking.abort(); });
    await looked;
  }

  #receive(event: Event): void {
    if (event.pubkey === this.#stage.courierPubkey) {
      this.parcels.add(event.id);
      this.#timeline.tell('owner', 'receives', { event: event.id, text: event.content });
      this.wake();
    }
    if (event.pubkey !== this.#stage.agentPubkey || this.#seen.has(event.id) || parseCard(event.content).ok) return;
    this.#seen.add(event.id);
    this.answers.push(event);
    const root = event.tags.find((tag) => tag[0] === 'e')?.[1] ?? '';
    this.#timeline.tell('owner', 'receives', { event: event.id, thread: root, text: event.content });
    this.wake();
  }
}
