import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedModule, USAGE_BY_LOOKING } from '../../adapters/index.ts';
import { describeEnd } from '../../src/acp/index.ts';
import type { LaunchPlan } from '../../src/acp/index.ts';
import { SUPERVISOR_SCHEMA, openSqlite } from '../../src/store/index.ts';
import { Failure } from '../../src/model/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { alive, noneLeft, open, pidIn, plan, program, start, tryStart, until } from './harness.ts';

afterEach(noneLeft);

function notExecutable(): LaunchPlan {
  const file = join(temporaryDirectory(), 'agent');
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o644);
  return plan([file]);
}

function noInterpreter(): LaunchPlan {
  const file = join(temporaryDirectory(), 'agent');
  writeFileSync(file, '#!/no/such/node --flag\n', { mode: 0o755 });
  return plan([file]);
}

describe('a start that fails', () => {
  it.each<readonly [string, () => LaunchPlan, object, string]>([
    [
      'no such program',
      () => plan(['no-such-agent-program', 'acp']),
      { how: 'not_found', command: 'no-such-agent-program' },
      'no-such-agent-program',
    ],
    ['not executable', notExecutable, { how: 'not_executable' }, 'may not be executed'],
    ['no interpreter', noInterpreter, { how: 'no_interpreter', interpreter: '/no/such/node' }, 'agent: found, but not what runs it: /no/such/node'],
    ['exit 1 at once', () => plan({ dieAtStart: 1 }), { how: 'exited_at_start', exitCode: 1 }, 'exited with code 1'],
    ['exit 0 at once', () => plan({ dieAtStart: 0 }), { how: 'exited_at_start', exitCode: 0 }, 'exited with code 0'],
    [
      'exit before the answer',
      () => plan({ initialize: { dieBefore: 7 } }),
      { how: 'exited_at_start', exitCode: 7 },
      'exited with code 7',
    ],
    ['a signal', () => plan({ dieAtStart: 'SIGKILL' }), { how: 'start_refused' }, 'ended by SIGKILL'],
    [
      'an error as answer',
      () => plan({ initialize: { error: { code: -32000, message: 'log in first' } } }),
      { how: 'start_refused' },
      'initialize: error -32000: log in first',
    ],
    [
      'another version',
      () => plan({ initialize: { protocolVersion: 2 } }),
      { how: 'start_refused' },
      'protocolVersion: expected 1, found 2',
    ],
    [
      'no such directory',
      () => ({ ...plan({}), cwd: '/no/such/directory' }),
      { how: 'start_refused' },
      'cwd: expected an existing directory',
    ],
    [
      'a flood before the first frame',
      () => plan({ banner: Array.from({ length: 1_100 }, (_, line) => `line ${line}`) }),
      { how: 'start_refused' },
      'no ACP frames',
    ],
  ])('%s', async (_, launch, end, words) => {
    const what = launch();
    const started = await tryStart(what);
    expect(started).toMatchObject({ ok: false, end });
    if (started.ok) return;
    expect(describeEnd(started.end)).toContain(words);
    expect(describeEnd(started.end)).toContain(what.command);
  });

  it('never answers: ended within the deadline, which is told', async () => {
    const pids: number[] = [];
    const launch = plan({ initialize: { never: true }, ignoreStdinEof: true, ignoreSigterm: true });
    const started = await tryStart(launch, { limits: { startMs: 400 }, onSpawn: (pid) => pids.push(pid) });
    expect(started).toMatchObject({
      ok: false,
      end: { how: 'start_timeout', afterMs: 400, command: process.execPath },
    });
    expect(pids.map(alive)).toEqual([false]);
  });

  it('is given up when asked to', async () => {
    const controller = new AbortController();
    const launch = plan({ initialize: { never: true } });
    expect(
      await tryStart(launch, {
        signal: controller.signal,
        onSpawn: () => {
          controller.abort();
        },
      }),
    ).toMatchObject({ ok: false, end: { how: 'stopped' } });
    expect(await tryStart(launch, { signal: controller.signal })).toMatchObject({ ok: false, end: { how: 'stopped' } });
  });

  it('leaves nothing of a tree behind', async () => {
    const launch = plan(['/bin/sh', '-c', 'sleep 600 & echo $! > pid; exec sleep 600']);
    const starting = tryStart(launch, { limits: { startMs: 1_500 } });
    const sleeper = await pidIn(launch.cwd, 'pid');
    expect(alive(sleeper)).toBe(true);
    expect(await starting).toMatchObject({ ok: false, end: { how: 'start_timeout' } });
    expect(alive(sleeper)).toBe(false);
  });

  it('tells what the program said on stderr, without its secrets', async () => {
    const started = await tryStart(
      plan(program('tells-its-secrets-and-dies', 'at-start'), { env: { SKEP_CREDENTIAL: 'c0ffee-c0ffee' } }),
    );
    expect(started).toMatchObject({
      ok: false,
      end: { how: 'exited_at_start', exitCode: 1, stderrTail: 'my credential is <redacted>, my key <redacted> red' },
    });
  });

  it("that cannot be put on record is none, and rejects with the store's failure", async () => {
    const store = openSqlite(':memory:', SUPERVISOR_SCHEMA);
    await store.close();
    const pids: number[] = [];
    await expect(tryStart(plan({}), { store, onSpawn: (pid) => pids.push(pid) })).rejects.toBeInstanceOf(Failure);
    expect(pids.map(alive)).toEqual([false]);
  });
});

