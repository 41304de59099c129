/** NIP-29 channels and access to them, over real sockets. */
import { describe, expect, it } from 'vitest';
import { channelId } from '../../src/model/index.ts';
import { verifyEvent } from '../../src/nostr/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { alice, bob, carol, Client, OPEN, PRIVATE, startRelay } from './harness.ts';

const NEW = channelId('00000000-0000-4000-8000-0000000000aa');

function people(event: VerifiedEvent | undefined): readonly string[] {
  return (event?.tags ?? []).filter((tag) => tag[0] === 'p').map((tag) => tag[1] ?? '');
}

async function read(client: Client, filter: object): Promise<readonly VerifiedEvent[]> {
  const id = `read-${Math.random()}`;
  client.send(['REQ', id, filter]);
  await client.next('EOSE', id);
  client.send(['CLOSE', id]);
  return client.receivedEvents(id);
}

describe('a channel', () => {
  it('is created with its creator as admin and member, in events the relay signs', async () => {
    const relay = await startRelay();
    const client = await Client.as(alice, relay);
    const create = alice.sign(9007, [
      ['h', NEW], ['name', 'works'], ['about', 'where we build'], ['visibility', 'private'], ['channel_type', 'stream'],
    ]);
    expect(await client.publish(create)).toEqual([true, '']);
    const found = await read(client, { kinds: [39_000, 39_001, 39_002], '#d': [NEW] });
    expect(found.map(({ kind }) => kind).toSorted()).toEqual([39_000, 39_001, 39_002]);
    for (const event of found) {
      expect(event.pubkey).toBe(relay.pubkey);
      expect(verifyEvent(event).ok).toBe(true);
    }
    expect(found.find(({ kind }) => kind === 39_000)?.tags).toEqual([
      ['d', NEW], ['name', 'works'], ['about', 'where we build'], ['private'], ['closed'], ['t', 'stream'],
    ]);
    expect(people(found.find(({ kind }) => kind === 39_001))).toEqual([alice.pubkey]);
    expect(people(found.find(({ kind }) => kind === 39_002))).toEqual([alice.pubkey]);
    const notices = await read(client, { kinds: [44_100], '#p': [alice.pubkey], '#h': [NEW] });
    expect(notices.map(({ tags }) => tags)).toEqual([[['p', alice.pubkey], ['h', NEW]]]);
    expect(await read(client, { ids: [create.id] })).toHaveLength(1);
  });

  it('is created once: the same event again is a duplicate, another one is refused', async () => {
    const client = await Client.as(alice, await startRelay());
    const create = alice.sign(9007, [['h', NEW], ['name', 'works']]);
    expect(await client.publish(create)).toEqual([true, '']);
    expect(await client.publish(create)).toEqual([true, 'duplicate: already have this event']);
    expect((await client.publish(alice.sign(9007, [['h', NEW], ['name', 'again']])))[1]).toMatch(/^restricted: /);
    const [metadata] = await read(client, { kinds: [39_000], '#d': [NEW] });
    expect(metadata?.tags).toContainEqual(['name', 'works']);
  });

  it('takes what is sent behind its creation without waiting, also when two want to create it', async () => {
    const relay = await startRelay();
    const [client, rival] = [await Client.as(alice, relay), await Client.as(bob, relay)];
    const events = [
      alice.sign(9007, [['h', NEW], ['visibility', 'private']]),
      alice.sign(9, [['h', NEW]], 'first'),
      alice.sign(9000, [['h', NEW], ['p', bob.pubkey]]),
      alice.sign(9, [['h', NEW]], 'second'),
    ];
    for (const event of events) client.send(['EVENT', event]);
    for (const event of events) expect((await client.ok(event.id)).slice(2)).toEqual([true, '']);
    expect((await rival.publish(bob.sign(9007, [['h', NEW]])))[0]).toBe(false);
    expect(await read(rival, { kinds: [9], '#h': [NEW] })).toHaveLength(2);
  });

  it('tells who is added and who is removed, and stamps each state later than the last', async () => {
    const relay = await startRelay();
    const [admin, member] = [await Client.as(alice, relay), await Client.as(carol, relay)];
    await member.stored('notices', { kinds: [44_100, 44_101], '#p': [carol.pubkey] });
    await admin.stored('state', { kinds: [39_002], '#d': [PRIVATE], limit: 0 });
    const stamps: number[] = [];
    for (const kind of [9000, 9001, 9000, 9001]) {
      await admin.publish(alice.sign(kind, [['h', PRIVATE], ['p', carol.pubkey]], `${stamps.length}`));
      const state = await admin.nextEvent('state');
      expect(people(state).includes(carol.pubkey)).toBe(kind === 9000);
      stamps.push(state.created_at);
      const notice = await member.nextEvent('notices');
      expect([notice.kind, notice.pubkey, notice.tags]).toEqual([
        kind === 9000 ? 44_100 : 44_101, relay.pubkey, [['p', carol.pubkey], ['h', PRIVATE]],
      ]);
    }
    expect(stamps).toEqual([...new Set(stamps)].toSorted((a, b) => a - b));
    expect(await read(member, { kinds: [44_100, 44_101], '#p': [carol.pubkey] })).toHaveLength(4);
  });

  it('can be joined when open and only by invitation when private', async () => {
    const relay = await startRelay();
    const [client, admin] = [await Client.as(carol, relay), await Client.as(alice, relay)];
    expect((await client.publish(carol.sign(9021, [['h', PRIVATE]])))[1]).toMatch(/^restricted: /);
    expect((await client.publish(carol.sign(9000, [['h', PRIVATE], ['p', carol.pubkey]])))[1]).toMatch(/^restricted: /);
    expect(await client.publish(carol.sign(9021, [['h', OPEN]]))).toEqual([true, '']);
    expect((await client.publish(carol.sign(9021, [['h', OPEN]], 'again')))[1]).toMatch(/^duplicate: /);
    expect(await client.publish(carol.sign(9022, [['h', OPEN]]))).toEqual([true, '']);
    const oneself = carol.sign(9000, [['h', OPEN], ['p', carol.pubkey], ['role', 'admin']]);
    expect(await client.publish(oneself)).toEqual([true, '']);
    expect((await client.publish(carol.sign(9002, [['h', OPEN], ['name', 'mine']])))[1]).toMatch(/^restricted: /);
    expect((await client.publish(carol.sign(9001, [['h', OPEN], ['p', alice.pubkey]])))[1]).toMatch(/^restricted: /);
    const edit = alice.sign(9002, [['h', OPEN], ['name', 'plaza'], ['archived', 'true']]);
    expect(await admin.publish(edit)).toEqual([true, '']);
    const [metadata] = await read(client, { kinds: [39_000], '#d': [OPEN] });
    expect(metadata?.tags).toEqual([
      ['d', OPEN], ['name', 'plaza'], ['public'], ['open'], ['t', 'stream'], ['archived', 'true'],
    ]);
  });

  it('is hidden, private and marked when it is a direct conversation', async () => {
    const client = await Client.as(alice, await startRelay());
    await client.publish(alice.sign(9007, [['h', NEW], ['channel_type', 'dm'], ['visibility', 'open']]));
    const [metadata] = await read(client, { kinds: [39_000], '#d': [NEW] });
    expect(metadata?.tags).toEqual([['d', NEW], ['name', NEW], ['private'], ['closed'], ['hidden'], ['t', 'dm']]);
  });
});

