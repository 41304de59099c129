/** The relay's own life: start, restart, limits, trouble with the store, slow and dead clients, the end. */
import { request } from 'node:http';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { channelId } from '../../src/model/index.ts';
import { openRelay } from '../../src/relay/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { alice, bob, carol, Client, HeldClock, OPEN, person, PRIVATE, relayKey, startRelay } from './harness.ts';

const NEW = channelId('00000000-0000-4000-8000-0000000000bb');
const basics = { port: 0, storePath: ':memory:', secretKey: relayKey, clock: systemClock, steadyClock, random: systemRandom };

describe('start and restart', () => {
  it('names a busy port', async () => {
    const relay = await startRelay();
    const port = Number(new URL(relay.url).port);
    await expect(openRelay({ ...basics, port })).rejects.toMatchObject({
      name: 'Failure', code: 'listen', message: expect.stringContaining(String(port)),
    });
  });

  it('knows events, channels, members and owners again', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const first = await startRelay({ storePath });
    const before = await Client.as(alice, first);
    const message = alice.sign(9, [['h', PRIVATE]], 'remember me');
    await before.publish(message);
    await before.publish(alice.sign(9007, [['h', NEW], ['visibility', 'private']]));
    await before.publish(alice.sign(9001, [['h', PRIVATE], ['p', bob.pubkey]]));
    await first.close();

    const second = await startRelay({ storePath, seedChannels: [] });
    const [member, removed] = [await Client.as(alice, second), await Client.as(bob, second)];
    expect(await member.stored('s', { kinds: [9], '#h': [PRIVATE] })).toEqual([message.id]);
    expect(await removed.stored('s', { kinds: [9], '#h': [PRIVATE] })).toEqual([]);
    expect(await member.publish(alice.sign(9, [['h', NEW]], 'hi'))).toEqual([true, '']);
    expect(await member.publish(message)).toEqual([true, 'duplicate: already have this event']);
    expect(await member.publish(alice.sign(9000, [['h', NEW], ['p', bob.pubkey]]))).toEqual([true, '']);
    expect(second.stats()).toMatchObject({ channels: 3, connections: 2, subscriptions: 2 });
  });

  it('gives a declared channel the members it lacks and changes nothing else', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const first = await startRelay({ storePath });
    const admin = await Client.as(alice, first);
    await admin.publish(alice.sign(9002, [['h', PRIVATE], ['name', 'cave']]));
    await first.close();

    const members = [alice, carol].map(({ pubkey }) => ({ pubkey, role: 'member' as const }));
    const seedChannels = [{ id: PRIVATE, name: 'den', visibility: 'open' as const, members }];
    const second = await startRelay({ storePath, seedChannels });
    const [again, added] = [await Client.as(alice, second), await Client.as(carol, second)];
    expect(await added.stored('n', { kinds: [44_100], '#p': [carol.pubkey] })).toHaveLength(1);
    expect(await again.stored('n', { kinds: [44_100], '#p': [alice.pubkey], '#h': [PRIVATE] })).toHaveLength(1);
    await again.stored('m', { kinds: [39_000, 39_002], '#d': [PRIVATE], limit: 0 });
    expect(await again.publish(alice.sign(9002, [['h', PRIVATE], ['about', 'deep']]))).toEqual([true, '']);
    const metadata = await again.nextEvent('m');
    expect(metadata.tags.slice(1, 4)).toEqual([['name', 'cave'], ['about', 'deep'], ['private']]);
  });

  it('refuses a store whose channels another key has signed', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const first = await startRelay({ storePath });
    await first.close();
    const other = openRelay({ ...basics, storePath, secretKey: person(98).key });
    await expect(other).rejects.toMatchObject({
      name: 'Failure', code: 'config', message: expect.stringContaining(first.pubkey),
    });
    await (await startRelay({ storePath })).close();
  });
});

describe('the information document', () => {
  const get = (relay: Relay, method: string, accept: string): Promise<{ status: number; type: string; body: string }> =>
    new Promise((resolve, reject) => {
      const options = { method, headers: { accept }, agent: false };
      const asked = request(relay.url.replace('ws:', 'http:'), options, (response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += String(chunk);
        });
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body });
        });
      });
      asked.on('error', reject).end();
    });

  it('is for those who ask for it; others get a sentence', async () => {
    const relay = await startRelay({ name: 'our relay', limits: { maxFilters: 3 } });
    const found = await get(relay, 'GET', 'application/nostr+json');
    expect(found.type).toBe('application/nostr+json');
    expect(JSON.parse(found.body)).toMatchObject({
      name: 'our relay', self: relay.pubkey, supported_nips: expect.arrayContaining([1, 9, 11, 29, 42, 45]),
      limitation: {
        auth_required: true, max_subscriptions: 1_024, max_filters: 3, max_limit: 10_000, max_subid_length: 256,
      },
    });
    expect(await get(relay, 'GET', '*/*')).toMatchObject({ status: 200, type: expect.stringContaining('text/plain') });
    expect(await get(relay, 'POST', '*/*')).toMatchObject({ status: 405 });
    expect(await get(relay, 'OPTIONS', '*/*')).toMatchObject({ status: 204 });
  });
});

