/** What the connection reducer does with publications and requests where the protocol leaves room. */
import { describe, expect, it } from 'vitest';
import type { Command, Input } from '../../../src/broker/upstream/connection.ts';
import { later } from '../../../src/model/index.ts';
import {
  at, AUTH_ID, challenge, closed, eose, EVENT, fetch, ID, lost, notice, ok, open, publish, run, signed, subscribe, T0, tick,
} from './inputs.ts';

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

  it('calls a no unknown when a send before it on the same connection was not answered', () => {
    const resent = run(run(open, [publish()]).state, [tick], later(T0, 10_000));
    const authenticated = run(open, [publish(), challenge(), signed, ok(AUTH_ID, true)]);
    for (const { state, commands } of [resent, authenticated]) {
      expect(commands.at(-1)).toEqual({ type: 'send', text: 'EVENT 1' });
      expect(settled(run(state, [ok(ID, false, 'blocked: no')]).commands))
        .toEqual([{ status: 'unknown', reason: 'an earlier send was not answered; the last answer: blocked: no' }]);
    }
  });

  it('believes a no after an auth-required that was answered by AUTH', () => {
    const { state } = run(open, [publish(), ok(ID, false, 'auth-required: who'), challenge(), signed, ok(AUTH_ID, true)]);
    expect(settled(run(state, [ok(ID, false, 'blocked: no')]).commands)).toEqual([{ status: 'rejected', reason: 'blocked: no' }]);
  });

  it('waits as long as the relay says when it is rate-limited, within the time; not now is no verdict', () => {
    const held = run(open, [publish(1, { forMs: 20_000 }), ok(ID, false, 'rate-limited: quota exceeded; retry in 7s')]);
    expect(run(held.state, [tick], later(T0, 6_999)).commands).toEqual([]);
    expect(run(held.state, [tick], later(T0, 7_000)).commands).toEqual([{ type: 'send', text: 'EVENT 1' }]);
    const end = run(held.state, [ok(ID, true), { type: 'tick', chance: 0 }], later(T0, 20_000));
    expect(settled(end.commands)).toEqual([
      { status: 'unknown', reason: 'the time ran out; the last answer: rate-limited: quota exceeded; retry in 7s' },
    ]);
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
    expect(end(closed('fetch-1', 'error: x'))).toEqual([{ type: 'finish', id: 'fetch-1', complete: false, refusal: 'error: x' }]);
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
