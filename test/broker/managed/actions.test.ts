/** `agents.create`, `.update` and `.delete` on a real broker, a real database and the relay in the box. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openUpstream } from '../../../src/broker/upstream/index.ts';
import type { Upstream, UpstreamOptions } from '../../../src/broker/upstream/index.ts';
import type { Pubkey } from '../../../src/model/index.ts';
import { pubkey as asKey } from '../../../src/model/index.ts';
import { attestationIn } from '../../../src/nostr/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import { identity, post, requestBytes, told } from '../harness.ts';
import type { Answered } from '../harness.ts';
import { AGENT, CHANNEL, OWNER, SIBLING, STRANGER } from '../people.ts';
import { CREATE, openManagedBox, until } from './box.ts';
import type { Made } from './box.ts';

function keyOf({ result }: Answered): Pubkey {
  const { agentPubkey } = result.outcome ?? {};
  return asKey(typeof agentPubkey === 'string' ? agentPubkey : '');
}

function types({ changes }: Made): readonly string[] {
  return changes.map(({ type }) => type);
}

/** Says something as the agent that was made, with a credential of its own. */
async function act({ box }: Made, agent: Pubkey, requestId: string, action: string, args: unknown): Promise<Answered> {
  const { endpoint, token } = box.linkOf(agent).openSession();
  return post(endpoint, token, requestBytes(requestId, action, args));
}

