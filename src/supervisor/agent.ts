/**
 * The driver of one agent: feed → gate → inbox → turn → settle. It holds no decision of its own; it commits what the
 * inbox machine says before it does anything about it, and feeds back what happened, one input at a time.
 *
 * in: feed items, the ends of turns, free slots, the clock. out: turns, notices, notes.
 * Never: acknowledges a feed item whose event is not stored; prompts a batch that is not marked as dispatched.
 */
import PQueue from 'p-queue';
import { unreachable } from '../model/index.ts';
import type { ChannelId } from '../model/index.ts';
import type { AgentOptions, ChangeableOptions } from './agent-options.ts';
import { giveUpNotice } from './answer.ts';
import { Directory } from './directory.ts';
import { Dispatch } from './dispatch.ts';
import type { Batch, Entry } from './inbox/entry.ts';
import { Inbox } from './inbox/inbox.ts';
import type { InboxCommand, InboxInput } from './inbox/machine.ts';
import { storedCounts } from './inbox/rows.ts';
import type { StoredCounts } from './inbox/rows.ts';
import { heldEvents, inboxCounts, oldestWaiting } from './inbox/state.ts';
import { acceptedInput } from './intake.ts';
import type { Considered } from './intake.ts';
import { ModelChoices } from './models.ts';
import { Observation } from './observation.ts';
import { Outage } from './outage.ts';
import { Operator } from './operator/operator.ts';
import { OwnerDesk } from './owner-desk.ts';
import { Permissions } from './permissions.ts';
import { Pool } from './pool.ts';
import { ProviderLimit } from './provider-limit.ts';
import type { HeededTurn } from './provider-limit.ts';
import { Reception } from './reception.ts';
import type { ProviderWord } from './settle.ts';
import { forgetSessions } from './sessions/forget.ts';
import { IdleSessions } from './sessions/idle.ts';
import { SessionMemory } from './sessions/memory.ts';
import { Wishes } from './sessions/wishes.ts';
import type { SlotChange } from './slot.ts';
import type { AgentSnapshot } from './snapshot.ts';
import { snapshotOf } from './snapshot-of.ts';
import { Turns } from './turns.ts';