describe('a limit of 128 file descriptors', () => {
  it('is enough for a thousand sessions of an agent, which take none', async () => {
    const script = fileURLToPath(new URL('programs/opens-a-thousand-sessions.mjs', import.meta.url));
    const limited = spawn('/bin/sh', ['-c', 'ulimit -n 128; exec "$0" "$1" "$2"', process.execPath, script, scriptedModule()]);
    let output = '';
    limited.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    limited.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(limited, 'close')) as [number];
    expect({ code, output }).toEqual({ code: 0, output: '1000 sessions, 0 more open files\n' });
  }, 60_000);
});

describe('a start at the limit of file descriptors', () => {
  it('is refused by name, and ends nothing else', async () => {
    const script = fileURLToPath(new URL('programs/starts-at-the-fd-limit.mjs', import.meta.url));
    const limited = spawn('/bin/sh', ['-c', 'ulimit -n 256; exec "$0" "$1"', process.execPath, script]);
    let output = '';
    limited.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    limited.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(limited, 'close')) as [number];
    expect({ code, output }).toEqual({ code: 0, output: 'exited_at_start, then spawn sh EMFILE\n' });
  });
});

describe('a start', () => {
  it("asks for version 1, says who we are, and takes the agent's word", async () => {
    const { process: agent, lines } = await start({ initialize: { agentInfo: { name: 'bee', version: '7' } } });
    expect(agent.agentInfo).toEqual({ name: 'bee', version: '7' });
    expect(JSON.parse(lines[0]?.text ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, _meta: { goose: { customNotifications: true } } },
        clientInfo: { name: 'skep', version: '1.2.3' },
      },
    });
  });

  it('makes a process group of its own', async () => {
    const { process: agent } = await start({});
    expect(agent.pid).not.toBe(process.pid);
    const stat = readFileSync(`/proc/${agent.pid}/stat`, 'utf8');
    expect(
      stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(2, 4),
    ).toEqual([String(agent.pid), String(agent.pid)]);
  });

  it("gives the child the plan's environment, byte for byte, whatever ours holds", async () => {
    process.env['SKEP_TEST_POISON'] = 'nsec1poison';
    try {
      const launch = { ...plan({}), env: { PATH: process.env['PATH'] ?? '', B: '2', A: 'eins = ä' } };
      const started = await tryStart(launch);
      expect(started.ok).toBe(true);
      const [pid] = started.ok ? [started.process.pid] : [];
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe(`PATH=${launch.env.PATH}\0B=2\0A=eins = ä\0`);
    } finally {
      delete process.env['SKEP_TEST_POISON'];
    }
  });

  it.each([
    [true, 'capability', true],
    [false, 'capability', false],
    [false, 'meta-append', true],
    [false, 'first-message', false],
  ] as const)(
    'systemPrompt capability %s and hint %s: takes the standing text: %s',
    async (systemPrompt, hint, takes) => {
      const script = { newSession: { systemPrompt } };
      const { process: agent, lines, directory } = await start(script, { dialect: { standing: hint, usage: USAGE_BY_LOOKING } });
      expect(agent.takesSystemPrompt).toBe(takes);
      await agent.newSession({ cwd: directory, ...(takes ? { systemPrompt: 'be kind' } : {}) });
      const { params } = JSON.parse(lines.find(({ text }) => text.includes('session/new'))?.text ?? '{}') as {
        params: object;
      };
      expect(params).toEqual({
        cwd: directory,
        mcpServers: [],
        ...(systemPrompt ? { systemPrompt: { mode: 'append', content: [{ type: 'text', text: 'be kind' }] } } : {}),
        ...(hint === 'meta-append' ? { _meta: { systemPrompt: { append: 'be kind' } } } : {}),
      });
    },
  );
});