describe('agents.create', () => {
  it('makes a member that has an owner, a profile and a key for its owner alone', async () => {
    const made = await openManagedBox();
    const answer = await made.box.act('r-1', 'agents.create', CREATE);
    expect(told(answer)).toBe('succeeded');
    const agent = keyOf(answer);
    expect(answer.result.outcome).toEqual({ agentPubkey: agent, displayName: 'Scout', channelId: CHANNEL });
    expect(await made.members()).toContain(agent);
    await until(() => made.changes.length === 1);
    expect(made.changes).toEqual([{
      type: 'live',
      agent: {
        pubkey: agent, owner: AGENT.pubkey, owners: [AGENT.pubkey, OWNER.pubkey], root: AGENT.pubkey,
        displayName: 'Scout', systemPrompt: 'Look around.', respondTo: 'owner-only',
      },
    }]);
    expect(made.keys()).toEqual([`${agent}.key`]);
    expect(statSync(join(made.box.directory, 'agents', `${agent}.key`)).mode & 0o777).toBe(0o600);
    const profile = await vi.waitFor(async () => await made.profile(agent) ?? expect.fail('no profile yet'), { timeout: 30_000 });
    expect(JSON.parse(profile.content)).toMatchObject({ display_name: 'Scout' });
    expect(attestationIn(profile.tags, agent, profile)).toMatchObject({ ok: true, attestation: { owner: AGENT.pubkey } });
    expect(told(await act(made, agent, 'r-1', 'message.post', { channelId: CHANNEL, content: 'here' }))).toBe('succeeded');
  });

  it('is done once for one request, also after a restart, and its key is nowhere else', async () => {
    const made = await openManagedBox();
    const first = await made.box.act('r-1', 'agents.create', CREATE);
    await made.box.restart();
    const again = await made.box.act('r-1', 'agents.create', CREATE);
    expect([told(again), again.result.outcome]).toEqual(['succeeded, replayed', first.result.outcome]);
    await until(() => made.changes.length === 2);
    expect(types(made)).toEqual(['live', 'live']);
    expect((await made.members()).filter((each) => each !== AGENT.pubkey && each !== OWNER.pubkey)).toEqual([keyOf(first)]);
    const key = readFileSync(join(made.box.directory, 'agents', `${keyOf(first)}.key`), 'utf8').trim();
    for (const file of ['skep.db', 'skep.db-wal']) {
      const bytes = readFileSync(join(made.box.directory, file));
      expect(bytes.includes(Buffer.from(key, 'hex')) || bytes.includes(key)).toBe(false);
    }
  });

  it('leaves nothing behind where the relay does not let it attach anybody', async () => {
    const made = await openManagedBox({}, 'member');
    expect(told(await made.box.act('r-1', 'agents.create', CREATE))).toBe('failed/unauthorized');
    await until(() => made.keys().length === 0);
    expect(made.changes).toEqual([]);
    expect(await made.members()).toHaveLength(2);
    expect(told(await made.box.act('r-1', 'agents.create', CREATE))).toBe('failed/unauthorized, replayed');
  });

  it.each([
    ['a provider', { provider: 'some' }],
    ['a model', { model: 'some' }],
    ['a runtime that no agent of the owner has', { runtime: 'claude' }],
  ])('refuses %s instead of replacing it', async (_, choice) => {
    const made = await openManagedBox();
    expect(told(await made.box.act('r-1', 'agents.create', { ...CREATE, ...choice }))).toBe('failed/action_failed');
    expect(made.keys()).toEqual([]);
  });

  it('is refused to an agent that may make none', async () => {
    const made = await openManagedBox({ identities: [identity()] });
    expect(told(await made.box.act('r-1', 'agents.create', CREATE))).toBe('failed/unauthorized');
  });

  it('goes three deep and no deeper, and runs what its maker runs', async () => {
    const made = await openManagedBox();
    const second = keyOf(await made.box.act('r-1', 'agents.create', { ...CREATE, runtime: 'goose' }));
    await until(() => made.changes.length === 1);
    const promote = OWNER.sign({ kind: 9_000, tags: [['h', CHANNEL], ['p', second, 'admin']], content: '', createdAtSec: Math.floor(Date.now() / 1000) });
    await (await made.box.outside(OWNER)).publish(promote);
    const third = keyOf(await act(made, second, 'r-1', 'agents.create', CREATE));
    await until(() => made.changes.length === 2);
    expect(made.changes[1]).toMatchObject({
      agent: { pubkey: third, owners: [second, AGENT.pubkey, OWNER.pubkey], root: AGENT.pubkey, runtime: 'goose' },
    });
    expect(told(await act(made, third, 'r-1', 'agents.create', CREATE))).toBe('failed/action_failed');

    expect(told(await made.box.act('r-2', 'agents.delete', { target: { pubkey: third } }))).toBe('failed/action_failed');
    expect(told(await made.box.act('r-3', 'agents.delete', { target: { pubkey: second } }))).toBe('succeeded');
    await until(() => made.changes.length === 4);
    expect(types(made)).toEqual(['live', 'live', 'gone', 'gone']);
    await until(() => made.keys().length === 0);
  });

  it('goes on to sixteen at a time, one after the other, however many are asked for at once', async () => {
    const made = await openManagedBox();
    const asked = Array.from({ length: 18 }, (_, n) => made.box.act(`r-${n}`, 'agents.create', CREATE));
    const ends = (await Promise.all(asked)).map(told).sort();
    expect(ends).toEqual([...Array(2).fill('failed/action_failed'), ...Array(16).fill('succeeded')]);
    await until(() => made.changes.length === 16);
  });

  it('removes at the start a key that never got a record, and no other', async () => {
    const made = await openManagedBox();
    await made.box.act('r-1', 'agents.create', CREATE);
    const kept = made.keys();
    writeFileSync(join(made.box.directory, 'agents', `${SIBLING.pubkey}.key.new`), 'x');
    // What a process that was killed while it wrote the key has left.
    writeFileSync(join(made.box.directory, 'agents', `${SIBLING.pubkey}.key.new.4711`), 'x');
    writeFileSync(join(made.box.directory, 'agents', `${STRANGER.pubkey}.key.new.4712`), 'x');
    writeFileSync(join(made.box.directory, 'agents', `${OWNER.pubkey}.key`), 'x');
    await made.box.restart();
    expect(made.keys()).toEqual([...kept, `${OWNER.pubkey}.key`].sort());
  });
});

