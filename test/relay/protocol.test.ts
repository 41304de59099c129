/** NIP-01, 09, 42 and 45 over real sockets. */
import { describe, expect, it } from 'vitest';
import { alice, bob, Client, OPEN, person, startRelay } from './harness.ts';

const nowSec = (): number => Math.floor(Date.now() / 1000);

describe('authentication', () => {
  it('asks at once, and until then answers every verb with auth-required', async () => {
    const relay = await startRelay();
    const client = await Client.open(relay);
    const challenge = String((await client.next('AUTH'))[1]);
    const note = alice.sign(1);
    expect(await client.publish(note)).toEqual([false, 'auth-required: not authenticated']);
    client.send(['REQ', 'r', {}]);
    expect(await client.next('CLOSED', 'r')).toEqual(['CLOSED', 'r', 'auth-required: not authenticated']);
    client.send(['COUNT', 'c', {}]);
    expect(await client.next('CLOSED', 'c')).toEqual(['CLOSED', 'c', 'auth-required: not authenticated']);

    expect((await client.auth(alice, challenge))[2]).toBe(true);
    expect(await client.publish(note)).toEqual([true, '']);
    expect(await client.stored('r', { kinds: [1] })).toContain(note.id);
  });

  it('refuses a wrong challenge, another relay and a stranger signature, and lets the client try again', async () => {
    const relay = await startRelay();
    const client = await Client.open(relay);
    const challenge = String((await client.next('AUTH'))[1]);
    expect((await client.auth(alice, 'another'))[3]).toMatch(/^invalid: challenge/);
    expect((await client.auth(alice, challenge, [], 'wss://elsewhere.example'))[3]).toMatch(/^invalid: relay/);
    const forged = { ...alice.sign(22242, [['relay', relay.url], ['challenge', challenge]]), pubkey: bob.pubkey };
    client.send(['AUTH', forged]);
    expect((await client.ok(forged.id))[3]).toMatch(/^invalid: /);
    expect((await client.auth(alice, challenge))[2]).toBe(true);
  });

  it('is one identity a connection', async () => {
    const relay = await startRelay();
    const client = await Client.open(relay);
    const challenge = String((await client.next('AUTH'))[1]);
    expect((await client.auth(alice, challenge))[2]).toBe(true);
    expect((await client.auth(alice, challenge))[2]).toBe(true);
    expect((await client.auth(bob, challenge))[3]).toMatch(/^restricted: /);
    expect(await client.publish(bob.sign(1))).toEqual([
      false, 'invalid: event pubkey does not match authenticated identity',
    ]);
  });

  it('counts what follows the AUTH without waiting for its OK as authenticated, and stores no AUTH', async () => {
    const relay = await startRelay();
    const client = await Client.open(relay);
    const challenge = String((await client.next('AUTH'))[1]);
    const answer = client.auth(alice, challenge);
    const event = alice.sign(1);
    client.send(['EVENT', event]);
    expect((await answer)[2]).toBe(true);
    expect((await client.ok(event.id))[2]).toBe(true);
    expect(await client.stored('all', { kinds: [1, 22_242], authors: [alice.pubkey] })).toEqual([event.id]);
  });
});

