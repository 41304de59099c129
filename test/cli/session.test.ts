/** `skep session` against a running supervisor: a program of one's own gets in, is confined, and is put out again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { post, requestBytes, told } from '../broker/harness.ts';
import { CERTIFICATE, KEY } from '../setup/certificate.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { LAUNCHER, runSkep, startSkep, stopAll } from './skep.ts';
import type { Ended } from './skep.ts';

afterEach(stopAll);

const CHANNEL = '6a3f3d52-7b1e-4b5c-9c43-0c4d7c1f6a11';
const OWNER = 'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';

function home(broker = ''): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'a.key'), '1'.padStart(64, '0'), { mode: 0o600 });
  writeFileSync(join(directory, 'tls.crt'), CERTIFICATE);
  writeFileSync(join(directory, 'tls.key'), KEY, { mode: 0o600 });
  writeFileSync(join(directory, 'skep.yaml'), `relay: embedded
embedded: { port: 0, channels: [{ id: ${CHANNEL}, name: general }] }
data: data
${broker}
agents:
  - { name: helper, key: a.key, owner: ${OWNER}, adapter: scripted }
`);
  return directory;
}

async function up(broker?: string): Promise<string> {
  const directory = home(broker);
  await startSkep(['up', '--log-level', 'debug'], directory).says('Ctrl-C stops');
  return directory;
}

interface Issued {
  readonly id: string;
  readonly token: string;
  readonly endpoint: string;
}

async function json<T>(directory: string, ...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await runSkep(['session', ...args, '--json'], directory);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

it('a credential acts, is listed, rotated and revoked', async () => {
  const directory = await up();
  const { id, token, endpoint } = await json<Issued>(directory, 'issue', '--agent', 'helper', '--channels', CHANNEL, '--label', 'ci');
  const act = (credential: string): Promise<string> =>
    post(endpoint, credential, requestBytes('r-1', 'message.post', { channelId: CHANNEL, content: 'hello' })).then(told);
  expect(await act(token)).toBe('succeeded');
  const listed = await runSkep(['session', 'list'], directory);
  expect(listed.stdout).toMatch(new RegExp(`^${id}  live      helper "ci": only in 6a3f3d52, issued \\d+ s ago, used \\d+ s ago, expires in 29 d 23 h\n`));
  const rotated = await runSkep(['session', 'rotate', id], directory);
  expect(rotated.stderr).toContain(`skep: credential ${id} acts as helper, until `);
  expect(rotated.stderr).toContain(`SKEP_BROKER_URL=${endpoint} (another port after the next start: set broker.port in skep.yaml)\n`);
  const next = rotated.stdout.trimEnd();
  expect(await act(token)).toBe('failed/unauthenticated');
  expect(await act(next)).toBe('succeeded, replayed');
  expect(await runSkep(['session', 'revoke', id], directory)).toEqual({ code: 0, stdout: `revoked ${id}\n`, stderr: '' });
  expect(await act(next)).toBe('failed/unauthenticated');
  const sessions = await json<readonly { readonly id: string; readonly state: string }[]>(directory, 'list');
  expect(sessions.find((session) => session.id === id)).toMatchObject({ state: 'revoked' });
  const data = join(directory, 'data');
  const stored = readdirSync(data).filter((name) => name.startsWith('skep.db')).map((name) => readFileSync(join(data, name), 'latin1')).join('');
  for (const secret of [token, next]) expect(stored + listed.stdout + JSON.stringify(sessions)).not.toContain(secret);
});

it.runIf(existsSync('/dev/full'))('a token that cannot be printed is no success, and its id is told, to rotate or revoke it', async () => {
  const directory = await up();
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => { closeSync(full); });
  const child = spawn(process.execPath, [LAUNCHER, 'session', 'issue', '--agent', 'helper'], { cwd: directory, stdio: ['ignore', full, 'pipe'] });
  const told = child.stderr === null ? '' : text(child.stderr);
  await once(child, 'close');
  expect({ code: child.exitCode, told: await told }).toEqual({
    code: 5, told: expect.stringMatching(/^skep: credential [0-9a-f]{16} acts as helper, [^]*\nskep: stdout: ENOSPC/),
  });
});

it('`skep call` takes it from the environment, and the endpoint of TLS with it', async () => {
  const directory = await up('broker: { tls: { cert: tls.crt, key: tls.key } }');
  const { token, endpoint } = await json<Issued>(directory, 'issue', '--agent', 'helper', '--actions', 'channel.read');
  expect(endpoint).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const environment = { SKEP_BROKER_URL: endpoint, SKEP_CREDENTIAL: token, NODE_EXTRA_CA_CERTS: join(directory, 'tls.crt') };
  const call = async (action: string, args: object): Promise<Omit<Ended, 'stderr'>> => {
    const child = spawn(process.execPath, [LAUNCHER, 'call', action, JSON.stringify(args)], { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'ignore'] });
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]) as [string, [number]];
    return { code, stdout };
  };
  const read = await call('channel.read', { channelId: CHANNEL });
  expect(JSON.parse(read.stdout)).toMatchObject({ status: 'succeeded', outcome: { messages: [] } });
  expect((await call('message.post', { channelId: CHANNEL, content: 'x' })).code).toBe(10);
});

describe('what it is told when it cannot', () => {
  it('no supervisor: exit code 7', async () => {
    const directory = home();
    mkdirSync(join(directory, 'data'));
    for (const args of [['issue', '--agent', 'helper'], ['list'], ['rotate', 'x'], ['revoke', 'x']]) {
      const { code, stdout, stderr } = await runSkep(['session', ...args], directory);
      expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
      expect(stderr).toMatch(/^skep: .*skep\.sock: no supervisor is running here; start one with skep up\n$/);
    }
  });

  it('a wrong order: one line, exit code 2', async () => {
    const directory = await up();
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['issue', '--agent', 'nobody'], 'agent: expected the name or the pubkey of an agent that runs here; there are helper'],
      [['issue', '--agent', 'helper', '--actions', 'message.post,sign'], 'actions: found sign, expected actions of NIP-BA'],
      [['issue', '--agent', 'helper', '--expires', '1s'], 'expires: expected 1m to 3650d'],
      [['rotate', 'x'], 'id: expected that of an issued credential; skep session list shows them'],
    ];
    for (const [args, line] of cases) {
      expect(await runSkep(['session', ...args], directory)).toEqual({ code: 2, stdout: '', stderr: `skep: ${line}\n` });
    }
  });
});
