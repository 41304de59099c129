/** The parts below the machine and the driver: URLs, messages, the memory of ids, the delivery queue. */
import { describe, expect, it } from 'vitest';
import { Delivery } from '../../../src/broker/upstream/delivery.ts';
import { Fetches } from '../../../src/broker/upstream/fetches.ts';
import { normalizeRelayUrl } from '../../../src/broker/upstream/index.ts';
import { parseRelayMessage, reasonWord, retryAt } from '../../../src/broker/upstream/messages.ts';
import { SeenEvents } from '../../../src/broker/upstream/seen.ts';
import { eventId, milliseconds } from '../../../src/model/index.ts';
import { until } from './clock.ts';

const ID = 'ab'.repeat(32);

describe('normalizeRelayUrl', () => {
  it.each([
    ['wss://h', 'wss://h'], ['wss://h/', 'wss://h'], ['WSS://H:443/', 'wss://h'], ['ws://h:80', 'ws://h'],
    ['ws://h:443', 'ws://h:443'], ['wss://h/a/', 'wss://h/a'], ['wss://h/A?x=1', 'wss://h/A?x=1'], ['ws://[::1]:7777/', 'ws://[::1]:7777'],
  ])('%s is %s', (text, url) => {
    expect(normalizeRelayUrl(text)).toEqual({ ok: true, url });
  });

  it.each(['', 'h', 'https://h', 'wss://', 'wss://h#x', 'wss://me:hunter2@h', 'wss://me:hunter2@h h'])('refuses %s', (text) => {
    const result = normalizeRelayUrl(text);
    expect(result).toMatchObject({ ok: false, code: 'relay_url' });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});

describe('relay messages', () => {
  it.each([
    ['["EVENT","s",{"id":1}]', { type: 'event', id: 's', event: { id: 1 } }],
    ['["EOSE","s"]', { type: 'eose', id: 's' }],
    ['["CLOSED","s","error: x"]', { type: 'closed', id: 's', reason: 'error: x' }],
    ['["CLOSED","s"]', { type: 'closed', id: 's', reason: '' }],
    ['["NOTICE","hello"]', { type: 'notice', text: 'hello' }],
    ['["AUTH","c"]', { type: 'auth', challenge: 'c' }],
    [`["OK","${ID}",true]`, { type: 'ok', eventId: ID, accepted: true, reason: '' }],
    [`["OK","${ID}",false,"blocked: x"]`, { type: 'ok', eventId: ID, accepted: false, reason: 'blocked: x' }],
  ])('%s', (text, message) => {
    expect(parseRelayMessage(text)).toEqual(message);
  });

  it.each([
    '', '{', '{}', 'null', '[]', '["EVENT"]', '["EOSE",1]', '["OK","x",true]', `["OK","${ID}","true"]`, '["COUNT","s",{"count":1}]',
    '["WHAT","s"]', `["AUTH","${'c'.repeat(2_000)}"]`,
  ])('ignores %s', (text) => {
    expect(parseRelayMessage(text)).toBeUndefined();
  });

  it('bounds what it keeps of a reason', () => {
    expect(parseRelayMessage(JSON.stringify(['NOTICE', 'x'.repeat(5_000)]))).toEqual({ type: 'notice', text: 'x'.repeat(1_000) });
  });

  it.each([
    ['rate-limited: quota exceeded; retry in 7s', 7_000], ['rate-limited: retry in 0.5s', 500], ['rate-limited: slow down', 5_000],
    ['rate-limited: retry in 99999s', 300_000], ['rate-limited: retry in 0s', 1], ['rate-limited: (messages) Retry in 12 s', 12_000],
  ])('%s', (reason, afterMs) => {
    expect(reasonWord(reason)).toBe('rate-limited');
    expect(retryAt(reason, milliseconds(1_000))).toBe(1_000 + afterMs);
  });

  it.each([['auth-required: x', 'auth-required'], ['duplicate:', 'duplicate'], ['duplicate', 'other'], ['restricted: x', 'other'], ['', 'other']])(
    'the word of "%s" is %s', (reason, word) => {
      expect(reasonWord(reason)).toBe(word);
    },
  );
});

describe('SeenEvents', () => {
  const id = (number: number): ReturnType<typeof eventId> => eventId(number.toString(16).padStart(64, '0'));

  it('remembers the last half of its capacity at least, and forgets in bounded memory', () => {
    const seen = new SeenEvents(12_000);
    for (let number = 0; number < 30_000; number += 1) seen.add(id(number), 1);
    const known = Array.from({ length: 30_000 }, (_, number) => seen.has(id(number), 1));
    expect(known.slice(24_000)).not.toContain(false);
    expect(known.slice(0, 18_000)).not.toContain(true);
  });

  it('tells subscriptions apart', () => {
    const seen = new SeenEvents(10);
    seen.add(id(1), 1);
    expect([seen.has(id(1), 1), seen.has(id(1), 2), seen.has(id(2), 1)]).toEqual([true, false, false]);
  });
});

describe('Delivery', () => {
  it('runs one job at a time, in order, and tells pressure both ways', async () => {
    const pressure: boolean[] = [];
    const failures: unknown[] = [];
    const log: string[] = [];
    const gates: (() => void)[] = [];
    const delivery = new Delivery(4, { onPressure: (full) => pressure.push(full), onFailure: (error) => failures.push(error) });
    for (let job = 0; job < 6; job += 1) {
      delivery.push(async () => {
        log.push(`begin ${job}`);
        await new Promise<void>((resolve) => { gates.push(resolve); });
        log.push(`end ${job}`);
        if (job === 1) throw new Error('job 1');
      });
    }
    expect(pressure).toEqual([true]);
    for (let job = 0; job < 6; job += 1) {
      await until(() => gates.length > job);
      expect(gates).toHaveLength(job + 1);
      expect(pressure).toEqual(job < 3 ? [true] : [true, false]);
      gates[job]?.();
    }
    await until(() => log.length === 12);
    expect(log).toEqual([0, 1, 2, 3, 4, 5].flatMap((job) => [`begin ${job}`, `end ${job}`]));
    expect(failures).toEqual([new Error('job 1')]);
  });

  it('makes room when its limit is raised', () => {
    const pressure: boolean[] = [];
    const delivery = new Delivery(2, { onPressure: (full) => pressure.push(full), onFailure: () => {} });
    for (let job = 0; job < 4; job += 1) delivery.push(() => new Promise<void>(() => {}));
    expect(pressure).toEqual([true]);
    delivery.setLimit(100);
    expect(pressure).toEqual([true, false]);
    delivery.setLimit(2);
    expect(pressure).toEqual([true, false, true]);
    // Also where more than half of it is taken already: the answer that is waited for may come next.
    delivery.setLimit(4);
    expect(pressure).toEqual([true, false, true, false]);
  });

  it('keeps a long queue in order', async () => {
    const done: number[] = [];
    const delivery = new Delivery(10, { onPressure: () => {}, onFailure: () => {} });
    for (let job = 0; job < 5_000; job += 1) delivery.push(async () => { await Promise.resolve(); done.push(job); });
    await until(() => done.length === 5_000);
    expect(done).toEqual(Array.from({ length: 5_000 }, (_, job) => job));
  });
});

it('a fetch asks for one sign that the relay heeds no bounds: each costs a signature', async () => {
  const fetches = new Fetches();
  const result = new Promise((resolve) => { fetches.begin('fetch-1', [{ kinds: [9], until: 5 }], resolve); });
  fetches.asker('fetch-1')?.outside?.();
  expect(fetches.asker('fetch-1')?.outside).toBeUndefined();
  fetches.finish('fetch-1', true);
  expect(await result).toEqual({ events: [], complete: true, unbounded: true });
});
