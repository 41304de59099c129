/** What becomes of the events of `crowd.ts`, seen by the supervisor's notes. */
import type { VerifiedEvent } from '../src/nostr/index.ts';
import type { Note } from '../src/supervisor/index.ts';

export interface Fairness {
  /** Of the turns that the flood had nothing to do with, how many had begun when the flood was over; 0..1, the least of any agent. */
  readonly besideFlood: number;
  /** When the first agent had come to the end of what it could do: what the slowest had done of it; 0..1. */
  readonly slowest: number;
}

export class CrowdWatch {
  accepted = 0;
  ended = 0;
  atOnce = 0;
  readonly #turns = new Map<string, number>();
  /** When the turn of an event began, as a number in the order of all. */
  readonly #began = new Map<string, number[]>();
  /** The agent of each turn that ended, in order. */
  readonly #done: string[] = [];
  #waiting: { readonly holds: () => boolean; readonly resolve: () => void } | undefined;

  get begun(): number {
    return this.#began.size;
  }

  see(note: Note): void {
    if (note.type === 'accepted') this.accepted += 1;
    if (note.type === 'turn_started') {
      this.#turns.set(note.turnId, note.eventIds.length);
      this.atOnce = Math.max(this.atOnce, this.#turns.size);
      const order = this.#began.size;
      for (const id of note.eventIds) this.#began.set(id, [...(this.#began.get(id) ?? []), order]);
    }
    if (note.type === 'turn_ended') {
      this.ended += this.#turns.get(note.turnId) ?? 0;
      this.#turns.delete(note.turnId);
      this.#done.push(note.agent);
    }
    if (this.#waiting?.holds() !== true) return;
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => { this.#waiting = { holds, resolve }; });
  }

  faults(lanes: readonly (readonly VerifiedEvent[])[]): readonly string[] {
    return lanes.flatMap((lane) => {
      let newest = -1;
      return lane.flatMap(({ id, content }) => {
        const [began = -1, ...more] = this.#began.get(id) ?? [];
        const fault = began < 0 ? 'no turn' : more.length > 0 ? 'two turns' : began < newest ? 'before an older one' : undefined;
        newest = Math.max(newest, began);
        return fault === undefined ? [] : [`${content}: ${fault}`];
      });
    });
  }

  /** `agents`: the lanes of each, the hanging one first, then the flooded one. */
  fairness(agents: readonly (readonly (readonly VerifiedEvent[])[])[]): Fairness {
    const beganOf = ({ id }: VerifiedEvent): number => this.#began.get(id)?.[0] ?? Number.POSITIVE_INFINITY;
    const besideFlood = agents.map(([, flood = [], ...others]) => {
      const over = Math.max(...flood.map(beganOf));
      const all = others.flat();
      return all.filter((event) => beganOf(event) < over).length / all.length;
    });
    const each = (agents[0] ?? []).flat().length - 2;
    const counts = new Map([...new Set(this.#done)].map((agent) => [agent, 0]));
    for (const agent of this.#done) {
      const count = (counts.get(agent) ?? 0) + 1;
      counts.set(agent, count);
      if (count === each) break;
    }
    return { besideFlood: Math.min(...besideFlood), slowest: Math.min(...counts.values()) / each };
  }
}
