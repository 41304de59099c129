/** The end of processes: nothing of a tree is left after a stop, a crash or a timeout, and no stranger is signalled. */
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { ProcessGroup } from '../../src/acp/group.ts';
import { DEFAULT_LIMITS } from '../../src/acp/limits.ts';
import { processTable } from '../../src/acp/process-table.ts';
import { treeWatch } from '../../src/acp/tree-watch.ts';
import { milliseconds, silentLog } from '../../src/model/index.ts';
import type { Clock } from '../../src/model/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import {
  alive,
  meet,
  noneLeft,
  open,
  pidIn,
  play,
  program,
  run,
  say,
  SHORT,
  start,
  until,
} from './harness.ts';
import type { Started } from './harness.ts';

afterEach(noneLeft);

/** sh → node → sleep, the sleep in a group of its own and deaf to SIGTERM when `tool` says so. */
async function tree(
  extra: object = {},
  tool: object = {},
): Promise<Started & { readonly sessionId: string; readonly pids: readonly number[] }> {
  const child = {
    ...tool,
    command: ['/bin/sh', '-c', 'trap "" TERM; echo $$ > child.part; mv child.part child; sleep 600; true'],
  };
  const started = await start(
    {
      rules: [
        { match: 'work', do: [{ spawn: child }, { wait: 'child' }, { mark: 'node' }] },
        { do: [{ ignoreCancel: true }, { wait: 'never' }] },
      ],
      ...extra,
    },
    { command: ['/bin/sh', '-c', '"$@"; exit $?', 'agent'] },
  );
  const sessionId = await open(started);
  expect(await say(started.process, sessionId, 'work')).toMatchObject({ status: 'ended' });
  const pids = [started.process.pid, await pidIn(started.directory, 'node'), await pidIn(started.directory, 'child')];
  expect(pids.map(alive)).toEqual([true, true, true]);
  return { ...started, sessionId, pids };
}

const TOOL = { detached: true };

describe.each([
  ['in the group', {}],
  ['in a group of its own', TOOL],
])('a tree of sh, node and a tool %s', (_, tool) => {
  it('is gone after a stop, though none heeds the end of stdin or SIGTERM', async () => {
    const { process: agent, pids } = await tree({ ignoreStdinEof: true, ignoreSigterm: true }, tool);
    await Promise.all([agent.stop(), agent.stop()]);
    expect(pids.map(alive)).toEqual([false, false, false]);
    expect(await agent.ended).toEqual({ how: 'stopped' });
  });

  it('is gone after a stop that the agent heeds', async () => {
    const { process: agent, pids } = await tree({}, tool);
    await agent.stop();
    expect(pids.map(alive)).toEqual([false, false, false]);
  });

  it('is gone after a crash of the leader', async () => {
    const { process: agent, pids } = await tree({}, tool);
    process.kill(agent.pid, 'SIGKILL');
    expect(await agent.ended).toMatchObject({ how: 'signalled', signal: 'SIGKILL' });
    expect(pids.map(alive)).toEqual([false, false, false]);
  });

  it('is gone after a timeout', async () => {
    const { process: agent, pids, sessionId } = await tree({}, tool);
    expect(await say(agent, sessionId, 'hang', { idleTimeoutMs: 200 })).toMatchObject({
      status: 'idle_timeout',
      processAlive: false,
    });
    await agent.ended;
    expect(pids.map(alive)).toEqual([false, false, false]);
  });
});

