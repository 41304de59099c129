/** What skep itself remembers for an agent, the narrow door to the owner's key, and a link made anew: on the relay in the box. */
import * as nip44 from 'nostr-tools/nip44';
import { expect, it } from 'vitest';
import { seconds } from '../../src/model/index.ts';
import { openBox } from './box.ts';
import { told } from './harness.ts';
import { AGENT, CHANNEL, OWNER, STRANGER } from './people.ts';

const SLUG = 'mem/launches/1';
const KEY = nip44.getConversationKey(OWNER.secretKey, AGENT.pubkey);

it('is written once however often, for the owner and the agent alone, and replaced by another value', async () => {
  const box = await openBox();
  const owner = await box.outside(OWNER);
  owner.send(['REQ', 'memory', { 'kinds': [30_174], '#p': [OWNER.pubkey] }]);
  await owner.next('EOSE', 'memory');
  const { memory } = box.link;
  expect(await memory.read(SLUG)).toEqual({ ok: true, value: undefined });
  expect(await Promise.all([memory.write(SLUG, 'one'), memory.write(SLUG, 'one')])).toEqual(['stored', 'stored']);
  await box.restart();
  expect(await box.link.memory.write(SLUG, 'one')).toBe('stored');
  expect(await box.link.memory.read(SLUG)).toEqual({ ok: true, value: 'one' });
  expect((await box.act('g', 'storage.get', { slug: SLUG })).result.outcome).toEqual({ value: 'one' });
  expect(await box.link.memory.write(SLUG, 'two')).toBe('stored');
  const [first, second] = [await owner.nextEvent('memory'), await owner.nextEvent('memory')];
  expect([first, second].map(({ content }) => nip44.decrypt(content, KEY))).toEqual([`{"slug":"${SLUG}","value":"one"}`, `{"slug":"${SLUG}","value":"two"}`]);
  expect(first.tags.map(([name]) => name)).toEqual(['d', 'p']);
  expect(JSON.stringify([first, second])).not.toContain('launches');
});

it('is not known to be stored where the relay is away', async () => {
  const box = await openBox();
  await box.relay.close();
  const { memory } = box.link;
  expect(await Promise.all([memory.write(SLUG, 'one'), memory.read(SLUG)])).toEqual(['unknown', { ok: false }]);
});

it('opens the owner’s own texts and answers challenges, and does nothing else in their name', async () => {
  const box = await openBox({ owner: OWNER });
  const { owner: door } = box.broker;
  if (door === undefined) return expect.fail('no door');
  const sealed = nip44.encrypt('v1:text', nip44.getConversationKey(OWNER.secretKey, OWNER.pubkey));
  expect(await door.open(OWNER.pubkey, sealed)).toBe('v1:text');
  expect(await door.open(OWNER.pubkey, 'x')).toBeUndefined();
  const template = { created_at: seconds(1), tags: [], content: '' };
  expect(await door.sign({ ...template, kind: 22_242 })).toMatchObject({ pubkey: OWNER.pubkey, kind: 22_242 });
  await expect(door.sign({ ...template, kind: 44_300 })).rejects.toThrow(/expected the answer to a challenge/);
  await expect(door.open(STRANGER.pubkey, sealed)).rejects.toThrow(/sealed to themselves/);
  expect(JSON.stringify(box.broker)).not.toContain(Buffer.from(OWNER.secretKey).toString('hex'));
  expect((await openBox()).broker.owner).toBeUndefined();
});

it('a link is made anew: sessions end, and the next consumer is given what comes', async () => {
  const box = await openBox();
  const { link, broker } = box;
  expect(told(await box.act('a', 'message.post', { channelId: CHANNEL, content: 'before' }))).toBe('succeeded');
  link.follow(() => Promise.resolve());
  await broker.renew(AGENT.pubkey);
  expect(told(await box.act('b', 'message.post', { channelId: CHANNEL, content: 'dead' }))).toBe('failed/unauthenticated');
  const again = broker.link(AGENT.pubkey);
  expect(again).not.toBe(link);
  const heard = new Promise<string>((resolve) => {
    again.follow(async (item) => { if (item.type === 'event') resolve(item.event.content); });
  });
  const owner = await box.outside(OWNER);
  const nowSec = Math.floor(Date.now() / 1000);
  await owner.publish(OWNER.sign({ tags: [['h', CHANNEL], ['p', AGENT.pubkey]], content: 'after', createdAtSec: nowSec }));
  expect(await heard).toBe('after');
  await broker.close(0);
  await broker.renew(AGENT.pubkey);
});