export class Agent {
  #options: AgentOptions;
  readonly #directory: Directory;
  readonly #permissions: Permissions;
  readonly #pool: Pool;
  /** One input at a time: the inbox is stepped only inside. */
  readonly #mailbox = new PQueue({ concurrency: 1 });
  readonly #running = new Set<Promise<void>>();
  readonly #inbox: Inbox;
  /** Until what the last run left is taken up, the store alone knows what waits. */
  #left: StoredCounts | undefined;
  #ended = { done: 0, dead: 0 };
  readonly #stopping = new AbortController();
  readonly #outage: Outage;
  readonly #limit: ProviderLimit;
  readonly #observation: Observation | undefined;
  readonly #models = new ModelChoices();
  readonly #memory: SessionMemory;
  readonly #idle: IdleSessions;
  readonly #wishes: Wishes;
  readonly #turns: Turns;
  readonly #owner: OwnerDesk;
  readonly #operator: Operator;
  readonly #dispatch: Dispatch;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#directory = new Directory(options.link, options.clock, options.ownAgents);
    const { store, link, clock, gatherMs, tape } = options;
    this.#inbox = new Inbox({ store, link, clock, settings: { gatherMs }, onMoved: (move) => {
      tape?.moved(move);
      this.#pool.hasWork('inbox', !move.isEmpty);
    } });
    const { observation, steadyClock } = options;
    this.#observation = observation && new Observation({ link, clock: steadyClock, ...observation });
    this.#permissions = new Permissions(options, this.#observation);
    this.#pool = new Pool(options, this.#permissions, (change) => { this.#slotChanged(change); }, this.#observation);
    this.#outage = new Outage(this.#pool);
    this.#limit = new ProviderLimit({ store, link, clock });
    this.#wishes = new Wishes(options.log, options.name);
    this.#memory = new SessionMemory({ store, agent: link.pubkey, clock, onFatal: options.onFatal });
    this.#turns = new Turns({
      options: () => this.#options, directory: this.#directory, permissions: this.#permissions, models: this.#models, pool: this.#pool, memory: this.#memory,
      wishes: this.#wishes, ...(this.#observation && { observation: this.#observation }), signal: this.#stopping.signal,
      held: (channelId) => heldEvents(this.#inbox.state, channelId), mailbox: (work) => this.#mailbox.add(work), advance: (inputs) => this.#advance(inputs),
      mayTake: () => this.#dispatch.mayTake(), heed: (provider, turn) => this.#heed(provider, turn), track: (work) => { this.#track(work); },
      onEnding: () => { this.#idle.used(); },
      onEnded: () => {
        this.#tellOutage();
        this.#dispatch.pump();
      },
    });
    this.#idle = new IdleSessions({
      clock: steadyClock, idleMs: options.sessionIdleMs, close: (beforeMs) => this.#pool.closeIdle(beforeMs, [...this.#turns.flights.lanes(), ...this.#owner.heldLanes()]),
    });
    this.#operator = new Operator({
      options: () => this.#options, pool: this.#pool, permissions: this.#permissions, observation: this.#observation, pump: () => { this.#dispatch.pump(); },
      heed: (provider, turn) => this.#mailbox.add(() => this.#heed(provider, turn)),
    });
    this.#dispatch = new Dispatch({
      options: () => this.#options, inbox: this.#inbox, pool: this.#pool, limit: this.#limit, operator: this.#operator, flights: this.#turns.flights, signal: this.#stopping.signal,
      mailbox: (work) => { this.#track(this.#mailbox.add(work)); }, advance: (inputs) => this.#advance(inputs),
    });
    this.#owner = new OwnerDesk({
      options: () => this.#options, pool: this.#pool, permissions: this.#permissions, models: this.#models, memory: this.#memory, turnsIn: (channelId) => this.#turns.flights.in(channelId),
      advance: (inputs) => this.#order(inputs), track: (work) => { this.#track(work); }, used: () => { this.#idle.used(); }, pump: () => { this.#dispatch.pump(); },
    });
  }

  /** Takes up what the last run left, then follows the feed. Returns at once: the relay may be away for hours. */
  open(): void {
    this.#pool.open(this.#options.onFatal);
    this.#options.link.controls((frame) => { this.#owner.order(frame); });
    this.#begin().catch((error: unknown) => {
      if (!this.#isStopping()) this.#options.onFatal(error);
    });
  }

  /** For what comes from now on: a turn under way ends as it was begun. */
  change(changes: ChangeableOptions): void {
    this.#options = { ...this.#options, ...changes };
  }

  /**
   * No new turns; turns under way get `graceMs`, then are cut short and kept for the next start. Ends every process.
   * What waits in the inbox stays there.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    this.#dispatch.close();
    this.#idle.close();
    await Promise.all([this.#turns.flights, this.#operator].map((turns) => turns.drain(this.#options.clock, graceMs)));
    await this.#pool.stop();
    await Promise.all(this.#running);
    await this.#mailbox.onIdle();
    await this.#memory.settled();
  }

  /** Cuts short what is under way and kills every process: nobody waits any more. */
  force(): void {
    this.#turns.flights.cutAllShort();
    this.#operator.cutShort();
    this.#pool.kill();
  }

  snapshot(): AgentSnapshot {
    const inbox = this.#left ?? { ...inboxCounts(this.#inbox.state), ...this.#ended };
    return snapshotOf({ options: this.#options, pool: this.#pool, flights: this.#turns.flights, permissions: this.#permissions, operator: this.#operator, limit: this.#limit, wishes: this.#wishes, inbox });
  }

  async #begin(): Promise<void> {
    const { store, link, log, name } = this.#options;
    this.#left = await storedCounts(store, link.pubkey);
    await this.#limit.load();
    await this.#operator.open();
    const restored = await this.#inbox.left(this.#stopping.signal);
    if (restored === undefined || this.#isStopping()) return;
    const { queued, stranded } = restored;
    if (queued.length + stranded.length > 0) {
      log.info('taking up what the last run left', { agent: name, waiting: queued.length, turns: stranded.length });
    }
    const { done, dead } = await storedCounts(store, link.pubkey);
    this.#ended = { done, dead };
    await this.#mailbox.add(() => this.#advance([restored]));
    this.#left = undefined;
    const reception = new Reception({
      options: () => this.#options, directory: this.#directory, accept: (considered) => this.#accept(considered),
      command: (command, entry) => this.#owner.command(command, entry), leave: (channelId) => this.#leave(channelId),
    });
    link.follow((item) => reception.take(item).catch((error: unknown) => this.#fail(error)));
    this.#dispatch.pump();
  }

  /** On disk when it resolves. What the agent is told there when it comes back is a conversation that begins anew. */
  async #leave(channelId: ChannelId): Promise<void> {
    this.#directory.forgetChannel(channelId);
    await this.#mailbox.add(() => this.#advance([{ type: 'left', channelId }]));
    forgetSessions({ pool: this.#pool, memory: this.#memory, turnsIn: (id) => this.#turns.flights.in(id) }, channelId);
    this.#models.forget(channelId);
    await this.#memory.settled();
  }

  async #accept(considered: Extract<Considered, { readonly is: 'new' }>): Promise<void> {
    await this.#mailbox.add(() => {
      // Received when it is its turn here: entries are in the order of their times, whatever had to be asked for each.
      const { clock, midTurn, gate } = this.#options;
      const entry: Entry = { ...considered.entry, receivedAtMs: clock.now() };
      // Acceptance and, where a slot is free, dispatch share one commit.
      return this.#advance([acceptedInput({ ...considered, entry }, midTurn, gate.owner), ...this.#dispatch.mayTake()]);
    });
    this.#tellOutage();
    this.#dispatch.pump();
  }

  /** An order of the owner's: resolves with how many turns it ends, when that is on disk. */
  async #order(inputs: readonly InboxInput[]): Promise<number> {
    const commands = await this.#mailbox.add(() => this.#advance(inputs));
    return commands.filter(({ type }) => type === 'cut_short').length;
  }

  /** Inside the mailbox: steps through `inputs`, commits every change at once, then performs the rest. */
  async #advance(inputs: readonly InboxInput[]): Promise<readonly InboxCommand[]> {
    const commands = await this.#inbox.advance(inputs);
    for (const command of commands) {
      if (command.type !== 'save') continue;
      if (command.save.change === 'consumed') this.#ended.done += 1;
      else if (command.save.change === 'done' || command.save.change === 'dead') this.#ended[command.save.change] += 1;
    }
    for (const command of commands) this.#perform(command);
    return commands;
  }

  #perform(command: InboxCommand): void {
    switch (command.type) {
      case 'save':
        return;
      case 'dispatch':
      case 'cut_short':
      case 'interrupt':
      case 'offer':
      case 'steer':
        return this.#turns.perform(command);
      case 'give_up':
        return this.#tellGivenUp(command.batch, command.reason);
      default:
        return unreachable(command);
    }
  }

  /** On disk before any other turn begins. */
  async #heed(provider: ProviderWord, { turnId, beganAt, entry }: HeededTurn): Promise<void> {
    const { observe, name: agent, link, random, clock } = this.#options;
    const notice = await this.#limit.met(provider.is === 'well'
      ? { type: 'worked', beganAt }
      : { type: 'limited', beganAt, jitter: random.fraction(), ...(provider.retryAfterMs !== undefined && { retryAfterMs: provider.retryAfterMs }) }, entry);
    const held = this.#limit.held;
    if (provider.is === 'limit' && held !== undefined) observe({ type: 'limited', agent, turnId, times: held.times, retryInMs: Math.max(0, held.untilMs - clock.now()) });
    if (notice !== undefined && !this.#isStopping()) this.#track(link.say(notice));
  }

  #slotChanged({ type }: SlotChange): void {
    switch (type) {
      case 'started':
      case 'proven':
        return this.#dispatch.pump();
      case 'broken':
        return this.#tellOutage();
      case 'recovered':
        return this.#outage.recovered();
      case 'ended':
      case 'failed':
        return;
      default:
        return unreachable(type);
    }
  }

  #tellGivenUp(batch: Batch, reason: string): void {
    const { observe, name: agent, link } = this.#options;
    observe({ type: 'gave_up', agent, turnId: batch.turnId, eventIds: batch.entries.map((entry) => entry.eventId), reason });
    this.#track(link.say(giveUpNotice(batch, reason)));
  }

  #tellOutage(): void {
    const notice = this.#isStopping() ? undefined : this.#outage.notice(oldestWaiting(this.#inbox.state));
    if (notice !== undefined) this.#track(this.#options.link.say(notice));
  }

  /** Asked through a method, because it changes while something is awaited. */
  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** The feed must not forget what could not be stored: it stops here, and the supervisor with it. */
  #fail(error: unknown): never {
    this.#options.onFatal(error);
    throw error;
  }

  /** Everything that goes on beside the mailbox ends before `stop` does. A rejection is a bug or a dead disk: loud. */
  #track(work: Promise<unknown>): void {
    const tracked = work.then(() => undefined, (error: unknown) => { this.#options.onFatal(error); });
    this.#running.add(tracked);
    void tracked.finally(() => this.#running.delete(tracked));
  }
}
