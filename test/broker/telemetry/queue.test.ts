/** The queue of frames against a plain account of it: what may be lost, and in which order the rest leaves. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameQueue } from '../../../src/broker/telemetry/queue.ts';
import type { Waiting } from '../../../src/broker/telemetry/queue.ts';
import { openSequence } from '../../../src/broker/telemetry/sequence.ts';
import { milliseconds } from '../../../src/model/index.ts';

const RANKS = ['stream', 'stream', 'stream', 'lifecycle', 'permission'] as const;
type Step = { readonly push: { readonly session: number; readonly rank: (typeof RANKS)[number]; readonly bytes: number } } | 'shift';

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ push: fc.record({ session: fc.nat(3), rank: fc.constantFrom(...RANKS), bytes: fc.integer({ min: 1, max: 40 }) }) }) },
  { weight: 1, arbitrary: fc.constant('shift' as const) },
);

function play(steps: readonly Step[], maxFrames: number, maxBytes: number): { readonly queue: FrameQueue; readonly told: Waiting[]; readonly left: Waiting[] } {
  const queue = new FrameQueue({ maxFrames, maxBytes });
  const sequence = openSequence();
  const [told, left]: [Waiting[], Waiting[]] = [[], []];
  for (const one of steps) {
    if (one === 'shift') {
      const next = queue.shift();
      if (next !== undefined) left.push(next);
      continue;
    }
    const { session, rank, bytes } = one.push;
    const sessionId = session === 0 ? undefined : `s${session}`;
    const lane = sequence.lane(sessionId);
    const frame = { kind: 'k', payload: '{}', rank, ...(sessionId === undefined ? {} : { sessionId }) };
    const waiting: Waiting = { frame, lane, seq: sequence.next(lane), at: milliseconds(0), bytes };
    told.push(waiting);
    queue.push(waiting);
    expect(queue.size).toBeLessThanOrEqual(maxFrames);
    expect(queue.bytes).toBeLessThanOrEqual(maxBytes);
  }
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) left.push(next);
  return { queue, told, left };
}

describe('any burst', () => {
  it('stays within its bounds, loses none but what it counts, and keeps each session in order', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const { queue, told, left } = play(steps, 20, 400);
      expect([queue.size, queue.bytes]).toEqual([0, 0]);
      expect(left.length + queue.dropped).toBe(told.length);
      expect(new Set(left).size).toBe(left.length);
      for (const lane of new Set(left.map((one) => one.lane))) {
        const seqs = left.filter((one) => one.lane === lane).map(({ seq }) => seq);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
      }
    }));
  });

  it('of stream frames costs no frame of another rank', () => {
    const many = fc.array(step, { maxLength: 600 }).map((steps) => {
      let weighty = 0;
      // As many others as there is room for, however many of the stream.
      return steps.filter((one) => one === 'shift' || one.push.rank === 'stream' || (weighty += 1) <= 20);
    });
    fc.assert(fc.property(many, (steps) => {
      const { told, left } = play(steps, 20, 20 * 40);
      const others = (frames: readonly Waiting[]): Set<Waiting> => new Set(frames.filter(({ frame }) => frame.rank !== 'stream'));
      expect(others(left)).toEqual(others(told));
    }));
  });

  it('of permission frames alone is bounded, too: the oldest go', () => {
    const steps: Step[] = Array.from({ length: 30 }, () => ({ push: { session: 1, rank: 'permission', bytes: 1 } }));
    expect(play(steps, 20, 400).left.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 11));
  });
});

describe('who goes first', () => {
  const push = (session: number, rank: (typeof RANKS)[number]): Step => ({ push: { session, rank, bytes: 1 } });
  const named = (left: readonly Waiting[]): string[] => left.map(({ lane, seq }) => `${lane}${seq}`);

  it('is the session with the weightiest frame, from its beginning', () => {
    const { left } = play([push(1, 'stream'), push(2, 'stream'), push(2, 'lifecycle'), push(3, 'stream'), push(3, 'permission')], 20, 400);
    expect(named(left)).toEqual(['s31', 's32', 's21', 's22', 's11']);
  });

  it('does not leave a frame of no session behind all that an agent emits', () => {
    const emitted = Array.from({ length: 400 }, () => push(0, 'stream'));
    expect(named(play([...emitted, push(0, 'lifecycle')], 1_000, 4_000).left)).toEqual(Array.from({ length: 129 }, (_, at) => String(273 + at)));
    expect(play([...emitted.map(() => push(1, 'stream')), push(1, 'lifecycle')], 1_000, 4_000).left).toHaveLength(401);
  });
});

describe('the counts of sessions', () => {
  it('are one for each, and bounded: the one that was silent longest begins anew', () => {
    const sequence = openSequence(2);
    const next = (sessionId?: string): number => sequence.next(sequence.lane(sessionId));
    expect([next('a'), next('b'), next('a'), next(), next()]).toEqual([1, 1, 2, 1, 2]);
    expect([next('c'), next('a'), next('b')]).toEqual([1, 3, 1]);
  });

  it('tell long ids apart without keeping them', () => {
    const sequence = openSequence();
    const [one, other] = [sequence.lane(`${'x'.repeat(10_000)}1`), sequence.lane(`${'x'.repeat(10_000)}2`)];
    expect(one).not.toBe(other);
    expect(one).toHaveLength(64);
  });
});
