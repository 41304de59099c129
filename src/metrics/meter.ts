/**
 * The usage of one session, turn by turn (NIP-AM "Ordering and delta recomputation"). Pure.
 *
 *   input    | between turns                       | in a turn
 *   begin    | a turn is open                      | (a bug)
 *   heard    | counts of the session: the new base | kept, the last word counts
 *   end      | nothing                             | its usage, if any; its counts are the new base
 *
 * A session that was opened here has used nothing before its first turn. After a turn that told no counts the base is
 * unknown: what the next counts hold is then of more than one turn.
 */
import type { UsageShape } from '../../adapters/index.ts';
import { countersOf, NOTHING, saysSomething, UNKNOWN } from './counters.ts';
import type { Counter, Counters } from './counters.ts';
import { readSessionUsage, readTurnUsage } from './read.ts';
import type { Sighting, UsageWord } from './read.ts';

export interface SessionMeter {
  readonly shape: UsageShape;
  /** Of the last turn whose usage was told; 0 before the first. */
  readonly turnSeq: number;
  /** The session's counts at the end of the last turn. */
  readonly base: Counters;
  readonly turn?: OpenTurn;
}

interface OpenTurn {
  /** What the answer to the prompt says of this turn. */
  readonly own?: Sighting;
  /** The session's counts, as they were told last in this turn. */
  readonly counts?: Sighting;
}

/** What one turn has used, as far as it was told. At least one counter is known. */
export interface ObservedUsage {
  /** Rises by one with each of a session; what it counts ends with the session. */
  readonly turnSeq: number;
  readonly turn: Counters;
  /** Undefined where the agent counts no sessions. */
  readonly cumulative?: Counters;
  /** False where a difference could not be told. */
  readonly deltaReliable: boolean;
  readonly model?: string;
}

/** Of a session that begins now; `known` is false for one whose earlier turns nobody here has seen. */
export function openMeter(shape: UsageShape, known = true): SessionMeter {
  return { shape, turnSeq: 0, base: known ? NOTHING : UNKNOWN };
}

export function beginTurn({ turn, ...meter }: SessionMeter): SessionMeter {
  if (turn !== undefined) throw new TypeError('meter: a turn is open already');
  return { ...meter, turn: {} };
}

export function hear(meter: SessionMeter, word: UsageWord): SessionMeter {
  const { shape, turn, base } = meter;
  if (word.type === 'answer') {
    const own = turn && readTurnUsage(word.result, shape);
    return own === undefined ? meter : { ...meter, turn: { ...turn, own } };
  }
  const seen = readSessionUsage(word, shape);
  if (seen === undefined) return meter;
  // Of a turn that is over, or of none: no turn to come has used it.
  if (turn === undefined) return { ...meter, base: latest(base, seen.counters) };
  const counts = { ...turn.counts, ...seen, counters: latest(turn.counts?.counters ?? UNKNOWN, seen.counters) };
  return { ...meter, turn: { ...turn, counts } };
}

export function endTurn({ turn, ...meter }: SessionMeter): { readonly meter: SessionMeter; readonly usage?: ObservedUsage } {
  if (turn === undefined) return { meter };
  const { own, counts } = turn;
  const next = { ...meter, base: counts?.counters ?? UNKNOWN };
  const told = counts !== undefined && saysSomething(counts.counters) ? counts.counters : undefined;
  if (own === undefined && told === undefined) return { meter: next };
  const { used, deltaReliable } = difference(own?.counters ?? UNKNOWN, told ?? UNKNOWN, meter.base);
  const model = own?.model ?? counts?.model;
  const turnSeq = meter.turnSeq + 1;
  return {
    meter: { ...next, turnSeq },
    usage: {
      turnSeq, turn: used, deltaReliable,
      ...(told === undefined ? {} : { cumulative: told }),
      ...(model === undefined ? {} : { model }),
    },
  };
}

/** What the turn says of itself; else what the session's counts have grown by. NIP-AM: null, never a negative number. */
function difference(own: Counters, counts: Counters, base: Counters): { readonly used: Counters; readonly deltaReliable: boolean } {
  let deltaReliable = true;
  const used = countersOf((counter) => {
    const [now, before] = [counts[counter], base[counter]];
    if (own[counter] !== null || now === null) return own[counter];
    if (before === null || now < before) {
      // Which of the others is unknown says nothing of what the turn is counted by.
      if (before !== null || LEADING.has(counter)) deltaReliable = false;
      return null;
    }
    return counter === 'costUsd' ? withoutNoise(now - before) : now - before;
  });
  return { used, deltaReliable };
}

const LEADING: ReadonlySet<Counter> = new Set(['inputTokens', 'outputTokens']);

/** 0.3 - 0.1 is 0.2 to whoever pays it. */
function withoutNoise(costUsd: number): number {
  return Number(costUsd.toFixed(12));
}

function latest(before: Counters, now: Counters): Counters {
  return countersOf((counter) => now[counter] ?? before[counter]);
}