describe('access', () => {
  it('lets members alone read a private channel, stored, counted and live', async () => {
    const relay = await startRelay();
    const [member, outsider] = [await Client.as(bob, relay), await Client.as(carol, relay)];
    const message = alice.sign(9, [['h', PRIVATE]], 'psst');
    const [inside, outside] = [{ kinds: [9], '#h': [PRIVATE] }, { kinds: [9] }];
    await member.stored('live', inside);
    await outsider.stored('live', inside, outside);
    const author = await Client.as(alice, relay);
    expect(await author.publish(message)).toEqual([true, '']);
    const open = alice.sign(9, [['h', OPEN]], 'hello');
    await author.publish(open);
    expect((await member.nextEvent('live')).id).toBe(message.id);
    expect((await outsider.nextEvent('live')).id).toBe(open.id);

    expect(await member.stored('s', outside)).toEqual(expect.arrayContaining([message.id, open.id]));
    expect(await outsider.stored('s', outside)).toEqual([open.id]);
    expect(await outsider.stored('t', { ids: [message.id] })).toEqual([]);
    outsider.send(['COUNT', 'c', inside]);
    expect((await outsider.next('COUNT', 'c'))[2]).toEqual({ count: 0 });
    member.send(['COUNT', 'c', inside]);
    expect((await member.next('COUNT', 'c'))[2]).toEqual({ count: 1 });
    expect((await read(member, { kinds: [39_000] })).flatMap(({ tags }) => tags[0]?.[1])).toContain(PRIVATE);
    expect((await read(outsider, { kinds: [39_000] })).flatMap(({ tags }) => tags[0]?.[1])).toEqual([OPEN]);
  });

  it('stops at once for a member who is removed and begins for one who is added', async () => {
    const relay = await startRelay();
    const [admin, leaver, comer] = [
      await Client.as(alice, relay), await Client.as(bob, relay), await Client.as(carol, relay),
    ];
    for (const client of [leaver, comer]) await client.stored('live', { kinds: [9] });
    await admin.publish(alice.sign(9001, [['h', PRIVATE], ['p', bob.pubkey]]));
    await admin.publish(alice.sign(9000, [['h', PRIVATE], ['p', carol.pubkey]]));
    const message = alice.sign(9, [['h', PRIVATE]], 'after');
    const control = alice.sign(9, [['h', OPEN]], 'control');
    await admin.publish(message);
    await admin.publish(control);
    expect((await leaver.nextEvent('live')).id).toBe(control.id);
    expect((await comer.nextEvent('live')).id).toBe(message.id);
    const late = bob.sign(9, [['h', PRIVATE]], 'still here');
    expect(await leaver.publish(late)).toEqual([false, 'restricted: not a channel member']);
  });

  it('lets anyone write into an open channel, members into a private one, nobody into none', async () => {
    const relay = await startRelay();
    const client = await Client.as(carol, relay);
    expect(await client.publish(carol.sign(9, [['h', OPEN]], 'hi'))).toEqual([true, '']);
    for (const kind of [9, 20_002]) {
      const event = carol.sign(kind, [['h', PRIVATE]], 'hi');
      expect(await client.publish(event)).toEqual([false, 'restricted: not a channel member']);
    }
    expect(await client.publish(carol.sign(9, [['h', NEW]], 'hi'))).toEqual([false, 'restricted: unknown channel']);
  });

  it('closes a filter that could find what is for others alone, and none that names events or a channel', async () => {
    const relay = await startRelay();
    const [client, target] = [await Client.as(carol, relay), await Client.as(bob, relay)];
    const theirs = [
      { kinds: [44_100] }, { kinds: [9, 1059], '#p': [bob.pubkey] },
      { kinds: [44_200], '#p': [bob.pubkey, carol.pubkey] }, { kinds: [24_200] }, 
      { kinds: [30_622], ids: ['ab'.repeat(32)] },
      {}, { authors: [bob.pubkey] }, { '#p': [bob.pubkey] }, { '#t': ['x'], '#p': [] },
    ];
    for (const filter of theirs) {
      client.send(['REQ', 'r', filter]);
      expect((await client.next('CLOSED', 'r'))[2]).toBe('restricted: p-gated events require #p matching your pubkey');
    }
    const isNotice = (event: VerifiedEvent): boolean => event.kind === 44_100;
    const [notice] = await read(target, { kinds: [44_100], '#p': [bob.pubkey] });
    for (const filter of [{ ids: [notice?.id] }, { '#h': [PRIVATE] }]) {
      expect((await read(client, filter)).some(isNotice)).toBe(false);
      expect((await read(target, filter)).filter(isNotice)).toEqual([notice]);
    }
    expect((await read(target, { '#p': [bob.pubkey] })).filter(isNotice)).toEqual([notice]);
  });

  it('keeps author-only kinds, unshared personas and engrams from others', async () => {
    const relay = await startRelay();
    const [author, other] = [await Client.as(alice, relay), await Client.as(bob, relay)];
    const version = alice.sign(44_300, [['p', carol.pubkey]], 'sealed');
    const reminder = alice.sign(30_300, [['d', 'r']]);
    const hidden = alice.sign(30_175, [['d', 'hidden']]);
    const shared = alice.sign(30_175, [['d', 'shared'], ['shared', 'true']]);
    const engram = alice.sign(30_174, [['d', 'e'], ['p', carol.pubkey]]);
    const request = alice.sign(5, [['e', alice.sign(1).id], ['k', '44300']]);
    const all = [version, reminder, hidden, shared, engram, request];
    const kinds = [5, 30_175, 30_300, 44_300];
    await other.stored('live', { kinds });
    for (const event of all) expect(await author.publish(event)).toEqual([true, '']);
    const wanted = { ids: all.map(({ id }) => id) };
    expect((await author.stored('s', wanted)).toSorted()).toEqual(all.map(({ id }) => id).toSorted());
    expect(await other.stored('s', wanted)).toEqual([shared.id]);
    expect(other.received('live')).toEqual([shared.id]);
    other.send(['REQ', 'e', { kinds: [1, 30_174], authors: [alice.pubkey] }]);
    expect((await other.next('CLOSED', 'e'))[2]).toBe('restricted: agent-engram reads require authors=[self] or #p=[self]');
    expect(await author.stored('e', { kinds: [30_174], authors: [alice.pubkey] })).toEqual([engram.id]);
    const participant = await Client.as(carol, relay);
    expect((await participant.stored('s', wanted)).toSorted()).toEqual([shared.id, engram.id].toSorted());
    expect(await participant.stored('e', { kinds: [30_174], '#p': [carol.pubkey] })).toEqual([engram.id]);
  });
});

