/** Telemetry of one agent on a held clock: what is taken in, at which pace it goes, and when it ends. */
import * as nip44 from 'nostr-tools/nip44';
import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../../src/broker/keyring.ts';
import type { ObserverFrame } from '../../../src/broker/index.ts';
import { openPublisher } from '../../../src/broker/publish.ts';
import { frameBytes, MAX_FRAME_BYTES, openTelemetry } from '../../../src/broker/telemetry/index.ts';
import type { Telemetry, TelemetryOptions } from '../../../src/broker/telemetry/index.ts';
import { MAX_WAITING_FRAMES } from '../../../src/broker/telemetry/telemetry.ts';
import { seconds, silentLog } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { systemRandom } from '../../../src/system/index.ts';
import { HeldClock } from '../clock.ts';
import { FakeRelay } from '../fake-relay.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER } from '../people.ts';

const KEY = nip44.getConversationKey(OWNER.secretKey, AGENT.pubkey);

interface Bench {
  readonly telemetry: Telemetry;
  readonly relay: FakeRelay;
  readonly clock: HeldClock;
}

function open(options: Partial<TelemetryOptions> = {}): Bench {
  const [relay, clock, keyring] = [new FakeRelay(), new HeldClock(), openKeyring([AGENT], systemRandom)];
  const publisher = openPublisher({ pubkey: AGENT.pubkey, keyring, clock, upstream: relay.open() });
  const telemetry = openTelemetry({
    pubkey: AGENT.pubkey, owner: OWNER.pubkey, seal: (text) => keyring.seal(AGENT.pubkey, OWNER.pubkey, text),
    publisher, ready: () => true, clock, steadyClock: clock, log: silentLog, ...options,
  });
  return { telemetry, relay, clock };
}

function frame(payload: string, more: Partial<ObserverFrame> = {}): ObserverFrame {
  return { kind: 'note', payload, rank: 'stream', ...more };
}

interface Read {
  readonly seq: number;
  readonly kind: string;
  readonly sessionId: string | null;
  readonly payload: unknown;
}

function readBy(owner: Uint8Array, event: VerifiedEvent): Read {
  return JSON.parse(nip44.decrypt(event.content, owner)) as Read;
}

/** Pushes the clock, a frame's pace at a time, until nothing more is sent. */
async function run({ relay, clock }: Bench): Promise<readonly VerifiedEvent[]> {
  for (let before = -1; before !== relay.sent.length;) {
    before = relay.sent.length;
    clock.push(20);
    await new Promise(setImmediate);
  }
  return relay.sent;
}

describe('a frame', () => {
  it('is a kind 24200 to the owner, in the members’ order, its payload to the byte', async () => {
    const made = open();
    const payload = '{ "jsonrpc":"2.0", "big":12345678901234567890, "x":"\\u0061" }';
    const told = frame(payload, { kind: 'acp_read', channelId: CHANNEL, turnId: 't-1' });
    made.telemetry.reserve([told]).take();
    const [event] = await run(made);
    if (event === undefined) return expect.fail('nothing was sent');
    expect([event.kind, event.tags]).toEqual([24_200, [['p', OWNER.pubkey], ['agent', AGENT.pubkey], ['frame', 'telemetry']]]);
    expect(nip44.decrypt(event.content, KEY)).toBe(
      `{"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","kind":"acp_read","agentIndex":null,"channelId":"${CHANNEL}",`
      + `"sessionId":null,"turnId":"t-1","payload":${payload}}`,
    );
  });

  it.each(['text', '"a string"', '[1]', '1', 'null', '{"a":', '{}}', '{"a":1},"authorization":{"x":1}'])(
    'with %s, which is no JSON object, carries it as a string', async (payload) => {
      const made = open();
      made.telemetry.reserve([frame(payload)]).take();
      const [event] = await run(made);
      if (event === undefined) return expect.fail('nothing was sent');
      expect(readBy(KEY, event)).toMatchObject({ payload, channelId: null, turnId: null });
      expect(readBy(KEY, event)).not.toHaveProperty('authorization');
    });

  it('as long as it may be is sent, and one byte longer is not, and leaves a gap', async () => {
    const made = open();
    const empty = frame('{"a":""}');
    const [first] = await run((made.telemetry.reserve([empty]).take(), made));
    if (first === undefined) return expect.fail('nothing was sent');
    // `seq` is reckoned with the sixteen digits it may come to have.
    const spare = MAX_FRAME_BYTES - Buffer.byteLength(nip44.decrypt(first.content, KEY)) - 15;
    const padded = (bytes: number): ObserverFrame => frame(`{"a":"${'x'.repeat(bytes)}"}`);
    const room = made.telemetry.reserve([padded(spare + 1), padded(spare)]);
    expect(room.accepted).toBe(1);
    room.take();
    const sent = await run(made);
    expect(sent.map((event) => readBy(KEY, event).seq)).toEqual([1, 3]);
    expect(sent[1]?.content).toHaveLength(87_472);
  });
});

