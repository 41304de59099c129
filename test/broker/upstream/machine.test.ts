/** The connection reducer: its table, NIP-42, and how a connection comes and goes. */
import { describe, expect, it } from 'vitest';
import type { Input } from '../../../src/broker/upstream/connection.ts';
import { step } from '../../../src/broker/upstream/machine.ts';
import { later } from '../../../src/model/index.ts';
import {
  at, AUTH_ID, challenge, closed, eose, EVENT, fetch, ID, lost, notice, ok, open, publish, run, signed, STATUSES, subscribe, T0, tick,
} from './inputs.ts';
import type { Status } from './inputs.ts';

describe('the table', () => {
  it('reaches every status by its path', () => {
    for (const status of STATUSES) expect(at(status).link.status).toBe(status);
    expect(open.link.status).toBe('ready');
  });

  const same = { idle: 'idle', waiting: 'waiting', connecting: 'connecting', greeting: 'greeting', authenticating: 'authenticating', ready: 'ready', closed: 'closed' } as const;
  const everywhere: Readonly<Record<string, { readonly input: Input; readonly to: Readonly<Record<Status, Status>>; readonly afterMs?: number }>> = {
    start: { input: { type: 'start' }, to: { ...same, idle: 'connecting' } },
    opened: { input: { type: 'opened' }, to: { ...same, connecting: 'greeting' } },
    lost: { input: lost, to: { ...same, connecting: 'waiting', greeting: 'waiting', authenticating: 'waiting', ready: 'waiting' } },
    challenge: { input: challenge('other'), to: { ...same, greeting: 'authenticating', ready: 'authenticating' } },
    signed: { input: signed, to: same },
    'OK of our AUTH': { input: ok(AUTH_ID, true), to: { ...same, authenticating: 'ready' } },
    'no to our AUTH': { input: ok(AUTH_ID, false, 'restricted: no'), to: { ...same, authenticating: 'waiting' } },
    'another OK': { input: ok(ID, true), to: same },
    CLOSED: { input: closed('s', 'error: x'), to: same },
    EOSE: { input: eose('s'), to: same },
    NOTICE: { input: notice('hello'), to: same },
    event: { input: { type: 'event', id: 's', event: EVENT }, to: same },
    pong: { input: { type: 'pong' }, to: same },
    paused: { input: { type: 'paused' }, to: same },
    resumed: { input: { type: 'resumed' }, to: same },
    publish: { input: publish(), to: same },
    fetch: { input: fetch(), to: same },
    subscribe: { input: subscribe(), to: same },
    unsubscribe: { input: { type: 'unsubscribe', id: 's' }, to: same },
    'tick, nothing due': { input: tick, to: same },
    'tick after a second': { input: tick, afterMs: 1_000, to: { ...same, waiting: 'connecting', greeting: 'ready' } },
    'tick after 30 s': {
      input: tick, afterMs: 30_000,
      to: { ...same, waiting: 'connecting', connecting: 'waiting', greeting: 'ready', authenticating: 'waiting' },
    },
    close: { input: { type: 'close' }, to: { idle: 'closed', waiting: 'closed', connecting: 'closed', greeting: 'closed', authenticating: 'closed', ready: 'closed', closed: 'closed' } },
  };
  it.each(Object.entries(everywhere))('%s', (_name, { input, to, afterMs = 0 }) => {
    for (const status of STATUSES) {
      const next = step(at(status), input, later(T0, afterMs));
      expect([status, next.state.link.status]).toEqual([status, to[status]]);
      if (status === 'closed') {
        const answers = { publish: ['settle'], fetch: ['finish'] }[input.type as string] ?? [];
        expect(next.commands.map(({ type }) => type)).toEqual(answers);
      }
    }
  });
});

