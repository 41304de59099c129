/** `skep up`, `status` and `relay` as real programs: start, report, second start, signals, endings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { StatusReport } from '../../src/control/index.ts';
import { toNpub } from '../../src/nostr/index.ts';
import { documentedMembers, membersOf } from '../control/members.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { reportOf, reportWhen } from './report.ts';
import { runSkep, startSkep, stopAll } from './skep.ts';
import type { Skep } from './skep.ts';

afterEach(stopAll);

const KEY = '1'.padStart(64, '0');
const OWNER = 'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';

/** A folder with a config for one scripted agent on a relay in the box, on a free port. */
function home(change: (yaml: string) => string = (yaml) => yaml): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'a.key'), KEY, { mode: 0o600 });
  writeFileSync(join(directory, 'skep.yaml'), change(`relay: embedded
embedded: { port: 0, channels: [{ id: 6a3f3d52-7b1e-4b5c-9c43-0c4d7c1f6a11, name: general }] }
data: data
agents:
  - { name: helper, key: a.key, owner: ${OWNER}, adapter: scripted }
`));
  return directory;
}

async function up(directory: string, ...flags: readonly string[]): Promise<Skep> {
  const skep = startSkep(['up', ...flags], directory);
  await skep.says('Ctrl-C stops');
  return skep;
}

const status = (directory: string): Promise<StatusReport> => reportOf(join(directory, 'data'));
const statusWhen = (directory: string, fits: (report: StatusReport) => boolean): Promise<StatusReport> => reportWhen(join(directory, 'data'), fits);

it('skep restart ends one agent and starts it again, and tells of one that is not there', async () => {
  const directory = home();
  await up(directory);
  const pidOf = ({ agents }: StatusReport): number | undefined => agents[0]?.processes[0]?.pid;
  const before = await statusWhen(directory, (report) => pidOf(report) !== undefined);
  const npub = toNpub(before.agents[0]?.pubkey ?? expect.fail('no agent'));
  const restarted = await runSkep(['restart', npub], directory);
  expect(restarted).toEqual({ code: 0, stdout: `${npub} starts again\n`, stderr: '' });
  const after = await statusWhen(directory, (report) => pidOf(report) !== undefined && pidOf(report) !== pidOf(before));
  expect(after.agents[0]?.inbox).toEqual(before.agents[0]?.inbox);
  expect(await runSkep(['restart', 'nobody'], directory)).toMatchObject({ code: 2, stderr: expect.stringContaining('one that is configured; there are helper') as string });
  expect(await runSkep(['restart', 'helper'], home())).toMatchObject({ code: 7 });
});

describe('skep up', () => {
  it('runs until a signal, tells who it runs, and leaves nothing that says it does', async () => {
    const directory = home();
    const skep = await up(directory);
    expect(readFileSync(join(directory, 'data/skep.pid'), 'utf8')).toBe(`${skep.pid}\n`);
    skep.kill('SIGTERM');
    const { code, stdout, stderr } = await skep.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^skep \S+: 1 agent on the relay in the box, ws:\/\/127\.0\.0\.1:\d+\n {2}helper {2}npub1\w{58}\n/);
    expect(stdout).toMatch(/\nstopped\n$/);
    expect(stderr).toContain('skep: stopping: no turn in flight\n');
    expect(existsSync(join(directory, 'data/skep.sock'))).toBe(false);
    expect(existsSync(join(directory, 'data/skep.pid'))).toBe(false);
    expect(stdout + stderr).not.toContain(KEY);
    // Away from a terminal the log is JSON, line by line.
    const logged = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('skep: '));
    expect(logged.length).toBeGreaterThan(0);
    for (const line of logged) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) as string });
  });

  it('refuses a second start on the same data directory, naming the first', async () => {
    const directory = home();
    const { pid } = await up(directory);
    expect(await runSkep(['up'], directory)).toEqual({
      code: 4, stdout: '',
      stderr: `skep: ${join(directory, 'data')}: process ${pid} holds this data directory; stop it first, or use another\n`,
    });
    expect((await status(directory)).pid).toBe(pid);
  });

  it('starts again after it was killed', async () => {
    const directory = home();
    const first = await up(directory);
    first.kill('SIGKILL');
    await first.ended;
    expect(existsSync(join(directory, 'data/skep.sock'))).toBe(true);
    expect((await runSkep(['status'], directory)).code).toBe(7);
    const second = await up(directory);
    expect((await status(directory)).pid).toBe(second.pid);
  });

  /** An agent program that is stopped does not leave when it is asked to: closing takes its grace. */
  async function upWithDeafAgent(directory: string): Promise<{ readonly skep: Skep; readonly agentPid: number }> {
    const skep = await up(directory);
    const report = await statusWhen(directory, ({ agents }) => agents[0]?.processes[0]?.pid !== undefined);
    const agentPid = report.agents[0]?.processes[0]?.pid ?? expect.fail('no agent process');
    process.kill(agentPid, 'SIGSTOP');
    return { skep, agentPid };
  }

  it('is forced by a second signal, in order, and says so in its exit code', async () => {
    const { skep, agentPid } = await upWithDeafAgent(home());
    skep.kill('SIGINT');
    await skep.says('skep: stopping: no turn in flight');
    skep.kill('SIGTERM');
    await skep.says('skep: ending now: ');
    expect(await skep.ended).toMatchObject({ code: 143, stdout: expect.stringMatching(/\nstopped\n$/) as string });
    expect(() => process.kill(agentPid, 0)).toThrow('ESRCH');
  });

  it('ends on the spot at a third signal', async () => {
    const { skep, agentPid } = await upWithDeafAgent(home());
    skep.kill('SIGINT');
    await skep.says('skep: stopping: ');
    skep.kill('SIGTERM');
    await skep.says('skep: ending now: ');
    skep.kill('SIGHUP');
    const { code, stdout } = await skep.ended;
    expect(code).toBe(129);
    expect(stdout).not.toContain('stopped');
    // Nobody is left to end the program that was stopped; the next start would.
    process.kill(agentPid, 'SIGKILL');
  });

  it('says at start what is worth a word', async () => {
    const skep = await up(home((yaml) => yaml.replace('port: 0', 'port: 0, host: 0.0.0.0')));
    await skep.says('other machines can reach it');
  });

  it('keeps trying a relay that is not there, and status says so', async () => {
    const directory = home((yaml) => yaml.replace(/relay: embedded\nembedded.*\n/, 'relay: ws://127.0.0.1:9\n'));
    await up(directory, '--log-level', 'silent');
    const { agents } = await statusWhen(directory, (report) => (report.agents[0]?.upstream.attempts ?? 0) > 0);
    expect(agents[0]?.upstream).toMatchObject({ url: expect.stringContaining('ws://127.0.0.1:9') as string, lastError: expect.any(String) as string });
    expect((await runSkep(['status'], directory)).stdout).toMatch(/ {2}relay {4}\w+, ws:\/\/127\.0\.0\.1:9\/?, 0 channels, \d+ failed attempts?, last: /);
  });
});

