/**
 * `skep owner` beside a real supervisor, as `skep init` leaves them: relay, agent and key are found by the config alone,
 * and what the owner is told is what the supervisor says of itself.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'nostr-tools/nip19';
import { afterEach, expect, it, vi } from 'vitest';
import { Client } from '../../src/cli/demo/client.ts';
import type { StatusReport } from '../../src/control/index.ts';
import { reportOf } from '../cli/report.ts';
import { runSkep, startSkep, stopAll } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';

interface Told {
  readonly type: string;
  readonly [member: string]: unknown;
}

const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await stopAll();
});

const RULES = [
  { match: 'hold', do: [{ say: 'half\n' }, { tool: { title: 'Read it', id: 'tool-1' } }, { hang: true }] },
  { do: [{ say: 'whole\n' }, { reply: 'done' }, { stop: { reason: 'end_turn', usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 } } }] },
];

it('an owner watches a turn, cancels it, and sees what the next one used', async () => {
  const directory = temporaryDirectory();
  expect((await runSkep(['init'], directory)).code).toBe(0);
  const config = join(directory, 'skep.yaml');
  mkdirSync(join(directory, 'gates'));
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates: join(directory, 'gates'), rules: RULES }));
  writeFileSync(config, readFileSync(config, 'utf8').replace(/port: \d+/, 'port: 0').replace(/^(\s*)adapter: scripted.*$/m, '$1adapter: scripted\n$1args: [script.json]'));
  const channelId = /id: ([0-9a-f-]{36})/.exec(readFileSync(config, 'utf8'))?.[1] ?? '';
  const skep = (...args: readonly string[]) => runSkep(args, directory);
  expect(await skep('owner', 'pending')).toMatchObject({ code: 7, stderr: expect.stringContaining('no supervisor is running here') });

  await startSkep(['up'], directory).says('Ctrl-C stops');
  const report = (): Promise<StatusReport> => reportOf(join(directory, '.skep'));
  const { embeddedRelay, agents: [agent] } = await report();
  const { data } = decode(readFileSync(join(directory, 'keys', 'owner.key'), 'utf8').trim() as `nsec1${string}`);
  const owner = await Client.connect('owner', embeddedRelay?.url ?? '', data);
  clients.push(owner);
  const say = (content: string) => owner.publish(9, { content, tags: [['h', channelId], ['p', agent?.pubkey ?? '']] });
  const watch = startSkep(['owner', 'watch', '--json'], directory);
  await watch.says('watching 1 agent');

  await say('hold');
  await watch.says('"status":"completed"');
  const [turn] = (await report()).agents[0]?.turns ?? [];
  expect(await skep('owner', 'cancel', channelId)).toEqual({ code: 0, stderr: '', stdout: `helper in ${channelId.slice(0, 8)}: cancel_turn sent\n` });
  await watch.says('"turn_completed"');
  expect(await skep('owner', 'cancel', channelId)).toMatchObject({ code: 13, stderr: expect.stringContaining('no_active_turn') });

  await say('go on');
  await watch.says('"whole"');
  await vi.waitFor(async () => {
    const { stdout } = await skep('owner', 'usage', '--json', '--by', 'agent');
    expect(JSON.parse(stdout)).toMatchObject({ name: 'helper', inputTokens: { sum: 7, known: 1 }, outputTokens: { sum: 2, known: 1 } });
  }, 40_000);
  watch.kill('SIGINT');
  const { code, stdout } = await watch.ended;
  const told = stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as Told);
  const first = told.filter(({ turnId }) => turnId === turn?.turnId);
  expect(code).toBe(0);
  expect(turn?.channelId).toBe(channelId);
  const place = { agent: agent?.pubkey, name: 'helper', channelId };
  for (const note of first) expect(note).toMatchObject(place);
  expect(first.map(({ type }) => type)).toEqual(expect.arrayContaining(['turn_started', 'session_resolved', 'text', 'tool', 'turn_completed']));
  expect(first.find(({ type }) => type === 'text')).toMatchObject({ speaker: 'agent', text: 'half' });
  expect(told.filter(({ type }) => type === 'control_result')).toMatchObject([{ payload: { type: 'cancel_turn', status: 'sent' } }, { payload: { status: 'no_active_turn' } }]);
  expect(told.filter(({ type }) => type === 'gap')).toEqual([]);
}, 120_000);