describe('a credential of an agent that was made', () => {
  it('is not said to be bad as long as the agent is being started', async () => {
    let release: () => void = () => undefined;
    const consumer: { held?: Promise<void> } = {};
    const made = await openManagedBox({}, 'admin', (store) => store, async () => { await consumer.held; });
    await made.box.act('r-1', 'agents.create', CREATE);
    const agent = keyOf(await made.box.act('r-2', 'agents.create', { ...CREATE, displayName: 'Second' }));
    await until(() => made.changes.length === 2);
    const issued = await made.box.broker.credentials.issue({ agent });
    const token = issued.ok ? issued.issued.token : expect.fail(issued.detail);
    const ask = async (): Promise<string> => told(await post(made.box.broker.endpoint, token, requestBytes('r-1', 'storage.address', { slug: 'core' })));
    expect(await ask()).toBe('succeeded');

    consumer.held = new Promise((resolve) => { release = resolve; });
    await made.box.restart();
    expect(await ask()).toBe('HTTP 503');
    release();
    await until(() => made.changes.length === 4);
    expect(await ask()).toBe('succeeded, replayed');
    await made.box.act('r-3', 'agents.delete', { target: { pubkey: agent } });
    expect(await ask()).toBe('failed/unauthenticated');
  });

  it('is when its agent cannot be started', async () => {
    const made = await openManagedBox();
    const agent = keyOf(await made.box.act('r-1', 'agents.create', CREATE));
    await until(() => made.changes.length === 1);
    const issued = await made.box.broker.credentials.issue({ agent });
    const token = issued.ok ? issued.issued.token : expect.fail(issued.detail);
    rmSync(join(made.box.directory, 'agents', `${agent}.key`));
    await made.box.restart();
    const ask = async (): Promise<string> => told(await post(made.box.broker.endpoint, token, requestBytes('r-1', 'storage.address', { slug: 'core' })));
    await vi.waitFor(async () => { expect(await ask()).toBe('failed/unauthenticated'); }, { timeout: 30_000 });
  });
});