it('says at start that an agent has no program, and runs all the same', async () => {
  const directory = home((yaml) => yaml.replace('adapter: scripted', 'adapter: { command: no-such-agent }'));
  const skep = await up(directory);
  await skep.says('agent helper: there is no program no-such-agent; it cannot answer before there is one');
  skep.kill('SIGTERM');
  expect((await skep.ended).code).toBe(0);
});

describe('what keeps skep up from starting is one line and an exit code', () => {
  it('a port in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { code, stderr } = await runSkep(['up'], home((yaml) => yaml.replace('port: 0', `port: ${port}`)));
    await new Promise((resolve) => void server.close(resolve));
    expect(code).toBe(6);
    expect(stderr).toBe(`skep: embedded.port: another program listens on port ${port} of 127.0.0.1; choose another port\n`);
  });

  it('an address of another machine', async () => {
    const ended = await runSkep(['up'], home((yaml) => yaml.replace('port: 0', 'host: 192.0.2.1, port: 0')));
    expect(ended.code).toBe(6);
    expect(ended.stderr).toMatch(/\nskep: embedded\.host: 192\.0\.2\.1 is no address of this machine\n$/);
  });

  it.each([
    ['a corrupt database', 5, (data: string) => { writeFileSync(join(data, 'skep.db'), 'no database '.repeat(1_000)); }],
    ['a database that is a folder', 5, (data: string) => { mkdirSync(join(data, 'skep.db')); }],
    ['a relay key that is none', 2, (data: string) => { writeFileSync(join(data, 'relay.key'), 'x'); }],
  ])('%s', async (_, code, spoil) => {
    const directory = home();
    mkdirSync(join(directory, 'data'));
    spoil(join(directory, 'data'));
    const ended = await runSkep(['up', '--log-level', 'silent'], directory);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(/^skep: .*\/data\/.*\n$/);
  });

  it('a newer schema', async () => {
    const directory = home();
    const first = await up(directory);
    first.kill('SIGTERM');
    await first.ended;
    const bump = `const D = require('libsql'); const d = new D(process.argv[1]); d.exec('PRAGMA user_version = 999'); d.close();`;
    const root = new URL('../../', import.meta.url);
    await once(spawn(process.execPath, ['-e', bump, join(directory, 'data/skep.db')], { cwd: root, stdio: 'ignore' }), 'exit');
    const { code, stderr } = await runSkep(['up'], directory);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^skep: .*\/data\/skep\.db: .*newer.*\n$/);
  });

  it('a data directory that is a file', async () => {
    const directory = home();
    writeFileSync(join(directory, 'data'), '');
    expect(await runSkep(['up'], directory)).toEqual({
      code: 5, stdout: '', stderr: `skep: ${join(directory, 'data')}: is not a directory\n`,
    });
  });
});

describe('skep status', () => {
  it('says what runs, for people and as JSON', async () => {
    const directory = home();
    const skep = await up(directory);
    await statusWhen(directory, ({ agents }) => agents[0]?.upstream.phase === 'ready' && agents[0].upstream.channels.length === 1);
    const report = JSON.parse((await runSkep(['status', '--json'], directory)).stdout) as StatusReport;
    const documented = documentedMembers();
    for (const member of membersOf(report)) expect(documented).toContain(member);
    expect(report).toMatchObject({
      v: 1, pid: skep.pid, stopping: false, embeddedRelay: { connections: 1 },
      agents: [{ name: 'helper', turns: [], inbox: { queued: 0, dispatched: 0, done: 0, dead: 0 } }],
    });
    const byData = await runSkep(['status', '--data', 'data'], directory);
    expect(byData.code).toBe(0);
    expect(byData.stdout).toContain(`process ${skep.pid}, up since `);
    expect(byData.stdout).toMatch(/\n {2}relay {4}ready, ws:\/\/127\.0\.0\.1:\d+\/?, 1 channel\n {2}inbox {4}0 queued, /);
  });
});

describe('skep relay', () => {
  it('runs alone until a signal, and holds its data directory', async () => {
    const directory = temporaryDirectory();
    const relay = startSkep(['relay', '--port', '0', '--data', 'box'], directory);
    await relay.says('Ctrl-C stops');
    expect((await runSkep(['relay', '--port', '0', '--data', 'box'], directory)).code).toBe(4);
    relay.kill('SIGINT');
    const { code, stdout } = await relay.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^relay ws:\/\/127\.0\.0\.1:\d+\nCtrl-C stops\nstopped\n$/);
  });
});
