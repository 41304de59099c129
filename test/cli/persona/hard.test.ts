/** What is hard for an owner's verbs: kill -9 in mid-deletion, two at once, a key that is elsewhere. Real processes. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { seconds } from '../../../src/model/index.ts';
import { asTeamId, readTeams, versionTemplate } from '../../../src/persona/index.ts';
import type { Subject, TeamRecord } from '../../../src/persona/index.ts';
import { openOutsideBunker } from '../../owner/outside-bunker.ts';
import { ownerKey, seal, signed } from '../../persona/world.ts';
import { alice, bob, Client } from '../../relay/harness.ts';
import { startSkep, stopAll } from '../skep.ts';
import { openBox } from './box.ts';
import type { Box } from './box.ts';

afterEach(stopAll);

const PATIENCE_MS = 300_000;
const AGENT = ['agent', bob.pubkey] as const;

/** Enough that some are left when the first are seen to be gone. */
const VERSIONS = 12;
/** One event a second from each connection, after the first four: a deletion takes long enough to be stopped in it. */
const SLOW = { limits: { eventsPerSec: 1, eventsBurst: 4 } } as const;

async function versions({ relay }: Box, subject: Subject, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const client = await Client.as(alice, relay);
    expect(await client.publish(signed(versionTemplate(subject, seal(`v1:${at}`), seconds(1_700_000_000 + at))))).toEqual([true, '']);
    client.socket.terminate();
  }
}

async function records(box: Box): Promise<readonly TeamRecord[]> {
  const events = await box.stored(30_078);
  const read = await readTeams({ key: ownerKey(), relay: { query: async ([filter]) => ({ events: filter?.until === undefined ? events : [], complete: true }) } });
  return read.ok ? read.records : expect.fail(read.detail);
}

it.each(['SIGKILL', 'SIGINT'] as const)('a team whose deletion ends by %s is deleted, and the next run deletes what is left', async (signal) => {
  const box = await openBox(SLOW);
  const { id } = JSON.parse((await box.skep('team', 'new', 'Bees', '--json')).stdout) as { readonly id: string };
  const team = asTeamId(id) ?? expect.fail('no team id');
  await versions(box, { type: 'team', team }, VERSIONS);
  const args = ['team', 'delete', 'Bees', '--yes', '--relay', box.relay.url, '--key', 'owner.key'];
  const first = startSkep(args, box.directory);
  await expect.poll(async () => (await box.stored(44_300)).length, { timeout: 60_000 }).toBeLessThan(VERSIONS);
  first.kill(signal);
  const ended = await first.ended;
  if (signal === 'SIGINT') expect(ended).toMatchObject({ code: 16, stdout: '', stderr: expect.stringContaining(`team ${id} is deleted, and versions of its instructions may be left: skep team delete ${id} goes on`) });
  else expect(ended).toMatchObject({ code: 'SIGKILL', stdout: '' });
  // The record went first, and no version is shown for a team that is there.
  expect(await records(box)).toEqual([{ status: 'deleted', id, versions: 'left' }]);
  const left = (await box.stored(44_300)).length;
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(VERSIONS);
  expect(await box.skep('instructions', 'show', 'team', id)).toMatchObject({ code: 2, stdout: '' });

  expect(await box.skep('team', 'delete', id)).toMatchObject({ code: 0, stdout: `deleted: team ${id}, and every version of its instructions\n` });
  expect(await box.stored(44_300)).toEqual([]);
  expect(await records(box)).toEqual([{ status: 'deleted', id, versions: 'gone' }]);
}, PATIENCE_MS);

it('of two saves at once both are in the history, one is current, and each is told which', async () => {
  const box = await openBox();
  const texts = ['one', 'two'] as const;
  for (const text of texts) box.write(`${text}.md`, text);
  const ended = await Promise.all(texts.map((text) => box.skep('instructions', 'save', ...AGENT, `${text}.md`, '--over', '--yes', '--json')));
  const told = ended.map(({ stdout }) => JSON.parse(stdout) as { readonly status: string; readonly version: string; readonly by: string | null });
  const lines = (await box.skep('instructions', 'history', ...AGENT, '--json')).stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as { readonly version: string; readonly current: boolean });
  expect(lines.map(({ version }) => version).sort()).toEqual(told.map(({ version }) => version).sort());
  const [current] = lines;
  for (const [at, { status, version, by }] of told.entries()) {
    if (status === 'superseded') expect({ code: ended[at]?.code, by }).toEqual({ code: 16, by: current?.version });
    else expect({ code: ended[at]?.code, status }).toEqual({ code: 0, status: 'current' });
    if (version === current?.version) expect(status).toBe('current');
  }
}, PATIENCE_MS);

it('with the owner’s key at a remote signer all of it works, and the key is not here', async () => {
  const box = await openBox();
  const bunker = await openOutsideBunker(box.relay.url, alice.key);
  box.write('bunker.key', `bunker://${bunker.pubkey}?relay=${encodeURIComponent(box.relay.url)}&secret=${bunker.secret}`);
  box.write('one.md', 'one\n');
  const skep = (...args: readonly string[]) => startSkep([...args, '--relay', box.relay.url, '--key', 'bunker.key'], box.directory).ended;
  expect(await skep('persona', 'new', 'helper', '--name', 'Helper', '--prompt', 'one.md', '--yes')).toMatchObject({ code: 0 });
  expect(existsSync(join(box.directory, 'bunker.key.client'))).toBe(true);
  expect(await skep('team', 'new', 'Bees', '--instructions', 'one.md')).toMatchObject({ code: 0 });
  writeFileSync(join(box.directory, 'two.md'), 'two\n');
  expect(await skep('instructions', 'save', 'team', 'Bees', 'two.md', '--over', '--yes')).toMatchObject({ code: 0 });
  // What the signer has sealed the file's key opens.
  expect(await box.skep('instructions', 'show', 'team', 'Bees')).toMatchObject({ code: 0, stdout: 'two\n' });
  expect(await skep('team', 'delete', 'Bees', '--yes')).toMatchObject({ code: 0 });
  bunker.answers = (method, _params, honest) => (method === 'sign_event' ? { error: 'not today' } : honest());
  expect(await skep('persona', 'delete', 'helper', '--yes')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^skep: [^\n]+\n$/) });
}, PATIENCE_MS);