describe('NIP-42', () => {
  it('signs a challenge once, and a newer one again', () => {
    const { state, commands } = run(at('greeting'), [challenge('a'), challenge('a'), signed]);
    expect(commands).toEqual([{ type: 'sign', challenge: 'a' }, { type: 'send', text: 'AUTH' }]);
    expect(run(state, [challenge('b')]).commands).toEqual([{ type: 'sign', challenge: 'b' }]);
  });

  it('holds publications and requests until the OK, then sends requests first', () => {
    const before = run(at('authenticating'), [publish(), subscribe()]);
    expect(before.commands).toEqual([]);
    expect(run(before.state, [ok(AUTH_ID, true)]).commands).toEqual([{ type: 'request', id: 's' }, { type: 'send', text: 'EVENT 1' }]);
  });

  it.each([
    ['before the challenge', [challenge(), signed, ok(AUTH_ID, true)]],
    ['after the challenge', []],
  ] as const)('retries a publication once after auth-required %s', (when, auth) => {
    const from = when === 'before the challenge' ? open : at('ready');
    const parked = run(from, [publish(), ok(ID, false, 'auth-required: who?')]);
    expect(parked.commands.filter(({ type }) => type === 'settle')).toEqual([]);
    const retried = run(parked.state, auth);
    const sends = [...parked.commands, ...retried.commands].filter((command) => command.type === 'send' && command.text === 'EVENT 1');
    expect(sends).toHaveLength(2);
    const end = run(retried.state, [ok(ID, false, 'auth-required: still')]);
    expect(end.commands).toEqual([
      { type: 'settle', ticket: 1, settlement: { status: 'rejected', reason: 'auth-required: still' } },
    ]);
  });

  it.each([
    ['before the challenge', [challenge(), signed, ok(AUTH_ID, true)]],
    ['after the challenge', []],
  ] as const)('retries a subscription and a fetch once after auth-required %s', (when, auth) => {
    const from = when === 'before the challenge' ? open : at('ready');
    const refused = run(from, [subscribe(), fetch(), closed('s', 'auth-required: x'), closed('fetch-1', 'auth-required: x')]);
    const retried = run(refused.state, auth);
    const asked = [...refused.commands, ...retried.commands].filter(({ type }) => type === 'request');
    expect(asked).toHaveLength(4);
    const end = run(retried.state, [closed('s', 'auth-required: y'), closed('fetch-1', 'auth-required: y')]);
    expect(end.commands).toEqual([{ type: 'finish', id: 'fetch-1', complete: false, refusal: 'auth-required: y' }]);
    expect(end.state.lastError).toBe('fetch-1: auth-required: y');
  });

  it('connects anew when auth-required is followed by no challenge', () => {
    const parked = run(open, [publish(), ok(ID, false, 'auth-required: x')], later(T0, 250));
    expect(run(parked.state, [tick], later(T0, 20_249)).state.link.status).toBe('ready');
    const end = run(parked.state, [tick], later(T0, 20_250));
    expect(end.state.link.status).toBe('waiting');
    expect(end.commands).toContainEqual({ type: 'disconnect' });
    // One that comes in time has its own 20 s.
    const met = run(parked.state, [challenge(), signed], later(T0, 10_000));
    expect(run(met.state, [tick], later(T0, 29_999)).state.link.status).toBe('authenticating');
  });

  it('connects anew when AUTH is not answered in 20 s, and keeps what waits', () => {
    const { state } = run(at('authenticating'), [publish(), subscribe()]);
    expect(run(state, [tick], later(T0, 19_999)).state.link.status).toBe('authenticating');
    const end = run(state, [tick], later(T0, 20_000));
    expect(end.state.link.status).toBe('waiting');
    expect(end.commands).toEqual([{ type: 'disconnect' }]);
    expect(end.state.outbox.size + end.state.requests.size).toBe(2);
  });

  it('sends an unanswered event again when a late challenge has been met, the same text', () => {
    const { state } = run(open, [publish(), challenge(), signed]);
    expect(run(state, [ok(AUTH_ID, true)]).commands).toEqual([{ type: 'send', text: 'EVENT 1' }]);
  });
});

describe('connecting', () => {
  it('waits 1, 2, 4, 8, 16, 30, 30 s, with 20 % jitter, and begins again after 60 s ready', () => {
    let state = at('idle');
    let now = T0;
    const waits: number[] = [];
    state = run(state, [{ type: 'start' }], now).state;
    for (let attempt = 0; attempt < 7; attempt += 1) {
      state = run(state, [lost], now).state;
      expect(state.attempts).toBe(attempt + 1);
      if (state.link.status !== 'waiting') throw new Error('not waiting');
      waits.push(state.link.untilMs - now);
      now = state.link.untilMs;
      const next = run(state, [tick], now);
      expect(next.commands).toEqual([{ type: 'connect' }]);
      state = next.state;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    state = run(state, [{ type: 'opened' }, challenge(), signed, ok(AUTH_ID, true)], now).state;
    expect(state.attempts).toBe(0);
    const soon = run(state, [lost], later(now, 59_999)).state.link;
    const late = run(state, [lost], later(now, 60_000)).state.link;
    expect(soon).toEqual({ status: 'waiting', untilMs: later(now, 89_999) });
    expect(late).toEqual({ status: 'waiting', untilMs: later(now, 61_000) });
    expect(run(at('connecting'), [{ type: 'lost', reason: 'reset', chance: 0 }]).state.link).toEqual({ status: 'waiting', untilMs: later(T0, 800) });
  });

  it('pings every 30 s and gives up 10 s after one that nothing answers', () => {
    const first = run(open, [tick], later(T0, 30_000));
    expect(first.commands).toEqual([{ type: 'ping' }]);
    expect(run(first.state, [tick], later(T0, 39_999)).state.link.status).toBe('ready');
    const dead = run(first.state, [tick], later(T0, 40_000));
    expect(dead.commands).toEqual([{ type: 'disconnect' }]);
    for (const sign of [{ type: 'pong' }, notice('still here'), { type: 'event', id: 's', event: EVENT }] as const) {
      const alive = run(first.state, [sign], later(T0, 35_000));
      expect(run(alive.state, [tick], later(T0, 40_000)).state.link.status).toBe('ready');
      expect(run(alive.state, [tick], later(T0, 60_000)).commands).toEqual([{ type: 'ping' }]);
    }
  });

  it('asks for no sign of life while we do not read', () => {
    const paused = run(open, [tick, { type: 'paused' }], later(T0, 30_000));
    const later1 = run(paused.state, [tick], later(T0, 100_000));
    expect([later1.state.link.status, later1.commands]).toEqual(['ready', []]);
    const resumed = run(later1.state, [{ type: 'resumed' }], later(T0, 100_000));
    expect(run(resumed.state, [tick], later(T0, 130_000)).commands).toEqual([{ type: 'ping' }]);
  });
});