describe('limits', () => {
  it('of a subscription: its id, the filters of a REQ, how many there are, how much each may ask for', async () => {
    const limits = { maxFilters: 2, maxSubscriptions: 2, maxSubscriptionIdLength: 8, maxLimit: 3, defaultLimit: 2 };
    const client = await Client.as(alice, await startRelay({ limits }));
    for (let index = 0; index < 5; index += 1) await client.publish(alice.sign(1, [], String(index)));
    expect(await client.stored('a', { kinds: [1] })).toHaveLength(2);
    expect(await client.stored('b', { kinds: [1], limit: 5 })).toHaveLength(3);
    client.send(['REQ', 'c', {}]);
    expect((await client.next('CLOSED', 'c'))[2]).toMatch(/^restricted: /);
    expect(await client.stored('b', { kinds: [1], limit: 1 })).toHaveLength(1);
    client.send(['REQ', 'b', {}, {}, {}]);
    expect((await client.next('CLOSED', 'b'))[2]).toMatch(/^invalid: filters/);
    expect(await client.stored('c', { kinds: [1], limit: 1 })).toHaveLength(1);
    client.send(['REQ', 'too-long-', {}]);
    expect((await client.next('NOTICE'))[1]).toMatch(/^invalid: subscription id/);
  });

  it('of pace: on a clock that nobody sets', async () => {
    const [wall, steady] = [new HeldClock(), new HeldClock()];
    const relay = await startRelay({ clock: wall, steadyClock: steady, limits: { eventsPerSec: 1, eventsBurst: 1 } });
    const client = await Client.as(alice, relay);
    const publish = async (content: string): Promise<unknown> =>
      (await client.publish(alice.sign(9, [['h', OPEN]], content, Math.floor(wall.now() / 1_000))))[1];
    const limited = 'rate-limited: quota exceeded; retry in 1s';
    expect(await publish('1')).toBe('');
    wall.push(-3_600_000);
    expect(await publish('2')).toBe(limited);
    steady.push(1_000);
    expect(await publish('3')).toBe('');
    wall.push(3_600_000);
    expect(await publish('4')).toBe(limited);
    steady.push(1_000);
    expect(await publish('5')).toBe('');
  });

  it('of pace: events and requests beyond the quota are told when to come again', async () => {
    const clock = new HeldClock();
    const limits = { eventsPerSec: 1, eventsBurst: 2, requestsPerSec: 1, requestsBurst: 3 };
    const client = await Client.as(alice, await startRelay({ clock, limits }));
    const events = [1, 2, 3].map((index) => alice.sign(1, [], String(index)));
    const answers = await Promise.all(events.map((event) => client.publish(event)));
    expect(answers).toEqual([[true, ''], [true, ''], [false, 'rate-limited: quota exceeded; retry in 1s']]);
    for (const id of ['a', 'b']) await client.stored(id, { kinds: [1] });
    client.send(['REQ', 'c', {}]);
    expect(await client.next('CLOSED', 'c')).toEqual(['CLOSED', 'c', 'rate-limited: quota exceeded; retry in 1s']);
    clock.push(1_000);
    expect(await client.publish(alice.sign(1, [], '3'))).toEqual([true, '']);
  });

  it('of connections: one too many is turned away, and let in when there is room', async () => {
    const relay = await startRelay({ limits: { maxConnections: 1 } });
    const first = await Client.as(alice, relay);
    await expect(Client.open(relay)).rejects.toThrow('503');
    first.socket.close();
    await first.closed;
    // Our end has closed once the relay's has said goodbye, which it does before it forgets the connection.
    await expect.poll(() => relay.stats().connections).toBe(0);
    await Client.as(alice, relay);
  });

  it('of channels and members', async () => {
    const client = await Client.as(alice, await startRelay({ limits: { maxChannels: 3, maxMembers: 2 } }));
    const create = (last: string): ReturnType<typeof alice.sign> => alice.sign(9007, [['h', OPEN.slice(0, -2) + last]]);
    expect(await client.publish(create('a1'))).toEqual([true, '']);
    expect((await client.publish(create('a2')))[1]).toMatch(/^restricted: /);
    expect((await client.publish(alice.sign(9000, [['h', PRIVATE], ['p', carol.pubkey]])))[1]).toMatch(/^restricted: /);
    expect(await client.publish(alice.sign(9000, [['h', OPEN], ['p', carol.pubkey]]))).toEqual([true, '']);
  });

  it('of a message: too long is invalid, far too long costs the connection', async () => {
    const relay = await startRelay({ limits: { maxMessageBytes: 2_000, maxFrameBytes: 8_000 } });
    const client = await Client.as(alice, relay);
    const long = alice.sign(1, [], 'x'.repeat(2_000));
    expect((await client.publish(long))[1]).toMatch(/^invalid: message/);
    expect((await client.publish(alice.sign(1, [], 'x'.repeat(1_000))))[0]).toBe(true);
    client.send(['EVENT', alice.sign(1, [], 'x'.repeat(8_000))]);
    expect((await client.closed).code).toBe(1009);
  });
});

