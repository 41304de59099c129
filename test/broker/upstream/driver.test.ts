/** The relay connection against a relay played by the test: real sockets, a clock that the test pushes. */
import { afterEach, describe, expect, it } from 'vitest';
import { openUpstream } from '../../../src/broker/upstream/index.ts';
import type { SubscriptionSpec, Upstream, UpstreamOptions } from '../../../src/broker/upstream/index.ts';
import { webSockets } from '../../../src/broker/upstream/socket.ts';
import { silentLog } from '../../../src/model/index.ts';
import { filterToWire } from '../../../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../../src/nostr/index.ts';
import { evenRandom, TestClock, until } from './clock.ts';
import { agent, authEvent, author, mention, sign } from './events.ts';
import { Shelf, TestRelay } from './relay.ts';
import type { Connection, Manner } from './relay.ts';

const CHANNEL = '11111111-1111-4111-8111-111111111111';
const FILTER: Filter = { kinds: [9], tags: new Map([['h', [CHANNEL]]]) };
const EVENT = sign(agent, { kind: 9, content: 'ours', tags: [['h', CHANNEL]] });

const opened: { close(): Promise<void> }[] = [];
let clock = new TestClock();

afterEach(async () => {
  const closing = opened.splice(0).reverse().map((part) => part.close());
  // The grace of a close that nobody answers.
  await until(() => true);
  clock.advance(5_000);
  await Promise.all(closing);
  expect(clock.armed).toBe(0);
  clock = new TestClock();
});

async function relayOf(manner?: Manner, greet?: (connection: Connection) => void): Promise<TestRelay> {
  const relay = await TestRelay.open(manner, greet);
  opened.unshift(relay);
  return relay;
}

function connect(url: string, options: Partial<UpstreamOptions> = {}): Upstream {
  const upstream = openUpstream({
    url, pubkey: agent.pubkey, signAuth: authEvent, clock, random: evenRandom, log: silentLog, ...options,
  });
  opened.push(upstream);
  return upstream;
}

/** Connected to a relay that asks for no AUTH. */
async function ready(relay: TestRelay, upstream: Upstream, count = 1): Promise<Connection> {
  const connection = await relay.connection(count);
  await until(() => upstream.phase() === 'authenticating');
  clock.advance(250);
  expect(upstream.phase()).toBe('ready');
  return connection;
}

async function authenticate(connection: Connection): Promise<void> {
  const [, event] = await connection.got('AUTH');
  connection.send('OK', (event as VerifiedEvent).id, true, '');
}

interface Taken {
  readonly spec: SubscriptionSpec;
  readonly events: { readonly id: string; readonly stored: boolean }[];
  eoses: number;
}

function collecting(id: string, filters: () => readonly Filter[] = () => [FILTER]): Taken {
  const taken: Taken = {
    events: [],
    eoses: 0,
    spec: {
      id,
      filters,
      onEvent: async (event, stored) => { taken.events.push({ id: event.id, stored }); },
      onEose: () => { taken.eoses += 1; },
    },
  };
  return taken;
}

