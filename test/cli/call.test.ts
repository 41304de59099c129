/** `skep call` as a program: what it prints, what it exits with, and what it never shows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CREDENTIAL, endpoint, failedWith, plain, posted, reset, unknownOutcome, verdict } from '../broker/client/endpoint.ts';
import type { Answer, Endpoint } from '../broker/client/endpoint.ts';
import { bench } from '../broker/harness.ts';
import { CHANNEL, OWNER } from '../broker/people.ts';
import { LAUNCHER } from './skep.ts';
import type { Ended } from './skep.ts';

const ARGS = JSON.stringify({ channelId: CHANNEL, content: 'hello' });

interface Run {
  readonly url?: string | undefined;
  readonly credential?: string;
  readonly stdin?: string | Uint8Array;
}

async function call(words: readonly string[], { url, credential = CREDENTIAL, stdin = '' }: Run): Promise<Ended> {
  const env = { PATH: process.env['PATH'], SKEP_BROKER_URL: url, SKEP_CREDENTIAL: credential };
  const child = spawn(process.execPath, [LAUNCHER, 'call', ...words], { env });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => (output[name] += chunk));
  }
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  await once(child, 'close');
  expect(output.stdout + output.stderr).not.toContain(credential);
  return { code: child.exitCode ?? '?', ...output };
}

async function answered(...answers: readonly [Answer, ...Answer[]]): Promise<Endpoint> {
  return endpoint(...answers);
}

describe('the exit code and the line of JSON', () => {
  it('succeeded: 0', async () => {
    const { url } = await answered(posted());
    const { code, stdout, stderr } = await call(['message.post', ARGS], { url });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\{"status":"succeeded".*"createdAt":1760000000\}\}\n$/);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'succeeded', action: 'message.post', outcome: { kind: 9 } });
  });

  it.runIf(existsSync('/dev/full'))('a success that cannot be printed: that of the disk, and how to have it printed again', async () => {
    const { url } = await answered(posted());
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => { closeSync(full); });
    const env = { PATH: process.env['PATH'], SKEP_BROKER_URL: url, SKEP_CREDENTIAL: CREDENTIAL };
    const child = spawn(process.execPath, [LAUNCHER, 'call', 'message.post', ARGS, '--request-id', 'once'], { env, stdio: ['ignore', full, 'pipe'] });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    await once(child, 'close');
    expect({ code: child.exitCode, stderr }).toEqual({
      code: 5, stderr: expect.stringMatching(/^skep: stdout: ENOSPC.*; the action succeeded: --request-id once with the same arguments tells its result again\n$/),
    });
  });

  it('failed: 10, and nothing was done', async () => {
    const { url } = await answered(failedWith('unauthorized'));
    const { code, stdout, stderr } = await call(['message.post', ARGS], { url });
    expect({ code, stderr }).toEqual({ code: 10, stderr: 'skep: unauthorized: why; it had no effects\n' });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', error: { code: 'unauthorized' }, uncertain: false });
  });

  it('failed after an attempt that may have been executed: 11', async () => {
    const { url } = await answered(reset, failedWith('unauthorized'));
    const { code, stdout } = await call(['message.post', ARGS], { url });
    expect(code).toBe(11);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', uncertain: true });
  });

  it('indeterminate: 11, and how to ask again', async () => {
    const { url } = await answered(unknownOutcome);
    const { code, stdout, stderr } = await call(['message.post', ARGS], { url });
    const { requestId } = JSON.parse(stdout) as { readonly requestId: string };
    expect(code).toBe(11);
    expect(stderr).toBe(`skep: outcome_unknown: why; it may have been executed: retry with --request-id ${requestId}\n`);
  });

  it('no verdict: 12', async () => {
    const { url } = await answered(plain(404));
    const { code, stdout } = await call(['message.post', ARGS], { url });
    expect(code).toBe(12);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'transport', reason: 'http', uncertain: true });
  });
});

describe('--request-id', () => {
  it('sends the identical bytes again, and takes no refusal for the whole story', async () => {
    const { url, received } = await answered(unknownOutcome, failedWith('unauthorized'), posted(200, { replayed: true }));
    const first = await call(['message.post', ARGS], { url });
    const { requestId } = JSON.parse(first.stdout) as { readonly requestId: string };
    const second = await call(['message.post', ARGS, '--request-id', requestId], { url });
    const third = await call(['message.post', ARGS, '--request-id', requestId], { url });
    expect([first.code, second.code, third.code]).toEqual([11, 11, 0]);
    expect(new Set(received.map(({ text }) => text)).size).toBe(1);
  });
});

describe('stdin', () => {
  it('holds the arguments for -', async () => {
    const { url, received } = await answered(posted());
    expect(await call(['message.post', '-'], { url, stdin: ` ${ARGS}\n` })).toMatchObject({ code: 0 });
    expect(received[0]?.text).toContain(`"args":${ARGS}`);
  });

  it('is bounded and UTF-8', async () => {
    const { url } = await answered(posted());
    const long = await call(['message.post', '-'], { url, stdin: ' '.repeat(600_000) });
    const bytes = await call(['message.post', '-'], { url, stdin: Uint8Array.of(0x22, 0xff, 0x22) });
    expect([long.code, bytes.code]).toEqual([2, 2]);
    expect(bytes.stderr).toBe('skep: call: stdin: found bytes that are not UTF-8, expected UTF-8\n');
  });
});

describe('what cannot be sent is one line that names the member, and exit code 2', () => {
  it.each([
    [['message.sign', ARGS], /action: found message.sign, expected a known action; skep call --help lists them\n$/],
    [['message.post'], /args.channelId: found nothing/],
    [['message.post', '\n'], /args: found no text, expected one JSON object/],
    [['message.post', '{'], /args: found text that is no JSON, expected one JSON object;/],
    [['message.post', '{channelId:x}'], /args: found text that is no JSON/],
    [['message.post', '{}}'], /args: found text that is no JSON/],
    [['message.post', '{},"args":{}'], /args: found text that is no JSON/],
    [['message.post', '{},"owner":1'], /args: found text that is no JSON/],
    [['message.post', ARGS.replace('"content"', '"content":"x","content"')], /args.content: found the member twice/],
    [['message.post', ARGS.replace('"hello"', 'null')], /args.content: found null/],
    [['channel.read', `{"channelId":"${CHANNEL}","limit":1.0}`], /args.limit: found .*, expected an integer 1 to 500/],
    [['message.post', ARGS, '--request-id', 'a b'], /requestId: found/],
  ] as const)('%j', async (words, line) => {
    const { url, received } = await answered(posted());
    const { code, stdout, stderr } = await call(words, { url });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^skep: .*\n$/);
    expect(stderr).toMatch(line);
    expect(received).toEqual([]);
  });

  it('an environment that does not say where the broker is', async () => {
    expect(await call(['message.post', ARGS], { url: undefined })).toEqual({
      code: 2, stdout: '', stderr: 'skep: SKEP_BROKER_URL is not set; skep up sets it for the agents it runs, skep session issue tells it for other programs\n',
    });
    expect(await call(['message.post', ARGS], { url: 'http://broker.example' })).toMatchObject({
      code: 2, stderr: 'skep: endpoint: expected https, or http on a loopback address\n',
    });
    expect(await call(['message.post', ARGS], { url: 'http://127.0.0.1:1', credential: 'two tokens' })).toMatchObject({
      code: 2, stderr: 'skep: credential: expected one token, without spaces or line breaks (RFC 6750)\n',
    });
  });
});

it('reads verified messages, u64 exact', async () => {
  const message = OWNER.sign({ tags: [['h', CHANNEL]], content: 'a "line"\n' });
  const { url } = await answered(verdict({ status: 'succeeded', action: 'channel.read', outcome: { messages: [message] } }));
  const { code, stdout } = await call(['channel.read', `{"channelId":"${CHANNEL}"}`], { url });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: { messages: [message], unverified: 0 } });
  expect(stdout.trimEnd()).not.toContain('\n');
});

it('asks the real broker', async () => {
  const { link } = await bench();
  const { endpoint: url, token } = link.openSession();
  const run = { url, credential: token };
  const first = await call(['message.post', ARGS, '--request-id', 'mine'], run);
  const again = await call(['message.post', ARGS, '--request-id', 'mine'], run);
  expect([first.code, again.code]).toEqual([0, 0]);
  expect(JSON.parse(again.stdout)).toEqual({ ...JSON.parse(first.stdout), replayed: true });
});
