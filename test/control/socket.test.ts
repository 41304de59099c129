import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { askRestart, askSessions, askStatus, openControl, socketPathOf } from '../../src/control/index.ts';
import type { CredentialDesk } from '../../src/broker/index.ts';
import type { Control, Restart, StatusReport } from '../../src/control/index.ts';
import { Failure, silentLog } from '../../src/model/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { documentedMembers, membersOf } from './members.ts';
import { sampleReport } from './report-sample.ts';

const open: Control[] = [];
afterEach(() => Promise.all(open.splice(0).map((control) => control.close())));

async function openSample(path: string, snapshot: () => StatusReport = sampleReport): Promise<Control> {
  const control = await openControl({ path, snapshot, log: silentLog, restart: () => undefined, desk: () => undefined });
  open.push(control);
  return control;
}

function freshPath(): string {
  return socketPathOf(temporaryDirectory());
}

/** Sends `text` and reads until the other side closes or `lines` lines are there. */
async function exchange(path: string, text: string, lines: number): Promise<string> {
  const socket = connect(path).setEncoding('utf8');
  let answer = '';
  socket.write(text);
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.split('\n').length > lines) break;
  }
  return answer;
}

/** Leaves a socket file that nobody listens on, as a killed process does. */
async function leaveStaleSocket(path: string): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script], { stdio: 'ignore' }), 'exit');
}

