/** Subscriptions and fetches over a real socket. */
import { afterEach, describe, expect, it } from 'vitest';
import { webSockets } from '../../../src/broker/upstream/socket.ts';
import { filterToWire } from '../../../src/nostr/index.ts';
import { until } from './clock.ts';
import { mention } from './events.ts';
import { CHANNEL, clock, closeOpened, collecting, connect, EVENT, FILTER, ready, relayOf } from './harness.ts';
import { Shelf } from './relay.ts';

afterEach(closeOpened);

describe('subscriptions', () => {
  it('are asked for anew after each of 20 drops, with fresh filters, and every event comes once', async () => {
    const shelf = new Shelf();
    const relay = await relayOf(shelf.manner);
    const upstream = connect(relay.url);
    let asked = 0;
    const taken = collecting('s', () => {
      asked += 1;
      return [{ ...FILTER, since: asked }];
    });
    upstream.subscribe(taken.spec);
    for (let drop = 1; drop <= 20; drop += 1) {
      const connection = await ready(relay, upstream, drop);
      expect(await connection.got('REQ')).toEqual(['REQ', 's', filterToWire({ ...FILTER, since: drop })]);
      await until(() => taken.eoses === drop);
      connection.drop();
      await until(() => upstream.phase() === 'waiting');
      shelf.keep(mention(CHANNEL, `after drop ${drop}`, 1_800_000_000 + drop));
      clock.advance(30_000);
    }
    await ready(relay, upstream, 21);
    await until(() => taken.eoses === 21);
    expect(taken.events.map(({ id }) => id)).toEqual(shelf.events.map(({ id }) => id));
    expect(upstream.counters()).toMatchObject({ duplicates: 19 * 20 / 2, invalid: 0, unmatched: 0 });
  });

  it('tell stored from live, and hand events of one time over in the order they came', async () => {
    const shelf = new Shelf();
    const relay = await relayOf(shelf.manner);
    const upstream = connect(relay.url);
    const old = ['a', 'b'].map((content) => mention(CHANNEL, content, 1_800_000_000));
    old.forEach((event) => { shelf.keep(event); });
    const taken = collecting('s');
    upstream.subscribe(taken.spec);
    await ready(relay, upstream);
    await until(() => taken.eoses === 1);
    const live = ['c', 'd', 'e'].map((content) => mention(CHANNEL, content, 1_800_000_000));
    live.forEach((event) => { shelf.put(event); });
    await until(() => taken.events.length === 5);
    expect(taken.events).toEqual([...old.map(({ id }) => ({ id, stored: true })), ...live.map(({ id }) => ({ id, stored: false }))]);
  });

  it('take nothing that was not asked for, is malformed, forged or said twice', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const taken = collecting('s');
    upstream.subscribe(taken.spec);
    await connection.got('REQ');
    const good = mention(CHANNEL, 'good', 1_800_000_000);
    const other = mention('22222222-2222-4222-8222-222222222222', 'other channel', 1_800_000_000);
    const forged = { ...good, id: mention(CHANNEL, 'x', 1).id };
    const unsigned = { ...mention(CHANNEL, 'unsigned', 1_800_000_001), sig: good.sig };
    connection.send('EVENT', 's', other);
    connection.send('EVENT', 'nobody', good);
    connection.send('EVENT', 's', forged);
    connection.send('EVENT', 's', unsigned);
    connection.send('EVENT', 's', { ...good, extra: 1 });
    for (const noise of ['not json', '{"EVENT":1}', '["COUNT","s",{"count":1}]', '[]', `["NOTICE","${'x'.repeat(1_100_000)}"]`]) connection.sendText(noise);
    connection.send('EVENT', 's', good);
    connection.send('EVENT', 's', good);
    connection.send('EOSE', 's');
    await until(() => taken.eoses === 1);
    expect(taken.events).toEqual([{ id: good.id, stored: true }]);
    expect(upstream.counters()).toEqual({ ignored: 5, invalid: 3, unmatched: 2, duplicates: 1, dropped: 0 });
    expect(upstream.phase()).toBe('ready');
  });

  it('hand over one event at a time, and stop reading when too many wait', async () => {
    const shelf = new Shelf();
    const relay = await relayOf(shelf.manner);
    const reading: string[] = [];
    const upstream = connect(relay.url, { connect: (url, handlers) => {
      const socket = webSockets(clock)(url, handlers);
      return {
        ...socket,
        pause: () => { reading.push('pause'); socket.pause(); },
        resume: () => { reading.push('resume'); socket.resume(); },
      };
    } });
    await ready(relay, upstream);
    let inHand = 0;
    let most = 0;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const seen: string[] = [];
    upstream.subscribe({
      id: 's',
      filters: () => [FILTER],
      onEvent: async (event) => {
        inHand += 1;
        most = Math.max(most, inHand);
        await gate;
        seen.push(event.content);
        inHand -= 1;
      },
    });
    const events = Array.from({ length: 600 }, (_, index) => mention(CHANNEL, `${index} ${'x'.repeat(5_000)}`, 1_800_000_000 + index));
    const connection = await relay.connection();
    await connection.got('REQ');
    events.forEach((event) => { shelf.put(event); });
    await until(() => reading.length > 0);
    expect(reading).toEqual(['pause']);
    // The consumer may be waiting for this very answer, which stands behind the burst.
    expect(await upstream.fetch([{ ids: [EVENT.id] }], { timeoutMs: 60_000 })).toEqual({ events: [], complete: true });
    expect(reading).toEqual(['pause', 'resume', 'pause']);
    expect(seen).toEqual([]);
    clock.advance(100_000);
    expect(upstream.phase()).toBe('ready');
    release();
    await until(() => seen.length === 600);
    expect(reading).toEqual(['pause', 'resume', 'pause', 'resume']);
    expect(most).toBe(1);
    expect(seen.map((content) => Number(content.split(' ')[0]))).toEqual(events.map((_, index) => index));
  });

  it('end when their subscriber fails, the others go on', async () => {
    const shelf = new Shelf();
    const relay = await relayOf(shelf.manner);
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const taken = collecting('t');
    upstream.subscribe({ ...collecting('s').spec, onEvent: () => Promise.reject(new Error('subscriber')) });
    upstream.subscribe(taken.spec);
    await until(() => taken.eoses === 1);
    shelf.put(mention(CHANNEL, 'x', 1_800_000_000));
    await until(() => taken.events.length === 1);
    expect(await connection.got('CLOSE')).toEqual(['CLOSE', 's']);
  });

  it('are handed nothing that still waited when they were given up', async () => {
    const shelf = new Shelf();
    const relay = await relayOf(shelf.manner);
    const upstream = connect(relay.url);
    await ready(relay, upstream);
    for (const second of [1, 2, 3]) shelf.keep(mention(CHANNEL, String(second), 1_800_000_000 + second));
    const taken = collecting('s');
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => { release = resolve; });
    upstream.subscribe({ ...taken.spec, onEvent: async (event, stored) => {
      await taken.spec.onEvent(event, stored);
      await gate;
    } });
    const fetched = upstream.fetch([FILTER], { timeoutMs: 60_000 });
    // What the fetch brought came after what the subscription is to be handed.
    expect((await fetched).events).toHaveLength(3);
    upstream.unsubscribe('s');
    const next = collecting('s');
    upstream.subscribe(next.spec);
    release();
    await until(() => next.eoses === 1);
    expect([taken.events.length, taken.eoses, next.events.length]).toEqual([1, 0, 3]);
  });

  it('fall silent at once when they are given up, and begin afresh under the same id', async () => {
    const shelf = new Shelf();
    const relay = await relayOf(shelf.manner);
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    shelf.keep(mention(CHANNEL, 'x', 1_800_000_000));
    const first = collecting('s');
    upstream.subscribe(first.spec);
    await until(() => first.events.length === 1);
    upstream.unsubscribe('s');
    expect(await connection.got('CLOSE')).toEqual(['CLOSE', 's']);
    const second = collecting('s');
    upstream.subscribe(second.spec);
    await until(() => second.eoses === 1);
    expect([first.events.length, second.events.length]).toEqual([1, 1]);
  });

  it('have ids a relay takes', () => {
    const upstream = connect('ws://127.0.0.1:1');
    for (const id of ['', 'x'.repeat(65), 'fetch-1']) expect(() => { upstream.subscribe(collecting(id).spec); }).toThrow(TypeError);
  });
});