describe('NIP-42', () => {
  it('answers a challenge with the signed event for the normal form of the URL, then asks', async () => {
    const relay = await relayOf(undefined, (connection) => { connection.send('AUTH', 'challenge-1'); });
    const upstream = connect(relay.url.replace('ws://', 'WS://').concat('/'));
    upstream.subscribe(collecting('s').spec);
    const connection = await relay.connection();
    const [, event] = await connection.got('AUTH');
    expect(event).toMatchObject({ kind: 22_242, tags: [['relay', relay.url], ['challenge', 'challenge-1']] });
    expect(upstream.phase()).toBe('authenticating');
    expect(connection.all('REQ')).toEqual([]);
    connection.send('OK', (event as VerifiedEvent).id, true, '');
    expect(await connection.got('REQ')).toEqual(['REQ', 's', filterToWire(FILTER)]);
    expect(upstream.phase()).toBe('ready');
  });

  it('works without a challenge, and waits 250 ms for one', async () => {
    const relay = await relayOf(new Shelf().manner);
    const upstream = connect(relay.url);
    await relay.connection();
    await until(() => upstream.phase() === 'authenticating');
    clock.advance(249);
    expect(upstream.phase()).toBe('authenticating');
    clock.advance(1);
    expect(upstream.phase()).toBe('ready');
    expect(await upstream.publish(EVENT, { timeoutMs: 10_000 })).toEqual({ status: 'accepted', eventId: EVENT.id });
  });

  it.each(['before', 'after'])('retries what auth-required refused %s the challenge', async (when) => {
    const relay = await relayOf((connection, message) => {
      const [word, first] = message;
      const known = connection.all('AUTH').length > 0;
      if (word === 'AUTH') connection.send('OK', (first as VerifiedEvent).id, true, '');
      if (word === 'EVENT') connection.send('OK', (first as VerifiedEvent).id, known, known ? '' : 'auth-required: who?');
      if (word === 'REQ') connection.send(...(known ? ['EOSE', first] : ['CLOSED', first, 'auth-required: who?']));
    });
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const taken = collecting('s');
    // After: the challenge is on its way while we send; the refusals come when AUTH has begun.
    if (when === 'after') connection.send('AUTH', 'c');
    upstream.subscribe(taken.spec);
    const outcome = upstream.publish(EVENT, { timeoutMs: 10_000 });
    const fetched = upstream.fetch([FILTER], { timeoutMs: 10_000 });
    if (when === 'before') {
      await connection.got('EVENT');
      connection.send('AUTH', 'c');
    }
    expect(await outcome).toEqual({ status: 'accepted', eventId: EVENT.id });
    expect(await fetched).toEqual({ events: [], complete: true });
    await until(() => taken.eoses === 1);
    expect(connection.all('EVENT').map(([, event]) => (event as VerifiedEvent).id)).toEqual([EVENT.id, EVENT.id]);
  });

  it('sends the same event again when AUTH took 4 s, and never another', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const outcome = upstream.publish(EVENT, { timeoutMs: 10_000 });
    await connection.got('EVENT');
    connection.send('AUTH', 'late');
    await connection.got('AUTH');
    clock.advance(4_000);
    await authenticate(connection);
    expect(await connection.got('EVENT', undefined, 2)).toEqual(['EVENT', EVENT]);
    connection.send('OK', EVENT.id, true, 'duplicate: have it');
    expect(await outcome).toEqual({ status: 'accepted', eventId: EVENT.id });
  });

  it('connects anew when AUTH is refused or never answered, and tells why', async () => {
    const relay = await relayOf(undefined, (connection) => { connection.send('AUTH', 'c'); });
    const upstream = connect(relay.url);
    const first = await relay.connection();
    const [, event] = await first.got('AUTH');
    first.send('OK', (event as VerifiedEvent).id, false, 'restricted: not a relay member');
    await until(() => upstream.phase() === 'waiting');
    expect([upstream.lastError(), upstream.attempts()]).toEqual(['AUTH: restricted: not a relay member', 1]);
    clock.advance(1_000);
    const second = await relay.connection(2);
    await second.got('AUTH');
    clock.advance(20_000);
    await until(() => second.closed);
    expect([upstream.phase(), upstream.lastError(), upstream.attempts()]).toEqual(['waiting', 'AUTH was not answered in time', 2]);
  });

  it('survives a signer that throws', async () => {
    const relay = await relayOf(undefined, (connection) => { connection.send('AUTH', 'c'); });
    const upstream = connect(relay.url, { signAuth: () => { throw new Error('no key'); } });
    await until(() => upstream.phase() === 'waiting');
    expect(upstream.lastError()).toBe('AUTH could not be signed');
  });
});

describe('publications', () => {
  it('end as unknown when no OK ever comes, having been sent twice', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const outcome = upstream.publish(EVENT, { timeoutMs: 15_000 });
    await connection.got('EVENT');
    clock.advance(10_000);
    expect(await connection.got('EVENT', undefined, 2)).toEqual(['EVENT', EVENT]);
    clock.advance(5_000);
    expect(await outcome).toEqual({ status: 'unknown', eventId: EVENT.id, reason: 'the time ran out' });
    expect(connection.all('EVENT')).toHaveLength(2);
  });

  it('end in bounded time for ephemeral kinds without an OK', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    await ready(relay, upstream);
    const frame = sign(agent, { kind: 24_200 });
    const outcome = upstream.publish(frame, { timeoutMs: 600_000 });
    clock.advance(3_000);
    expect(await outcome).toMatchObject({ status: 'unknown', eventId: frame.id });
  });

  it('are sent again, the same id, when the connection broke before the OK', async () => {
    const shelf = new Shelf();
    const relay = await relayOf((connection, message) => {
      if (message[0] !== 'EVENT' || relay.connections.length > 1) shelf.manner(connection, message);
      else {
        shelf.keep(EVENT);
        connection.drop();
      }
    });
    const upstream = connect(relay.url);
    await ready(relay, upstream);
    const outcome = upstream.publish(EVENT, { timeoutMs: 30_000 });
    await until(() => upstream.phase() === 'waiting');
    clock.advance(1_000);
    await ready(relay, upstream, 2);
    expect(await outcome).toEqual({ status: 'accepted', eventId: EVENT.id });
    expect(shelf.events.map(({ id }) => id)).toEqual([EVENT.id]);
  });

  it('tells a rejection with the reason, escaped', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const outcome = upstream.publish(EVENT, { timeoutMs: 15_000 });
    await connection.got('EVENT');
    connection.send('OK', EVENT.id, false, 'restricted: not a\u202e member');
    expect(await outcome).toEqual({ status: 'rejected', eventId: EVENT.id, reason: 'restricted: not a\\u{202e} member' });
  });

  it('pass a burst of ephemeral events while the relay is away; drops are counted', async () => {
    const relay = await relayOf(new Shelf().manner);
    const upstream = connect(relay.url);
    const frames = Array.from({ length: 400 }, (_, index) => sign(agent, { kind: 24_200, content: String(index) }));
    const outcomes = frames.map((frame) => upstream.publish(frame, { timeoutMs: 60_000 }));
    const message = upstream.publish(EVENT, { timeoutMs: 60_000 });
    expect(upstream.counters().dropped).toBe(144);
    expect(await outcomes[0]).toMatchObject({ status: 'unknown', reason: 'dropped: more than 256 ephemeral events wait' });
    const connection = await ready(relay, upstream);
    expect(await message).toMatchObject({ status: 'accepted' });
    expect(await outcomes[399]).toMatchObject({ status: 'accepted' });
    expect(connection.received[0]).toEqual(['EVENT', EVENT]);
  });
});

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

