/** The connection reducer: its table, what it does where the protocol leaves room, and what holds for every run. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INITIAL, nextWakeMs } from '../../../src/broker/upstream/connection.ts';
import type { Command, Input, Link, State } from '../../../src/broker/upstream/connection.ts';
import { step } from '../../../src/broker/upstream/machine.ts';
import { eventId, later, milliseconds } from '../../../src/model/index.ts';
import type { Milliseconds } from '../../../src/model/index.ts';
import { mention, sign, agent } from './events.ts';

const T0 = milliseconds(1_000_000);
const AUTH_ID = eventId('aa'.repeat(32));
const ID = eventId('bb'.repeat(32));
const EVENT = mention('11111111-1111-4111-8111-111111111111', 'hi', 1_800_000_000);

type Status = Link['status'];

const lost: Input = { type: 'lost', reason: 'reset', chance: 0.5 };
const tick: Input = { type: 'tick', chance: 0.5 };
const signed: Input = { type: 'signed', eventId: AUTH_ID, text: 'AUTH' };
const challenge = (text = 'c'): Input => ({ type: 'message', message: { type: 'auth', challenge: text }, chance: 0.5 });
const ok = (id: typeof ID, accepted: boolean, reason = ''): Input =>
  ({ type: 'message', message: { type: 'ok', eventId: id, accepted, reason }, chance: 0.5 });
const closed = (id: string, reason: string): Input => ({ type: 'message', message: { type: 'closed', id, reason }, chance: 0.5 });
const eose = (id: string): Input => ({ type: 'message', message: { type: 'eose', id }, chance: 0.5 });
const notice = (text: string): Input => ({ type: 'message', message: { type: 'notice', text }, chance: 0.5 });
const publish = (ticket = 1, options: { readonly ephemeral?: boolean; readonly id?: typeof ID; readonly forMs?: number } = {}): Input => ({
  type: 'publish',
  publication: {
    ticket, eventId: options.id ?? ID, text: `EVENT ${ticket}`, ephemeral: options.ephemeral ?? false,
    deadlineMs: later(T0, options.forMs ?? 600_000),
  },
});
const fetch = (id = 'fetch-1', forMs = 600_000): Input => ({ type: 'fetch', id, deadlineMs: later(T0, forMs) });
const subscribe = (id = 's'): Input => ({ type: 'subscribe', id });

/** Runs inputs at one moment. */
function run(state: State, inputs: readonly Input[], now: Milliseconds = T0): { readonly state: State; readonly commands: readonly Command[] } {
  let current = state;
  const commands: Command[] = [];
  for (const input of inputs) {
    const next = step(current, input, now);
    current = next.state;
    commands.push(...next.commands);
  }
  return { state: current, commands };
}

