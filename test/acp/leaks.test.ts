/** What escapes from an agent: found by its pipes and ended, or told and left alone. Never silent, never a stranger. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LeakBook, reapLeftovers } from '../../src/acp/index.ts';
import type { Leak } from '../../src/acp/index.ts';
import { processTable } from '../../src/acp/process-table.ts';
import type { ProcessRow } from '../../src/acp/process-table.ts';
import { isWithin, straysAmong } from '../../src/acp/strays.ts';
import { silentLog } from '../../src/model/index.ts';
import type { Log } from '../../src/model/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { alive, meet, noneLeft, open, pidIn, plan, program, run, say, SHORT, start, until } from './harness.ts';

afterEach(noneLeft);

/** Forks twice into a session of its own, each time unseen, without an environment: nothing of its agent is on it but its pipes. */
function escape(pipes: '' | '>/dev/null 2>&1 </dev/null'): readonly string[] {
  const sleeper = 'echo $$ > pid.part; mv pid.part pid; exec sleep 600';
  return ['/bin/sh', '-c', `env -i setsid /bin/sh -c '/bin/sh -c "${sleeper.replaceAll('$', '\\$')}" & true' ${pipes}`];
}

/** An agent whose only look at its tree is at its end, so that nothing of it is remembered. */
const UNSEEN = { ...SHORT, watchTreeMs: 600_000 };

async function escapee(pipes: Parameters<typeof escape>[0]): Promise<{ readonly stop: () => Promise<void>; readonly pid: number; readonly leaks: readonly Leak[] }> {
  const leaks: Leak[] = [];
  const started = await start(
    { rules: [{ do: [{ spawn: { command: escape(pipes), detached: true, stdio: 'inherit' } }, { wait: 'pid' }, { sleep: 50 }] }] },
    { limits: UNSEEN, onLeak: (leak) => leaks.push(leak) },
  );
  await say(started.process, await open(started), 'go');
  const pid = await pidIn(started.directory, 'pid');
  meet(pid);
  return { stop: () => started.process.stop(), pid, leaks };
}

describe('a program that forked twice into a session of its own, without an environment', () => {
  it('is known by a pipe it holds, and ended', async () => {
    const { stop, pid, leaks } = await escapee('');
    expect(alive(pid)).toBe(true);
    await stop();
    expect([alive(pid), leaks]).toEqual([false, []]);
  });

  it('and let go of its pipes is proven by nothing: it is told, and left alone', async () => {
    const { stop, pid, leaks } = await escapee('>/dev/null 2>&1 </dev/null');
    await stop();
    const { started = '' } = (await processTable().row(pid)) ?? {};
    expect(leaks).toEqual([{ pid, started, agent: 'tester', program: 'sleep', why: 'escaped' }]);
    expect(alive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
    await until(() => !alive(pid));
  });

  it('is told by the next start where the supervisor was killed', async () => {
    const file = join(temporaryDirectory(), 'skep.db');
    const command = escape('>/dev/null 2>&1 </dev/null');
    const launch = plan({ rules: [{ do: [{ spawn: { command, detached: true } }, { wait: 'never' }] }] });
    const [node, ...words] = program('supervises-one-agent', file, JSON.stringify(launch));
    const supervisor = run(node, words);
    const [agent, pid] = [await pidIn(launch.cwd, 'agent'), await pidIn(launch.cwd, 'pid')];
    meet(pid);
    await supervisor.kill();
    await until(() => !alive(agent));
    const store = openSqlite(file, SUPERVISOR_SCHEMA);
    const leaks: Leak[] = [];
    await reapLeftovers({ store, clock: steadyClock, log: silentLog, limits: SHORT, onLeak: (leak) => leaks.push(leak) });
    await store.close();
    expect(leaks).toMatchObject([{ pid, agent: 'tester', why: 'escaped' }]);
    process.kill(pid, 'SIGKILL');
    await until(() => !alive(pid));
  });
});

describe('who may have escaped', () => {
  const row = (pid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({ pid, parent: 1, group: pid, session: pid, started: 'b/50', zombie: false, ...more });
  const agent = { pid: 50, started: 'b/50' };
  const line = [row(20, { parent: 10, session: 10, started: 'b/20' }), row(10, { started: 'b/10' }), row(1, { parent: 0, started: 'b/1' })];

  it.each<readonly [string, Partial<ProcessRow>, boolean]>([
    ['one that leads its session, taken in by the first process', {}, true],
    ['one whose leader is gone', { session: 44, group: 44 }, true],
    ['one taken in by another of those we descend from', { parent: 10 }, true],
    ['one taken in by ourselves', { parent: 20 }, true],
    ['one of before', { started: 'b/49' }, false],
    ['one of another boot', { started: 'c/60' }, false],
    ['one whose parent lives elsewhere', { parent: 30 }, false],
    ['one in our own session, as what a person starts beside us', { session: 10 }, false],
    ['one in a session that somebody leads', { session: 30 }, false],
    ['one that is dead', { zombie: true }, false],
    ['one whose session is not known', { session: undefined }, false],
  ])('%s: %j: %s', (_, more, is) => {
    expect(straysAmong([...line, row(30, { started: 'b/30' }), row(60, more)], agent, line).map(({ pid }) => pid)).toEqual(is ? [60] : []);
  });

  it('works in its directory or below, and not beside it', () => {
    expect(['/w', '/w/x', '/wx', '/'].map((path) => isWithin(path, '/w'))).toEqual([true, true, false, false]);
    expect(isWithin('/w', '/')).toBe(true);
  });
});

describe('the book of leaks', () => {
  function bookOf(): { readonly book: LeakBook; readonly told: string[]; readonly running: Set<string> } {
    const told: string[] = [];
    const running = new Set<string>();
    const log: Log = { ...silentLog, error: (_, fields) => told.push(`error ${String(fields?.['pid'])}`), warn: (_, fields) => told.push(`warn ${String(fields?.['pid'])}`) };
    const row = async (pid: number): Promise<ProcessRow | undefined> =>
      (running.has(String(pid)) ? { pid, started: `s${pid}`, parent: 1, group: pid, session: pid, zombie: false } : undefined);
    return { book: new LeakBook(log, { ...processTable(), row }), told, running };
  }
  const leak = (pid: number, why: Leak['why'] = 'escaped'): Leak => ({ pid, started: `s${pid}`, agent: 'bee', program: 'sleep', why });

  it('tells each once, and forgets it when it has ended', async () => {
    const { book, told, running } = bookOf();
    for (const one of [leak(1), leak(1), leak(2, 'survives')]) book.add(one);
    running.add('2');
    expect(told).toEqual(['warn 1', 'error 2']);
    expect(book.list().map(({ pid }) => pid)).toEqual([1, 2]);
    await until(() => book.list().length === 1);
    expect(book.list()).toEqual([leak(2, 'survives')]);
  });

  it('is bounded, and the oldest goes first', () => {
    const { book } = bookOf();
    for (let pid = 1; pid <= 100; pid += 1) book.add(leak(pid));
    expect(book.list().map(({ pid }) => pid)).toEqual(Array.from({ length: 64 }, (_, index) => index + 37));
  });
});
