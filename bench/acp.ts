/**
 * Goal A1: updates of an agent process through src/acp, against the client of the ACP library on the same burst: none
 * lost, order kept, compared by the processor time of this process, which other work on the machine leaves alone. Goal
 * A3: from spawn to the answer to `initialize`, with the process put on record, against a bare spawn of the same program;
 * and one prompt from the command line, cold, against acpx, which is fetched into a cache of the user's.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { startAgent } from '../src/acp/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../src/store/index.ts';
import { agentPlan, BURST_AGENT, launchOf, promptedText } from './agent.ts';
import type { BenchRow } from './row.ts';

const UPDATES = 20_000;
const BURSTS = 9;
const STARTS = 25;
const COLD_PROMPTS = 9;
const WARM_UPS = 2;
const ACPX = '0.19.1';
const TEXT = Array.from({ length: UPDATES }, (_, index) => `${index} `).join('');

export async function run(): Promise<BenchRow[]> {
  return [await updates(), await startUp(), ...(await coldPrompt())];
}

/** Says what one prompt made the agent say. */
type Prompted = () => Promise<string>;

async function updates(): Promise<BenchRow> {
  const [subject, floor] = [await throughOurs(), await throughLibrary()];
  try {
    const pairs = await paired(BURSTS, () => processorUs(subject.prompt), () => processorUs(floor.prompt));
    return {
      goal: 'A1', name: 'updates of an agent, in a burst', ratio: median(pairs.map(({ ours, bare }) => bare / ours)),
      unit: 'rate of the floor', floor: 'the ACP library\'s own client on the same burst; at least 0.7',
      detail: `${median(pairs.map(({ ours }) => ours)).toFixed(1)} µs of processor against ${median(pairs.map(({ bare }) => bare)).toFixed(1)} µs an update, ${UPDATES} in a burst, all of them, in order`,
    };
  } finally {
    await subject.close();
    await floor.close();
  }
}

interface Client {
  readonly prompt: Prompted;
  readonly close: () => Promise<unknown>;
}

async function throughOurs(): Promise<Client> {
  const started = await startAgent(launchOf(agentPlan(UPDATES)));
  if (!started.ok) throw new Error(JSON.stringify(started.end));
  const { process: agent } = started;
  const session = await agent.newSession({ cwd: tmpdir() });
  if (!session.ok) throw new Error(session.detail);
  return { prompt: () => promptedText(agent, session.sessionId), close: () => agent.stop() };
}

async function throughLibrary(): Promise<Client> {
  const { command, args, env } = agentPlan(UPDATES);
  const child = spawn(command, args, { env: { ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  let text = '';
  let told = (): void => undefined;
  const app = client({ name: 'bench' }).onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate !== 'agent_message_chunk' || update.content.type !== 'text') return;
    text += update.content.text;
    told();
  });
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  const { agent } = connection;
  await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: tmpdir(), mcpServers: [] });
  return {
    async prompt() {
      text = '';
      // The library settles the prompt before it has called every handler.
      const all = new Promise<void>((resolve) => { told = () => { if (text.length >= TEXT.length) resolve(); }; });
      await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] });
      await all;
      return text;
    },
    close() {
      connection.close();
      child.stdin.end();
      return once(child, 'exit');
    },
  };
}

/** Microseconds of processor for each update. */
async function processorUs(prompt: Prompted): Promise<number> {
  const before = process.cpuUsage();
  const text = await prompt();
  const { user, system } = process.cpuUsage(before);
  if (text !== TEXT) throw new Error(`the agent's text did not come as it was sent: ${text.length} characters of ${TEXT.length}`);
  return (user + system) / UPDATES;
}

async function startUp(): Promise<BenchRow> {
  const directory = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  const store = openSqlite(join(directory, 'skep.db'), SUPERVISOR_SCHEMA);
  try {
    const pairs = await paired(STARTS, async () => {
      const startedAt = performance.now();
      const started = await startAgent({ ...launchOf(agentPlan()), store });
      const tookMs = performance.now() - startedAt;
      if (!started.ok) throw new Error(JSON.stringify(started.end));
      await started.process.stop();
      return tookMs;
    }, bareStart);
    return {
      goal: 'A3', name: 'spawn → initialize, p50', ratio: median(pairs.map(({ ours }) => ours)) / median(pairs.map(({ bare }) => bare)),
      unit: 'times the floor', floor: 'a bare spawn of the same agent; at most 1.15',
      detail: `${median(pairs.map(({ ours }) => ours)).toFixed(1)} ms against ${median(pairs.map(({ bare }) => bare)).toFixed(1)} ms, ${STARTS} of each`,
    };
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function bareStart(): Promise<number> {
  const { command, args, cwd, env } = agentPlan();
  const startedAt = performance.now();
  const child = spawn(command, args, { cwd, env: { ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } })}\n`);
  await once(child.stdout, 'data');
  const tookMs = performance.now() - startedAt;
  child.stdin.end();
  await once(child, 'exit');
  return tookMs;
}

/** No row, and a word why, where acpx cannot be had. */
async function coldPrompt(): Promise<BenchRow[]> {
  const acpx = fetchedAcpx();
  if (acpx === undefined) return [];
  const home = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  const ours = fileURLToPath(new URL('programs/one-prompt.js', import.meta.url));
  const cold = (...args: readonly string[]) => async (): Promise<number> => {
    const startedAt = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: home, env: { PATH: process.env['PATH'], HOME: home } });
    if (!stdout.includes('0 ')) throw new Error(`the agent's word was not printed: ${stdout.slice(0, 200)}`);
    return performance.now() - startedAt;
  };
  try {
    const agent = `${process.execPath} ${BURST_AGENT} 1`;
    const pairs = await paired(COLD_PROMPTS, cold(ours), cold(acpx, '--format', 'quiet', '--agent', agent, 'exec', 'go'));
    return [{
      goal: 'A3', name: 'one prompt, cold: a program on src/acp', ratio: median(pairs.map(({ ours: one }) => one)) / median(pairs.map(({ bare }) => bare)),
      unit: 'times the floor', floor: `acpx ${ACPX} exec with the same agent; at most 0.5`,
      detail: `${median(pairs.map(({ ours: one }) => one)).toFixed(0)} ms against ${median(pairs.map(({ bare }) => bare)).toFixed(0)} ms`,
    }];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The command line of acpx: from `skep/bench` in `$XDG_CACHE_HOME` or `~/.cache`, where npm puts it the first time. */
function fetchedAcpx(): string | undefined {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'skep', 'bench', `acpx-${ACPX}`);
  const program = join(folder, 'node_modules', 'acpx', 'dist', 'cli.js');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `acpx@${ACPX}`], { cwd: folder, encoding: 'utf8' });
  if (status === 0 && existsSync(program)) return program;
  process.stderr.write(`bench: acpx@${ACPX} cannot be fetched, so nothing is measured against it: ${stderr.split('\n')[0] ?? ''}\n`);
  return undefined;
}

interface Pair {
  readonly ours: number;
  readonly bare: number;
}

/** One after the other, so that whatever else the machine does is met by both. */
async function paired(count: number, ours: () => Promise<number>, bare: () => Promise<number>): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < WARM_UPS + count; round += 1) pairs.push({ bare: await bare(), ours: await ours() });
  return pairs.slice(WARM_UPS);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
