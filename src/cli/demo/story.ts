/**
 * The six things the demo shows, each asked for by a client and seen by a client. A step that is not seen in time
 * ends the demo with the code `not_seen`.
 */
import { hash } from 'node:crypto';
import type { Event } from 'nostr-tools/pure';
import { parseCard } from '../../cards/index.ts';
import type { LaunchReport } from '../../control/index.ts';
import { Failure, later, pause } from '../../model/index.ts';
import type { Clock } from '../../model/index.ts';
import type { Note } from '../../supervisor/index.ts';
import type { Client } from './client.ts';
import { OwnerDesk } from './owner-desk.ts';
import type { ShownCard } from './owner-desk.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

/** A step waits this long for what it wants to see; a retry after a crash waits about six seconds by itself. */
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 50;

interface Asked {
  /** Each its own: the same words in the same second would be one event. */
  readonly asks: string;
  /** Absent: the owner says nothing. */
  readonly choice?: 'allow' | 'deny';
  readonly outcome: string;
  readonly says: string;
  readonly told: string;
}

const ASKED: readonly Asked[] = [
  { asks: 'Please sweep the path.', choice: 'allow', outcome: 'applied', says: 'Swept.', told: 'allowed by the owner’s key, the tool went on, and the card says so' },
  { asks: 'Please sweep the yard.', choice: 'deny', outcome: 'applied', says: 'Then I leave it as it is.', told: 'denied, and the agent went on without it' },
  { asks: 'Please sweep the garden.', outcome: 'timed_out', says: 'Then I leave it as it is.', told: 'left alone, it was denied in time: nothing is ever allowed by silence' },
];

export class Story {
  readonly #stage: Stage;
  readonly #timeline: Timeline;
  readonly #clock: Clock;
  readonly #answers: Event[] = [];
  readonly #seen = new Set<string>();
  readonly #parcels = new Set<string>();
  #waiting: (() => void)[] = [];
  readonly #turns: readonly Note[];

  constructor(stage: Stage, timeline: Timeline, clock: Clock, notes: readonly Note[]) {
    this.#stage = stage;
    this.#timeline = timeline;
    this.#clock = clock;
    this.#turns = notes;
  }

  /** Something happened: whoever waits looks again. */
  wake(): void {
    for (const look of this.#waiting.splice(0)) look();
  }

  async tell(): Promise<void> {
    await this.#until('the agent', () => this.#turns.some(({ type }) => type === 'process_started'));
    this.#stage.owner.listen(this.#stage.channelId, (event) => { this.#receive(event); });
    const root = await this.#mention();
    await this.#threeBecomeOne(root);
    await this.#someoneBetween(root);
    await this.#killedInMidTurn();
    await this.#nothingTwice();
    await this.#killedBetween();
    await this.#ownerIsAsked();
    await this.#ownerSaysAnother();
  }

  async #mention(): Promise<Event> {
    this.#timeline.heading(1, 'A mention is answered in its thread');
    const question = await this.#say(this.#stage.owner, 'Good morning, helper.');
    const [answer] = await this.#answersTo([question]);
    const link = answer?.tags.find((tag) => tag[0] === 'e');
    this.#expect(link?.[1] === question.id && link[3] === 'reply', 'the answer is in the thread of the question');
    this.#timeline.seen(1, 'answered in the thread, with a good signature of the agent’s key, which only the broker holds');
    return question;
  }

  async #threeBecomeOne(root: Event): Promise<void> {
    this.#timeline.heading(2, 'Quick messages become one turn; someone else between splits it');
    const before = this.#turnsStarted().length;
    const three = [];
    for (const text of ['One thing.', 'And another.', 'That is all.']) three.push(await this.#say(this.#stage.owner, text, root));
    await this.#answersTo(three);
    const turns = this.#turnsStarted().slice(before);
    this.#expect(turns.length === 1 && turns[0]?.eventIds.length === 3, 'three quick messages are one turn');
    this.#timeline.seen(2, 'three messages, one turn, one answer');
  }