describe('what skep tells', () => {
  it('carries its envelope before the payload, and what is not known as null', async () => {
    const made = open();
    made.telemetry.tell({
      kind: 'acp_read', payload: '{"id": 7}', channelId: CHANNEL, sessionId: 's "1"', turnId: 't-1', agentIndex: 0, rank: 'permission',
      authorization: { requestNonce: 'n', actionable: true, expiresAt: seconds(1_767_225_900) },
    });
    made.telemetry.tell({
      kind: 'acp_write', payload: '{"id": 7, "result": {}}', sessionId: 's "1"', rank: 'permission',
      authorization: { requestNonce: 'n', actionable: false, reason: 'timed_out' },
    });
    expect((await run(made)).map(({ content }) => nip44.decrypt(content, KEY))).toEqual([
      `{"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","kind":"acp_read","agentIndex":0,"channelId":"${CHANNEL}",`
      + `"sessionId":"s \\"1\\"","turnId":"t-1","authorization":{"requestNonce":"n","actionable":true,"expiresAt":1767225900},"payload":{"id": 7}}`,
      `{"seq":2,"timestamp":"2026-01-01T00:00:00.000Z","kind":"acp_write","agentIndex":null,"channelId":null,`
      + `"sessionId":"s \\"1\\"","turnId":null,"authorization":{"requestNonce":"n","actionable":false,"reason":"timed_out"},"payload":{"id": 7, "result": {}}}`,
    ]);
  });

  it('is numbered by session, and stamped when it was told', async () => {
    const made = open();
    for (const sessionId of ['a', 'b', undefined, 'a']) made.telemetry.tell(frame('{}', sessionId === undefined ? {} : { sessionId }));
    made.clock.push(5);
    made.telemetry.tell(frame('{}', { sessionId: 'b' }));
    const read = (await run(made)).map((event) => readBy(KEY, event));
    expect(read.map(({ sessionId, seq }) => [sessionId, seq])).toEqual([['a', 1], ['b', 1], [null, 1], ['a', 2], ['b', 2]]);
    expect(read.at(-1)).toMatchObject({ timestamp: '2026-01-01T00:00:00.005Z' });
  });

  it('has the size that it has at its longest, and what is longer than may be is not sent, leaves a gap and no trace of its text', async () => {
    const lines: unknown[] = [];
    const made = open({ log: { ...silentLog, debug: (...said) => void lines.push(said) } });
    const sized = (bytes: number): ObserverFrame => frame(`{"a":"${'é'.repeat(20_000)}${'x'.repeat(bytes)}"}`, { sessionId: 's' });
    const spare = MAX_FRAME_BYTES - frameBytes(sized(0));
    for (const bytes of [spare, spare + 1, 80_000]) made.telemetry.tell(sized(bytes));
    made.telemetry.tell(frame('{}', { sessionId: 's' }));
    expect((await run(made)).map((event) => readBy(KEY, event).seq)).toEqual([1, 4]);
    expect(made.telemetry.status()).toEqual({ sent: 2, waiting: 0, dropped: 0, tooLong: 2, refused: 0 });
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toMatch(/xxx|é/);
  });

  it('of a permission goes out at once beside full streams, and each session stays in its order', async () => {
    const made = open();
    for (let at = 0; at < 3_000; at += 1) made.telemetry.tell(frame(`{"at":${at}}`, { sessionId: `s${at % 3}` }));
    made.telemetry.tell(frame('{}', { kind: 'acp_read', rank: 'permission', sessionId: 's1' }));
    expect(made.telemetry.status().waiting).toBeLessThanOrEqual(MAX_WAITING_FRAMES);
    const read = (await run(made)).map((event) => readBy(KEY, event));
    const first = read.slice(0, 17);
    expect(first.at(-1)).toMatchObject({ kind: 'acp_read', seq: 1_001 });
    expect(first.map(({ sessionId, seq }) => [sessionId, seq])).toEqual(first.map((_, at) => ['s1', 985 + at]));
    for (const session of ['s0', 's1', 's2']) {
      const seqs = read.filter(({ sessionId }) => sessionId === session).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    }
    const { sent, dropped } = made.telemetry.status();
    expect(sent + dropped).toBe(3_001);
  });

  it('of a permission does not wait for the answers to other frames', async () => {
    const made = open();
    made.relay.answers.push(...Array.from({ length: 60 }, () => 'hold' as const));
    for (let at = 0; at < 40; at += 1) made.telemetry.tell(frame('{}', { sessionId: 'a' }));
    expect(await run(made)).toHaveLength(32);
    made.telemetry.tell(frame('{}', { kind: 'acp_read', rank: 'permission', sessionId: 'b' }));
    expect((await run(made)).map((event) => readBy(KEY, event).kind)).toEqual([...Array.from({ length: 32 }, () => 'note'), 'acp_read']);
  });

  it('after the end is counted and goes nowhere', async () => {
    const made = open();
    await made.telemetry.close(0);
    made.telemetry.tell(frame('{}', { rank: 'lifecycle' }));
    expect(await run(made)).toEqual([]);
    expect(made.telemetry.status()).toMatchObject({ sent: 0, dropped: 1 });
  });

  it('at the end is what fits into the grace, and how turns ended before what was said in them', async () => {
    const made = open();
    for (let at = 0; at < 100; at += 1) made.telemetry.tell(frame('{}', { sessionId: 'a', ...(at % 10 === 9 && { kind: 'turn_completed', rank: 'lifecycle' }) }));
    const closing = made.telemetry.close(300);
    for (let at = 0; at < 15; at += 1) {
      made.clock.push(20);
      await new Promise(setImmediate);
    }
    await closing;
    expect(made.relay.sent.filter((event) => readBy(KEY, event).kind === 'turn_completed')).toHaveLength(10);
    expect(made.relay.sent).toHaveLength(15);
  });
});

