/**
 * What an operator and a stranger see: `skep init`, `skep up`, a mention from a program that knows nothing of skep, and
 * a supervisor that is killed with messages unanswered. All programs are the real ones.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode } from 'nostr-tools/nip19';
import { getPublicKey } from 'nostr-tools/pure';
import type { Event } from 'nostr-tools/pure';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Client } from '../../src/cli/demo/client.ts';
import type { InboxCounts } from '../../src/control/index.ts';
import { reportOf, reportWhen } from '../cli/report.ts';
import { runSkep, startSkep, stopAll } from '../cli/skep.ts';
import type { Skep } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { isAlive } from './alive.ts';
import { Watch } from './watch.ts';

let directory: string;
const clients: Client[] = [];

beforeEach(async () => {
  directory = temporaryDirectory();
  expect((await runSkep(['init'], directory)).code).toBe(0);
  edit((yaml) => yaml.replace(/port: \d+/, 'port: 0'));
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await stopAll();
});

describe('a first configuration', () => {
  it('answers a mention from a program that knows nothing of skep', async () => {
    const up = await startUp();
    const { url, agent } = await status();
    const mention = fileURLToPath(new URL('../../examples/mention.mjs', import.meta.url));
    const asked = await run(process.execPath, [mention, url, join(directory, 'keys', 'owner.key'), agent, channelId(), 'Good morning']);
    expect(asked).toEqual({ code: 0, stdout: expect.stringMatching(/Good morning[\s\S]*signature good/), stderr: '' });
    await stop(up);
  });

  it('asks its owner, who decides with a program that knows the protocol and nothing of skep', async () => {
    scripted([{ do: [{ ask: { title: 'Sweep' }, as: 'word' }, { reply: 'heard {{word.kind}}' }] }]);
    const up = await startUp();
    const { url, agent } = await status();
    const example = (name: string, ...last: string[]): [string, string[]] => [
      process.execPath, [fileURLToPath(new URL(`../../examples/${name}.mjs`, import.meta.url)), url, join(directory, 'keys', 'owner.key'), agent, channelId(), ...last],
    ];
    const decide = spawn(...example('decide', 'allow'), { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(decide, 'close');
    let told = '';
    decide.stdout.setEncoding('utf8').on('data', (text: string) => { told += text; });
    await vi.waitUntil(() => told.includes('waiting for a card'), 15_000);
    const asked = await run(...example('mention', 'Please sweep'));
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('heard allow_once') });
    expect(await ended).toEqual([0, null]);
    expect(told).toMatch(/^asked {2}"Sweep" {2}\["Allow once", "Reject"\] {2}until [\s\S]*^ended {2}applied {2}"allow-once"$/m);
    await stop(up);
  });

  it('lets the agent make another in its channel, as it stands', async () => {
    const args = { channelId: channelId(), displayName: 'Scout', systemPrompt: 'You are the scout.' };
    scripted([
      { match: 'make', do: [{ action: { name: 'agents.create', args }, as: 'made' }, { reply: 'made {{made.agentPubkey}}' }] },
    ]);
    const up = await startUp();
    const { url, agent } = await status();
    const owner = await connect(url);
    await say(owner, agent, 'make one');
    const [answer] = await answersOf(owner, agent, 1);
    expect(answer?.content).toMatch(/^made [0-9a-f]{64}$/);
    await stop(up);
  });
});

describe('kill -9 of the supervisor', () => {
  it('loses none of five unanswered messages and answers each once, in order', async () => {
    slowDown();
    const first = await startUp();
    const before = await status();
    const owner = await connect(before.url);
    const questions: Event[] = [];
    for (let n = 1; n <= 5; n += 1) {
      questions.push(await say(owner, before.agent, `question ${n}`));
      // One by one: of those that are stored before the agent listens, all of one second, nobody could tell which came first.
      await inbox((counts) => counts['dispatched'] === 1 && counts['queued'] === n - 1);
    }
    first.kill('SIGKILL');
    await first.ended;
    owner.close();

    const second = await startUp();
    const after = await status();
    const again = await connect(after.url);
    const arriving = answersOf(again, after.agent, 5);
    // The relay takes one connection's questions in turn: from here on it hands on as they come, and shows none newest first.
    await again.history(channelId(), () => undefined);
    writeFileSync(join(directory, 'gates', 'go'), '');
    const answers = await arriving;
    expect(answers.map((answer) => answer.content)).toEqual(questions.map((question) => `answer to ${question.content}`));
    expect(answers.map((answer) => answer.tags.find((tag) => tag[0] === 'e')?.[1])).toEqual(questions.map((question) => question.id));
    await inbox((counts) => counts['done'] === 5 && counts['queued'] === 0 && counts['dispatched'] === 0);
    expect(await storedAnswers(after.url, after.agent)).toHaveLength(5);
    await stop(second);
  });

  it('does not ask again what the agent had answered when the supervisor died', async () => {
    scripted([{ once: 'answered', do: [{ reply: 'answer to {{content}}' }, { mark: 'replied' }, { wait: 'never' }] }, { do: [{ reply: 'again: {{content}}' }] }]);
    const first = await startUp();
    const { url, agent } = await status();
    const owner = await connect(url);
    await say(owner, agent, 'once');
    await answersOf(owner, agent, 1);
    first.kill('SIGKILL');
    await first.ended;
    owner.close();

    const second = await startUp();
    const after = await status();
    await inbox((counts) => counts['done'] === 1);
    const again = await connect(after.url);
    await say(again, agent, 'control');
    await inbox((counts) => counts['done'] === 2);
    const answers = await storedAnswers(after.url, agent);
    expect(answers.map((answer) => answer.content).sort()).toEqual(['again: control', 'answer to once']);
    await stop(second);
  });
});

describe('kill -9 of the supervisor, and then the end of the agent', () => {
  it('leaves a tool running in a session of its own until the next start, and no longer', async () => {
    const tool = ['/bin/sh', '-c', 'echo $$ > gates/tool.part; mv gates/tool.part gates/tool; exec sleep 600'];
    scripted([{ do: [{ spawn: { command: tool, detached: true } }, { wait: 'never' }] }]);
    const first = await startUp();
    const { url, agent } = await status();
    const owner = await connect(url);
    await say(owner, agent, 'work');
    const pid = Number(await vi.waitFor(() => readFileSync(join(directory, 'gates', 'tool'), 'utf8'), 15_000));
    try {
      const program = (await reportOf(data())).agents[0]?.processes[0]?.pid ?? 0;
      first.kill('SIGKILL');
      await first.ended;
      owner.close();
      await vi.waitFor(() => { expect(isAlive(program)).toBe(false); }, 15_000);
      expect(isAlive(pid)).toBe(true);

      const second = await startUp();
      expect(isAlive(pid)).toBe(false);
      await stop(second);
    } finally {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
  });
});

/** The agent answers only when the gate is open, so that messages are waiting when the supervisor dies. */
function slowDown(): void {
  scripted([{ do: [{ wait: 'go' }, { reply: 'answer to {{content}}' }] }]);
}

