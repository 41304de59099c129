/** `observer.emit` and `liveness.ping` through the whole broker: what the owner reads, and what is never sent twice. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as nip44 from 'nostr-tools/nip44';
import { describe, expect, it } from 'vitest';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import type { Store } from '../../../src/store/index.ts';
import type { Client } from '../../relay/harness.ts';
import { openBox } from '../box.ts';
import type { Box } from '../box.ts';
import { fillable } from '../fake-store.ts';
import { bench, post, requestBytes, told } from '../harness.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER } from '../people.ts';
import { openStore } from '../temp-store.ts';

const KEY = nip44.getConversationKey(OWNER.secretKey, AGENT.pubkey);
const TURN = { turnId: 't-1', channelId: CHANNEL };
const PING = { channelId: CHANNEL, turnId: 't-1' };

function frames(...payloads: readonly string[]) {
  return { frames: payloads.map((payload) => ({ kind: 'note', payload })) };
}

function opened({ content }: Pick<VerifiedEvent, 'content'>): unknown {
  return JSON.parse(nip44.decrypt(content, KEY));
}

async function watching(box: Box): Promise<Client> {
  const owner = await box.outside(OWNER);
  await owner.stored('frames', { kinds: [24_200], '#p': [OWNER.pubkey] });
  return owner;
}

describe('observer.emit', () => {
  it('brings what it accepted to the owner, once, and nothing of it to the disk', async () => {
    const box = await openBox();
    const owner = await watching(box);
    box.link.bindTurn(box.sessionId, TURN);
    const first = await box.act('e', 'observer.emit', frames('MARKED-payload', '{"jsonrpc":"2.0"}', 'three'));
    expect(first.result).toMatchObject({ status: 'succeeded', outcome: { accepted: 3 } });
    const told3 = [await owner.nextEvent('frames'), await owner.nextEvent('frames'), await owner.nextEvent('frames')];
    expect(told3.map(opened)).toMatchObject([
      { seq: 1, kind: 'note', payload: 'MARKED-payload', channelId: CHANNEL, turnId: 't-1', sessionId: null },
      { seq: 2, payload: { jsonrpc: '2.0' } },
      { seq: 3, payload: 'three' },
    ]);
    expect(told3[0]?.tags).toEqual([['p', OWNER.pubkey], ['agent', AGENT.pubkey], ['frame', 'telemetry']]);

    const again = await box.act('e', 'observer.emit', frames('MARKED-payload', '{"jsonrpc":"2.0"}', 'three'));
    expect(again.result).toEqual({ ...first.result, replayed: true });
    expect((await box.act('f', 'observer.emit', frames('x'.repeat(65_400), 'small'.repeat(2)))).result.outcome).toEqual({ accepted: 1 });
    // The control of "nothing": the next frame is the new one; the one that does not fit has used up its number.
    expect(opened(await owner.nextEvent('frames'))).toMatchObject({ seq: 5, payload: 'smallsmall' });
    const files = readdirSync(box.directory).map((name) => readFileSync(join(box.directory, name)).toString('latin1'));
    expect(files.filter((file) => file.includes('MARKED'))).toEqual([]);

    await box.restart();
    expect(told(await box.act('e', 'observer.emit', frames('MARKED-payload', '{"jsonrpc":"2.0"}', 'three')))).toBe('succeeded, replayed');
    expect(told(await box.act('g', 'observer.emit', frames('after')))).toBe('succeeded');
    expect(opened(await owner.nextEvent('frames'))).toMatchObject({ seq: 1, payload: 'after', turnId: null });
  });

  it('does not speak with the voice of the harness: its words are marked, and so is what may join them', async () => {
    const box = await openBox();
    const owner = await watching(box);
    const theirs = ['note', 'Turn_completed', 'acp', 'batches', 'my_turn_completed'];
    const ours = ['batch', 'acp_read', 'acp_write', 'turn_completed', 'turn_liveness', 'permission_terminal', 'control_result', 'session_resolved'];
    const told = [...theirs, ...ours].map((kind) => ({ kind, payload: '{}' }));
    expect((await box.act('e', 'observer.emit', { frames: told })).result.outcome).toEqual({ accepted: told.length });
    const kinds: unknown[] = [];
    while (kinds.length < told.length) kinds.push((opened(await owner.nextEvent('frames')) as { kind: string }).kind);
    expect(kinds).toEqual([...theirs, ...ours.map((kind) => `emitted:${kind}`)]);
  });

  it('ends with the broker, within its grace', async () => {
    const box = await openBox();
    const owner = await watching(box);
    const payloads = Array.from({ length: 20 }, (_, at) => String(at));
    expect((await box.act('e', 'observer.emit', frames(...payloads))).result.outcome).toEqual({ accepted: 20 });
    await box.close(10_000);
    expect((await owner.stored('later', { kinds: [24_200], '#p': [OWNER.pubkey] }))).toEqual([]);
    expect(owner.receivedEvents('frames').map((event) => (opened(event) as { payload: string }).payload)).toEqual(payloads);
  });

  it('whose receipt is not stored sends nothing, and neither does one that may not be told', async () => {
    // The nth write from now on finds the disk full.
    let nth = 0;
    const full = (): boolean => {
      nth -= 1;
      return nth === 0;
    };
    const { broker, link, relay, clock } = await bench({ store: fillable(openStore(), full) });
    const { token, sessionId } = link.openSession();
    nth = 1;
    expect(told(await post(broker.endpoint, token, requestBytes('claim', 'observer.emit', frames('a'))))).toBe('failed/internal');
    nth = 2;
    expect(told(await post(broker.endpoint, token, requestBytes('result', 'observer.emit', frames('a'))))).toBe('indeterminate/internal');
    expect(told(await post(broker.endpoint, token, requestBytes('b', 'observer.emit', frames('b'))))).toBe('succeeded');
    clock.push(1_000);
    await relay.sends(1);
    expect(relay.sent.map(opened)).toMatchObject([{ payload: 'b' }]);
    link.closeSession(sessionId);
    expect(told(await post(broker.endpoint, token, requestBytes('c', 'observer.emit', frames('c'))))).toBe('failed/unauthenticated');
  });

  it('by a session that ends while its receipt is stored sends nothing', async () => {
    const store = watched(openStore());
    const { broker, link, relay, clock } = await bench({ store });
    const { token, sessionId } = link.openSession();
    store.onWrite = (count) => {
      if (count === 2) link.closeSession(sessionId);
    };
    expect(told(await post(broker.endpoint, token, requestBytes('a', 'observer.emit', frames('a'))))).toBe('failed/unauthenticated');
    store.onWrite = () => undefined;
    expect(told(await post(broker.endpoint, link.openSession().token, requestBytes('b', 'observer.emit', frames('b'))))).toBe('succeeded');
    clock.push(1_000);
    await relay.sends(1);
    expect(relay.sent.map(opened)).toMatchObject([{ payload: 'b' }]);
  });
});

describe('liveness.ping', () => {
  it('tells the owner of the turn that the session is in, once', async () => {
    const box = await openBox();
    const owner = await watching(box);
    expect(told(await box.act('early', 'liveness.ping', PING))).toBe('failed/action_failed');
    box.link.bindTurn(box.sessionId, TURN);
    const other = box.link.openSession();
    box.link.bindTurn(other.sessionId, { turnId: 't-2', channelId: CHANNEL });
    for (const [id, args] of [
      ['turn', { ...PING, turnId: 't-2' }], ['channel', { ...PING, channelId: ELSEWHERE }],
    ] as const) {
      expect(told(await box.act(id, 'liveness.ping', args))).toMatch(/^failed\/(action_failed|unauthorized)$/);
    }
    const first = await box.act('p', 'liveness.ping', PING);
    expect(first.result).toMatchObject({ status: 'succeeded', outcome: { kind: 24_200 } });
    const event = await owner.nextEvent('frames');
    expect(event.id).toBe(first.result.outcome?.['eventId']);
    expect(event.tags).toEqual([['p', OWNER.pubkey], ['agent', AGENT.pubkey], ['frame', 'telemetry']]);
    expect(opened(event)).toMatchObject({ kind: 'turn_liveness', channelId: CHANNEL, turnId: 't-1', payload: {} });

    box.link.bindTurn(box.sessionId, undefined);
    expect(told(await box.act('late', 'liveness.ping', PING))).toBe('failed/action_failed');
    await box.restart();
    expect((await box.act('p', 'liveness.ping', PING)).result).toEqual({ ...first.result, replayed: true });
    box.link.bindTurn(box.sessionId, TURN);
    const next = await box.act('q', 'liveness.ping', PING);
    expect((await owner.nextEvent('frames')).id).toBe(next.result.outcome?.['eventId']);
    expect(owner.received('frames')).toEqual([]);
  });

  it('without an answer is indeterminate and not sent again', async () => {
    const { broker, link, relay } = await bench();
    const { token, sessionId } = link.openSession();
    link.bindTurn(sessionId, TURN);
    relay.answers.push('lose');
    const bytes = requestBytes('p', 'liveness.ping', PING);
    expect(told(await post(broker.endpoint, token, bytes))).toBe('indeterminate/outcome_unknown');
    expect(told(await post(broker.endpoint, token, bytes))).toBe('indeterminate/outcome_unknown');
    expect(relay.sent).toHaveLength(1);
  });

  it('whose turn ends before it is sent is refused', async () => {
    const store = watched(openStore());
    const { broker, link, relay } = await bench({ store });
    const { token, sessionId } = link.openSession();
    link.bindTurn(sessionId, TURN);
    store.onWrite = (count) => {
      if (count === 2) link.bindTurn(sessionId, undefined);
    };
    const bytes = requestBytes('p', 'liveness.ping', PING);
    expect(told(await post(broker.endpoint, token, bytes))).toBe('failed/action_failed');
    expect(told(await post(broker.endpoint, token, bytes))).toBe('failed/action_failed, replayed');
    expect(relay.sent).toEqual([]);
  });
});

/** Tells of each write of a journal row, counted from the next one on. */
function watched(store: Store): Store & { onWrite: (count: number) => void } {
  let count = 0;
  let told: (count: number) => void = () => undefined;
  return {
    ...store,
    read: (...args) => store.read(...args),
    close: () => store.close(),
    write: (...statements) => {
      count += 1;
      told(count);
      return store.write(...statements);
    },
    get onWrite() {
      return told;
    },
    set onWrite(next) {
      [count, told] = [0, next];
    },
  };
}
