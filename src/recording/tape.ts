/**
 * What is recorded of one agent, as it happens: its turns, and its stream as episodes. Only gathers; what is complete is
 * handed on, and everything costly is done there.
 *
 *   status    | meaning                                             | next
 *   idle      | the inbox is empty                                  | an event is accepted → recording
 *   recording | an episode is open                                  | the inbox is empty → idle; too long → waiting
 *   waiting   | there is something in the inbox from before         | the inbox is empty → idle
 */
import { unreachable } from '../model/index.ts';
import type { EventId } from '../model/index.ts';
import type { Arrival, InboxMove, SentOperatorTurn, SentTurn, Tape } from '../supervisor/index.ts';
import { Episode } from './episode.ts';

/** Where complete pieces go; each call returns at once. */
export interface TapeEnd {
  readonly turn: (turn: SentTurn) => void;
  readonly operatorTurn: (turn: SentOperatorTurn) => void;
  readonly episode: (episode: Episode) => void;
}

/** Refused arrivals before an episode that belong to it: so many, and so long before. */
const PRELUDE = 20;
const PRELUDE_MS = 60_000;

export class AgentTape implements Tape {
  readonly #end: TapeEnd;
  readonly #turns = new Map<string, SentTurn>();
  /** Verdicts whose inbox move is still to come. */
  readonly #verdicts = new Map<EventId, Arrival>();
  #prelude: readonly Arrival[] = [];
  #episode: Episode | undefined;
  #isWaiting = false;

  constructor(end: TapeEnd) {
    this.#end = end;
  }

  readonly arrived = (arrival: Arrival): void => {
    switch (arrival.considered.is) {
      case 'new':
      case 'command':
        this.#verdicts.set(arrival.event.id, arrival);
        return;
      case 'known':
        this.#episode?.known(arrival);
        return;
      case 'refused':
        if (this.#episode === undefined) this.#prelude = [...this.#prelude, arrival].slice(-PRELUDE);
        else this.#episode.refused(arrival);
        return;
      default:
        unreachable(arrival.considered);
    }
  };

  readonly moved = (move: InboxMove): void => {
    const { input, isEmpty } = move;
    const arrival = input.type === 'accepted' || input.type === 'commanded' ? this.#verdicts.get(input.entry.eventId) : undefined;
    if (arrival !== undefined) this.#verdicts.delete(arrival.event.id);
    if (input.type === 'finished') this.#turnEnded(input.turnId);
    if (input.type === 'restored') this.#isWaiting = true;
    if (this.#isWaiting) {
      this.#isWaiting = !isEmpty;
      return;
    }
    if (input.type === 'accepted') this.#episode ??= this.#begin(move);
    this.#episode?.moved(move, arrival);
    if (isEmpty || this.#episode?.isTooLong === true) this.#endEpisode();
    this.#isWaiting = !isEmpty && this.#episode === undefined;
  };

  readonly sent = (turn: SentTurn): void => {
    this.#turns.set(turn.turnId, turn);
  };

  readonly prompted = (turn: SentOperatorTurn): void => {
    this.#end.operatorTurn(turn);
  };

  /** Hands on what is open: nothing more will happen. */
  close(): void {
    for (const turnId of [...this.#turns.keys()]) this.#turnEnded(turnId);
    this.#endEpisode();
  }

  #turnEnded(turnId: string): void {
    const turn = this.#turns.get(turnId);
    this.#turns.delete(turnId);
    if (turn !== undefined) this.#end.turn(turn);
  }

  #begin({ atMs }: InboxMove): Episode {
    const episode = new Episode();
    for (const arrival of this.#prelude) if (arrival.atMs <= atMs && atMs - arrival.atMs <= PRELUDE_MS) episode.refused(arrival);
    this.#prelude = [];
    return episode;
  }

  #endEpisode(): void {
    const episode = this.#episode;
    this.#episode = undefined;
    if (episode?.firstEventId !== undefined) this.#end.episode(episode);
  }
}