describe('packed telemetry', () => {
  const tick = async (made: Bench, byMs: number): Promise<readonly string[]> => {
    const before = made.relay.sent.length;
    made.clock.push(byMs);
    await new Promise(setImmediate);
    return made.relay.sent.slice(before).map(({ content }) => nip44.decrypt(content, KEY));
  };
  const inside = (text: string): readonly Read[] => (JSON.parse(text) as { payload: { events: Read[] } }).payload.events;

  it('is one frame a second, of one channel, with the frames of several sessions as they stand and the place of the last', async () => {
    const made = open();
    made.telemetry.pack();
    const odd = '{ "n":1.0 }';
    for (const sessionId of ['a', 'b', 'a']) made.telemetry.tell(frame(odd, { kind: 'acp_read', channelId: CHANNEL, sessionId, turnId: 't', agentIndex: 0 }));
    made.telemetry.tell(frame('{}', { channelId: ELSEWHERE, sessionId: 'c' }));
    made.telemetry.tell(frame('{}', { rank: 'lifecycle' }));
    made.telemetry.tell(frame('{}', {}));
    expect(await tick(made, 999)).toEqual([]);
    const seconds = [];
    for (const byMs of [1, 999, 1, 1_000, 1_000, 1_000]) seconds.push(await tick(made, byMs));
    const [first, none, second, third, fourth, after] = seconds;
    expect([none, after]).toEqual([[], []]);
    // Frames of no channel go alone; the weightiest goes first.
    expect([first, second, third, fourth].map((texts) => texts?.length)).toEqual([1, 1, 1, 1]);
    expect(JSON.parse(first?.[0] ?? '')).toMatchObject({ kind: 'note', channelId: null, seq: 1 });
    const pack = seconds.flat().find((text) => text.includes('"batch"')) ?? '';
    expect(inside(pack).map(({ sessionId, seq }) => `${sessionId}${seq}`)).toEqual(['a1', 'b1', 'a2']);
    expect(JSON.parse(pack)).toMatchObject({ kind: 'batch', seq: 2, channelId: CHANNEL, sessionId: 'a', turnId: 't', agentIndex: 0 });
    expect(pack.split(odd)).toHaveLength(4);
    expect(seconds.flat().some((text) => text.includes(ELSEWHERE) && !text.includes('"batch"'))).toBe(true);
    expect(made.telemetry.status()).toMatchObject({ waiting: 0, dropped: 0 });
  });

  it('fills a frame to what it may hold and not beyond, and keeps the order', async () => {
    const made = open();
    made.telemetry.pack();
    const sizes = [20_000, 30_000, 20_000, 65_000, 10, 70_000, 10];
    for (const bytes of sizes) made.telemetry.tell(frame(`{"a":"${'x'.repeat(bytes)}"}`, { channelId: CHANNEL, sessionId: 's' }));
    const texts = [];
    for (let at = 0; at < 5; at += 1) texts.push(...await tick(made, 1_000));
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_FRAME_BYTES);
    expect(texts.map((text) => (text.includes('"batch"') ? inside(text).map(({ seq }) => seq) : [(JSON.parse(text) as Read).seq])))
      .toEqual([[1, 2], [3], [4], [5, 7]]);
  });

  it('carries the envelope of a permission frame inside, and none outside', async () => {
    const made = open();
    made.telemetry.pack();
    const place = { channelId: CHANNEL, sessionId: 's' };
    made.telemetry.tell(frame('{}', place));
    made.telemetry.tell(frame('{}', { ...place, kind: 'acp_read', rank: 'permission', authorization: { requestNonce: 'n', actionable: true } }));
    const [text = ''] = await tick(made, 1_000);
    expect(JSON.parse(text)).not.toHaveProperty('authorization');
    expect(inside(text)[1]).toMatchObject({ authorization: { requestNonce: 'n', actionable: true } });
  });
});

