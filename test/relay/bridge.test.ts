/** The relay over HTTP (NIP-98): who is let in, what is answered, and what is refused before anything is done. */
import { describe, expect, it } from 'vitest';
import { attest } from '../../src/nostr/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { alice, bob, carol, Client, HeldClock, OPEN, person, PRIVATE, startRelay } from './harness.ts';
import type { Person } from './harness.ts';
import { authorization, post, raw, signedFor } from './http.ts';
import type { Sent } from './http.ts';

const nowSec = (): number => Math.floor(Date.now() / 1000);
const NOTES = [{ kinds: [1] }];

describe('a signed request', () => {
  it.each<[string, Sent, RegExp]>([
    ['for another URL', { tags: [['u', 'http://127.0.0.1:1/query']] }, /u: /],
    ['for another path', { tags: [['u', 'http://127.0.0.1:1/count']] }, /u: /],
    ['without URL', { tags: [['u']] }, /u: /],
    ['for another method', { tags: [['method', 'GET']] }, /method: /],
    ['of another body', { tags: [['payload', 'ab'.repeat(32)]] }, /payload: /],
    ['of no body', { tags: [['payload']] }, /payload: /],
    ['of another kind', { kind: 22_242 }, /kind: /],
    ['too old', { createdAtSec: nowSec() - 90 }, /created_at: /],
    ['too far ahead', { createdAtSec: nowSec() + 90 }, /created_at: /],
    ['without the scheme', { headers: { authorization: 'Bearer abc' } }, /Authorization: /],
    ['of no base64', { headers: { authorization: 'Nostr %%%' } }, /Authorization: /],
    ['of no event', { headers: { authorization: 'Nostr e30=' } }, /Authorization: /],
  ])('%s is refused with 401', async (_, sent, reason) => {
    const relay = await startRelay();
    const answer = await post(relay, alice, '/query', NOTES, sent);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Nostr');
    expect(answer.body).toEqual({ error: expect.stringMatching(/^auth-required: /) as unknown });
    expect(JSON.stringify(answer.body)).toMatch(reason);
    expect(await post(relay, alice, '/query', NOTES)).toMatchObject({ status: 200, body: [] });
  });

  it('that is forged, unsigned or used before is refused, and of two Authorization headers neither counts', async () => {
    const relay = await startRelay();
    const body = JSON.stringify(NOTES);
    const event = signedFor(relay, alice, '/query', body);
    const send = (signed: VerifiedEvent): ReturnType<typeof post> =>
      post(relay, undefined, '/query', body, { headers: { authorization: authorization(signed) } });
    expect((await send({ ...event, pubkey: bob.pubkey })).status).toBe(401);
    expect((await post(relay, undefined, '/query', body)).status).toBe(401);
    const twice = [event, event].map(authorization);
    expect((await raw(relay, '/query', 'POST', { 'content-type': 'application/json', 'Authorization': twice }, body)).status).toBe(401);
    expect((await send(event)).status).toBe(200);
    expect(await send(event)).toMatchObject({ status: 401, body: { error: expect.stringContaining('used before') as unknown } });
  });

  it('is taken under the name that a proxy gives the relay, and under its own', async () => {
    const relay = await startRelay({ publicUrl: 'wss://relay.example/buzz/' });
    const outside: Sent = { headers: { host: 'relay.example' }, tags: [['u', 'https://relay.example/buzz/query']] };
    expect((await post(relay, alice, '/query', NOTES, outside)).status).toBe(200);
    expect((await post(relay, alice, '/query', NOTES)).status).toBe(200);
    expect((await post(relay, alice, '/query', NOTES, { ...outside, tags: [['u', 'http://relay.example/buzz/query']] })).status).toBe(401);
    expect((await post(relay, alice, '/query', NOTES, { headers: { host: 'localhost:' + new URL(relay.url).port } })).status).toBe(200);
  });
});