describe('a stop', () => {
  it('is heeded at the end of stdin, without a signal', async () => {
    const started = await start(program('answers-plainly'), { limits: { stdinGraceMs: 10_000 } });
    await started.process.stop();
    expect(alive(started.process.pid)).toBe(false);
  });

  it('of an agent that has ended is nothing, and the first end is kept', async () => {
    const { process: agent } = await play({ rules: [{ do: [{ die: 3 }] }] });
    await agent.stop();
    await agent.stop();
    expect(await agent.ended).toMatchObject({ how: 'exited', exitCode: 3 });
  });

  it('asks running turns to end', async () => {
    const started = await start({ rules: [{ do: [{ mark: 'begun' }, { hang: true }] }], ignoreStdinEof: true });
    const turn = say(started.process, await open(started));
    await pidIn(started.directory, 'begun');
    await started.process.stop();
    expect(started.lines.some(({ text }) => text.includes('session/cancel'))).toBe(true);
    // The agent said `cancelled`, or its last word was lost: either way it was we who ended the turn.
    expect(await turn).toMatchObject({ status: 'process_ended', end: { how: 'stopped' } });
  });

  it('sends no prompt that had not gone out', async () => {
    const started = await start({ rules: [{ do: [{ say: 'worked' }] }] });
    const turn = say(started.process, await open(started));
    await started.process.stop();
    expect(await turn).toMatchObject({ status: 'process_ended', end: { how: 'stopped' }, seen: { updates: 0 } });
    // The control: what did go out is among the lines.
    const written = started.lines.filter(({ direction }) => direction === 'write').map(({ text }) => text);
    expect(written.some((text) => text.includes('session/new'))).toBe(true);
    expect(written.some((text) => /session\/(?:prompt|cancel)/.test(text))).toBe(false);
  });

  it('leaves strangers alone', async () => {
    const stranger = run('sleep', ['60']);
    const started = await start(program('answers-plainly'));
    await started.process.stop();
    meet(stranger.pid);
    expect(alive(stranger.pid)).toBe(true);
    await stranger.kill();
  });
});

describe('a group', () => {
  it("whose leader's pid is a stranger's by now is never signalled", async () => {
    const innocent = run('sleep', ['60']);
    const pid = innocent.pid;
    const group = new ProcessGroup({
      leader: Promise.resolve({ pid, started: 'another time' }),
      mark: undefined,
      table: processTable(),
      clock: steadyClock,
      log: silentLog,
      limits: { ...DEFAULT_LIMITS, ...SHORT },
    });
    // Nor does a look at it make it ours.
    await group.remember();
    expect(await group.end()).toEqual([]);
    meet(pid);
    expect(alive(pid)).toBe(true);
    await innocent.kill();
  });
});

describe('what a tool in a group of its own forks in the moment of the signal', () => {
  // Stood in for by a child that the table never shows, or not before the tool is dead.
  it.each([
    ['is met with its group', '', false],
    ['is found in its group', 'trap "" TERM; ', true],
  ])('%s', async (_, trap, shownLater) => {
    const directory = temporaryDirectory();
    const fork = `(${trap}exec sleep 600) & echo $! > child.part; mv child.part child`;
    const tool = `echo $$ > tool.part; ${fork}; mv tool.part tool; wait`;
    const leader = run('/bin/sh', ['-c', `setsid sh -c '${tool}' & wait`], directory);
    const [toolPid, child] = [await pidIn(directory, 'tool'), await pidIn(directory, 'child')];
    const table = processTable();
    const hidden = (pid: number): boolean => pid === child && !(shownLater && !alive(toolPid));
    const identity = (await table.row(leader.pid)) ?? { pid: 0, started: '' };
    const group = new ProcessGroup({
      leader: Promise.resolve(identity),
      mark: undefined,
      table: { ...table, rows: async () => (await table.rows()).filter(({ pid }) => !hidden(pid)) },
      clock: steadyClock,
      log: silentLog,
      limits: { ...DEFAULT_LIMITS, ...SHORT },
    });
    expect(await group.end()).toEqual([]);
    // The table does not show the child: its end is waited for.
    await until(() => !alive(toolPid) && !alive(child));
    await leader.exited;
  });
});