describe('the queue', () => {
  it('sends nothing before its room is taken, and nothing when it is given back', async () => {
    const made = open();
    const [taken, back] = [made.telemetry.reserve([frame('a')]), made.telemetry.reserve([frame('b')])];
    expect(await run(made)).toEqual([]);
    back.giveBack();
    back.take();
    taken.take();
    taken.take();
    expect((await run(made)).map((event) => readBy(KEY, event))).toMatchObject([{ seq: 1, payload: 'a' }]);
  });

  it('is bounded in frames and bytes, reserved room counts, and what is given back is room again', () => {
    const { telemetry } = open();
    const many = Array.from({ length: 256 }, (_, at) => frame(String(at)));
    const rooms = [1, 2, 3, 4, 5].map(() => telemetry.reserve(many));
    expect(rooms.map(({ accepted }) => accepted)).toEqual([256, 256, 256, 256, MAX_WAITING_FRAMES - 1_024]);
    rooms[0]?.giveBack();
    const large = frame('x'.repeat(65_000));
    expect(telemetry.reserve(Array.from({ length: 256 }, () => large)).accepted).toBeLessThan(65);
    expect(telemetry.reserve([frame('small')]).accepted).toBe(1);
  });

  it('keeps the pace of 50 a second, in order', async () => {
    const made = open();
    made.telemetry.reserve(Array.from({ length: 60 }, (_, at) => frame(String(at)))).take();
    const counts: number[] = [];
    for (let tick = 0; tick < 10; tick += 1) {
      made.clock.push(100);
      await new Promise(setImmediate);
      counts.push(made.relay.sent.length);
    }
    // A held clock lets one through at each push: never more than the pace allows.
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const sent = await run(made);
    expect(sent.map((event) => readBy(KEY, event).payload)).toEqual(Array.from({ length: 60 }, (_, at) => String(at)));
  });

  it('waits for a connection that is away, and for answers when many are missing', async () => {
    let ready = false;
    const made = open({ ready: () => ready });
    made.relay.answers.push(...Array.from({ length: 60 }, () => 'hold' as const));
    made.telemetry.reserve(Array.from({ length: 60 }, (_, at) => frame(String(at)))).take();
    made.clock.push(5_000);
    expect(await run(made)).toEqual([]);
    ready = true;
    made.clock.push(1_000);
    expect(await run(made)).toHaveLength(32);
    made.relay.release();
    await new Promise(setImmediate);
    expect((await run(made)).length).toBeGreaterThan(32);
  });

  it('tells once that the relay refuses, however often it does', async () => {
    const said: string[] = [];
    const made = open({ log: { ...silentLog, warn: (message) => void said.push(message) } });
    made.relay.answers.push(...Array.from({ length: 5 }, () => ({ reject: 'restricted: not yours' })));
    made.telemetry.reserve(Array.from({ length: 5 }, () => frame('x'))).take();
    expect(await run(made)).toHaveLength(5);
    expect(said).toHaveLength(1);
  });
});