describe('a request', () => {
  it.each<[string, string, Sent, unknown, number]>([
    ['from another page', '/query', { headers: { origin: 'http://evil.example' } }, NOTES, 403],
    ['from a page of no origin', '/query', { headers: { origin: 'null' } }, NOTES, 403],
    ['under another name', '/query', { headers: { host: 'evil.example' } }, NOTES, 403],
    ['of text', '/query', { headers: { 'content-type': 'text/plain' } }, NOTES, 415],
    ['compressed', '/query', { headers: { 'content-encoding': 'gzip' } }, NOTES, 415],
    ['by PUT', '/query', { method: 'PUT' }, NOTES, 405],
    ['of no JSON', '/query', {}, '[', 400],
    ['of one filter alone', '/query', {}, { kinds: [1] }, 400],
    ['of no filter', '/query', {}, [], 400],
    ['of eleven filters', '/count', {}, Array.from({ length: 11 }, () => ({ kinds: [1] })), 400],
    ['of an unknown member', '/query', {}, [{ kinds: [1], depth: 1 }], 400],
    ['of half a cursor', '/query', {}, [{ kinds: [1], before_id: 'ab'.repeat(32) }], 400],
    ['of a broken cursor', '/count', {}, [{ kinds: [1], until: 1, before_id: 'ab' }], 400],
    ['of another’s own', '/query', {}, [{ kinds: [44_200], '#p': [bob.pubkey] }], 403],
    ['of anything', '/count', {}, [{}], 403],
    ['of others’ memory', '/query', {}, [{ kinds: [30_174], authors: [bob.pubkey] }], 403],
    ['of an event that is none', '/events', {}, { kind: 1 }, 400],
    ['of an ephemeral event', '/events', {}, alice.sign(20_001, [], 'online'), 400],
    ['of a frame', '/events', {}, alice.sign(24_200, [['p', bob.pubkey], ['agent', alice.pubkey], ['frame', 'telemetry']], 'x'.repeat(132)), 400],
    ['of another’s event', '/events', {}, bob.sign(1), 400],
    ['into a channel that is not his', '/events', {}, alice.sign(9, [['h', OPEN.replace('1', '9')]], 'x'), 403],
  ])('%s to %s is refused', async (_, path, sent, value, status) => {
    const relay = await startRelay({ agentOwners: [{ agent: alice.pubkey, owner: bob.pubkey }] });
    const answer = await post(relay, alice, path, value, sent);
    expect(answer).toMatchObject({ status, body: { error: expect.stringMatching(/^(invalid|restricted): /) as unknown } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(await (await Client.as(alice, relay)).stored('s', { kinds: [1, 9] })).toEqual([]);
  });

  it('beyond its bound is refused, said or not', async () => {
    const relay = await startRelay({ limits: { maxMessageBytes: 2_000 } });
    const long = ' '.repeat(2_001);
    expect((await post(relay, alice, '/query', long)).status).toBe(413);
    expect((await post(relay, alice, '/query', long, { headers: { 'transfer-encoding': 'chunked' } })).status).toBe(413);
    expect((await post(relay, alice, '/query', JSON.stringify(NOTES).padEnd(2_000))).status).toBe(200);
  });

  it('beyond the quota of its pubkey is told when to come again', async () => {
    const clock = new HeldClock();
    const relay = await startRelay({ clock, limits: { requestsPerSec: 1, requestsBurst: 2 } });
    const sent = { createdAtSec: Math.floor(clock.now() / 1_000) };
    const ask = async (by: Person): Promise<number> => (await post(relay, by, '/query', NOTES, sent)).status;
    expect([await ask(alice), await ask(alice), await ask(bob)]).toEqual([200, 200, 200]);
    expect(await post(relay, alice, '/count', NOTES, sent)).toMatchObject({
      status: 429, body: { error: 'rate-limited: quota exceeded; retry in 1s' },
    });
    clock.push(1_000);
    expect(await ask(alice)).toBe(200);
  });

  it('to another path is answered as before', async () => {
    const relay = await startRelay();
    const information = await raw(relay, '/', 'GET', { accept: 'application/nostr+json' }, '');
    expect(information.body).toMatchObject({ supported_nips: [1, 9, 11, 29, 42, 45, 50, 98] });
    expect((await raw(relay, '/other', 'POST', {}, '')).status).toBe(405);
  });
});

describe('an answer', () => {
  it('is whole and in order, in pages by until and before_id', async () => {
    const relay = await startRelay();
    const at = nowSec() - 50;
    const events = Array.from({ length: 70 }, (_, index) => alice.sign(1, [], `é${index}`, at));
    for (const event of events) {
      expect(await post(relay, alice, '/events', event)).toMatchObject({
        status: 200, body: { event_id: event.id, accepted: true, message: '' },
      });
    }
    const sorted = events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect((await post(relay, bob, '/query', NOTES)).body).toEqual(sorted);
    expect((await post(relay, bob, '/query', [{ kinds: [1], until: at, before_id: sorted[9]?.id.toUpperCase(), limit: 5 }])).body)
      .toEqual(sorted.slice(10, 15));
    expect((await post(relay, bob, '/count', [{ kinds: [1], limit: 5 }, { ids: [sorted[0]?.id] }])).body).toEqual({ count: 70 });
    expect((await post(relay, alice, '/events', events[0])).body).toMatchObject({ message: 'duplicate: already have this event' });
  });

  it('shows a private channel to its members alone, and what was posted to who listens', async () => {
    const relay = await startRelay();
    const listener = await Client.as(bob, relay);
    await listener.stored('live', { kinds: [9], '#h': [PRIVATE] });
    const message = alice.sign(9, [['h', PRIVATE]], 'psst');
    expect((await post(relay, alice, '/events', message)).status).toBe(200);
    expect((await listener.nextEvent('live')).id).toBe(message.id);
    const inside = [{ kinds: [9], '#h': [PRIVATE] }];
    expect((await post(relay, bob, '/query', inside)).body).toEqual([message]);
    expect((await post(relay, carol, '/query', inside)).body).toEqual([]);
    expect((await post(relay, carol, '/count', inside)).body).toEqual({ count: 0 });
  });

  it('takes an attestation from x-auth-tag, for this request and for later', async () => {
    const relay = await startRelay();
    const [agent, owner] = [person(11), person(12)];
    const metric = (content: string): VerifiedEvent =>
      agent.sign(44_200, [['p', owner.pubkey], ['agent', agent.pubkey]], content.repeat(132));
    const tag = JSON.stringify(attest(agent.pubkey, '', owner.key, new Uint8Array(32)));
    const foreign = JSON.stringify(attest(agent.pubkey, 'kind=1', owner.key, new Uint8Array(32)));
    expect((await post(relay, agent, '/events', metric('a'))).status).toBe(403);
    for (const header of [foreign, '[', '{}', `${tag}, ${tag}`, `[${tag},${tag}]`]) {
      expect((await post(relay, agent, '/events', metric('a'), { headers: { 'x-auth-tag': header } })).status).toBe(403);
    }
    expect((await post(relay, agent, '/events', metric('a'), { headers: { 'x-auth-tag': tag } })).status).toBe(200);
    expect((await post(relay, agent, '/events', metric('b'))).status).toBe(200);
    expect((await post(relay, owner, '/count', [{ kinds: [44_200], '#p': [owner.pubkey] }])).body).toEqual({ count: 2 });
  });
});