describe('delete-event', () => {
  it('is an admin’s for any message and a member’s for their own', async () => {
    const relay = await startRelay();
    const [admin, member] = [await Client.as(alice, relay), await Client.as(bob, relay)];
    const [his, hers] = [bob.sign(9, [['h', PRIVATE]], 'his'), alice.sign(9, [['h', PRIVATE]], 'hers')];
    await member.publish(his);
    await admin.publish(hers);
    const tags = (event: VerifiedEvent): string[][] => [['h', PRIVATE], ['e', event.id]];
    expect((await member.publish(bob.sign(9005, tags(hers))))[1]).toMatch(/^restricted: /);
    const [metadata] = await read(admin, { kinds: [39_000], '#d': [PRIVATE] });
    if (metadata === undefined) throw new Error('no metadata');
    await admin.publish(alice.sign(9005, tags(metadata)));
    expect(await read(admin, { kinds: [39_000], '#d': [PRIVATE] })).toHaveLength(1);
    expect(await member.publish(bob.sign(9005, tags(his)))).toEqual([true, '']);
    // Also when it is sent right behind what it deletes.
    const pair = [bob.sign(9, [['h', PRIVATE]], 'oh')];
    pair.push(...pair.map((event) => bob.sign(9005, tags(event))));
    for (const event of pair) member.send(['EVENT', event]);
    for (const event of pair) expect((await member.ok(event.id))[2]).toBe(true);
    expect(await member.stored('s', { kinds: [9] })).toEqual([hers.id]);
    expect(await admin.publish(alice.sign(9005, tags(hers)))).toEqual([true, '']);
    expect(await member.stored('s', { kinds: [9] })).toEqual([]);
    expect((await admin.publish(hers))[1]).toMatch(/^blocked: /);
  });

  it('of a change, committed with it and before it, leaves the channel as it was', async () => {
    const relay = await startRelay();
    const admin = await Client.as(alice, relay);
    const change = alice.sign(9000, [['h', PRIVATE], ['p', carol.pubkey]]);
    for (const event of [alice.sign(5, [['e', change.id], ['k', '44300']]), change]) admin.send(['EVENT', event]);
    expect((await admin.ok(change.id))[3]).toMatch(/^blocked: /);
    const [members] = await read(admin, { kinds: [39_002], '#d': [PRIVATE] });
    expect(people(members)).toEqual([alice.pubkey, bob.pubkey]);
    const same = alice.sign(9000, [['h', PRIVATE], ['p', carol.pubkey]], 'another');
    expect(await admin.publish(same)).toEqual([true, '']);
    const [after] = await read(admin, { kinds: [39_002], '#d': [PRIVATE] });
    expect(people(after)).toContain(carol.pubkey);
  });
});