describe('clients that misbehave', () => {
  it('are told of malformed messages and kept; binary ones are closed', async () => {
    const client = await Client.as(alice, await startRelay());
    for (const text of ['', '{', '"x"', '[]', '["EVENT"]', '["HELLO",1]']) {
      client.send(text);
      expect((await client.next('NOTICE'))[1]).toMatch(/^invalid: /);
    }
    expect(await client.publish(alice.sign(1))).toEqual([true, '']);
    client.socket.send(Buffer.from('[]'));
    expect((await client.closed).code).toBe(1003);
  });

  it('are closed when they do not authenticate in time; those that did stay', async () => {
    const clock = new HeldClock();
    const relay = await startRelay({ clock });
    const [silent, good] = [await Client.open(relay), await Client.as(alice, relay)];
    await silent.next('AUTH');
    clock.push(59_999);
    await good.publish(alice.sign(1));
    expect(silent.socket.readyState).toBe(WebSocket.OPEN);
    clock.push(1);
    expect((await silent.next('NOTICE'))[1]).toMatch(/^auth-required: /);
    expect((await silent.closed).code).toBe(1008);
    expect(await good.publish(alice.sign(1, [], 'again'))).toEqual([true, '']);
  });

  it('are dropped when they do not answer a ping by the next', async () => {
    const clock = new HeldClock();
    const relay = await startRelay({ clock, limits: { authTimeoutMs: 600_000 } });
    const good = await Client.as(alice, relay);
    const dead = new WebSocket(relay.url, { autoPong: false });
    onTestFinished(() => {
      dead.terminate();
    });
    const closed = new Promise((resolve) => dead.once('close', resolve));
    await new Promise((resolve) => dead.once('message', resolve));
    const pings = [dead, good.socket].map((socket) => new Promise((resolve) => socket.once('ping', resolve)));
    clock.push(30_000);
    await Promise.all(pings);
    // The pong has gone out before this, on the same socket.
    await good.publish(alice.sign(1));
    clock.push(30_000);
    expect(await closed).toBe(1006);
    expect(await good.publish(alice.sign(1, [], 'again'))).toEqual([true, '']);
  });

  it('are dropped when they let too much pile up; a reader that reads loses nothing', async () => {
    const relay = await startRelay({ limits: { maxOutboundBytes: 500_000 } });
    const writer = await Client.as(alice, relay);
    const [reader, slow] = [await Client.as(bob, relay), await Client.as(carol, relay)];
    for (const client of [reader, slow]) await client.stored('s', { kinds: [1] });
    slow.socket.pause();
    const sent: string[] = [];
    while (relay.stats().connections === 3 && sent.length < 200) {
      const event = alice.sign(1, [], `${sent.length}${'x'.repeat(200_000)}`);
      await writer.publish(event);
      expect((await reader.nextEvent('s')).id).toBe(event.id);
      sent.push(event.id);
    }
    expect(relay.stats().connections).toBe(2);
    expect(await reader.stored('all', { kinds: [1], limit: 1_000 })).toEqual(expect.arrayContaining(sent));
  });

  it('get a long answer in pages, whole, however slowly they read', async () => {
    const relay = await startRelay({ limits: { maxOutboundBytes: 1_000_000 } });
    const writer = await Client.as(alice, relay);
    const events = Array.from({ length: 150 }, (_, index) => alice.sign(1, [], `${index}${'x'.repeat(100_000)}`));
    for (const event of events) await writer.publish(event);
    const slow = await Client.as(bob, relay);
    slow.socket.pause();
    slow.send(['REQ', 's', { kinds: [1] }]);
    await expect.poll(() => relay.stats().delivered).toBeGreaterThan(0);
    expect(relay.stats().delivered).toBeLessThan(events.length);
    const live = alice.sign(1, [], 'live');
    await writer.publish(live);
    slow.socket.resume();
    await slow.next('EOSE', 's');
    expect((await slow.nextEvent('s')).id).not.toBe(live.id);
    await slow.stored('after', { ids: [live.id] });
    expect(slow.received('s').slice(events.length - 1)).toEqual([live.id]);
  });
});