describe('fetch', () => {
  it('gives what is stored, newest first, verified, once', async () => {
    const shelf = new Shelf();
    const relay = await relayOf(shelf.manner);
    const upstream = connect(relay.url);
    const events = [1, 3, 2].map((second) => mention(CHANNEL, String(second), 1_800_000_000 + second));
    events.forEach((event) => { shelf.keep(event); });
    const connection = await ready(relay, upstream);
    const result = await upstream.fetch([FILTER, { ids: [events[0]?.id ?? ''] }], { timeoutMs: 5_000 });
    expect(result.complete).toBe(true);
    expect(result.events.map(({ content }) => content)).toEqual(['3', '2', '1']);
    expect(await connection.got('CLOSE')).toHaveLength(2);
  });

  it('is incomplete when the relay refuses, and tells its words', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const refused = upstream.fetch([FILTER], { timeoutMs: 60_000 });
    const [, id] = await connection.got('REQ');
    connection.send('CLOSED', id, 'restricted: not a channel member');
    expect(await refused).toEqual({ events: [], complete: false, refusal: 'restricted: not a channel member' });
  });

  it('is incomplete when the time runs out or the relay breaks off', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const slow = upstream.fetch([FILTER], { timeoutMs: 2_000 });
    const [, id] = await connection.got('REQ');
    const event = mention(CHANNEL, 'x', 1_800_000_000);
    connection.send('EVENT', id, event);
    connection.send('NOTICE', 'x');
    const broken = upstream.fetch([FILTER], { timeoutMs: 60_000 });
    await connection.got('REQ', undefined, 2);
    // Its EVENT has been read when an answer to something later has.
    const after = upstream.publish(EVENT, { timeoutMs: 60_000 });
    await connection.got('EVENT');
    connection.send('OK', EVENT.id, true, '');
    await after;
    clock.advance(2_000);
    expect(await slow).toEqual({ events: [event], complete: false });
    connection.drop();
    expect(await broken).toEqual({ events: [], complete: false });
  });
});
