/** What holds for every run of the connection reducer. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INITIAL, nextWakeMs } from '../../../src/broker/upstream/connection.ts';
import type { Input } from '../../../src/broker/upstream/connection.ts';
import { step } from '../../../src/broker/upstream/machine.ts';
import { later } from '../../../src/model/index.ts';
import { agent, sign } from './events.ts';
import { AUTH_ID, EVENT, ID, signed, T0 } from './inputs.ts';

describe('every run', () => {
  const ids = [ID, AUTH_ID, EVENT.id, sign(agent, { kind: 1 }).id] as const;
  const names = ['s', 't', 'fetch-1', 'fetch-2'] as const;
  const reasons = ['', 'duplicate: x', 'auth-required: x', 'rate-limited: x', 'rate-limited: retry in 2s', 'error: x'] as const;
  const reason = fc.constantFrom(...reasons);
  const chance = fc.double({ min: 0, max: 0.999, noNaN: true });
  const message = fc.oneof(
    fc.record({ type: fc.constant('auth' as const), challenge: fc.constantFrom('a', 'b') }),
    fc.record({ type: fc.constant('ok' as const), eventId: fc.constantFrom(...ids), accepted: fc.boolean(), reason }),
    fc.record({ type: fc.constant('closed' as const), id: fc.constantFrom(...names), reason }),
    fc.record({ type: fc.constant('eose' as const), id: fc.constantFrom(...names) }),
    fc.record({ type: fc.constant('notice' as const), text: reason }),
  );
  const input: fc.Arbitrary<Input | { readonly type: 'advance'; readonly byMs: number }> = fc.oneof(
    fc.constantFrom<Input>({ type: 'start' }, { type: 'opened' }, { type: 'pong' }, { type: 'paused' }, { type: 'resumed' }, signed),
    fc.record({ type: fc.constant('lost' as const), reason, chance }),
    fc.record({ type: fc.constant('message' as const), message, chance }),
    fc.record({ type: fc.constant('event' as const), id: fc.constantFrom(...names), event: fc.constant(EVENT) }),
    fc.record({ type: fc.constantFrom('subscribe' as const, 'unsubscribe' as const), id: fc.constantFrom('s', 't') }),
    fc.record({ type: fc.constant('fetch' as const), id: fc.constantFrom('fetch-1', 'fetch-2'), deadlineMs: fc.integer({ min: 1, max: 90_000 }).map((ms) => later(T0, ms)) }),
    fc.record({
      type: fc.constant('publish' as const),
      publication: fc.record({
        ticket: fc.nat(), eventId: fc.constantFrom(...ids), text: fc.constant('EVENT'), ephemeral: fc.boolean(),
        deadlineMs: fc.integer({ min: 1, max: 90_000 }).map((ms) => later(T0, ms)),
      }),
    }),
    fc.record({ type: fc.constant('advance' as const), byMs: fc.integer({ min: 1, max: 40_000 }) }),
  );

  it('settles everything once, sends only on a line, and its wakes always lead on', () => {
    fc.assert(fc.property(fc.array(input, { maxLength: 60 }), (inputs) => {
      let state = INITIAL;
      let now = T0;
      const waiting = new Set<string>();
      const take = (next: Input): void => {
        // A second ticket or fetch of the same name would be another one to the driver.
        if (next.type === 'publish' && waiting.has(String(next.publication.ticket))) return;
        if (next.type === 'fetch' && waiting.has(next.id)) return;
        if (next.type === 'publish') waiting.add(String(next.publication.ticket));
        if (next.type === 'fetch') waiting.add(next.id);
        const result = step(state, next, now);
        expect(step(state, next, now)).toEqual(result);
        state = result.state;
        for (const command of result.commands) {
          if (command.type === 'settle') expect(waiting.delete(String(command.ticket))).toBe(true);
          if (command.type === 'finish') expect(waiting.delete(command.id)).toBe(true);
          if (command.type === 'request' || command.type === 'ping') expect('line' in state.link).toBe(true);
        }
      };
      for (const next of inputs) {
        if (next.type !== 'advance') {
          take(next);
          continue;
        }
        const untilMs = later(now, next.byMs);
        for (let wakeMs = nextWakeMs(state), rung = 0; wakeMs !== undefined && wakeMs <= untilMs; wakeMs = nextWakeMs(state)) {
          expect(rung += 1).toBeLessThan(2_000);
          now = wakeMs > now ? wakeMs : now;
          take({ type: 'tick', chance: 0.5 });
          expect(nextWakeMs(state) ?? Infinity).toBeGreaterThan(now);
        }
        now = untilMs;
      }
      take({ type: 'close' });
      expect([...waiting]).toEqual([]);
      expect(nextWakeMs(state)).toBeUndefined();
    }), { numRuns: 500 });
  });
});