describe('a session', () => {
  it('is refused for a directory that is not there, before the agent hears of it', async () => {
    const { process: agent, lines } = await start({});
    expect(await agent.newSession({ cwd: '/no/such/directory' })).toMatchObject({
      ok: false,
      code: 'error',
      rpcCode: -32602,
    });
    expect(lines.some(({ text }) => text.includes('session/new'))).toBe(false);
  });

  it.each([
    [
      'an error',
      { error: { code: -32603, message: 'no model' } },
      { code: 'error', rpcCode: -32603, detail: 'no model' },
    ],
    ['no answer', { never: true }, { code: 'timeout', detail: 'session/new: no answer within 200 ms' }],
  ])('is refused: %s', async (_, newSession, refusal) => {
    const { process: agent, directory } = await start({ newSession }, { limits: { callMs: 200 } });
    expect(await agent.newSession({ cwd: directory })).toMatchObject({ ok: false, ...refusal });
  });

  it('is refused when its id is in use already', async () => {
    const { process: agent, directory } = await start(program('answers-plainly'));
    expect(await agent.newSession({ cwd: directory })).toEqual({ ok: true, sessionId: 's1', tookSystemPrompt: false, refused: [], answer: { sessionId: 's1' } });
    expect(await agent.newSession({ cwd: directory })).toMatchObject({
      ok: false,
      code: 'id_taken',
      detail: 'session/new: the session id was given before',
    });
  });

  it('of an agent that answers under a text id comes to nothing, in bounded time', async () => {
    const launch = plan(program('answers-under-a-text-id'));
    expect(await tryStart(launch, { limits: { startMs: 500 } })).toMatchObject({
      ok: false,
      end: { how: 'start_timeout' },
    });
  });

  it('fails with the process when that dies meanwhile', async () => {
    const { process: agent, directory } = await start({ newSession: { never: true } });
    const opening = agent.newSession({ cwd: directory });
    process.kill(agent.pid, 'SIGKILL');
    expect(await opening).toMatchObject({
      ok: false,
      code: 'process_ended',
      end: { how: 'signalled', signal: 'SIGKILL' },
    });
    expect(await agent.newSession({ cwd: directory })).toMatchObject({ ok: false, code: 'process_ended' });
  });
});

describe('many starts', () => {
  it('of the same agent, twenty, one after the other, leave one living child', async () => {
    const pids: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const started = await start(program('answers-plainly'));
      await open(started);
      pids.push(started.process.pid);
      if (round < 19) await started.process.stop();
    }
    await until(() => pids.filter(alive).length === 1);
    expect(pids.map(alive)).toEqual([...Array.from({ length: 19 }, () => false), true]);
  });
});