describe('events', () => {
  it('answers a second copy with duplicate, a broken id and a broken signature with invalid', async () => {
    const client = await Client.as(alice, await startRelay());
    const event = alice.sign(1, [], 'once');
    expect(await client.publish(event)).toEqual([true, '']);
    expect(await client.publish(event)).toEqual([true, 'duplicate: already have this event']);
    expect(await client.stored('s', { ids: [event.id] })).toEqual([event.id]);
    const other = alice.sign(1, [], 'other');
    expect(await client.publish({ ...other, content: 'changed' })).toEqual([
      false, 'invalid: the id is not the hash of the event',
    ]);
    expect(await client.publish({ ...other, sig: event.sig })).toEqual([
      false, 'invalid: the signature does not verify',
    ]);
    expect(await client.publish(other)).toEqual([true, '']);
  });

  it('refuses events from too far ahead and takes those within the tolerance', async () => {
    const client = await Client.as(alice, await startRelay());
    expect((await client.publish(alice.sign(1, [], '', nowSec() + 1_000)))[1]).toMatch(/^invalid: created_at/);
    expect((await client.publish(alice.sign(1, [], '', nowSec() + 800)))[0]).toBe(true);
  });

  it('keeps the newest of a replaceable and of each addressable kind, and the lower id of a tie', async () => {
    const client = await Client.as(alice, await startRelay());
    const at = nowSec();
    const [old, young] = [alice.sign(0, [], 'old', at - 10), alice.sign(0, [], 'young', at - 5)];
    expect(await client.publish(young)).toEqual([true, '']);
    expect(await client.publish(old)).toEqual([true, 'duplicate: have a newer version']);
    expect(await client.stored('0', { kinds: [0] })).toEqual([young.id]);

    const tied = ['a', 'b', 'c'].map((content) => alice.sign(30_078, [['d', 'x']], content, at));
    for (const event of tied) await client.publish(event);
    const other = alice.sign(30_078, [['d', 'y']], '', at - 1);
    await client.publish(other);
    expect(await client.stored('x', { kinds: [30_078] })).toEqual([tied.map(({ id }) => id).sort()[0], other.id]);
  });

  it('fans ephemeral events out and never stores them', async () => {
    const relay = await startRelay();
    const [sender, reader] = [await Client.as(alice, relay), await Client.as(bob, relay)];
    await reader.stored('typing', { kinds: [20_002] });
    const typing = alice.sign(20_002, [['h', OPEN]]);
    expect(await sender.publish(typing)).toEqual([true, '']);
    expect((await reader.nextEvent('typing')).id).toBe(typing.id);
    expect(await reader.stored('again', { kinds: [20_002] })).toEqual([]);
  });

  it('answers out of the commit in the order events came, however many at once', async () => {
    const client = await Client.as(alice, await startRelay());
    const events = Array.from({ length: 300 }, (_, index) => alice.sign(1, [], String(index)));
    for (const event of events) client.send(['EVENT', event]);
    for (const event of events) expect((await client.next('OK'))[1]).toBe(event.id);
    client.send(['COUNT', 'n', { authors: [alice.pubkey], kinds: [1] }, { kinds: [1] }]);
    expect((await client.next('COUNT', 'n'))[2]).toEqual({ count: 300 });
  });
});

describe('subscriptions', () => {
  it('sends stored events newest first, the limit counting for each filter, then EOSE, then what comes', async () => {
    const relay = await startRelay();
    const client = await Client.as(alice, relay);
    const at = nowSec() - 100;
    const notes = [0, 1, 2, 3, 4].map((offset) => alice.sign(1, [], '', at + offset));
    const likes = [0, 1, 2].map((offset) => alice.sign(7, [['e', notes[0]?.id ?? '']], '+', at + offset));
    for (const event of [...notes, ...likes]) await client.publish(event);
    const found = await client.stored('s', { kinds: [1], limit: 2 }, { kinds: [7], limit: 1 });
    expect(found).toEqual([notes[4]?.id, notes[3]?.id, likes[2]?.id]);
    const live = alice.sign(7, [], '+', at);
    await client.publish(live);
    expect((await client.nextEvent('s')).id).toBe(live.id);
  });

  it('replaces a subscription of the same id and forgets a closed one', async () => {
    const client = await Client.as(alice, await startRelay());
    await client.stored('s', { kinds: [1] });
    await client.stored('s', { kinds: [7] });
    await client.stored('gone', { kinds: [1] });
    client.send(['CLOSE', 'gone']);
    await client.stored('control', { kinds: [1] });
    const [note, like] = [alice.sign(1), alice.sign(7)];
    await client.publish(note);
    await client.publish(like);
    expect((await client.nextEvent('control')).id).toBe(note.id);
    expect((await client.nextEvent('s')).id).toBe(like.id);
    expect(client.received('s')).toEqual([]);
    expect(client.received('gone')).toEqual([]);
  });

  it('shows every event exactly once to a subscription opened while events pour in', async () => {
    const relay = await startRelay();
    const [writer, reader] = [await Client.as(alice, relay), await Client.as(bob, relay)];
    const events = Array.from({ length: 400 }, (_, index) => alice.sign(1, [], String(index)));
    const answered = events.map((event, index) => {
      writer.send(['EVENT', event]);
      if (index % 40 === 0) reader.send(['REQ', `s${index}`, { kinds: [1] }]);
      return writer.ok(event.id);
    });
    await Promise.all(answered);
    const last = alice.sign(1, [], 'last');
    await writer.publish(last);
    for (let index = 0; index < events.length; index += 40) {
      const ids: string[] = [];
      while (ids.at(-1) !== last.id) ids.push((await reader.nextEvent(`s${index}`)).id);
      expect(ids.toSorted()).toEqual([...events, last].map(({ id }) => id).toSorted());
    }
  });

  it('takes an event with two of the tags asked for as one', async () => {
    const client = await Client.as(alice, await startRelay());
    const both = [['t', 'x'], ['t', 'y'], ['t', 'x']];
    const events = [1, 2, 3].map((age) => alice.sign(1, both, '', nowSec() - age));
    for (const event of events) await client.publish(event);
    expect(await client.stored('s', { kinds: [1], '#t': ['y', 'x'], limit: 2 })).toEqual(events.slice(0, 2).map(({ id }) => id));
  });

  it('does not take ill-formed text for the replacement character', async () => {
    const client = await Client.as(alice, await startRelay());
    const event = alice.sign(1, [['t', '\ufffd']]);
    await client.publish(event);
    expect(await client.stored('control', { kinds: [1], '#t': ['\ufffd'] })).toEqual([event.id]);
    expect(await client.stored('s', { kinds: [1], '#t': ['\ud800'] })).toEqual([]);
  });

  it('pages with until and before_id through events of one second', async () => {
    const client = await Client.as(alice, await startRelay());
    const at = nowSec() - 50;
    const events = Array.from({ length: 7 }, (_, index) => alice.sign(1, [], String(index), at));
    for (const event of events) await client.publish(event);
    const ids = events.map(({ id }) => id).toSorted();
    expect(await client.stored('1', { kinds: [1], limit: 3 })).toEqual(ids.slice(0, 3));
    expect(await client.stored('2', { kinds: [1], limit: 3, until: at, before_id: ids[2] })).toEqual(ids.slice(3, 6));
    client.send(['REQ', '3', { kinds: [1], before_id: ids[2] }]);
    expect((await client.next('CLOSED', '3'))[2]).toMatch(/^invalid: before_id/);
  });
});

