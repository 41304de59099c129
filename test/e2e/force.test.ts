/**
 * The second signal to `skep up`, with an agent that heeds neither the end of its stdin nor SIGTERM, and a tool of it in
 * a session of its own: both are gone when the supervisor is, and no grace was waited for.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'nostr-tools/nip19';
import { afterEach, expect, it, vi } from 'vitest';
import { Client } from '../../src/cli/demo/client.ts';
import type { StatusReport } from '../../src/control/index.ts';
import { reportOf, reportWhen } from '../cli/report.ts';
import { runSkep, startSkep, stopAll } from '../cli/skep.ts';
import type { Skep } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { isAlive } from './alive.ts';

/** Says that it was asked to end, and lives on. */
const DEAF = "trap 'echo 1 > gates/term' TERM; echo $$ > gates/tool.part; mv gates/tool.part gates/tool; while :; do sleep 600; done";
const SPAWN = { spawn: { command: ['/bin/sh', '-c', DEAF], detached: true } };
const AT_WORK = [SPAWN, { ignoreCancel: true }, { wait: 'never' }];

const met: number[] = [];

afterEach(async () => {
  await stopAll();
  // Left only by a test that failed.
  for (const pid of met.splice(0).filter(isAlive)) process.kill(pid, 'SIGKILL');
});

interface Deaf {
  readonly skep: Skep;
  readonly directory: string;
  readonly agent: number;
  readonly tool: number;
}

/** `skep up` whose agent has been asked to work. */
async function upWithDeafAgent(steps: readonly object[]): Promise<Deaf> {
  const directory = temporaryDirectory();
  expect((await runSkep(['init'], directory)).code).toBe(0);
  const config = join(directory, 'skep.yaml');
  const yaml = readFileSync(config, 'utf8');
  writeFileSync(config, yaml.replace(/port: \d+/, 'port: 0').replace(/^(\s*)adapter: scripted.*$/m, '$1adapter: scripted\n$1args: [script.json]'));
  mkdirSync(join(directory, 'gates'));
  const script = { v: 1, gates: join(directory, 'gates'), rules: [{ do: steps }], ignoreStdinEof: true, ignoreSigterm: true };
  writeFileSync(join(directory, 'script.json'), JSON.stringify(script));
  const skep = startSkep(['up'], directory);
  await skep.says('Ctrl-C stops');
  const { embeddedRelay, agents } = await reportOf(join(directory, '.skep'));
  const { data } = decode(readFileSync(join(directory, 'keys', 'owner.key'), 'utf8').trim() as `nsec1${string}`);
  const owner = await Client.connect('owner', embeddedRelay?.url ?? '', data);
  const channelId = /id: ([0-9a-f-]{36})/.exec(yaml)?.[1] ?? '';
  await owner.publish(9, { content: 'work', tags: [['h', channelId], ['p', agents[0]?.pubkey ?? '']] });
  owner.close();
  const tool = Number(await vi.waitFor(() => readFileSync(join(directory, 'gates', 'tool'), 'utf8'), 15_000));
  met.push(tool);
  const agent = (await reportOf(join(directory, '.skep'))).agents[0]?.processes[0]?.pid ?? expect.fail('no agent process');
  met.push(agent);
  return { skep, directory, agent, tool };
}

/** The report once the turn is over. */
function idle(directory: string): Promise<StatusReport> {
  return reportWhen(join(directory, '.skep'), ({ agents }) => agents[0]?.turns.length === 0);
}

it.each([
  ['at work, which it does not stop', AT_WORK, 'for 1 turn in flight; press again'],
  ['between turns', [SPAWN, { reply: 'done' }], 'stopping: no turn in flight'],
])('a second signal ends an agent %s, and its tool', async (_, steps, told) => {
  const { skep, directory, agent, tool } = await upWithDeafAgent(steps);
  if (steps !== AT_WORK) await idle(directory);
  skep.kill('SIGTERM');
  await skep.says(told);
  expect([agent, tool].map(isAlive)).toEqual([true, true]);
  skep.kill('SIGINT');
  const { code, stdout } = await skep.ended;
  expect([code, stdout.endsWith('\nstopped\n')]).toEqual([130, true]);
  expect([agent, tool].map(isAlive)).toEqual([false, false]);
  expect(existsSync(join(directory, 'gates', 'term'))).toBe(false);
});

it('a second signal waits for no telemetry: there are twenty seconds of it', async () => {
  const { skep, directory } = await upWithDeafAgent([SPAWN, { think: { text: 'x', repeat: 2_000, chunks: 2_000 } }, { reply: 'done' }]);
  await idle(directory);
  skep.kill('SIGTERM');
  await skep.says('stopping: no turn in flight');
  await skep.says('still stopping: up to ');
  const from = performance.now();
  skep.kill('SIGINT');
  expect((await skep.ended).code).toBe(130);
  expect(performance.now() - from).toBeLessThan(8_000);
}, 60_000);

// Two graces of 3 s, and a busy machine.
it('a single one asks first: the control', async () => {
  const { skep, directory, agent, tool } = await upWithDeafAgent([SPAWN, { reply: 'done' }]);
  await idle(directory);
  skep.kill('SIGTERM');
  expect((await skep.ended).code).toBe(0);
  expect([agent, tool].map(isAlive)).toEqual([false, false]);
  expect(existsSync(join(directory, 'gates', 'term'))).toBe(true);
}, 60_000);
