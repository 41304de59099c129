/** The relay connection over a real socket: NIP-42, publications, the connection itself. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Socket, SocketHandlers, Upstream } from '../../../src/broker/upstream/index.ts';
import { filterToWire } from '../../../src/nostr/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { until } from './clock.ts';
import { agent, author, sign } from './events.ts';
import { authenticate, clock, closeOpened, collecting, connect, EVENT, FILTER, opened, ready, relayOf } from './harness.ts';
import { Shelf } from './relay.ts';

afterEach(closeOpened);

/** A socket that does nothing of its own. */
const stillSocket: Socket = {
  backlogBytes: () => 0, send: () => {}, ping: () => {}, pause: () => {}, resume: () => {}, hangUp: () => {}, destroy: () => {},
  gone: Promise.resolve(),
};

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

  it('waits for a signature that is made elsewhere, and sends none that is for an earlier challenge', async () => {
    const relay = await relayOf();
    const asked: { readonly challenge: string; readonly sign: (event: VerifiedEvent) => void }[] = [];
    const upstream = connect(relay.url, { signAuth: (challenge) => new Promise((done) => { asked.push({ challenge, sign: done }); }) });
    const connection = await ready(relay, upstream);
    connection.send('AUTH', 'first');
    connection.send('AUTH', 'second');
    await until(() => asked.length === 2);
    for (const { challenge, sign: done } of asked) done(sign(agent, { kind: 22_242, tags: [['challenge', challenge]] }));
    expect((await connection.got('AUTH'))[1]).toMatchObject({ tags: [['challenge', 'second']] });
    await authenticate(connection);
    await until(() => upstream.phase() === 'ready');
    expect(connection.all('AUTH')).toHaveLength(1);
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

  it('gives up an attempt after 30 s', () => {
    const upstream = connect('ws://127.0.0.1:9', { connect: () => stillSocket });
    clock.advance(29_999);
    expect(upstream.phase()).toBe('connecting');
    clock.advance(1);
    expect([upstream.phase(), upstream.lastError()]).toEqual(['waiting', 'connecting took too long']);
  });

  it('hears nothing of a socket it has let go', () => {
    const sockets: SocketHandlers[] = [];
    const upstream = connect('ws://127.0.0.1:9', { connect: (_url, handlers) => {
      sockets.push(handlers);
      return { ...stillSocket };
    } });
    clock.advance(31_000);
    expect([sockets.length, upstream.phase()]).toEqual([2, 'connecting']);
    sockets[0]?.opened();
    sockets[0]?.lost('late');
    expect(upstream.phase()).toBe('connecting');
    sockets[1]?.lost('its own');
    expect([upstream.phase(), upstream.lastError()]).toEqual(['waiting', 'its own']);
  });

  it('drops ephemeral events while the socket holds back too much', async () => {
    const sent: string[] = [];
    const upstream = connect('ws://127.0.0.1:9', { connect: (_url, handlers) => {
      queueMicrotask(handlers.opened);
      return { ...stillSocket, backlogBytes: () => 5_000_000, send: (text) => { sent.push(text); } };
    } });
    await until(() => upstream.phase() === 'authenticating');
    clock.advance(250);
    expect(await upstream.publish(sign(agent, { kind: 24_200 }), { timeoutMs: 1_000 }))
      .toMatchObject({ reason: 'dropped: the relay reads too slowly' });
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

describe('a relay that says rate-limited', () => {
  it.each([
    ['of everything', (): readonly unknown[] => ['NOTICE', 'rate-limited: quota exceeded; retry in 2s']],
    ['of one event', (): readonly unknown[] => ['OK', EVENT.id, false, 'rate-limited: slow down']],
  ])('%s is spared what is only a courtesy for a minute', async (_, words) => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const connection = await ready(relay, upstream);
    expect(upstream.isLimited()).toBe(false);
    void upstream.publish(EVENT, { timeoutMs: 1_000 });
    await connection.got('EVENT');
    connection.send(...words() as [string, ...unknown[]]);
    await until(() => upstream.isLimited());
    clock.advance(30_000);
    // What comes after the pong says that it has come.
    const after = collecting('after');
    upstream.subscribe(after.spec);
    await connection.got('REQ');
    connection.send('EOSE', 'after');
    await until(() => after.eoses === 1);
    clock.advance(29_999);
    expect(upstream.isLimited()).toBe(true);
    clock.advance(1);
    expect(upstream.isLimited()).toBe(false);
  });

  it('tells whoever watches of every change of phase', async () => {
    const relay = await relayOf();
    const upstream = connect(relay.url);
    const phases: string[] = [];
    upstream.watch((phase) => { phases.push(phase); });
    const connection = await ready(relay, upstream);
    connection.drop();
    await until(() => phases.at(-1) === 'waiting');
    await upstream.close();
    expect(phases).toEqual(['authenticating', 'ready', 'waiting', 'closed']);
  });
});
