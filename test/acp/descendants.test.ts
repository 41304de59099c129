import { describe, expect, it } from 'vitest';
import { membersOf } from '../../src/acp/descendants.ts';
import { ENV_PROCESS, markInEnviron, markOf } from '../../src/acp/mark.ts';
import { processTable, psMarked, psRow, startedSince, statRow } from '../../src/acp/process-table.ts';
import type { ProcessRow } from '../../src/acp/process-table.ts';
import { run } from './harness.ts';

function row(pid: number, parent: number, rest: Partial<ProcessRow> = {}): ProcessRow {
  return { pid, parent, group: pid, session: pid, started: `s${pid}`, zombie: false, ...rest };
}

const leader = { pid: 100, started: 's100' };
const pids = (rows: readonly ProcessRow[]): readonly number[] => rows.map(({ pid }) => pid).sort((a, b) => a - b);

describe('whose a process is', () => {
  const strangers = [row(1, 0), row(50, 1), row(60, 50, { group: 50, session: 50 })];

  it('takes the group, the session and every descendant, wherever it went', () => {
    const rows = [
      ...strangers,
      row(100, 50),
      row(101, 100, { group: 100, session: 100 }),
      row(102, 101),
      row(103, 102),
      row(104, 1, { group: 104, session: 100 }),
      row(105, 1, { group: 100, session: 100 }),
    ];
    expect(pids(membersOf(rows, [leader], []))).toEqual([100, 101, 102, 103, 104, 105]);
  });

  it('does without the leader', () => {
    const rows = [...strangers, row(101, 1, { group: 100, session: 100 }), row(102, 101), row(103, 1)];
    expect(pids(membersOf(rows, [leader], []))).toEqual([101, 102]);
    expect(pids(membersOf(rows, [leader], [{ pid: 103, started: 's103' }]))).toEqual([101, 102, 103]);
  });

  it('takes no one whose start time differs, nor what that one started or leads', () => {
    const rows = [
      ...strangers,
      row(100, 1, { started: 'later' }),
      row(101, 100, { group: 100, session: 100 }),
      row(103, 1, { started: 'later' }),
    ];
    expect(membersOf(rows, [leader], [{ pid: 103, started: 's103' }])).toEqual([]);
  });

  it('takes what a tool forked last into a group of its own, unless the number is a stranger\'s by now', () => {
    const tool = { pid: 104, started: 's104' };
    const orphan = row(105, 1, { group: 104, session: 104 });
    expect(pids(membersOf([...strangers, orphan], [leader, tool], []))).toEqual([105]);
    expect(membersOf([...strangers, orphan], [leader], [tool])).toEqual([]);
    expect(membersOf([...strangers, orphan, row(104, 1, { started: 'later' })], [leader, tool], [])).toEqual([]);
  });

  it('takes who is marked, and what that one started, wherever they are', () => {
    const rows = [...strangers, row(101, 1), row(102, 101), row(103, 1)];
    expect(pids(membersOf(rows, [leader], [], new Set([101])))).toEqual([101, 102]);
  });

  it('leaves out the dead, but not their living children', () => {
    const rows = [row(100, 50, { zombie: true }), row(101, 100)];
    expect(pids(membersOf(rows, [leader], []))).toEqual([101]);
  });
});

describe('the process table', () => {
  it('reads /proc, and names that look like fields', () => {
    const stat = `42 (a) R (1) 2) S 7 42 40 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 2 3\n`;
    expect(statRow(stat, 'boot')).toEqual({
      pid: 42,
      parent: 7,
      group: 42,
      session: 40,
      started: 'boot/987654',
      zombie: false,
    });
    expect(statRow('42 (x) Z 7 42 40 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654', 'b')?.zombie).toBe(true);
    expect(statRow('', 'b')).toBeUndefined();
  });

  it('reads ps', () => {
    expect(psRow('  42     7    40 Ss+  Mon Nov 30 02:35:01 2026  ')).toEqual({
      pid: 42,
      parent: 7,
      group: 40,
      session: undefined,
      started: 'Mon Nov 30 02:35:01 2026',
      zombie: false,
    });
    expect(psRow('42 7 40 Z Mon Nov 30 02:35:01 2026')?.zombie).toBe(true);
    expect(psRow('')).toBeUndefined();
  });

  it.each(['linux', 'darwin'] as const)('finds a child by the means of %s, and finds it gone', async (platform) => {
    const table = processTable(platform);
    const child = run('sleep', ['60']);
    const pid = child.pid;
    const seen = await table.row(pid);
    expect(seen).toMatchObject({ pid, parent: process.pid, group: pid, zombie: false });
    expect(await table.row(pid)).toEqual(seen);
    expect(await table.tree(pid)).toEqual([seen]);
    expect((await table.tree(process.pid)).map((each) => each.pid)).toContain(pid);
    expect((await table.rows()).filter((each) => each.pid === pid)).toEqual([seen]);
    await child.kill();
    expect(await table.row(pid)).toBeUndefined();
  });
});

describe('the mark of an agent process', () => {
  const mark = markOf({ [ENV_PROCESS]: 'a1b2' }) ?? '';

  it('is a digest of its word, and none without one', () => {
    expect(mark).toMatch(/^[0-9a-f]{64}$/);
    expect(markOf({ [ENV_PROCESS]: 'a1b3' })).not.toBe(mark);
    expect([markOf({}), markOf({ [ENV_PROCESS]: '' })]).toEqual([undefined, undefined]);
  });

  it.each([
    ['HOME=/\0SKEP_PROCESS=a1b2\0TERM=x\0', true],
    ['SKEP_PROCESS=a1b2', true],
    ['SKEP_PROCESS=a1b22\0', false],
    ['MY_SKEP_PROCESS=a1b2\0', false],
    ['WORDS=x SKEP_PROCESS=a1b2\0', false],
    ['SKEP_PROCESS=\0', false],
    ['', false],
  ])('is read of %j: %s', (environ, found) => {
    expect(markInEnviron(environ) === mark).toBe(found);
  });

  it('is read of ps, for our own user alone', () => {
    const line = '  42   501 node agent.js HOME=/ SKEP_PROCESS=a1b2 TERM=x';
    expect(psMarked(line, mark, 501)).toBe(42);
    expect(psMarked(line, mark, 0)).toBeUndefined();
    expect(psMarked(line, 'another', 501)).toBeUndefined();
    expect(psMarked('', mark, 501)).toBeUndefined();
  });

  it.each([
    ['b/10', 'b/10', true],
    ['b/11', 'b/10', true],
    ['b/9', 'b/10', false],
    ['c/11', 'b/10', false],
    ['b/11', '', true],
    ['Mon Nov 30 02:35:02 2026', 'Mon Nov 30 02:35:01 2026', true],
    ['Mon Nov 30 02:35:00 2026', 'Mon Nov 30 02:35:01 2026', false],
  ])('is looked for in what started at %j for an agent of %j: %s', (started, since, looked) => {
    expect(startedSince({ pid: 2, started }, { pid: 1, started: since })).toBe(looked);
  });
});