describe('agents.update', () => {
  it('changes what was supplied and says what is another than before', async () => {
    const made = await openManagedBox();
    const agent = keyOf(await made.box.act('r-1', 'agents.create', CREATE));
    const update = (id: string, fields: object): Promise<Answered> =>
      made.box.act(id, 'agents.update', { target: { name: 'Scout' }, ...fields });
    const fields = { systemPrompt: 'Dig.', respondTo: 'anyone', runtime: 'scripted' };
    expect((await update('r-2', fields)).result.outcome).toEqual({
      agentPubkey: agent, displayName: 'Scout', updatedFields: ['respondTo', 'systemPrompt'],
    });
    expect((await update('r-3', fields)).result.outcome).toMatchObject({ updatedFields: [] });
    expect(told(await update('r-4', { model: 'other' }))).toBe('failed/action_failed');
    expect((await update('r-5', { displayName: 'Mole' })).result.outcome).toMatchObject({ displayName: 'Mole', updatedFields: ['displayName'] });
    expect(told(await update('r-6', { displayName: 'Rat' }))).toBe('failed/action_failed');
    await until(() => made.changes.length === 3);
    expect(types(made)).toEqual(['live', 'changed', 'changed']);
    expect(made.changes[2]).toMatchObject({ agent: { displayName: 'Mole', systemPrompt: 'Dig.', respondTo: 'anyone' } });
    await vi.waitFor(async () => {
      expect(JSON.parse((await made.profile(agent))?.content ?? '{}')).toMatchObject({ display_name: 'Mole' });
    }, { timeout: 30_000 });
  });

  it('starts the agent anew on another runtime', async () => {
    const made = await openManagedBox();
    const agent = keyOf(await made.box.act('r-1', 'agents.create', CREATE));
    const answer = await made.box.act('r-2', 'agents.update', { target: { pubkey: agent }, runtime: 'goose' });
    expect(answer.result.outcome).toMatchObject({ updatedFields: ['runtime'] });
    await until(() => made.changes.length === 3);
    expect(made.changes.slice(1)).toMatchObject([{ type: 'gone', restarts: true }, { type: 'live', agent: { runtime: 'goose' } }]);
    expect(told(await act(made, agent, 'r-1', 'message.post', { channelId: CHANNEL, content: 'again' }))).toBe('succeeded');
  });

  it('has another name in its profile, too, when another runtime comes with it, and what else is there stays', async () => {
    const made = await openManagedBox();
    const agent = keyOf(await made.box.act('r-1', 'agents.create', CREATE));
    const shows = (members: object): Promise<void> => vi.waitFor(async () => {
      expect(JSON.parse((await made.profile(agent))?.content ?? '{}')).toMatchObject(members);
    }, { timeout: 30_000 });
    await shows({ display_name: 'Scout' });
    expect(told(await act(made, agent, 'r-1', 'profile.set', { about: 'Looks around.' }))).toBe('succeeded');
    const answer = await made.box.act('r-2', 'agents.update', { target: { pubkey: agent }, runtime: 'goose', displayName: 'Mole' });
    expect(answer.result.outcome).toMatchObject({ updatedFields: ['displayName', 'runtime'] });
    await shows({ display_name: 'Mole', name: 'Mole', about: 'Looks around.' });
  });

  it('has its new name in its profile after the next start, where that was lost', async () => {
    let isLost = true;
    const losing = (options: UpstreamOptions): Upstream => {
      const upstream = openUpstream(options);
      const publish = upstream.publish.bind(upstream);
      return Object.assign(upstream, {
        publish: (...[event, limits]: Parameters<Upstream['publish']>) => isLost && event.kind === 0 && event.content.includes('Mole')
          ? Promise.resolve({ status: 'unknown', eventId: event.id, reason: 'lost' } as const)
          : publish(event, limits),
      });
    };
    const made = await openManagedBox({ openUpstream: losing });
    const agent = keyOf(await made.box.act('r-1', 'agents.create', CREATE));
    const name = async (): Promise<unknown> => (JSON.parse((await made.profile(agent))?.content ?? '{}') as { display_name?: unknown }).display_name;
    await vi.waitFor(async () => { expect(await name()).toBe('Scout'); }, { timeout: 30_000 });
    expect(told(await made.box.act('r-2', 'agents.update', { target: { pubkey: agent }, displayName: 'Mole' }))).toBe('succeeded');
    await until(() => made.changes.length === 2);
    isLost = false;
    await made.box.restart();
    await vi.waitFor(async () => { expect(await name()).toBe('Mole'); }, { timeout: 30_000 });
    // It is made up for once: a name that the agent gives itself from here on stays.
    const store = openSqlite(join(made.box.directory, 'skep.db'), SUPERVISOR_SCHEMA);
    onTestFinished(() => store.close());
    const due = async (): Promise<unknown> => (await store.read(sql('SELECT renamed FROM managed_agents')))[0]?.['renamed'];
    await vi.waitFor(async () => { expect(await due()).toBe(0); }, { timeout: 30_000 });
  });

  it('never chooses between two of one name', async () => {
    const made = await openManagedBox();
    await made.box.act('r-1', 'agents.create', CREATE);
    await made.box.act('r-2', 'agents.create', CREATE);
    const target = { name: 'Scout' };
    expect(told(await made.box.act('r-3', 'agents.update', { target, systemPrompt: 'x' }))).toBe('failed/action_failed');
    expect(told(await made.box.act('r-4', 'agents.delete', { target }))).toBe('failed/action_failed');
  });
});

describe('agents.delete', () => {
  it('ends credentials, record and key, and does not come back', async () => {
    const made = await openManagedBox();
    const agent = keyOf(await made.box.act('r-1', 'agents.create', CREATE));
    await until(() => made.changes.length === 1);
    const { endpoint, token } = made.box.linkOf(agent).openSession();
    const bytes = requestBytes('r-1', 'message.post', { channelId: CHANNEL, content: 'before' });
    expect(told(await post(endpoint, token, bytes))).toBe('succeeded');

    const answer = await made.box.act('r-2', 'agents.delete', { target: { pubkey: agent } });
    expect(answer.result.outcome).toEqual({ agentPubkey: agent, displayName: 'Scout' });
    expect(told(await post(endpoint, token, bytes))).toBe('failed/unauthenticated');
    await until(() => made.keys().length === 0);
    expect(made.changes[1]).toEqual({ type: 'gone', pubkey: agent, restarts: false });
    expect(told(await made.box.act('r-2', 'agents.delete', { target: { pubkey: agent } }))).toBe('succeeded, replayed');
    expect(told(await made.box.act('r-3', 'agents.delete', { target: { pubkey: agent } }))).toBe('failed/action_failed');
    await made.box.restart();
    expect(made.changes).toHaveLength(2);
  });
});
