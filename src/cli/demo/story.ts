/**
 * The six things the demo shows, each asked for by a client and seen by a client; what is not seen, the witness says.
 */
import { hash } from 'node:crypto';
import type { Event } from 'nostr-tools/pure';
import type { Clock } from '../../model/index.ts';
import type { Note } from '../../supervisor/index.ts';
import { OwnerDesk } from './owner-desk.ts';
import type { ShownCard } from './owner-desk.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';
import { Witness } from './witness.ts';

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
  readonly #witness: Witness;

  constructor(stage: Stage, timeline: Timeline, clock: Clock, notes: readonly Note[]) {
    this.#stage = stage;
    this.#timeline = timeline;
    this.#clock = clock;
    this.#witness = new Witness(stage, timeline, clock, notes);
  }

  /** Something happened: whoever waits looks again. */
  wake(): void {
    this.#witness.wake();
  }

  async tell(): Promise<void> {
    await this.#witness.begin();
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
    const question = await this.#witness.say(this.#stage.owner, 'Good morning, helper.');
    const [answer] = await this.#witness.answersTo([question]);
    const link = answer?.tags.find((tag) => tag[0] === 'e');
    this.#witness.expect(link?.[1] === question.id && link[3] === 'reply', 'the answer is in the thread of the question');
    this.#timeline.seen(1, 'answered in the thread, with a good signature of the agent’s key, which only the broker holds');
    return question;
  }

  async #threeBecomeOne(root: Event): Promise<void> {
    this.#timeline.heading(2, 'Quick messages become one turn; someone else between splits it');
    const before = this.#witness.turnsStarted().length;
    const three = [];
    for (const text of ['One thing.', 'And another.', 'That is all.']) three.push(await this.#witness.say(this.#stage.owner, text, root));
    await this.#witness.answersTo(three);
    const turns = this.#witness.turnsStarted().slice(before);
    this.#witness.expect(turns.length === 1 && turns[0]?.eventIds.length === 3, 'three quick messages are one turn');
    this.#timeline.seen(2, 'three messages, one turn, one answer');
  }

  async #someoneBetween(root: Event): Promise<void> {
    const before = this.#witness.turnsStarted().length;
    const { owner, guest } = this.#stage;
    const first = await this.#witness.say(owner, 'Count the drones.', root);
    const other = await this.#witness.say(guest, 'I have a question too.', root);
    const last = await this.#witness.say(owner, 'And the workers.', root);
    await this.#witness.until('three answers', () => this.#witness.turnsStarted().length - before === 3 && this.#witness.turnsEnded() >= before + 3);
    const order = this.#witness.turnsStarted().slice(before).map((turn) => turn.eventIds);
    this.#witness.expect(JSON.stringify(order) === JSON.stringify([[first.id], [other.id], [last.id]]), 'three turns, in order');
    await this.#witness.until('the third answer', () => this.#witness.answers.length === 1 + 1 + 3);
    this.#timeline.seen(2, 'the guest’s message between them makes three turns, answered in order');
  }

  async #killedInMidTurn(): Promise<void> {
    this.#timeline.heading(3, 'The agent’s process is killed in mid-turn; the message is still answered, once');
    const before = this.#witness.turnsStarted().length;
    const question = await this.#witness.say(this.#stage.owner, 'A long task: count the bees.');
    await this.#witness.until('the turn', () => this.#witness.turnsStarted().length > before);
    const pid = this.#witness.turnsStarted().at(-1)?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    this.#timeline.tell('demo', 'kills', { pid, signal: 'SIGKILL' });
    await this.#witness.answersTo([question]);
    const again = this.#witness.turnsStarted().at(-1);
    this.#witness.expect(again?.interrupted === true && again.pid !== pid, 'a new process got the interrupted turn');
    this.#timeline.seen(3, `a new process (pid ${again?.pid ?? 0}) was told that it had been interrupted, and answered`);
  }

  /** Six answers in all, and none more, whatever was killed and retried: the relay itself is asked. */
  async #nothingTwice(): Promise<void> {
    const { owner, channelId, agentPubkey, running } = this.#stage;
    const stored = new Set<string>();
    await owner.history(channelId, (event) => { if (event.pubkey === agentPubkey) stored.add(event.id); });
    this.#witness.expect(stored.size === 6, `the relay holds six answers, found ${stored.size}`);
    const inbox = running.snapshot().agents[0]?.inbox;
    this.#witness.expect(inbox?.done === 8 && inbox.queued + inbox.dispatched + inbox.dead === 0, 'all eight messages are done');
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
    await this.#witness.until('the message', () => this.#witness.parcels.size > 0);
    await first.kill();
    const before = await asked;
    this.#timeline.tell('demo', 'kills', { pid: first.pid, signal: 'SIGKILL', answered: before.type === 'verdict' });
    const second = await this.#stage.startCourier();
    this.#timeline.tell('courier', 'asks again', { request: 'demo-1', pid: second.pid });
    const after = await second.send(request);
    const [parcel] = this.#witness.parcels;
    this.#witness.expect(
      after.type === 'verdict' && after.status === 'succeeded' && after.eventId === parcel,
      'the retry is told of the message that was sent before the kill',
    );
    const stored = new Set<string>();
    await owner.history(channelId, (event) => { if (event.pubkey === courierPubkey) stored.add(event.id); });
    this.#witness.expect(stored.size === 1, `the relay holds one message of the courier, found ${stored.size}`);
    this.#timeline.seen(4, 'the next broker told the retry of that very message, and the relay holds one');
  }

  /** NIP-AO "Permission Sentinel Cards": yes, no, and no word in time. */
  async #ownerIsAsked(): Promise<void> {
    const { owner, channelId, agentPubkey: agent } = this.#stage;
    this.#timeline.heading(5, 'The owner is asked before a tool goes on: they allow it, deny it, and say nothing');
    const desk = new OwnerDesk(owner, { agent, channelId }, () => { this.wake(); });
    for (const one of ASKED) {
      const before = desk.cards.length;
      const question = await this.#witness.say(owner, one.asks);
      await this.#witness.until('a card', () => desk.cards.length > before);
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
    const answer = (): Event | undefined => this.#witness.answers.find(({ tags }) => tags.some((tag) => tag[0] === 'e' && tag[1] === question.id));
    await this.#witness.until('an answer', () => answer() !== undefined);
    await this.#witness.until('the end of the card', () => desk.editOf(shown) !== undefined);
    const found = desk.editOf(shown)?.card.outcome ?? '';
    this.#timeline.tell('owner', 'sees the card end', { card, outcome: found });
    this.#witness.expect(found === outcome && answer()?.content === says, `the card ends as ${outcome} and the agent says “${says}”`);
    this.#timeline.seen(5, told);
  }

  /** NIP-AP "Launch composition": a version takes effect at the next start, and a running agent is unchanged. */
  async #ownerSaysAnother(): Promise<void> {
    this.#timeline.heading(6, 'The owner saves new instructions: a running agent keeps the old, the next start has the new');
    const [first, second] = ['Keep the garden.', 'Keep the garden, and mind the bees.'];
    const savedAtSec = await this.#saved(first, 0);
    await this.#restarted(first);
    await this.#saved(second, savedAtSec);
    await this.#witness.untilStatus('what a restart would change', ({ current, drift }) => drift.includes('instructions') && current?.own.sha256 === sha256(second));
    await this.#isTold(first);
    this.#timeline.seen(6, `it keeps what it was started with: sha256 ${sha256(first).slice(0, 12)}, where ${sha256(second).slice(0, 12)} is current`);
    await this.#restarted(second);
    await this.#witness.untilStatus('the records', ({ pendingRecords }) => pendingRecords === 0);
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
    await this.#witness.untilStatus('the version', ({ current }) => current?.own.sha256 === sha256(text));
    this.#timeline.tell('demo', 'restarts', { agent: 'helper' });
    const restarted = await this.#stage.running.restart('helper');
    this.#witness.expect(restarted.ok, 'the agent can be started with what its owner says');
    await this.#witness.untilStatus('the start', ({ pinned }) => pinned?.own.sha256 === sha256(text));
    await this.#isTold(text);
  }

  async #isTold(text: string): Promise<void> {
    const question = await this.#witness.say(this.#stage.owner, `What are you told? (${this.#witness.answers.length})`);
    const [answer] = await this.#witness.answersTo([question]);
    this.#witness.expect(answer?.content === `I am told: ${text}`, `the agent is told “${text}”`);
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
