/**
 * The turns under way of one agent, from the batch that the inbox hands out to the end that it is told: each in the
 * process it was given, steered and cut short as the inbox says.
 */
import { unreachable } from '../model/index.ts';
import type { ChannelId, EventId } from '../model/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Directory } from './directory.ts';
import { Flight } from './flight.ts';
import { Flights } from './flights.ts';
import type { Batch } from './inbox/entry.ts';
import type { InboxCommand, InboxInput } from './inbox/machine.ts';
import type { ModelChoices } from './models.ts';
import type { Observation } from './observation.ts';
import type { Permissions } from './permissions.ts';
import type { Pool } from './pool.ts';
import type { HeededTurn } from './provider-limit.ts';
import type { SessionMemory } from './sessions/memory.ts';
import type { Wishes } from './sessions/wishes.ts';
import { NOT_BEGUN } from './settle.ts';
import type { ProviderWord } from './settle.ts';
import { Steering } from './steering/steering.ts';
import type { SteeringDoors } from './steering/steering.ts';
import { runTurn } from './turn.ts';
import type { TurnReport } from './turn.ts';

export interface TurnDoors extends Pick<SteeringDoors, 'mailbox' | 'advance' | 'track'> {
  readonly options: () => AgentOptions;
  readonly directory: Directory;
  readonly permissions: Permissions;
  readonly models: ModelChoices;
  readonly pool: Pool;
  readonly memory: SessionMemory;
  readonly wishes: Wishes;
  readonly observation?: Observation;
  /** Aborts when the supervisor stops. */
  readonly signal: AbortSignal;
  readonly held: (channelId: ChannelId) => ReadonlySet<EventId>;
  /** Inputs that hand out the next turn, where a process is free. */
  readonly mayTake: () => readonly InboxInput[];
  /** What a turn has shown of the provider of the agent's model, before any other begins. */
  readonly heed: (provider: ProviderWord, turn: HeededTurn) => Promise<void>;
  /** A turn is over, and its process about to be free. */
  readonly onEnding: () => void;
  /** A turn has ended, and its process is free. */
  readonly onEnded: () => void;
}

export type TurnCommand = Extract<InboxCommand, { readonly type: 'dispatch' | 'cut_short' | 'interrupt' | 'offer' | 'steer' }>;

export class Turns {
  readonly flights = new Flights();
  readonly #doors: TurnDoors;
  readonly #steering: Steering;

  constructor(doors: TurnDoors) {
    this.#doors = doors;
    this.#steering = new Steering({ ...doors, flight: (turnId) => this.flights.find(turnId) });
  }

  perform(command: TurnCommand): void {
    switch (command.type) {
      case 'dispatch':
        return this.#dispatch(command.batch);
      case 'cut_short':
        return this.flights.find(command.turnId)?.cutShort(command.gently ? 'dropped' : 'again');
      case 'interrupt':
        return this.flights.find(command.turnId)?.cutShort('merged');
      case 'offer':
        return this.#steering.offer(command.turnId, command.entry);
      case 'steer':
        return this.#steering.give(command.turnId, command.entry);
      default:
        return unreachable(command);
    }
  }

  #dispatch(batch: Batch): void {
    const { options: current, directory, permissions, models, pool, memory, wishes, observation, signal, held } = this.#doors;
    const options = current();
    const free = pool.idleFor(batch.lane);
    // The process can end while the dispatch is committed: the turn goes back as if it had not been taken.
    if (free === undefined) return this.#return(batch);
    const flight = new Flight(batch, free.slot, free.life, options.clock.now());
    flight.life.take(batch.turnId);
    const watch = observation?.begin(free.index, batch);
    const turn = runTurn({
      options, directory, permissions, flight, models, memory, held: () => held(batch.channelId), signal, isOpen: (sessionId) => pool.hasSession(sessionId),
      onOpened: (refused) => { wishes.opened(refused); }, ...(watch && { watch }),
    });
    const landed = (watch?.through(turn) ?? turn).then((report) => this.#settle(flight, report)).catch((error: unknown) => { options.onFatal(error); })
      .finally(() => {
        this.flights.remove(batch.turnId);
        flight.life.release(batch.turnId);
      });
    this.flights.add(flight, landed);
  }

  #return({ turnId }: Batch): void {
    const { track, mailbox, advance } = this.#doors;
    track(mailbox(() => advance([{ type: 'finished', turnId, ending: NOT_BEGUN, jitter: 0 }])));
  }

  async #settle(flight: Flight, { ending, apart, outcome, published, reason, provider }: TurnReport): Promise<void> {
    const { options, mailbox, advance, mayTake, heed, onEnding, onEnded } = this.#doors;
    const { random, observe, name: agent, clock } = options();
    const { turnId } = flight.batch;
    onEnding();
    await flight.steers.over();
    await mailbox(async () => {
      this.flights.remove(turnId);
      flight.life.release(turnId);
      if (provider !== undefined) await heed(provider, { turnId, beganAt: flight.startedAtMs, entry: flight.batch.entries[0] });
      // Without an ending nobody knows yet whether it was answered: it stays dispatched, for the next start to find out.
      if (ending === undefined) return;
      await advance([{ type: 'finished', turnId, ending, jitter: random.fraction(), ...(apart && { apart }) }, ...mayTake()]);
    });
    observe({ type: 'turn_ended', agent, turnId, outcome, ...(reason !== undefined && { reason }), published, tookMs: clock.now() - flight.startedAtMs });
    onEnded();
  }
}