const PATHS: Readonly<Record<Status, readonly Input[]>> = {
  idle: [],
  waiting: [{ type: 'start' }, lost],
  connecting: [{ type: 'start' }],
  greeting: [{ type: 'start' }, { type: 'opened' }],
  authenticating: [{ type: 'start' }, { type: 'opened' }, challenge(), signed],
  ready: [{ type: 'start' }, { type: 'opened' }, challenge(), signed, ok(AUTH_ID, true)],
  closed: [{ type: 'start' }, { type: 'close' }],
};
const at = (status: Status): State => run(INITIAL, PATHS[status]).state;
/** Ready without AUTH. */
const open = run(run(INITIAL, PATHS.greeting).state, [tick], later(T0, 250)).state;
const STATUSES = Object.keys(PATHS) as readonly Status[];

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
    expect(end.commands).toEqual([{ type: 'finish', id: 'fetch-1', complete: false }]);
    expect(end.state.lastError).toBe('fetch-1: auth-required: y');
  });

  it('connects anew when auth-required is followed by no challenge', () => {
    const parked = run(open, [publish(), ok(ID, false, 'auth-required: x')], later(T0, 250));
    expect(run(parked.state, [tick], later(T0, 20_249)).state.link.status).toBe('ready');
    const end = run(parked.state, [tick], later(T0, 20_250));
    expect(end.state.link.status).toBe('waiting');
    expect(end.commands).toContainEqual({ type: 'disconnect' });
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
    expect(run(at('connecting'), [{ ...lost, chance: 0 }]).state.link).toEqual({ status: 'waiting', untilMs: later(T0, 800) });
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

describe('publications', () => {
  const settled = (commands: readonly Command[]): readonly unknown[] =>
    commands.flatMap((command) => (command.type === 'settle' ? [command.settlement] : []));

  it.each([
    [ok(ID, true), { status: 'accepted' }],
    [ok(ID, true, 'duplicate: have it'), { status: 'accepted' }],
    [ok(ID, false, 'duplicate: have it'), { status: 'accepted' }],
    [ok(ID, false, 'blocked: no'), { status: 'rejected', reason: 'blocked: no' }],
  ] as const)('%j', (answer, settlement) => {
    expect(settled(run(open, [publish(), answer]).commands)).toEqual([settlement]);
  });

  it('sends once more on a living connection after 10 s, and not a third time', () => {
    const { state } = run(open, [publish()]);
    const again = run(state, [tick], later(T0, 10_000));
    expect(again.commands).toEqual([{ type: 'send', text: 'EVENT 1' }]);
    expect(run(again.state, [tick], later(T0, 25_000)).commands).toEqual([]);
    expect(settled(run(again.state, [tick], later(T0, 600_000)).commands)).toEqual([{ status: 'unknown', reason: 'the time ran out' }]);
  });

  it('sends the same text on the next connection, and calls a later no unknown', () => {
    const gone = run(open, [publish(), lost]);
    expect(settled(gone.commands)).toEqual([]);
    const back = run(gone.state, [tick], later(T0, 1_000)).state;
    const ready = run(back, [{ type: 'opened' }, challenge(), signed, ok(AUTH_ID, true)], later(T0, 1_001));
    expect(ready.commands).toContainEqual({ type: 'send', text: 'EVENT 1' });
    expect(settled(run(ready.state, [ok(ID, true)]).commands)).toEqual([{ status: 'accepted' }]);
    expect(settled(run(ready.state, [ok(ID, false, 'invalid: too old')]).commands))
      .toEqual([{ status: 'unknown', reason: 'an earlier send was not answered; the last answer: invalid: too old' }]);
  });

  it('waits as long as the relay says when it is rate-limited, within the time', () => {
    const held = run(open, [publish(1, { forMs: 20_000 }), ok(ID, false, 'rate-limited: quota exceeded; retry in 7s')]);
    expect(run(held.state, [tick], later(T0, 6_999)).commands).toEqual([]);
    expect(run(held.state, [tick], later(T0, 7_000)).commands).toEqual([{ type: 'send', text: 'EVENT 1' }]);
    const end = run(held.state, [ok(ID, true), { type: 'tick', chance: 0 }], later(T0, 20_000));
    expect(settled(end.commands)).toEqual([{ status: 'rejected', reason: 'rate-limited: quota exceeded; retry in 7s' }]);
  });

  it('ends an ephemeral event 3 s after it was sent, a message at its own time', () => {
    const { state } = run(open, [publish(1), publish(2, { ephemeral: true, id: AUTH_ID })]);
    const end = run(state, [tick], later(T0, 3_000));
    expect(end.commands).toEqual([{ type: 'settle', ticket: 2, settlement: { status: 'unknown', reason: 'the time ran out' } }]);
  });

  it('tells that an event was never sent', () => {
    const { state } = run(at('waiting'), [publish(1, { forMs: 500 })]);
    expect(settled(run(state, [tick], later(T0, 500)).commands)).toEqual([{ status: 'unknown', reason: 'the time ran out; it was never sent' }]);
  });

  it('drops the oldest ephemeral events first, and keeps messages', () => {
    const ephemeral = Array.from({ length: 300 }, (_, index) => publish(index, { ephemeral: true }));
    const messages = Array.from({ length: 1_000 }, (_, index) => publish(1_000 + index));
    const flooded = run(at('waiting'), ephemeral);
    expect(flooded.commands.map((command) => command.type === 'settle' ? [command.ticket, command.settlement.status] : []))
      .toEqual(Array.from({ length: 44 }, (_, index) => [index, 'dropped']));
    const full = run(flooded.state, messages);
    expect(full.state.outbox.size).toBe(1_000);
    expect([...full.state.outbox.values()].filter((entry) => entry.ephemeral)).toEqual([]);
    expect(run(full.state, [publish(9_999)]).commands).toMatchObject([{ type: 'settle', ticket: 9_999, settlement: { status: 'dropped' } }]);
  });

  it('sends messages before ephemeral events', () => {
    const { state } = run(at('authenticating'), [publish(1, { ephemeral: true }), publish(2)]);
    expect(run(state, [ok(AUTH_ID, true)]).commands.map((command) => command.type === 'send' && command.text)).toEqual(['EVENT 2', 'EVENT 1']);
  });
});

describe('requests', () => {
  const asked = (commands: readonly Command[]): readonly string[] =>
    commands.flatMap((command) => (command.type === 'request' ? [command.id] : []));

  it('hands events over as stored before EOSE and live after', () => {
    const event: Input = { type: 'event', id: 's', event: EVENT };
    expect(run(open, [subscribe(), event, eose('s'), eose('s'), event]).commands).toEqual([
      { type: 'request', id: 's' },
      { type: 'deliver', id: 's', event: EVENT, stored: true },
      { type: 'eose', id: 's' },
      { type: 'deliver', id: 's', event: EVENT, stored: false },
    ]);
  });

  it('ends a fetch at EOSE, on CLOSED, at its time and with its connection', () => {
    const collected = run(open, [fetch(), { type: 'event', id: 'fetch-1', event: EVENT }]);
    expect(collected.commands[1]).toEqual({ type: 'collect', id: 'fetch-1', event: EVENT });
    const end = (input: Input, afterMs = 0): readonly Command[] => run(collected.state, [input], later(T0, afterMs)).commands;
    const close = { type: 'send', text: '["CLOSE","fetch-1"]' };
    expect(end(eose('fetch-1'))).toEqual([close, { type: 'finish', id: 'fetch-1', complete: true }]);
    expect(end(closed('fetch-1', 'error: x'))).toEqual([{ type: 'finish', id: 'fetch-1', complete: false }]);
    expect(end(lost)).toEqual([{ type: 'finish', id: 'fetch-1', complete: false }]);
    expect(end(tick, 600_000)).toContainEqual({ type: 'finish', id: 'fetch-1', complete: false });
  });

  it('keeps a fetch that was not asked yet for the next connection', () => {
    const { state, commands } = run(at('connecting'), [fetch(), lost]);
    expect(commands).toEqual([]);
    const back = run(state, [tick], later(T0, 1_000)).state;
    expect(asked(run(back, [{ type: 'opened' }, challenge(), signed, ok(AUTH_ID, true)], later(T0, 1_000)).commands)).toEqual(['fetch-1']);
  });

  it('asks for a closed subscription again after 1, 2, 4, 8, 16 s, then no more on this connection', () => {
    let { state } = run(open, [subscribe()]);
    let now = T0;
    for (const delayMs of [1_000, 2_000, 4_000, 8_000, 16_000]) {
      state = run(state, [closed('s', 'restricted: not a channel member')], now).state;
      expect(asked(run(state, [tick], later(now, delayMs - 1)).commands)).toEqual([]);
      now = later(now, delayMs);
      const again = run(state, [tick, { type: 'pong' }], now);
      expect(asked(again.commands)).toEqual(['s']);
      state = again.state;
    }
    state = run(state, [closed('s', 'restricted: not a channel member')], now).state;
    expect(state.lastError).toBe('s: restricted: not a channel member');
    expect(asked(run(state, [tick], later(now, 3_600_000)).commands)).toEqual([]);
    const back = run(run(state, [lost], now).state, [tick], later(now, 60_000)).state;
    expect(asked(run(back, [{ type: 'opened' }, challenge(), signed, ok(AUTH_ID, true)], later(now, 60_000)).commands)).toEqual(['s']);
  });

  it('forgets the refusals of a subscription that stood for a minute', () => {
    let { state } = run(open, [subscribe()]);
    let now = T0;
    for (let time = 0; time < 20; time += 1) {
      now = later(now, 61_000);
      state = run(state, [{ type: 'pong' }, closed('s', 'error: idle')], now).state;
      const again = run(state, [tick, { type: 'pong' }], later(now, 1_000));
      expect(asked(again.commands)).toEqual(['s']);
      state = again.state;
    }
  });

  it('holds everything after a rate-limited NOTICE, asks again what had no EOSE, then keeps a pace', () => {
    const before = run(open, [subscribe('done'), eose('done'), subscribe('a'), subscribe('b'), subscribe('c')]);
    const held = run(before.state, [notice('rate-limited: quota exceeded; retry in 3s'), publish()]);
    expect(held.commands).toEqual([]);
    const times: (readonly [number, string])[] = [];
    let { state } = held;
    for (let afterMs = 0; afterMs <= 4_000; afterMs += 25) {
      const next = run(state, [tick], later(T0, afterMs));
      state = next.state;
      for (const command of next.commands) {
        if (command.type === 'request') times.push([afterMs, command.id]);
        if (command.type === 'send') times.push([afterMs, command.text]);
      }
    }
    expect(times).toEqual([[3_000, 'a'], [3_000, 'EVENT 1'], [3_125, 'b'], [3_250, 'c']]);
  });

  it('asks again after a rate-limited CLOSED when the time has come', () => {
    const { state } = run(open, [subscribe(), fetch(), closed('s', 'rate-limited: retry in 2s'), closed('fetch-1', 'rate-limited: slow')]);
    expect(asked(run(state, [tick], later(T0, 1_999)).commands)).toEqual([]);
    expect(asked(run(run(state, [tick], later(T0, 5_000)).state, [tick], later(T0, 5_125)).commands)).toEqual(['fetch-1']);
  });
});

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