  async #someoneBetween(root: Event): Promise<void> {
    const before = this.#turnsStarted().length;
    const { owner, guest } = this.#stage;
    const first = await this.#say(owner, 'Count the drones.', root);
    const other = await this.#say(guest, 'I have a question too.', root);
    const last = await this.#say(owner, 'And the workers.', root);
    await this.#until('three answers', () => this.#turnsStarted().length - before === 3 && this.#turnsEnded() >= before + 3);
    const order = this.#turnsStarted().slice(before).map((turn) => turn.eventIds);
    this.#expect(JSON.stringify(order) === JSON.stringify([[first.id], [other.id], [last.id]]), 'three turns, in order');
    await this.#until('the third answer', () => this.#answers.length === 1 + 1 + 3);
    this.#timeline.seen(2, 'the guest’s message between them makes three turns, answered in order');
  }

  async #killedInMidTurn(): Promise<void> {
    this.#timeline.heading(3, 'The agent’s process is killed in mid-turn; the message is still answered, once');
    const before = this.#turnsStarted().length;
    const question = await this.#say(this.#stage.owner, 'A long task: count the bees.');
    await this.#until('the turn', () => this.#turnsStarted().length > before);
    const pid = this.#turnsStarted().at(-1)?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    this.#timeline.tell('demo', 'kills', { pid, signal: 'SIGKILL' });
    await this.#answersTo([question]);
    const again = this.#turnsStarted().at(-1);
    this.#expect(again?.interrupted === true && again.pid !== pid, 'a new process got the interrupted turn');
    this.#timeline.seen(3, `a new process (pid ${again?.pid ?? 0}) was told that it had been interrupted, and answered`);
  }

  /** Six answers in all, and none more, whatever was killed and retried: the relay itself is asked. */
  async #nothingTwice(): Promise<void> {
    const { owner, channelId, agentPubkey, running } = this.#stage;
    const stored = new Set<string>();
    await owner.history(channelId, (event) => { if (event.pubkey === agentPubkey) stored.add(event.id); });
    this.#expect(stored.size === 6, `the relay holds six answers, found ${stored.size}`);
    const inbox = running.snapshot().agents[0]?.inbox;
    this.#expect(inbox?.done === 8 && inbox.queued + inbox.dispatched + inbox.dead === 0, 'all eight messages are done');
    this.#timeline.seen(3, 'the relay holds six answers to eight messages in six turns: none lost, none twice');
  }

  /** NIP-BA: one request id is one operation, whatever dies between the request and its retry. */
  async #killedBetween(): Promise<void> {
    const { channelId, owner, courierPubkey } = this.#stage;
    this.#timeline.heading(4, 'The same request is sent twice, its broker killed between; the relay has one message');
    const request = JSON.stringify({
      type: 'broker_request', protocolVersion: 1, requestId: 'demo-1', actionVersion: 1, action: 'message.post',
      args: { channelId, content: 'A parcel for the garden.' },
    });
    const first = await this.#stage.startCourier();
    this.#timeline.tell('courier', 'asks for a post', { request: 'demo-1', pid: first.pid });
    const asked = first.send(request);
    await this.#until('the message', () => this.#parcels.size > 0);
    await first.kill();
    const before = await asked;
    this.#timeline.tell('demo', 'kills', { pid: first.pid, signal: 'SIGKILL', answered: before.type === 'verdict' });
    const second = await this.#stage.startCourier();
    this.#timeline.tell('courier', 'asks again', { request: 'demo-1', pid: second.pid });
    const after = await second.send(request);
    const [parcel] = this.#parcels;
    this.#expect(
      after.type === 'verdict' && after.status === 'succeeded' && after.eventId === parcel,
      'the retry is told of the message that was sent before the kill',
    );
    const stored = new Set<string>();
    await owner.history(channelId, (event) => { if (event.pubkey === courierPubkey) stored.add(event.id); });
    this.#expect(stored.size === 1, `the relay holds one message of the courier, found ${stored.size}`);
    this.#timeline.seen(4, 'the next broker told the retry of that very message, and the relay holds one');
  }

  /** NIP-AO "Permission Sentinel Cards": yes, no, and no word in time. */
  async #ownerIsAsked(): Promise<void> {
    const { owner, channelId, agentPubkey: agent } = this.#stage;
    this.#timeline.heading(5, 'The owner is asked before a tool goes on: they allow it, deny it, and say nothing');
    const desk = new OwnerDesk(owner, { agent, channelId }, () => { this.wake(); });
    for (const one of ASKED) {
      const before = desk.cards.length;
      const question = await this.#say(owner, one.asks);
      await this.#until('a card', () => desk.cards.length > before);
      for (const shown of desk.cards.slice(before)) await this.#decided(desk, shown, question, one);
    }
  }

  async #decided(desk: OwnerDesk, shown: ShownCard, question: Event, { choice, outcome, says, told }: Asked): Promise<void> {
    const { event: { id: card }, card: { description } } = shown;
    this.#timeline.tell('owner', 'is asked', { card, text: description ?? '' });
    if (choice !== undefined) {
      await desk.decide(shown, choice);
      this.#timeline.tell('owner', choice === 'allow' ? 'allows it' : 'denies it', { card });
    }
    const answer = (): Event | undefined => this.#answers.find(({ tags }) => tags.some((tag) => tag[0] === 'e' && tag[1] === question.id));
    await this.#until('an answer', () => answer() !== undefined);
    await this.#until('the end of the card', () => desk.editOf(shown) !== undefined);
    const found = desk.editOf(shown)?.card.outcome ?? '';
    this.#timeline.tell('owner', 'sees the card end', { card, outcome: found });
    this.#expect(found === outcome && answer()?.content === says, `the card ends as ${outcome} and the agent says “${says}”`);
    this.#timeline.seen(5, told);
  }

  /** NIP-AP "Launch composition": a version takes effect at the next start, and a running agent is unchanged. */
  async #ownerSaysAnother(): Promise<void> {
    this.#timeline.heading(6, 'The owner saves new instructions: a running agent keeps the old, the next start has the new');
    const [first, second] = ['Keep the garden.', 'Keep the garden, and mind the bees.'];
    const savedAtSec = await this.#saved(first, 0);
    await this.#restarted(first);
    await this.#saved(second, savedAtSec);
    await this.#untilStatus('what a restart would change', ({ current, drift }) => drift.includes('instructions') && current?.own.sha256 === sha256(second));
    await this.#isTold(first);
    this.#timeline.seen(6, `it keeps what it was started with: sha256 ${sha256(first).slice(0, 12)}, where ${sha256(second).slice(0, 12)} is current`);
    await this.#restarted(second);
    await this.#untilStatus('the records', ({ pendingRecords }) => pendingRecords === 0);
    this.#timeline.seen(6, `started again, it is told what its owner says now: sha256 ${sha256(second).slice(0, 12)}; each start is recorded, for its owner alone`);
  }

  /** A version, sealed by the owner to themselves (kind 44300): behind the one before. */
  async #saved(text: string, beforeSec: number): Promise<number> {
    const { owner, agentPubkey } = this.#stage;
    const createdAtSec = Math.max(Math.floor(this.#clock.now() / 1_000), beforeSec + 1);
    const { id } = await owner.publish(44_300, { content: owner.seal(owner.pubkey, `v1:${text}`), tags: [['p', agentPubkey]], createdAtSec });
    this.#timeline.tell('owner', 'saves', { version: id, sha256: sha256(text), text });
    return createdAtSec;
  }

  async #restarted(text: string): Promise<void> {
    await this.#untilStatus('the version', ({ current }) => current?.own.sha256 === sha256(text));
    this.#timeline.tell('demo', 'restarts', { agent: 'helper' });
    const restarted = await this.#stage.running.restart('helper');
    this.#expect(restarted.ok, 'the agent can be started with what its owner says');
    await this.#untilStatus('the start', ({ pinned }) => pinned?.own.sha256 === sha256(text));
    await this.#isTold(text);
  }

  async #isTold(text: string): Promise<void> {
    const question = await this.#say(this.#stage.owner, `What are you told? (${this.#answers.length})`);
    const [answer] = await this.#answersTo([question]);
    this.#expect(answer?.content === `I am told: ${text}`, `the agent is told “${text}”`);
  }

  /** Nothing wakes whoever waits for it: it is looked at again and again. */
  async #untilStatus(what: string, holds: (launch: LaunchReport) => boolean): Promise<void> {
    const looking = new AbortController();
    const look = async (): Promise<void> => {
      while (!looking.signal.aborted) {
        await pause(this.#clock, LOOK_EVERY_MS, looking.signal);
        this.wake();
      }
    };
    const looked = look();
    await this.#until(what, () => (this.#stage.running.snapshot().launches ?? []).some(holds)).finally(() => { looking.abort(); });
    await looked;
  }

  async #say(who: Client, text: string, root?: Event): Promise<Event> {
    const { channelId, agentPubkey } = this.#stage;
    const thread = root === undefined ? [] : [['e', root.id, '', 'reply']];
    const event = await who.publish(9, { content: text, tags: [['h', channelId], ...thread, ['p', agentPubkey]] });
    this.#timeline.tell(who.name, 'says', { event: event.id, text });
    return event;
  }

  #receive(event: Event): void {
    if (event.pubkey === this.#stage.courierPubkey) {
      this.#parcels.add(event.id);
      this.#timeline.tell('owner', 'receives', { event: event.id, text: event.content });
      this.wake();
    }
    if (event.pubkey !== this.#stage.agentPubkey || this.#seen.has(event.id) || parseCard(event.content).ok) return;
    this.#seen.add(event.id);
    this.#answers.push(event);
    const root = event.tags.find((tag) => tag[0] === 'e')?.[1] ?? '';
    this.#timeline.tell('owner', 'receives', { event: event.id, thread: root, text: event.content });
    this.wake();
  }

  /** Waits for the first answer in the thread of these messages that came after now. */
  async #answersTo(questions: readonly Event[]): Promise<readonly Event[]> {
    const before = this.#answers.length;
    const threads = new Set(questions.map((question) => question.tags.find((tag) => tag[0] === 'e')?.[1] ?? question.id));
    const inThread = (): readonly Event[] =>
      this.#answers.slice(before).filter((answer) => answer.tags.some((tag) => tag[0] === 'e' && threads.has(tag[1] ?? '')));
    await this.#until('an answer', () => inThread().length > 0);
    await this.#until('the end of the turn', () => this.#turnsEnded() === this.#turnsStarted().length);
    return inThread();
  }

  #turnsStarted(): readonly Extract<Note, { type: 'turn_started' }>[] {
    return this.#turns.filter((note) => note.type === 'turn_started');
  }

  #turnsEnded(): number {
    return this.#turns.filter((note) => note.type === 'turn_ended').length;
  }

  #expect(holds: boolean, what: string): void {
    if (!holds) throw new Failure('not_seen', `demo: expected that ${what}`);
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
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
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
