/**
 * Gives messages to turns under way, as the inbox machine says (`mid-turn.ts`). It decides nothing: it finds out whether
 * a turn can be given more, has the message committed to it, writes it, and feeds back what came of it.
 *
 * Never: writes a message that is not on disk as one of the turn; lets a turn end while it is not known what came of one.
 */
import { compileSteer } from '../../../compiler/index.ts';
import type { SteerOutcome } from '../../acp/index.ts';
import { unreachable } from '../../model/index.ts';
import type { AgentOptions } from '../agent-options.ts';
import type { Directory } from '../directory.ts';
import type { Flight } from '../flight.ts';
import type { Entry } from '../inbox/entry.ts';
import type { InboxCommand, InboxInput } from '../inbox/machine.ts';
import type { SteerAnswer } from '../inbox/step.ts';
import { peopleIn, turnInput } from '../turn-input.ts';
import type { PreparedSteer } from './turn-steers.ts';

export interface SteeringDoors {
  readonly options: () => Pick<AgentOptions, 'link' | 'observe' | 'name' | 'log'>;
  readonly directory: Directory;
  readonly flight: (turnId: string) => Flight | undefined;
  /** One piece of work after another with everything that steps the inbox. */
  readonly mailbox: <T>(work: () => Promise<T>) => Promise<T>;
  /** Inside the mailbox: steps the inbox, commits, performs. */
  readonly advance: (inputs: readonly InboxInput[]) => Promise<readonly InboxCommand[]>;
  /** Sees to it that the agent's end waits for this, and that its failure is loud. */
  readonly track: (work: Promise<unknown>) => void;
}

export class Steering {
  readonly #doors: SteeringDoors;

  constructor(doors: SteeringDoors) {
    this.#doors = doors;
  }

  offer(turnId: string, entry: Entry): void {
    this.#doors.track(this.#offer(turnId, entry));
  }

  /** The message is of the turn. Called at once when that is on disk; the turn is being held. */
  give(turnId: string, { eventId }: Entry): void {
    const flight = this.#doors.flight(turnId);
    const prepared = flight?.steers.prepared(eventId);
    if (flight === undefined || prepared === undefined) throw new TypeError('steering: a message was to be given that was not offered');
    this.#doors.track(this.#give(flight, prepared));
  }

  async #offer(turnId: string, entry: Entry): Promise<void> {
    const { flight: find, mailbox, advance } = this.#doors;
    const flight = find(turnId);
    const ready = flight === undefined ? 'passed' : await this.#prepare(flight, entry);
    await mailbox(async () => {
      const { eventId } = entry;
      const steers = flight?.steers;
      if (typeof ready === 'string' || steers === undefined || steers.isOver) {
        await advance([{ type: 'steered', turnId, eventId, answer: ready === 'refused' ? 'refused' : 'passed' }]);
        return;
      }
      steers.prepare(ready);
      const { release } = steers.hold();
      this.#releases.set(eventId, release);
      let isGiven = false;
      try {
        const commands = await advance([{ type: 'steering', turnId, eventId, published: ready.published }]);
        isGiven = commands.some(({ type }) => type === 'steer');
      } finally {
        if (!isGiven) this.#release(eventId);
      }
    });
  }

  readonly #releases = new Map<Entry['eventId'], () => void>();

  #release(eventId: Entry['eventId']): void {
    this.#releases.get(eventId)?.();
    this.#releases.delete(eventId);
  }

  /** Everything that takes time, before the message is of the turn. */
  async #prepare(flight: Flight, entry: Entry): Promise<PreparedSteer | 'refused' | 'passed'> {
    const { options, directory } = this.#doors;
    const { link } = options();
    const { batch, life, steers } = flight;
    if (!(await steers.begun)) return 'passed';
    if (!life.process.canSteer(flight.sessionId)) return 'refused';
    const [{ facts: channel }, { facts: profiles }] = await Promise.all([
      directory.channel(batch.channelId), directory.profiles([...peopleIn([entry], undefined), link.pubkey]),
    ]);
    // Last of all: what is published until then, or on its way to the relay, answers the turn, and must not be taken for an answer to this.
    const { events, undecided } = await link.publishedIn(batch);
    if (undecided) return 'passed';
    const single = { turnId: batch.turnId, lane: batch.lane, channelId: batch.channelId, entries: [entry] } as const;
    const input = turnInput(single, { channel, history: undefined, historyDelivered: true, profiles }, {}, 'sent');
    return { entry, input, compiled: compileSteer(input), published: events.length };
  }

  async #give(flight: Flight, prepared: PreparedSteer): Promise<void> {
    try {
      await this.#given(flight, prepared);
    } finally {
      // Also where the disk took no more: a turn that waited for ever would keep the supervisor from its end.
      this.#release(prepared.entry.eventId);
    }
  }

  async #given(flight: Flight, prepared: PreparedSteer): Promise<void> {
    const { options, mailbox, advance } = this.#doors;
    const { batch: { turnId }, life, steers } = flight;
    const { eventId } = prepared.entry;
    const outcome = await life.process.steer(flight.sessionId, prepared.compiled.text);
    const answer = answerOf(outcome);
    if (outcome.status === 'injected') steers.take(prepared, outcome.textFrom);
    if (answer === 'unanswered') steers.doubt(prepared);
    const { observe, name: agent, log } = options();
    observe({ type: 'steered', agent, turnId, eventId, outcome: outcome.status });
    if (outcome.status === 'refused') log.debug('an agent will not have a message for a turn under way', { agent, turnId, detail: outcome.detail });
    await mailbox(() => advance([{ type: 'steered', turnId, eventId, answer }]));
  }
}

function answerOf({ status }: SteerOutcome): SteerAnswer {
  switch (status) {
    case 'injected':
    case 'refused':
    case 'unanswered':
      return status;
    case 'prompt_required':
      return 'passed';
    case 'new_turn':
      // It has read it, and works at it where nobody listens: the process goes, with its credential.
      return 'unanswered';
    default:
      return unreachable(status);
  }
}