describe('deletion', () => {
  it('removes the own events it names by id and keeps them away, and no one else’s', async () => {
    const relay = await startRelay();
    const [client, other] = [await Client.as(alice, relay), await Client.as(bob, relay)];
    const [mine, theirs] = [alice.sign(1, [], 'mine'), bob.sign(1, [], 'theirs')];
    await client.publish(mine);
    await other.publish(theirs);
    const request = alice.sign(5, [['e', mine.id], ['e', theirs.id]]);
    expect(await client.publish(request)).toEqual([true, '']);
    expect(await client.stored('s', { kinds: [1] })).toEqual([theirs.id]);
    expect((await client.publish(mine))[1]).toMatch(/^blocked: /);
    expect(await client.stored('s', { kinds: [1] })).toEqual([theirs.id]);
    await client.publish(alice.sign(5, [['e', request.id]]));
    expect(await client.stored('d', { ids: [request.id] })).toEqual([request.id]);
  });

  it('removes by address every version up to its time, and lets a later one in', async () => {
    const client = await Client.as(alice, await startRelay());
    const at = nowSec();
    const address = `30078:${alice.pubkey}:x`;
    const first = alice.sign(30_078, [['d', 'x']], '1', at - 20);
    await client.publish(first);
    await client.publish(alice.sign(5, [['a', address]], '', at - 10));
    expect(await client.stored('s', { kinds: [30_078] })).toEqual([]);
    expect((await client.publish(first))[1]).toMatch(/^blocked: /);
    const second = alice.sign(30_078, [['d', 'x']], '2', at - 5);
    expect(await client.publish(second)).toEqual([true, '']);
    expect(await client.stored('t', { kinds: [30_078] })).toEqual([second.id]);
  });

  it('by address spares a version later than itself', async () => {
    const client = await Client.as(alice, await startRelay());
    const at = nowSec();
    const kept = alice.sign(30_078, [['d', 'x']], 'kept', at - 5);
    await client.publish(kept);
    await client.publish(alice.sign(5, [['a', `30078:${alice.pubkey}:x`]], '', at - 10));
    expect(await client.stored('s', { kinds: [30_078] })).toEqual([kept.id]);
  });

  it('demands that a request for an instructions version says so, even when the two come together', async () => {
    const client = await Client.as(alice, await startRelay());
    const version = alice.sign(44_300, [['t', 'team']], 'sealed');
    const bare = alice.sign(5, [['e', version.id]]);
    client.send(['EVENT', version]);
    client.send(['EVENT', bare]);
    expect((await client.ok(bare.id))[3]).toMatch(/^invalid: k: /);
    expect(await client.stored('s', { kinds: [44_300] })).toEqual([version.id]);
    expect(await client.publish(alice.sign(5, [['e', version.id], ['k', '44300']]))).toEqual([true, '']);
    expect(await client.stored('s', { kinds: [44_300] })).toEqual([]);
  });
});

it('keeps the identity of a gift wrap’s sender out of it', async () => {
  const relay = await startRelay();
  const [sender, reader] = [await Client.as(alice, relay), await Client.as(bob, relay)];
  const wrap = person(77).sign(1059, [['p', bob.pubkey]], 'sealed');
  expect(await sender.publish(wrap)).toEqual([true, '']);
  expect(await reader.stored('w', { kinds: [1059], '#p': [bob.pubkey] })).toEqual([wrap.id]);
});
