/** An agent's memory through the whole broker: what the owner reads, what a retry is told, and what lies on the disk. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as nip44 from 'nostr-tools/nip44';
import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../src/broker/keyring.ts';
import { openStoredMemory } from '../../src/broker/stored-memory.ts';
import type { Verdict } from '../../src/broker/journal/index.ts';
import type { Log } from '../../src/model/index.ts';
import { firstValue } from '../../src/nostr/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { openBox } from './box.ts';
import { bench, post, requestBytes, told } from './harness.ts';
import { AGENT, CHANNEL, OWNER, START_SEC } from './people.ts';

const SLUG = 'mem/notes/plan';
const MARK = 'MARKED-memory-of-the-agent';
const KEY = nip44.getConversationKey(OWNER.secretKey, AGENT.pubkey);

interface Said {
  readonly lines: readonly string[];
  readonly log: Log;
}

function recordingLog(): Said {
  const lines: string[] = [];
  const say = (message: string, fields?: unknown): void => void lines.push(`${message} ${inspect(fields, { depth: 9 })}`);
  return { lines, log: { debug: say, info: say, warn: say, error: say } };
}

describe('on the relay in the box', () => {
  it('is written once, read by the owner’s client, and told again after a restart', async () => {
    const box = await openBox();
    const owner = await box.outside(OWNER);
    expect(told(await box.act('a', 'storage.get', { slug: SLUG }))).toBe('succeeded');
    const first = await box.act('p', 'storage.put', { slug: SLUG, value: 'one' });
    expect(first.result).toMatchObject({ status: 'succeeded', outcome: { kind: 30_174 } });

    const address = (await box.act('d', 'storage.address', { slug: SLUG })).result.outcome;
    const filter = { kinds: [30_174], authors: [address?.['authorPubkey']], '#d': [address?.['dTag']], '#p': [OWNER.pubkey] };
    owner.send(['REQ', 'memory', filter]);
    const event = await owner.nextEvent('memory');
    expect(event.id).toBe(first.result.outcome?.['eventId']);
    expect(nip44.decrypt(event.content, KEY)).toBe(`{"slug":"${SLUG}","value":"one"}`);

    expect((await box.act('g', 'storage.get', { slug: SLUG })).result.outcome).toEqual({ value: 'one' });
    expect(told(await box.act('q', 'storage.put', { slug: SLUG, value: 'two' }))).toBe('succeeded');
    await box.restart();
    // The retry is told what was read then, and the write is not repeated.
    expect((await box.act('g', 'storage.get', { slug: SLUG })).result).toMatchObject({ replayed: true, outcome: { value: 'one' } });
    expect((await box.act('p', 'storage.put', { slug: SLUG, value: 'one' })).result).toEqual({ ...first.result, replayed: true });
    expect((await box.act('h', 'storage.get', { slug: SLUG })).result.outcome).toEqual({ value: 'two' });

    // The owner forgets it for the agent: a tombstone by nobody's key but the agent's.
    const dTag = firstValue(event.tags, 'd') ?? '';
    const content = nip44.encrypt(`{"slug":"${SLUG}","value":null}`, KEY);
    const createdAtSec = Math.floor(Date.now() / 1000) + 60;
    const agent = await box.outside(AGENT);
    const tombstone = AGENT.sign({ kind: 30_174, tags: [['d', dTag], ['p', OWNER.pubkey]], content, createdAtSec });
    expect(await agent.publish(tombstone)).toEqual([true, '']);
    expect((await box.act('i', 'storage.get', { slug: SLUG })).result.outcome).toEqual({});
    const risen = await box.act('s', 'storage.put', { slug: SLUG, value: 'three' });
    expect(risen.result.outcome?.['createdAt']).toBe(createdAtSec + 1);
    expect((await box.act('j', 'storage.get', { slug: SLUG })).result.outcome).toEqual({ value: 'three' });
  });

  it('written by many at once has rising stamps and the last of them as its head', async () => {
    const said = recordingLog();
    const box = await openBox({ log: said.log });
    const writes = await Promise.all(
      Array.from({ length: 12 }, (_, at) => box.act(`p-${at}`, 'storage.put', { slug: 'core', value: `v-${at}` })),
    );
    expect(writes.map(told)).toEqual(writes.map(() => 'succeeded'));
    const stamps = writes.map(({ result }) => Number(result.outcome?.['createdAt']));
    expect(new Set(stamps).size).toBe(12);
    const newest = stamps.indexOf(Math.max(...stamps));
    expect((await box.act('g', 'storage.get', { slug: 'core' })).result.outcome).toEqual({ value: `v-${newest}` });
    expect(said.lines.filter((line) => line.includes('another event is its head'))).toEqual([]);
  });

  it('lies on no disk and in no log as it is', async () => {
    const said = recordingLog();
    const box = await openBox({ log: said.log });
    const value = `${MARK} "quoted"`;
    expect(told(await box.act('p', 'storage.put', { slug: SLUG, value }))).toBe('succeeded');
    for (const id of ['g', 'g', 'h']) {
      expect((await box.act(id, 'storage.get', { slug: SLUG })).result.outcome).toEqual({ value });
    }
    expect(told(await box.act('m', 'message.post', { channelId: CHANNEL, content: 'MARKED-message' }))).toBe('succeeded');
    const files = readdirSync(box.directory).map((name) => readFileSync(join(box.directory, name)).toString('latin1'));
    expect(files.join().includes('MARKED-message')).toBe(true);
    const forms = [MARK, Buffer.from(MARK).toString('hex'), Buffer.from(MARK).toString('base64').slice(0, 30)];
    for (const place of [...files, ...said.lines]) expect(forms.filter((form) => place.includes(form))).toEqual([]);
    expect(said.lines.filter((line) => line.includes(SLUG))).toEqual([]);
    await box.restart();
    expect((await box.act('g', 'storage.get', { slug: SLUG })).result).toMatchObject({ replayed: true, outcome: { value } });
  });
});

describe('a write', () => {
  it('after which another event is the head succeeds, and the log says so without the slug', async () => {
    const said = recordingLog();
    const { broker, link, relay } = await bench({ log: said.log });
    const { token } = link.openSession();
    relay.answers.push('hold');
    const answer = post(broker.endpoint, token, requestBytes('p', 'storage.put', { slug: SLUG, value: MARK }));
    await relay.sends(1);
    const [ours] = relay.sent;
    const theirs = AGENT.sign({
      kind: 30_174, tags: ours?.tags ?? [], content: nip44.encrypt(`{"slug":"${SLUG}","value":"x"}`, KEY), createdAtSec: START_SEC + 5,
    });
    relay.keep(theirs);
    const asked = relay.asked.length;
    relay.release();
    expect(told(await answer)).toBe('succeeded');
    await relay.questions(asked + 1);
    // The same record is free again only when the look is over.
    expect(told(await post(broker.endpoint, token, requestBytes('q', 'storage.put', { slug: SLUG, value: 'y' })))).toBe('succeeded');
    const [line = '', ...more] = said.lines.filter((one) => one.includes('another event is its head'));
    expect(more).toEqual([]);
    expect(line).toContain(theirs.id);
    expect(line).toContain(ours?.id);
    expect(line).not.toContain(SLUG);
    expect(line).not.toContain(MARK);
    expect(relay.sent.map(({ created_at: at }) => at)).toEqual([START_SEC, START_SEC + 6]);
  });

  it('on a relay that cannot be read, or by a session that is gone, sends nothing', async () => {
    const { broker, link, relay } = await bench();
    const { token, sessionId } = link.openSession();
    relay.readable = false;
    for (const [action, args] of [['storage.put', { slug: SLUG, value: 'v' }], ['storage.get', { slug: SLUG }]] as const) {
      expect(told(await post(broker.endpoint, token, requestBytes(action, action, args)))).toBe('failed/internal');
    }
    relay.readable = true;
    let open = (): void => undefined;
    relay.gate = new Promise((resolve) => {
      open = resolve;
    });
    const asked = relay.asked.length;
    const answers = [
      post(broker.endpoint, token, requestBytes('late', 'storage.put', { slug: SLUG, value: 'v' })),
      post(broker.endpoint, token, requestBytes('late-get', 'storage.get', { slug: SLUG })),
    ];
    await relay.questions(asked + 2);
    link.closeSession(sessionId);
    open();
    expect((await Promise.all(answers)).map(told)).toEqual(['failed/unauthenticated', 'failed/unauthenticated']);
    expect(relay.sent).toEqual([]);
  });

  it('to a relay that loses it stays one event', async () => {
    const { broker, link, relay } = await bench();
    const { token } = link.openSession();
    relay.answers.push('lose');
    const bytes = requestBytes('p', 'storage.put', { slug: SLUG, value: 'v' });
    expect(told(await post(broker.endpoint, token, bytes))).toBe('indeterminate/outcome_unknown');
    expect(told(await post(broker.endpoint, token, bytes))).toBe('succeeded');
    expect(new Set(relay.sent.map(({ id }) => id)).size).toBe(1);
  });
});

describe('a stored value', () => {
  const memory = openStoredMemory(openKeyring([AGENT], systemRandom), AGENT.pubkey);
  const read = (value: string): Verdict => ({ status: 'succeeded', action: 'storage.get', outcome: { value } });

  it.each(['', 'v', '\u0000', 'x'.repeat(65_000), '\u0001'.repeat(60_000)])('comes back for its own request', (value) => {
    const shut = memory.shut('r', read(value));
    expect(memory.reopen('r', shut)).toEqual(read(value));
    expect(memory.reopen('q', shut)).toMatchObject({ status: 'indeterminate', error: { code: 'internal' } });
  });

  it('that skep did not store is not told', () => {
    expect(memory.reopen('r', read('plain'))).toMatchObject({ status: 'indeterminate', error: { code: 'internal' } });
  });

  it('is the only thing that is changed', () => {
    const verdicts: readonly Verdict[] = [
      { status: 'succeeded', action: 'storage.get', outcome: {} },
      { status: 'failed', error: { code: 'internal', message: 'm' } },
      { status: 'succeeded', action: 'storage.address', outcome: { authorPubkey: AGENT.pubkey, kind: 30_174, dTag: '0'.repeat(64) } },
    ];
    for (const verdict of verdicts) expect(memory.reopen('r', memory.shut('r', verdict))).toBe(verdict);
  });
});
