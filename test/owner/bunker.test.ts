/** The owner's key at a remote signer, over the relay in the box: what it signs, what is not believed, and the program. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { Failure, pubkey, seconds, silentLog } from '../../src/model/index.ts';
import { decidable, decide, openBunker, openDesk, openLocalKey, parseBunker } from '../../src/owner/index.ts';
import type { Note, OwnerKey } from '../../src/owner/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { Watch } from '../e2e/watch.ts';
import { bob, carol } from '../relay/harness.ts';
import { runSkep, stopAll } from '../cli/skep.ts';
import { agentPubkey, answering, CHANNEL, openBox, owner } from './box.ts';
import type { Box } from './box.ts';
import { openOutsideBunker } from './outside-bunker.ts';
import type { OutsideBunker } from './outside-bunker.ts';

afterEach(stopAll);

const TEMPLATE = { kind: 24_200, created_at: seconds(1_800_000_000), tags: [['p', bob.pubkey]], content: 'x' };

async function key({ relay }: Box, bunker: OutsideBunker, more: { readonly answerMs?: number; readonly onAuthUrl?: (url: string) => void } = {}): Promise<OwnerKey> {
  const parsed = parseBunker(`bunker://${bunker.pubkey}?relay=${encodeURIComponent(relay.url)}&secret=${bunker.secret}`);
  if (!parsed.ok) throw new Error(parsed.detail);
  const opened = await openBunker({
    pointer: parsed.pointer, client: openLocalKey('7'.repeat(64), 'client', systemRandom), clock: systemClock, steadyClock, random: systemRandom, log: silentLog,
    kinds: [24_200], onAuthUrl: () => undefined, ...more,
  });
  onTestFinished(() => opened.close());
  return opened;
}

it('signs, seals and opens as the owner, also the AUTH of the desk: a request is decided through it', async () => {
  const box = await openBox();
  const bunker = await openOutsideBunker(box.relay.url, owner.key);
  const held = await key(box, bunker);
  expect(held.pubkey).toBe(owner.pubkey);
  const notes: Note[] = [];
  const watch = new Watch(() => JSON.stringify(notes));
  const desk = openDesk({
    relayUrl: box.relay.url, key: held, agents: [agentPubkey], others: false, clock: systemClock, steadyClock, random: systemRandom, log: silentLog,
    onNote: (note) => {
      notes.push(note);
      watch.look();
    },
  });
  onTestFinished(() => desk.close());
  await desk.ready();
  await box.agent.tell({ kind: 'turn_started', turnId: 't-1' });
  const card = await box.agent.card(CHANNEL);
  await watch.until('the card', () => decidable(desk.view()).length === 1);
  answering(box.agent, card);
  expect(await decide(desk, { prefix: card.nonce, choice: 'deny', waitMs: 10_000 })).toMatchObject({ ok: true, outcome: 'applied', optionId: 'no-1' });
  expect(box.agent.controls).toMatchObject([{ pubkey: owner.pubkey, optionId: 'no-1' }]);
  await watch.until('the turn', () => notes.some(({ type }) => type === 'turn_started'));
  expect(new Set(bunker.asked)).toEqual(new Set(['connect', 'get_public_key', 'sign_event', 'nip44_decrypt', 'nip44_encrypt']));
});

describe('what comes back', () => {
  it.each<readonly [string, string]>([
    ['another event, well signed', JSON.stringify(owner.sign(1, [], 'not that one'))],
    ['the event by another key', JSON.stringify(carol.sign(TEMPLATE.kind, TEMPLATE.tags, TEMPLATE.content, TEMPLATE.created_at))],
    ['the event with a bad signature', JSON.stringify({ ...owner.sign(TEMPLATE.kind, TEMPLATE.tags, TEMPLATE.content, TEMPLATE.created_at), sig: '0'.repeat(128) })],
    ['no event', 'ack'],
  ])('%s is not taken for the one that was asked for', async (_, result) => {
    const box = await openBox();
    const bunker = await openOutsideBunker(box.relay.url, owner.key);
    const held = await key(box, bunker);
    expect((await held.sign(TEMPLATE)).pubkey).toBe(owner.pubkey);
    bunker.answers = () => ({ result });
    await expect(held.sign(TEMPLATE)).rejects.toThrow(new Failure('relay', 'bunker: sign_event: the answer is not the event that was asked for'));
  });

  it('a no is told with the signer\'s words, escaped; what cannot be opened is nothing', async () => {
    const box = await openBox();
    const bunker = await openOutsideBunker(box.relay.url, owner.key);
    const held = await key(box, bunker);
    bunker.answers = () => ({ error: 'no\u{1b}[31m' });
    await expect(held.sign(TEMPLATE)).rejects.toThrow('bunker: the signer refuses sign_event: no\\u{1b}[31m');
    await expect(held.seal(bob.pubkey, 'x')).rejects.toMatchObject({ code: 'relay' });
    expect(await held.open(bob.pubkey, 'x')).toBeUndefined();
  });

  it('nothing in time, a client that is not admitted, and a key that is none fail in one line', async () => {
    const box = await openBox();
    const bunker = await openOutsideBunker(box.relay.url, owner.key);
    bunker.answers = () => undefined;
    await expect(key(box, bunker, { answerMs: 50 })).rejects.toThrow(/^bunker: the signer did not answer connect within 0\.05 s/);
    bunker.answers = () => ({ error: 'invalid secret' });
    await expect(key(box, bunker)).rejects.toThrow('bunker: the signer refuses connect: invalid secret');
    bunker.answers = (method, _params, honest) => (method === 'get_public_key' ? { result: 'npub' } : honest());
    await expect(key(box, bunker)).rejects.toThrow('bunker: the signer refuses get_public_key: its answer is no key');
  });

  it('an address to open is told, and the answer awaited all the same', async () => {
    const box = await openBox();
    const bunker = await openOutsideBunker(box.relay.url, owner.key);
    bunker.authUrl = 'https://signer.example/allow';
    const urls: string[] = [];
    const held = await key(box, bunker, { onAuthUrl: (url) => urls.push(url) });
    expect(held.pubkey).toBe(owner.pubkey);
    expect(new Set(urls)).toEqual(new Set(['https://signer.example/allow']));
  });
});

it('as a program: from a file, again with the client that is known, and no secret in what it prints', async () => {
  const box = await openBox();
  const bunker = await openOutsideBunker(box.relay.url, owner.key);
  const file = join(box.directory, 'owner.bunker');
  writeFileSync(file, `bunker://${bunker.pubkey}?relay=${encodeURIComponent(box.relay.url)}&secret=${bunker.secret}\n`, { mode: 0o600 });
  const pending = () => runSkep(['owner', 'pending', '-r', box.relay.url, '-a', agentPubkey, '-k', 'owner.bunker'], box.directory);
  const first = await pending();
  expect(first).toEqual({ code: 0, stdout: 'nothing waits\n', stderr: '' });
  expect(statSync(`${file}.client`).mode & 0o777).toBe(0o600);
  const client = readFileSync(`${file}.client`, 'utf8');
  expect(await pending()).toEqual(first);
  expect(readFileSync(`${file}.client`, 'utf8')).toBe(client);
  writeFileSync(file, `bunker://${bunker.pubkey}?secret=${bunker.secret}\n`);
  expect(await pending()).toEqual({ code: 2, stdout: '', stderr: 'skep: owner.bunker: bunker: expected 1 to 4 relays\n' });
}, 60_000);

describe('parseBunker', () => {
  const signer = pubkey(bob.pubkey);

  it('reads signer, relays in normal form, and secret', () => {
    expect(parseBunker(` bunker://${signer}?relay=wss%3A%2F%2FH%3A443%2F&relay=wss://h&relay=ws://other/&secret=s%26t \n`))
      .toEqual({ ok: true, pointer: { signer, relays: ['wss://h', 'ws://other'], secret: 's&t' } });
  });

  it.each([
    `bunker://${signer}`, 'bunker://nobody?relay=wss://h', `bunker://${'f'.repeat(64)}?relay=wss://h`, `bunker://${signer}?relay=https://h&secret=word`,
    `bunker://${signer}?${'a b c d e'.split(' ').map((host) => `relay=wss://${host}`).join('&')}`, `nostrconnect://${signer}?relay=wss://h`,
  ])('refuses %s and repeats none of it', (text) => {
    const parsed = parseBunker(text);
    expect(parsed).toMatchObject({ ok: false, code: 'bunker', detail: expect.stringMatching(/^bunker: expected /) });
    expect(JSON.stringify(parsed)).not.toContain('word');
  });
});
