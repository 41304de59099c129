/** Credentials that an operator issues: what they are good for, and how each of them ends. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ENDED_KEPT_MS, MAX_CREDENTIALS, USE_STORED_EVERY_MS } from '../../src/broker/credentials.ts';
import type { CredentialDesk, CredentialOrder, IssuedCredential } from '../../src/broker/index.ts';
import type { Upstream } from '../../src/broker/upstream/index.ts';
import type { Log } from '../../src/model/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { FakeRelay } from './fake-relay.ts';
import { fillable } from './fake-store.ts';
import { bench, end, identity, post, requestBytes, told } from './harness.ts';
import type { Bench } from './harness.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER, SIBLING, STRANGER } from './people.ts';
import { openStore, storeFile } from './temp-store.ts';

const BYTES = requestBytes('r-1');
const DAY_MS = 86_400_000;

async function issue(desk: CredentialDesk, order: Partial<CredentialOrder> = {}): Promise<IssuedCredential> {
  const answer = await desk.issue({ agent: 'worker', ...order });
  return answer.ok ? answer.issued : expect.fail(answer.detail);
}

function act({ broker }: Bench, token: string, bytes: Uint8Array = BYTES): Promise<string> {
  return post(broker.endpoint, token, bytes).then(told);
}

function posting(id: string, channelId: string): Uint8Array {
  return requestBytes(id, 'message.post', { channelId, content: 'hello' });
}

describe('an issued credential', () => {
  it('acts as its agent, in one namespace with the sessions of its processes', async () => {
    const one = await bench();
    const { token, agent, endpoint, lasting } = await issue(one.broker.credentials);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect({ agent, endpoint, lasting }).toEqual({ agent: 'worker', endpoint: one.broker.endpoint, lasting: false });
    expect(await act(one, token)).toBe('succeeded');
    expect(await act(one, one.link.openSession().token)).toBe('succeeded, replayed');
    expect(one.relay.sent.map(({ pubkey }) => pubkey)).toEqual([AGENT.pubkey]);
  });

  it('is known again after a restart, and its end is, too', async () => {
    const reopen = storeFile();
    const before = await bench({ store: reopen() });
    const [kept, ended] = [await issue(before.broker.credentials), await issue(before.broker.credentials)];
    await before.broker.credentials.revoke(ended.id);
    await end(before.broker, before.clock);
    const after = await bench({ store: reopen() });
    expect(await act(after, kept.token)).toBe('succeeded');
    expect(await act(after, ended.token)).toBe('failed/unauthenticated');
  });

  it('has no turn', async () => {
    const one = await bench();
    const { token } = await issue(one.broker.credentials);
    const ping = requestBytes('r-2', 'liveness.ping', { channelId: CHANNEL, turnId: 't-1' });
    expect(await act(one, token, ping)).toBe('failed/action_failed');
  });

  it('is on disk as a digest alone, and in no log line', async () => {
    const directory = temporaryDirectory();
    const store = openSqlite(join(directory, 'skep.db'), SUPERVISOR_SCHEMA);
    onTestFinished(() => store.close());
    const lines: string[] = [];
    const write = (...told: unknown[]): void => void lines.push(JSON.stringify(told));
    const log: Log = { debug: write, info: write, warn: write, error: write };
    const one = await bench({ store, log });
    const { id, token } = await issue(one.broker.credentials, { label: 'ci' });
    expect(await act(one, token)).toBe('succeeded');
    const again = await one.broker.credentials.rotate(id);
    const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1')).join('');
    expect(files).toContain(id);
    for (const secret of [token, again.ok ? again.issued.token : '?']) {
      expect(files).not.toContain(secret);
      expect(lines.join('\n')).not.toContain(secret);
      expect(JSON.stringify(one.broker.credentials.list())).not.toContain(secret);
    }
    expect(lines.join('\n')).toContain(id);
  });
});

describe('a scope', () => {
  it('of actions refuses every other one', async () => {
    const one = await bench();
    const { token } = await issue(one.broker.credentials, { actions: ['channel.read'] });
    expect(await act(one, token)).toBe('failed/unauthorized');
    expect(await act(one, token, requestBytes('r-2', 'channel.read', { channelId: CHANNEL }))).toBe('succeeded');
    expect(one.relay.sent).toEqual([]);
  });

  it('of channels refuses every other one, in whatever form it is named', async () => {
    const one = await bench();
    const { token } = await issue(one.broker.credentials, { channels: [CHANNEL.toUpperCase()] });
    expect(await act(one, token, posting('r-1', CHANNEL))).toBe('succeeded');
    expect(await act(one, token, posting('r-2', ELSEWHERE))).toBe('failed/unauthorized');
  });

  it('never widens what the agent may', async () => {
    const one = await bench({ identities: [identity(AGENT, { channels: [CHANNEL] })] });
    const { token } = await issue(one.broker.credentials, { channels: [ELSEWHERE] });
    expect(await act(one, token, posting('r-1', ELSEWHERE))).toBe('failed/unauthorized');
    expect(await act(one, token, posting('r-2', CHANNEL))).toBe('failed/unauthorized');
  });

  it('holds for stored results', async () => {
    const one = await bench();
    expect(await act(one, one.link.openSession().token)).toBe('succeeded');
    const reader = await issue(one.broker.credentials, { actions: ['channel.read'] });
    expect(await act(one, reader.token)).toBe('failed/unauthorized');
    const elsewhere = await issue(one.broker.credentials, { channels: [ELSEWHERE] });
    expect(await act(one, elsewhere.token)).toBe('failed/unauthorized');
  });

  it('survives a restart', async () => {
    const reopen = storeFile();
    const before = await bench({ store: reopen() });
    const { token } = await issue(before.broker.credentials, { actions: ['message.post'], channels: [CHANNEL] });
    await end(before.broker, before.clock);
    const after = await bench({ store: reopen() });
    expect(await act(after, token, posting('r-1', ELSEWHERE))).toBe('failed/unauthorized');
    expect(await act(after, token, requestBytes('r-2', 'channel.read', { channelId: CHANNEL }))).toBe('failed/unauthorized');
    expect(await act(after, token, posting('r-3', CHANNEL))).toBe('succeeded');
  });
});

describe('the end of a credential', () => {
  it('comes with its time, also for a result that is stored', async () => {
    const one = await bench();
    const { token, expiresAtMs } = await issue(one.broker.credentials, { lifetimeMs: DAY_MS });
    expect(expiresAtMs).toBe(one.clock.now() + DAY_MS);
    expect(await act(one, token)).toBe('succeeded');
    one.clock.push(DAY_MS - 1);
    expect(await act(one, token)).toBe('succeeded, replayed');
    one.clock.push(1);
    expect(await act(one, token)).toBe('failed/unauthenticated');
    expect(one.broker.credentials.list().map(({ state }) => state)).toEqual(['expired']);
  });

  it.each([
    ['revoked', (desk: CredentialDesk, id: string) => desk.revoke(id)],
    ['rotated', (desk: CredentialDesk, id: string) => desk.rotate(id)],
  ])('%s while its message is on the way: neither success nor failure is told', async (_, finish) => {
    const one = await bench();
    const { id, token } = await issue(one.broker.credentials);
    one.relay.answers.push('hold');
    const answered = act(one, token);
    await one.relay.sends(1);
    await finish(one.broker.credentials, id);
    one.relay.release();
    expect(await answered).toBe('indeterminate/outcome_unknown');
    expect(await act(one, token)).toBe('failed/unauthenticated');
    expect(await act(one, one.link.openSession().token)).toBe('succeeded, replayed');
  });

  it('while the parent of a reply is read: nothing is sent', async () => {
    const one = await bench();
    const parent = SIBLING.sign({ tags: [['h', CHANNEL]] });
    one.relay.keep(parent);
    const { id, token } = await issue(one.broker.credentials);
    const before = one.relay.asked.length;
    const bytes = requestBytes('r-2', 'message.reply', { channelId: CHANNEL, content: 'x', replyToEventId: parent.id });
    const answered = act(one, token, bytes);
    await one.relay.questions(before + 1);
    await one.broker.credentials.revoke(id);
    expect(await answered).toBe('failed/unauthenticated');
    expect(one.relay.sent).toEqual([]);
    // What is kept is about the action, not about the credential of those who ask by then.
    expect(await act(one, one.link.openSession().token, bytes)).toBe('failed/action_failed, replayed');
  });

  it('comes at once, also when the disk does not take it', async () => {
    let full = false;
    const one = await bench({ store: fillable(openStore(), () => full) });
    const { id, token } = await issue(one.broker.credentials);
    full = true;
    await expect(one.broker.credentials.revoke(id)).rejects.toMatchObject({
      code: 'storage_full', message: expect.stringContaining('revoke it again') as string,
    });
    expect(await act(one, token)).toBe('failed/unauthenticated');
    full = false;
    expect(await one.broker.credentials.revoke(id)).toEqual({ ok: true });
  });

  it('comes when its agent goes, or belongs to another; and is no other agent\'s credential ever after', async () => {
    const reopen = storeFile();
    const before = await bench({ store: reopen() });
    const { token } = await issue(before.broker.credentials);
    await end(before.broker, before.clock);
    for (const identities of [[identity(SIBLING)], [identity(AGENT, { owner: STRANGER.pubkey })]]) {
      const after = await bench({ store: reopen(), identities });
      expect(await act(after, token)).toBe('failed/unauthenticated');
      expect(after.broker.credentials.list().map(({ state, pubkey }) => [state, pubkey])).toEqual([['unusable', AGENT.pubkey]]);
      await end(after.broker, after.clock);
    }
    const elsewhere = await bench({ store: reopen(), community: 'another' });
    expect(await act(elsewhere, token)).toBe('failed/unauthenticated');
    await end(elsewhere.broker, elsewhere.clock);
    const back = await bench({ store: reopen() });
    expect(await act(back, token)).toBe('succeeded');
  });
});

describe('an agent that is being restarted', () => {
  it('does not make its credentials bad', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => { release = resolve; });
    const relay = new FakeRelay();
    const openUpstream = (): Upstream => ({ ...relay.open(), close: () => held });
    const one = await bench({ relay, openUpstream });
    const { token } = await issue(one.broker.credentials);
    const renewed = one.broker.renew(AGENT.pubkey);
    expect(await act(one, token)).toBe('HTTP 503');
    release();
    await renewed;
    expect(await act(one, token)).toBe('succeeded');
    expect(await act(one, 'none')).toBe('failed/unauthenticated');
  });
});

describe('rotation', () => {
  it('keeps id, scope and retry namespace, and ends the old token', async () => {
    const one = await bench();
    const { id, token } = await issue(one.broker.credentials, { channels: [CHANNEL], lifetimeMs: DAY_MS });
    expect(await act(one, token)).toBe('succeeded');
    const rotated = await one.broker.credentials.rotate(id);
    const next = rotated.ok ? rotated.issued : expect.fail(rotated.detail);
    expect(next).toMatchObject({ id, agent: 'worker', expiresAtMs: one.clock.now() + DAY_MS });
    expect(await act(one, token)).toBe('failed/unauthenticated');
    expect(await act(one, next.token)).toBe('succeeded, replayed');
    expect(await act(one, next.token, posting('r-2', ELSEWHERE))).toBe('failed/unauthorized');
  });

  it('gives no token to what is revoked while the disk is busy with it', async () => {
    const { broker: { credentials: desk } } = await bench();
    const { id } = await issue(desk);
    const [rotated, revoked] = await Promise.all([desk.rotate(id), desk.revoke(id)]);
    expect([rotated, revoked]).toMatchObject([{ ok: false, code: 'ended' }, { ok: true }]);
    expect(desk.list()).toMatchObject([{ id, state: 'revoked' }]);
  });

  it('of what has ended, or never was, is refused', async () => {
    const { broker, clock, link } = await bench();
    const desk = broker.credentials;
    const [revoked, expired] = [await issue(desk), await issue(desk, { lifetimeMs: 60_000 })];
    await desk.revoke(revoked.id);
    clock.push(60_000);
    for (const id of [revoked.id, expired.id, 'none', link.openSession().sessionId]) {
      expect(await desk.rotate(id)).toMatchObject({ ok: false });
    }
    expect(await desk.revoke(revoked.id)).toEqual({ ok: true });
    expect(await desk.revoke('none')).toMatchObject({ ok: false, code: 'unknown_id' });
  });
});

describe('an order', () => {
  it.each<[Partial<CredentialOrder>, string]>([
    [{ agent: 'nobody' }, 'agent: expected the name or the pubkey of an agent that runs here; there are worker'],
    [{ agent: OWNER.pubkey }, 'agent: expected the name or the pubkey of an agent that runs here; there are worker'],
    [{ actions: [] }, 'actions: found none, expected actions of NIP-BA'],
    [{ actions: ['sign'] }, 'actions: found sign, expected actions of NIP-BA'],
    [{ channels: ['general'] }, 'channels: found general, expected channel ids (UUIDs)'],
    [{ channels: Array.from({ length: 65 }, (_, index) => CHANNEL.slice(0, -2) + String(index + 10)) }, 'channels: expected at most 64'],
    [{ lifetimeMs: 59_999 }, 'expires: expected 1m to 3650d'],
    [{ lifetimeMs: Number.NaN }, 'expires: expected 1m to 3650d'],
    [{ lifetimeMs: 3_651 * DAY_MS }, 'expires: expected 1m to 3650d'],
    [{ label: ' ' }, 'label: expected 1 to 120 printable characters'],
    [{ label: 'a\nb' }, 'label: expected 1 to 120 printable characters'],
  ])('%j is refused', async (order, detail) => {
    const { broker } = await bench();
    expect(await broker.credentials.issue({ agent: 'worker', ...order })).toMatchObject({ ok: false, detail });
    expect(broker.credentials.list()).toEqual([]);
  });

  it('beyond what there may be is refused, and what ended long ago makes room', async () => {
    const store = openStore();
    const first = await bench({ store });
    const old = await issue(first.broker.credentials, { lifetimeMs: 60_000 });
    const fill = `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX_CREDENTIALS})
      INSERT INTO credentials (id, digest, principal, community, owner, created_at_ms)
      SELECT 'c' || i, 'd' || i, principal, community, owner, created_at_ms FROM credentials, n`;
    await store.write(sql(fill));
    const { broker, clock } = await bench({ store });
    expect(await broker.credentials.issue({ agent: 'worker' })).toMatchObject({ ok: false, code: 'too_many' });
    clock.push(60_000 + ENDED_KEPT_MS);
    expect(await broker.credentials.issue({ agent: 'worker' })).toMatchObject({ ok: true });
    expect(broker.credentials.list().some(({ id }) => id === old.id)).toBe(false);
    expect(await store.read(sql('SELECT id FROM credentials WHERE id = ?', old.id))).toEqual([]);
  });
});

it('the list shows issued ones with scope and use, and those of agent processes with their turn', async () => {
  const one = await bench();
  const { id, token } = await issue(one.broker.credentials, { actions: ['message.post'], channels: [CHANNEL], label: 'ci', lifetimeMs: DAY_MS });
  const { sessionId } = one.link.openSession();
  const turn = { turnId: 't-1', channelId: CHANNEL };
  one.link.bindTurn(sessionId, turn);
  const createdAtMs = one.clock.now();
  const common = { state: 'live', agent: 'worker', pubkey: AGENT.pubkey, createdAtMs };
  const issued = { id, sort: 'issued', ...common, label: 'ci', actions: ['message.post'], channels: [CHANNEL], expiresAtMs: createdAtMs + DAY_MS };
  const process = { id: sessionId, sort: 'process', ...common, turn };
  expect(one.broker.credentials.list()).toEqual([issued, process]);
  await act(one, token);
  expect(one.broker.credentials.list()).toEqual([{ ...issued, usedAtMs: createdAtMs }, process]);
  one.clock.push(USE_STORED_EVERY_MS - 1);
  await act(one, token);
  expect(one.broker.credentials.list()[0]?.usedAtMs).toBe(createdAtMs);
  one.clock.push(1);
  await act(one, token);
  expect(one.broker.credentials.list()[0]?.usedAtMs).toBe(createdAtMs + USE_STORED_EVERY_MS);
  one.link.closeSession(sessionId);
  expect(one.broker.credentials.list()).toHaveLength(1);
});