describe('the status socket', () => {
  it('answers with the report of that moment, whole', async () => {
    const path = freshPath();
    let turns = 0;
    await openSample(path, () => ({ ...sampleReport(), stopping: (turns += 1) > 1 }));
    expect(await askStatus(path, 5_000)).toEqual(sampleReport());
    expect(await askStatus(path, 5_000)).toEqual({ ...sampleReport(), stopping: true });
  });

  it('answers each line of one connection', async () => {
    const path = freshPath();
    await openSample(path);
    const ask = '{"v":1,"ask":"status"}\n';
    const answers = (await exchange(path, ask + ask, 2)).trim().split('\n');
    expect(answers.map((line) => JSON.parse(line) as unknown)).toEqual([sampleReport(), sampleReport()]);
  });

  it.each(['{"v":1,"ask":"stop"}', '{"v":2,"ask":"status"}', 'status', '', 'null', '[]'])('refuses %j', async (line) => {
    const path = freshPath();
    await openSample(path);
    expect(await exchange(path, `${line}\n`, 1)).toBe('{"v":1,"error":"unknown_request"}\n');
  });

  it('ends a connection whose request does not end, and answers the next one', async () => {
    const path = freshPath();
    await openSample(path);
    expect(await exchange(path, 'x'.repeat(100_000), 1).catch(() => '')).toBe('');
    expect((await askStatus(path, 5_000)).pid).toBe(process.pid);
    // Sooner than a silent connection would be ended.
  }, 8_000);

  it('says so when the report cannot be made, and lives on', async () => {
    const path = freshPath();
    await openSample(path, () => {
      throw new TypeError('a bug');
    });
    expect(await exchange(path, '{"v":1,"ask":"status"}\n', 1)).toBe('{"v":1,"error":"internal"}\n');
    await expect(askStatus(path, 5_000)).rejects.toMatchObject({ code: 'not_running' });
  });

  it('is open to its owner alone', async () => {
    const path = freshPath();
    await openSample(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('ends open connections and removes its file at close; twice is once', async () => {
    const path = freshPath();
    const control = await openSample(path);
    const socket = connect(path);
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    await Promise.all([control.close(), control.close(), closed]);
    expect(existsSync(path)).toBe(false);
  }, 8_000);
});

describe('session requests', () => {
  const LIST = '{"v":1,"ask":"session.list"}';

  async function answered(line: string, desk: () => CredentialDesk | undefined): Promise<string> {
    const path = freshPath();
    open.push(await openControl({ path, snapshot: sampleReport, log: silentLog, restart: () => undefined, desk }));
    return await exchange(path, `${line}\n`, 1);
  }

  const desk: CredentialDesk = {
    issue: () => Promise.reject(new Failure('storage_full', 'skep.db: the disk is full')),
    rotate: () => Promise.reject(new TypeError('a bug')),
    revoke: () => Promise.resolve({ ok: false, code: 'unknown_id', detail: 'id: unknown' }),
    list: () => [],
  };

  it.each([
    [LIST, { v: 1, ok: true, sessions: [] }],
    ['{"v":1,"ask":"session.issue","agent":"a"}', { v: 1, error: 'storage_full', detail: 'skep.db: the disk is full' }],
    ['{"v":1,"ask":"session.rotate","id":"a"}', { v: 1, error: 'internal' }],
    ['{"v":1,"ask":"session.revoke","id":"a"}', { v: 1, error: 'usage', detail: 'id: unknown' }],
    ['{"v":1,"ask":"session.issue"}', { v: 1, error: 'unknown_request' }],
    ['{"v":1,"ask":"session.issue","agent":"a","owner":"b"}', { v: 1, error: 'unknown_request' }],
    ['{"v":1,"ask":"session.revoke","id":1}', { v: 1, error: 'unknown_request' }],
  ])('%s', async (line, answer) => {
    expect(JSON.parse(await answered(line, () => desk))).toEqual(answer);
  });

  it('are told to come back as long as there is no broker', async () => {
    expect(JSON.parse(await answered(LIST, () => undefined))).toMatchObject({ error: 'not_running' });
  });

  it('fail with the code that the supervisor tells, and with another where its words are not known', async () => {
    const path = freshPath();
    open.push(await openControl({ path, snapshot: sampleReport, log: silentLog, restart: () => undefined, desk: () => desk }));
    await expect(askSessions(path, { v: 1, ask: 'session.issue', agent: 'a' }, 5_000)).rejects.toMatchObject({ code: 'storage_full' });
    await expect(askSessions(path, { v: 1, ask: 'session.rotate', id: 'a' }, 5_000)).rejects.toMatchObject({ code: 'not_seen' });
    expect(await askSessions(path, { v: 1, ask: 'session.list' }, 5_000)).toEqual({ v: 1, ok: true, sessions: [] });
  });
});

describe('a request for a restart', () => {
  const restarts: Readonly<Record<string, Awaited<ReturnType<Restart>>>> = {
    a: { ok: true }, b: { ok: false, code: 'agent', detail: 'agent: unknown' }, c: { ok: false, code: 'unavailable', detail: 'relay: away' },
    d: { ok: false, code: 'team_conflict', detail: 'teams: expected the same instructions' },
  };
  const restart: Restart = async (agent) => restarts[agent] ?? Promise.reject(new TypeError('a bug'));
  const opened = async (given: () => Restart | undefined): Promise<string> => {
    const path = freshPath();
    open.push(await openControl({ path, snapshot: sampleReport, log: silentLog, desk: () => undefined, restart: given }));
    return path;
  };

  it('is answered when the agent is about to start, or with what keeps it from that', async () => {
    const path = await opened(() => restart);
    await expect(askRestart(path, 'a', 5_000)).resolves.toBeUndefined();
    const ends = [['b', 'usage'], ['c', 'relay'], ['d', 'not_changed'], ['e', 'not_seen']] as const;
    for (const [agent, code] of ends) await expect(askRestart(path, agent, 5_000)).rejects.toMatchObject({ code });
    await expect(askRestart(await opened(() => undefined), 'a', 5_000)).rejects.toMatchObject({ code: 'not_running' });
    expect(JSON.parse(await exchange(path, '{"v":1,"ask":"agent.restart","agent":"a","by":"b"}\n', 1))).toEqual({ v: 1, error: 'unknown_request' });
  });
});

describe('a path that is taken', () => {
  it('is replaced when its supervisor was killed', async () => {
    const path = freshPath();
    await leaveStaleSocket(path);
    expect(statSync(path).isSocket()).toBe(true);
    await openSample(path);
    expect((await askStatus(path, 5_000)).agents).toHaveLength(1);
  });

  it('is left alone when somebody answers on it', async () => {
    const path = freshPath();
    await openSample(path);
    await expect(openControl({ path, snapshot: sampleReport, log: silentLog, restart: () => undefined, desk: () => undefined })).rejects.toMatchObject({ code: 'in_use' });
    expect((await askStatus(path, 5_000)).pid).toBe(process.pid);
  });

  it('is left alone when it is no socket', async () => {
    const path = freshPath();
    writeFileSync(path, 'precious');
    await expect(openControl({ path, snapshot: sampleReport, log: silentLog, restart: () => undefined, desk: () => undefined })).rejects.toMatchObject({
      code: 'listen', message: `${path}: is in the way and not a socket; move it away`,
    });
    expect(existsSync(path)).toBe(true);
  });

  it('names a folder that does not exist', async () => {
    const path = join(temporaryDirectory(), 'none', 'skep.sock');
    await expect(openControl({ path, snapshot: sampleReport, log: silentLog, restart: () => undefined, desk: () => undefined })).rejects.toMatchObject({ code: 'listen' });
  });
});

describe('asking where nobody answers', () => {
  it.each(['no file', 'a stale socket', 'no folder'])('fails as not running: %s', async (what) => {
    const path = what === 'no folder' ? '/nonexistent/skep.sock' : freshPath();
    if (what === 'a stale socket') await leaveStaleSocket(path);
    await expect(askStatus(path, 5_000)).rejects.toMatchObject({
      code: 'not_running', message: `${path}: no supervisor is running here; start one with skep up`,
    });
  });

  it.each([
    ['never', 200, () => undefined, /does not answer within 200 ms/],
    ['by closing', 5_000, 'close', /closed the connection without an answer/],
    ['in other words', 5_000, '{"v":2}\n', /does not know; use the version that runs/],
    ['with a report that is none', 5_000, '{"v":1,"agents":[]}\n', /does not know/],
  ])('fails when the other side answers %s', async (_, timeoutMs, answer, message) => {
    const path = freshPath();
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.resume();
      if (answer === 'close') socket.end();
      else if (typeof answer === 'string') socket.write(answer);
    });
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    try {
      await expect(askStatus(path, timeoutMs)).rejects.toMatchObject({ code: 'not_running', message: expect.stringMatching(message) as string });
    } finally {
      await new Promise((resolve) => void server.close(resolve));
    }
  });
});

it('documents every member of a report, and no other', () => {
  expect(documentedMembers()).toEqual(membersOf(sampleReport()));
});