describe('a process table that cannot be read', () => {
  it('is told, and keeps no one waiting', async () => {
    const unreadable = (): Promise<never> => Promise.reject(Object.assign(new Error('EMFILE'), { code: 'EMFILE' }));
    const errors: string[] = [];
    const group = new ProcessGroup({
      leader: Promise.resolve({ pid: 4_000_000, started: 'once' }),
      mark: undefined,
      table: { rows: unreadable, row: unreadable, tree: unreadable, marked: unreadable, pipes: unreadable, holding: unreadable, look: unreadable },
      clock: steadyClock,
      log: { ...silentLog, error: (message) => errors.push(message) },
      limits: { ...DEFAULT_LIMITS, ...SHORT },
    });
    expect(await group.end()).toEqual([4_000_000]);
    expect(errors).toEqual(['the process table cannot be read: an agent may live on']);
  });
});

describe('an orphan', () => {
  it.each([[true], [false]])(
    'in a session of its own is found after a crash when it was remembered: %s',
    async (remembered) => {
      const directory = temporaryDirectory();
      const script = "setsid sh -c 'echo $$ > pid.part; mv pid.part pid; exec sleep 600' & exec sleep 600";
      const leader = run('/bin/sh', ['-c', script], directory);
      const orphan = await pidIn(directory, 'pid');
      const table = processTable();
      const row = await table.row(leader.pid);
      const group = new ProcessGroup({
        leader: Promise.resolve(row ?? { pid: 0, started: '' }),
        mark: undefined,
        table,
        clock: steadyClock,
        log: silentLog,
        limits: { ...DEFAULT_LIMITS, ...SHORT },
      });
      if (remembered) await group.remember();
      await leader.kill();
      expect(await group.end()).toEqual([]);
      expect(alive(orphan)).toBe(!remembered);
      if (!remembered) process.kill(orphan, 'SIGKILL');
      await until(() => !alive(orphan));
    },
  );

  it('is looked for a little after each word of the agent, and not when it is silent', () => {
    const waits: { at: number; callback: () => void }[] = [];
    const clock: Clock = {
      now: () => milliseconds(1_000),
      wake: (at, callback) => {
        const wait = { at, callback };
        waits.push(wait);
        return () => void waits.splice(waits.indexOf(wait), 1);
      },
    };
    let looks = 0;
    const watch = treeWatch(clock, 2_000, () => (looks += 1));
    for (let frame = 0; frame < 100; frame += 1) watch.heard();
    expect(waits.map(({ at }) => at)).toEqual([3_000]);
    waits.shift()?.callback();
    expect([looks, waits.length]).toEqual([1, 0]);
    watch.turnEnded();
    watch.heard();
    watch.release();
    watch.heard();
    expect([looks, waits.length]).toEqual([2, 0]);
  });
});

describe('a grandchild that looks around', () => {
  it("finds no key and no credential but its own, in its environment and its parent's /proc", async () => {
    process.env['BUZZ_PRIVATE_KEY'] = `nsec1${'q'.repeat(58)}`;
    process.env['GITHUB_TOKEN'] = 'ghp_marked_0123456789';
    try {
      const seen = join(temporaryDirectory(), 'seen');
      const { outcome } = await play(
        { rules: [{ do: [{ spawn: { command: [...program('tells-what-it-can-see'), seen] } }, { say: 'ok' }] }] },
        { env: { SKEP_CREDENTIAL: 'own-credential' } },
      );
      expect(outcome.status).toBe('ended');
      let found = '';
      await until(() => {
        try {
          found = readFileSync(seen, 'utf8');
        } catch {
          return false;
        }
        return true;
      });
      // The control: it did see environments and command lines.
      expect(found.match(/own-credential/g)?.length).toBe(2);
      expect(found).toContain('script.json');
      expect(found).not.toMatch(/nsec1|ghp_|BUZZ_PRIVATE_KEY|GITHUB_TOKEN/);
      expect(JSON.parse(found)).toHaveLength(4);
    } finally {
      delete process.env['BUZZ_PRIVATE_KEY'];
      delete process.env['GITHUB_TOKEN'];
    }
  });
});
