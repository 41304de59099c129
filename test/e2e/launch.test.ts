/**
 * An agent that is what its owner says: the whole of skep, real programs, the relay in the box. It is not started before it
 * can be; then it is told two texts, keeps them while it runs, and is told the new ones when it is started again. Each start
 * is recorded once, for its owner alone.
 */
import { createHash } from 'node:crypto';
import * as nip44 from 'nostr-tools/nip44';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { pubkey, seconds, secondsOf, silentLog } from '../../src/model/index.ts';
import { openLocalKey, openPersonaRelay } from '../../src/owner/index.ts';
import {
  asTeamId, definitionTemplate, plainDefinition, portOf, publishAt, saveTeamInstructions, saveVersion, writeDefinition, writeTeam,
} from '../../src/persona/index.ts';
import type { Definition, OwnerPorts } from '../../src/persona/index.ts';
import { signedIn } from '../../src/cli/demo/signed-in.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { openEye } from './owner-eye.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

let open: Stage | undefined;

afterEach(async () => {
  await open?.close();
  open = undefined;
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function ownerOf(stage: Stage): OwnerPorts {
  const key = openLocalKey(Buffer.from(stage.ownerKey).toString('hex'), 'owner.key', systemRandom);
  const relay = openPersonaRelay({ relayUrl: stage.running.relayUrl, key, clock: systemClock, steadyClock, random: systemRandom, log: silentLog });
  onTestFinished(() => relay.close());
  return { key: portOf(key), relay, nowSec: () => secondsOf(systemClock.now()) };
}

async function define(ports: OwnerPorts, more: Partial<Definition>, slug = 'bee'): Promise<void> {
  const written = writeDefinition({ ...plainDefinition('Bee'), ...more }, false);
  if (!written.ok) throw new Error(written.detail);
  const address = { kind: 30_175, author: ports.key.pubkey, d: slug };
  const done = await publishAt(ports, address, (createdAt) => definitionTemplate({ slug, body: written.body, isShared: false, createdAt }));
  if (!done.ok) throw new Error(done.detail);
}

/** What the agent remembers on the relay, as its owner reads it, by the slugs that begin so. */
async function memories(stage: Stage, prefix: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const relay = await signedIn(stage.running.relayUrl, stage.ownerKey);
  const key = nip44.getConversationKey(stage.ownerKey, stage.agent);
  const found: Record<string, unknown>[] = [];
  await new Promise<void>((resolve) => {
    relay.subscribe([{ 'kinds': [30_174], 'authors': [stage.agent], '#p': [stage.owner.pubkey] }], {
      oneose: resolve,
      onevent: (event) => {
        const { slug, value } = JSON.parse(nip44.decrypt(event.content, key)) as { readonly slug: string; readonly value: string };
        if (slug.startsWith(prefix)) found.push(JSON.parse(value) as Record<string, unknown>);
      },
    });
  });
  relay.close();
  return found;
}

it('waits for a definition, keeps what it was told, is told the new texts at its restart, and is accounted for', async () => {
  const stage = await openStage({
    rules: [{ do: [{ reply: 'told: {{system}} by {{model}}' }] }],
    script: { newSession: { systemPrompt: true, models: { currentModelId: 'small', availableModels: ['small', 'large', 'larger'].map((modelId) => ({ modelId, name: modelId })) } } },
    agent: ['persona: bee'], top: ['owner-key: owner.key'],
  });
  open = stage;
  const { watch, running, owner } = stage;
  const frames = await openEye(stage);
  const launch = () => running.snapshot().launches?.[0];
  const tick = setInterval(() => { watch.look(); }, 50);
  stage.closing.push(() => { clearInterval(tick); });
  const answerTo = async (content: string): Promise<string> => {
    const question = await stage.say(owner, content);
    return (await watch.until(`an answer to ${content}`, () => stage.answers.find(({ tags }) => tags.some(([name, value]) => name === 'e' && value === question.id)))).content;
  };

  await watch.until('the refusal', () => launch()?.status === 'refused');
  expect(launch()).toMatchObject({ name: 'helper', persona: 'bee', reason: 'definition bee: its owner has none on the relay; skep persona new bee makes one', drift: [], pendingRecords: 0 });
  expect(running.snapshot().agents).toEqual([]);
  const ports = ownerOf(stage);
  // Whoever saves something is there to be told.
  await define(ports, { systemPrompt: 'another' }, 'ant');
  const notice = await watch.until('the notice', () => frames.find(({ kind }) => kind === 'launch_refused'));
  expect(notice.payload).toEqual({ code: 'definition_unusable', detail: 'definition bee: its owner has none on the relay; skep persona new bee makes one' });

  await define(ports, { systemPrompt: 'You are a bee.', model: 'large' });
  await watch.until('the start', () => launch()?.status === 'running');
  const first = await answerTo('who are you');
  expect(first).toContain('<system>\nYou are a bee.\n</system>');
  expect(first).not.toContain('team-instructions');
  expect(first).toContain(' by large');
  expect(launch()?.pinned).toMatchObject({ own: { source: 'definition', sha256: sha256('You are a bee.') }, team: { teams: [], sha256: null }, sessionPolicy: 'channel' });
  const pid = running.snapshot().agents[0]?.processes[0]?.pid;

  const team = asTeamId('bees') ?? expect.fail('no team id');
  const agent = pubkey(stage.agent);
  expect(await writeTeam(ports, { status: 'live', id: team, name: 'Bees', definitions: [], agents: [agent] })).toEqual({ ok: true });
  expect(await saveTeamInstructions(ports, team, ' Hum together.\n')).toMatchObject({ status: 'current' });
  expect(await saveVersion(ports, { subject: { type: 'agent', agent }, text: 'You are the queen.', earlier: 'You are a bee.' })).toMatchObject({ status: 'current', earlier: 'kept' });
  await define(ports, { systemPrompt: 'You are a bee.', model: 'larger', sessionPolicy: 'thread' });
  await watch.until('the drift', () => launch()?.drift.length === 4);
  expect(launch()).toMatchObject({
    status: 'running', drift: ['instructions', 'team-instructions', 'session-policy', 'model'],
    pinned: { own: { source: 'definition' } }, current: { own: { source: 'version', sha256: sha256('You are the queen.') }, team: { teams: [{ id: 'bees' }], sha256: sha256('Hum together.') } },
  });
  expect(await answerTo('who are you now')).toContain('<system>\nYou are a bee.\n</system> by large');
  expect(running.snapshot().agents[0]?.processes[0]?.pid).toBe(pid);

  expect(await running.restart('helper')).toEqual({ ok: true });
  await watch.until('the next start', () => launch()?.status === 'running' && launch()?.drift.length === 0);
  expect(await answerTo('and now')).toContain('<system>\nYou are the queen.\n</system>\n\n<team-instructions>\nHum together.\n</team-instructions> by larger');

  await watch.until('the records', () => launch()?.pendingRecords === 0);
  const records = (await memories(stage, 'mem/launches/')).map(({ own, team: theirs }) => ({ own, team: theirs }));
  expect(records).toHaveLength(2);
  expect(records).toEqual(expect.arrayContaining([
    { own: { source: 'definition', empty: false, sha256: sha256('You are a bee.') }, team: { teams: [], sha256: null } },
    { own: expect.objectContaining({ source: 'version', sha256: sha256('You are the queen.') }), team: { teams: [expect.objectContaining({ id: 'bees' })], sha256: sha256('Hum together.') } },
  ]));
  expect(await memories(stage, 'mem/persona')).toMatchObject([{ v: 1, persona: 'bee', definition: { display_name: 'Bee', session_policy: 'thread' } }]);

  // A running agent is not affected by what could not be started.
  expect(await ports.relay.publish(await unreadable(ports, agent))).toMatchObject({ status: 'accepted' });
  await watch.until('the fault', () => launch()?.reason);
  expect(launch()).toMatchObject({ status: 'running', reason: expect.stringContaining('is invalid') });
  expect(await running.restart('helper')).toMatchObject({ ok: false, code: 'instructions_invalid' });
  expect(await answerTo('still')).toContain('You are the queen.');
  expect(await running.restart('nobody')).toMatchObject({ ok: false, code: 'agent' });
}, 60_000);

/** A version that does not open, newer than the others also where all were saved within one second. */
async function unreadable(ports: OwnerPorts, agent: string) {
  const signed = await ports.key.sign({ kind: 44_300, created_at: seconds(secondsOf(systemClock.now()) + 60), tags: [['p', agent]], content: 'x'.repeat(132) });
  return signed.ok ? signed.event : expect.fail(signed.detail);
}