describe('the end', () => {
  it('sends what waits within its grace', async () => {
    const made = open();
    made.telemetry.reserve([frame('a'), frame('b'), frame('c')]).take();
    const closing = made.telemetry.close(5_000);
    expect(await run(made)).toHaveLength(3);
    await closing;
    expect(made.clock.alarms).toBe(0);
    const late = made.telemetry.reserve([frame('late')]);
    expect(late.accepted).toBe(0);
    late.take();
    expect(made.clock.alarms).toBe(0);
  });

  it('is cut short by a second one', async () => {
    const made = open();
    made.telemetry.reserve(Array.from({ length: 100 }, () => frame('a'))).take();
    const closing = made.telemetry.close(30_000);
    await made.telemetry.close(0);
    await closing;
    expect(made.telemetry.status()).toMatchObject({ waiting: 0 });
    expect(made.clock.alarms).toBe(0);
  });

  it('waits for a connection that is away no longer than for one more look', async () => {
    const made = open({ ready: () => false });
    made.telemetry.reserve([frame('a')]).take();
    let ended = false;
    const closing = made.telemetry.close(30_000).then(() => { ended = true; });
    made.clock.push(1_499);
    await new Promise(setImmediate);
    expect(ended).toBe(false);
    made.clock.push(1);
    await closing;
    expect(made.telemetry.status().waiting).toBe(0);
    expect(made.clock.alarms).toBe(0);
  });

  it('has its whole grace where the connection comes back', async () => {
    let isThere = false;
    const made = open({ ready: () => isThere });
    made.telemetry.reserve(Array.from({ length: 100 }, () => frame('a'))).take();
    const closing = made.telemetry.close(30_000);
    made.clock.push(1_000);
    isThere = true;
    await new Promise(setImmediate);
    for (let at = 0; at < 200; at += 1) {
      made.clock.push(20);
      await new Promise(setImmediate);
    }
    await closing;
    expect(made.relay.sent).toHaveLength(100);
  });

  it('drops what waits beyond its grace, and leaves no alarm', async () => {
    const made = open({ ready: () => false });
    const reserved = made.telemetry.reserve([frame('reserved')]);
    made.telemetry.reserve([frame('a')]).take();
    const closing = made.telemetry.close(100);
    made.clock.push(100);
    await closing;
    reserved.take();
    expect(made.relay.sent).toEqual([]);
    expect(made.clock.alarms).toBe(0);
  });
});
