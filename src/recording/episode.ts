/**
 * One stretch of an agent's stream: from an empty inbox until it is empty again, as the steps that replay it and what
 * was seen of each. Turns are taken by explicit `take` steps, and what the gate was told stands in each arrival, so that
 * the replay needs nothing that came before.
 * in: arrivals and inbox moves, as they happened. out: steps and sightings of a stream fixture, times from its beginning.
 */
import { unreachable } from '../model/index.ts';
import type { EventId, Milliseconds } from '../model/index.ts';
import { sightingsOf } from '../replay/index.ts';
import type { Sighting, StreamStep } from '../replay/index.ts';
import { entriesOf } from '../supervisor/index.ts';
import type { Arrival, InboxMove } from '../supervisor/index.ts';

/**
 * What makes an episode too long to be kept: whichever comes first. It is written as far as it goes. Checking one of
 * this many steps is a fraction of a second of work, taken in pieces.
 */
export const MAX_STEPS = 256;
export const MAX_LENGTH_MS = 3_600_000;
/** Characters of the events in it; a fixture's file may have 16 MB. */
const MAX_CHARACTERS = 4_000_000;
/** Refused arrivals of one episode; a busy channel has any number, and they change nothing. */
const MAX_REFUSED = 200;

/** Without its time: the beginning of the episode is known when it ends. */
type Timeless<T> = T extends unknown ? Omit<T, 'atMs'> : never;

interface Moment {
  readonly atMs: Milliseconds;
  /** Changes nothing in the inbox, and was told by another road than the inbox's moves. */
  readonly isAside: boolean;
  readonly step: Timeless<StreamStep>;
  readonly seen: readonly Sighting[];
}

export class Episode {
  readonly #moments: Moment[] = [];
  readonly #turns = new Map<string, number>();
  readonly #turnOf = new Map<EventId, number>();
  /** Arrivals that were accepted, by event. */
  readonly #accepted = new Map<EventId, Arrival>();
  #refused = 0;
  #characters = 0;
  #wentBack = false;

  /** True when the clock was set back on the way: then no time in it means anything. */
  get wentBack(): boolean {
    return this.#wentBack;
  }

  /** The first event that was accepted in it. */
  get firstEventId(): EventId | undefined {
    return this.#accepted.keys().next().value;
  }

  get isTooLong(): boolean {
    const first = this.#moments[0]?.atMs ?? 0;
    const last = this.#moments.at(-1)?.atMs ?? 0;
    return this.#moments.length >= MAX_STEPS || this.#characters > MAX_CHARACTERS || last - first > MAX_LENGTH_MS;
  }