function scripted(rules: readonly object[]): void {
  mkdirSync(join(directory, 'gates'));
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates: join(directory, 'gates'), rules }));
  edit((yaml) => yaml.replace(/^(\s*)adapter: scripted.*$/m, '$1adapter: scripted\n$1args: [script.json]'));
}

function edit(change: (yaml: string) => string): void {
  const path = join(directory, 'skep.yaml');
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

async function startUp(): Promise<Skep> {
  const up = startSkep(['up'], directory);
  await up.says('Ctrl-C stops');
  return up;
}

async function stop(up: Skep): Promise<void> {
  up.kill('SIGTERM');
  expect((await up.ended).code).toBe(0);
}

const data = (): string => join(directory, '.skep');

async function status(): Promise<{ readonly url: string; readonly agent: string }> {
  const { embeddedRelay, agents } = await reportOf(data());
  return { url: embeddedRelay?.url ?? '', agent: agents[0]?.pubkey ?? '' };
}

async function inbox(holds: (counts: InboxCounts) => boolean): Promise<void> {
  await reportWhen(data(), ({ agents }) => agents[0] !== undefined && holds(agents[0].inbox));
}

function channelId(): string {
  return /id: ([0-9a-f-]{36})/.exec(readFileSync(join(directory, 'skep.yaml'), 'utf8'))?.[1] ?? '';
}

async function connect(url: string): Promise<Client> {
  const { data } = decode(readFileSync(join(directory, 'keys', 'owner.key'), 'utf8').trim() as `nsec1${string}`);
  const client = await Client.connect('owner', url, data);
  expect(client.pubkey).toBe(getPublicKey(data));
  clients.push(client);
  return client;
}

function say(owner: Client, agent: string, content: string): Promise<Event> {
  return owner.publish(9, { content, tags: [['h', channelId()], ['p', agent]] });
}

/** The first `count` answers, in the order of arrival. */
async function answersOf(owner: Client, agent: string, count: number): Promise<readonly Event[]> {
  const found: Event[] = [];
  const watch = new Watch(() => JSON.stringify(found.map((event) => event.content)));
  owner.listen(channelId(), (event) => {
    if (event.pubkey !== agent) return;
    found.push(event);
    watch.look();
  });
  await watch.until(`${count} answers`, () => found.length >= count, 30_000);
  return found;
}

/** Everything of the agent that the relay has, asked for by a fresh connection. */
async function storedAnswers(url: string, agent: string): Promise<readonly Event[]> {
  const stored: Event[] = [];
  const client = await connect(url);
  await client.history(channelId(), (event) => { if (event.pubkey === agent) stored.push(event); });
  return stored;
}

async function run(command: string, args: readonly string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => { stdout += chunk; });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => { stderr += chunk; });
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}