describe('the connection', () => {
  it('is made anew when the relay is there no more, and tells the reason', async () => {
    const relay = await relayOf();
    const { url } = relay;
    opened.splice(opened.indexOf(relay), 1);
    await relay.close();
    const upstream = connect(url);
    await until(() => upstream.phase() === 'waiting');
    expect(upstream.lastError()).toContain('ECONNREFUSED');
    expect(upstream.attempts()).toBe(1);
    clock.advance(1_000);
    await until(() => upstream.attempts() === 2);
  });

  it('notices a relay that stands still', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const first = await ready(relay, upstream);
    // Alive: the pong is read before the time is up.
    clock.advance(29_750);
    const alive = upstream.publish(EVENT, { timeoutMs: 1_000_000 });
    await first.got('EVENT');
    first.send('OK', EVENT.id, true, '');
    await alive;
    clock.advance(10_000);
    expect(upstream.phase()).toBe('ready');
    first.freeze();
    clock.advance(20_000);
    expect(upstream.phase()).toBe('ready');
    clock.advance(10_000);
    expect([upstream.phase(), upstream.lastError()]).toEqual(['waiting', 'no sign of life after a ping']);
    clock.advance(1_000);
    await relay.connection(2);
  });

  it('gives up an attempt after 30 s', async () => {
    const upstream = connect('ws://127.0.0.1:9', { connect: () => ({
      backlogBytes: () => 0, send: () => {}, ping: () => {}, pause: () => {}, resume: () => {}, hangUp: () => {}, destroy: () => {},
      gone: Promise.resolve(),
    }) });
    clock.advance(29_999);
    expect(upstream.phase()).toBe('connecting');
    clock.advance(1);
    expect([upstream.phase(), upstream.lastError()]).toEqual(['waiting', 'connecting took too long']);
  });

  it('drops ephemeral events while the socket holds back too much', async () => {
    const sent: string[] = [];
    const upstream = connect('ws://127.0.0.1:9', { connect: (_url, handlers) => {
      queueMicrotask(handlers.opened);
      return {
        backlogBytes: () => 5_000_000, send: (text) => { sent.push(text); }, ping: () => {}, pause: () => {}, resume: () => {},
        hangUp: () => {}, destroy: () => {}, gone: Promise.resolve(),
      };
    } });
    await until(() => upstream.phase() === 'authenticating');
    clock.advance(250);
    expect(await upstream.publish(sign(agent, { kind: 24_200 }), { timeoutMs: 1_000 })).toMatchObject({ reason: 'dropped: the relay reads too slowly' });
    void upstream.publish(EVENT, { timeoutMs: 1_000 });
    expect(sent).toEqual([JSON.stringify(['EVENT', EVENT])]);
  });

  it('settles everything when it is closed, in any phase, once', async () => {
    const relay = await relayOf();
    const states: ((upstream: Upstream) => Promise<unknown>)[] = [
      () => Promise.resolve(),
      (upstream) => until(() => upstream.phase() === 'authenticating'),
      async (upstream) => {
        await until(() => upstream.phase() === 'authenticating');
        clock.advance(250);
      },
    ];
    for (const reach of states) {
      const upstream = connect(relay.url);
      await reach(upstream);
      const waits = [upstream.publish(EVENT, { timeoutMs: 60_000 }), upstream.publish(sign(author, { kind: 20_001 }), { timeoutMs: 60_000 })];
      const fetched = upstream.fetch([FILTER], { timeoutMs: 60_000 });
      upstream.subscribe(collecting('s').spec);
      await Promise.all([upstream.close(), upstream.close()]);
      expect((await Promise.all(waits)).map(({ status }) => status)).toEqual(['unknown', 'unknown']);
      expect(await fetched).toEqual({ events: [], complete: false });
      expect(upstream.phase()).toBe('closed');
      expect(await upstream.publish(EVENT, { timeoutMs: 60_000 })).toMatchObject({ status: 'unknown' });
      expect(await upstream.fetch([FILTER], { timeoutMs: 60_000 })).toEqual({ events: [], complete: false });
      expect(clock.armed).toBe(0);
    }
  });

  it('sends what was handed to it before it closes', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    const offline = sign(agent, { kind: 20_001, content: 'offline' });
    void upstream.publish(offline, { timeoutMs: 1_000 });
    await upstream.close();
    expect(await connection.got('EVENT')).toEqual(['EVENT', offline]);
  });

  it('refuses a URL that is none', () => {
    expect(() => connect('https://h')).toThrow('expected ws://host or wss://host');
  });
});