  /** An event that the gate refused. */
  refused(arrival: Arrival): void {
    const { considered, atMs, event } = arrival;
    if (considered.is !== 'refused' || this.#refused >= MAX_REFUSED) return;
    this.#refused += 1;
    this.#add({ atMs, isAside: true, step: arrive(arrival), seen: [{ atMs, saw: 'refused', eventId: event.id, reason: considered.reason }] });
  }

  /** An event that had been accepted before; of one from before the episode nothing is told. */
  known({ event, atMs }: Arrival): void {
    const first = this.#accepted.get(event.id);
    if (first === undefined || this.#refused >= MAX_REFUSED) return;
    this.#refused += 1;
    this.#add({ atMs, isAside: true, step: arrive(first), seen: [{ atMs, saw: 'known', eventId: event.id }] });
  }

  /** `arrival` is the one of an `accepted` or a `commanded` input. */
  moved({ input, atMs, commands }: InboxMove, arrival: Arrival | undefined): void {
    switch (input.type) {
      case 'accepted': {
        if (arrival === undefined || commands.length === 0) return;
        this.#accepted.set(input.entry.eventId, arrival);
        return this.#happened(arrive(arrival), input.entry.receivedAtMs, commands);
      }
      case 'take':
        return commands.length === 0 ? undefined : this.#happened({ do: 'take' }, atMs, commands);
      case 'finished': {
        const turn = this.#turns.get(input.turnId);
        const { ending, jitter, apart } = input;
        if (turn !== undefined) this.#happened({ do: 'finish', turn, ending, jitter, ...(apart && { apart }) }, atMs, commands);
        return;
      }
      case 'steering':
      case 'steered': {
        // What changed nothing was late.
        const turn = this.#turns.get(input.turnId);
        if (turn !== undefined && (commands.length > 0 || input.type === 'steered')) this.#happened(mid(input, turn), atMs, commands);
        return;
      }
      case 'left':
        return commands.length === 0 ? undefined : this.#happened({ do: 'leave', channelId: input.channelId }, atMs, commands);
      case 'cancelled':
        return commands.length === 0 ? undefined : this.#happened({ do: 'cancel', channelId: input.channelId, outcome: input.outcome }, atMs, commands);
      case 'commanded':
        if (arrival === undefined) return;
        this.#accepted.set(input.entry.eventId, arrival);
        return this.#happened({ ...arrive(arrival), outcome: input.outcome }, atMs, commands);
      case 'restored':
        // Comes once, before there is an episode.
        return;
      default:
        return unreachable(input);
    }
  }

  /** The steps and what was seen, on the clock of a stream. */
  told(): { readonly steps: readonly StreamStep[]; readonly expected: readonly Sighting[] } {
    const startMs = this.#moments[0]?.atMs ?? 0;
    return {
      steps: this.#moments.map(({ atMs, step }): StreamStep => ({ atMs: atMs - startMs, ...step })),
      expected: this.#moments.flatMap(({ seen }) => seen.map((one): Sighting => ({
        // 0 is of a message that waits for nothing, on either clock.
        ...one, atMs: one.atMs - startMs, ...(one.saw === 'again' && { notBeforeMs: Math.max(0, one.notBeforeMs - startMs) }),
      }))),
    };
  }

  #happened(step: Timeless<StreamStep>, atMs: Milliseconds, commands: InboxMove['commands']): void {
    for (const command of commands) {
      if (command.type !== 'dispatch') continue;
      const turn = this.#turns.size + 1;
      this.#turns.set(command.batch.turnId, turn);
      for (const { eventId } of entriesOf(command.batch)) this.#turnOf.set(eventId, turn);
    }
    for (const command of commands) {
      if (command.type === 'steer') this.#turnOf.set(command.entry.eventId, this.#turns.get(command.turnId) ?? 0);
    }
    const seen = sightingsOf(commands, atMs, {
      turnOf: (eventId) => this.#turnOf.get(eventId), numberOf: (turnId) => this.#turns.get(turnId) ?? 0,
    });
    this.#add({ atMs, isAside: false, step, seen });
  }

  /** In the order of time: a move is told when it is on disk, and something beside it may have been told meanwhile. */
  #add(moment: Moment): void {
    let place = this.#moments.length;
    while (place > 0 && (this.#moments[place - 1]?.atMs ?? 0) > moment.atMs) {
      if (this.#moments[place - 1]?.isAside !== true) this.#wentBack = true;
      place -= 1;
    }
    this.#moments.splice(place, 0, moment);
    if (moment.step.do === 'arrive') this.#characters += moment.step.event.content.length + 512;
  }
}

function mid(input: Extract<InboxMove['input'], { readonly type: 'steering' | 'steered' }>, turn: number): Timeless<StreamStep> {
  const { eventId } = input;
  return input.type === 'steering' ? { do: 'steer', turn, eventId, published: input.published } : { do: 'steered', turn, eventId, answer: input.answer };
}

/** Only what the gate was told: a name is nobody's business here. */
function arrive({ event, channelId, considered }: Arrival): Timeless<Extract<StreamStep, { readonly do: 'arrive' }>> {
  const facts = considered.is === 'known' || considered.is === 'command' ? undefined : considered.facts;
  const owner = facts?.author.owner;
  return {
    do: 'arrive', channelId, event, author: { isAgent: facts?.author.isAgent ?? false, ...(owner !== undefined && { owner }) },
    ...(facts?.channelType !== undefined && { channelType: facts.channelType }),
    ...(facts && { hops: { inDestination: facts.hops.inDestination, inChannel: facts.hops.inChannel } }),
  };
}