describe('trouble with the store', () => {
  it('is an error for the event, never half a change, and over when it is over', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const relay = await startRelay({ storePath });
    const [client, reader] = [await Client.as(alice, relay), await Client.as(bob, relay)];
    const break_ = (kind: number): (() => void) => {
      const database = new Database(storePath);
      database.exec(`
        CREATE TRIGGER broken BEFORE INSERT ON events WHEN NEW.kind = ${kind} BEGIN SELECT RAISE(ABORT, 'no'); END`);
      return () => {
        database.exec('DROP TRIGGER broken');
        database.close();
      };
    };
    await reader.stored('live', { kinds: [1, 9007] });

    const note = alice.sign(1);
    let mend = break_(1);
    expect(await client.publish(note)).toEqual([false, 'error: the event could not be stored (storage_failed)']);
    mend();
    expect(await client.publish(note)).toEqual([true, '']);
    expect((await reader.nextEvent('live')).id).toBe(note.id);

    const create = alice.sign(9007, [['h', NEW], ['name', 'half']]);
    mend = break_(39_002);
    expect((await client.publish(create))[1]).toMatch(/^error: /);
    mend();
    expect(await client.stored('s', { ids: [create.id] }, { kinds: [39_000, 39_001], '#d': [NEW] })).toEqual([]);
    expect((await client.publish(alice.sign(9, [['h', NEW]], 'x')))[1]).toBe('restricted: unknown channel');
    expect(await client.publish(create)).toEqual([true, '']);
    expect((await reader.nextEvent('live')).id).toBe(create.id);
  });

  it('closes a subscription that cannot be read, and keeps the connection', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const client = await Client.as(alice, await startRelay({ storePath }));
    const database = new Database(storePath);
    database.exec('ALTER TABLE tags RENAME TO gone');
    client.send(['REQ', 's', { kinds: [1], '#t': ['x'] }]);
    expect((await client.next('CLOSED', 's'))[2]).toMatch(/^error: /);
    client.send(['COUNT', 's', { kinds: [1], '#t': ['x'] }]);
    expect((await client.next('CLOSED', 's'))[2]).toMatch(/^error: /);
    database.exec('ALTER TABLE gone RENAME TO tags');
    database.close();
    expect(await client.stored('s', { kinds: [1], '#t': ['x'] })).toEqual([]);
  });
});

describe('the end', () => {
  it('answers what it has read, says goodbye, and is the same ended twice', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const relay = await startRelay({ storePath });
    const client = await Client.as(alice, relay);
    const events = Array.from({ length: 50 }, (_, index) => alice.sign(9, [['h', OPEN]], String(index)));
    for (const event of events) client.send(['EVENT', event]);
    await client.ok(events[0]?.id ?? '');
    const closing = relay.close();
    expect(relay.close()).toBe(closing);
    expect((await client.closed)).toEqual({ code: 1001, reason: 'the relay is closing' });
    await closing;
    await expect(Client.open(relay)).rejects.toThrow('ECONNREFUSED');

    const answered = [events[0]?.id, ...client.seen('OK').map((message) => message[1])];
    const again = await Client.as(alice, await startRelay({ storePath }));
    const kept = await again.stored('s', { kinds: [9] });
    expect(kept.toSorted()).toEqual(answered.toSorted());
  });

  it('drops clients that do not say goodbye, after the grace', async () => {
    const clock = new HeldClock();
    const relay = await startRelay({ clock });
    const silent = await Client.as(alice, relay);
    silent.socket.pause();
    const closing = relay.close();
    // The grace is armed beside nothing else: the heartbeat is off.
    await expect.poll(() => clock.alarms).toBe(2);
    clock.push(2_000);
    await closing;
    expect(clock.alarms).toBe(0);
    silent.socket.resume();
  });
});
