/** The record of what runs, and what the next supervisor makes of it: all that was left is ended, and nobody else. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ENV_PROCESS, reapLeftovers } from '../../src/acp/index.ts';
import { recordProcess } from '../../src/acp/leftovers.ts';
import { markOf } from '../../src/acp/mark.ts';
import { processTable } from '../../src/acp/process-table.ts';
import { silentLog } from '../../src/model/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { alive, meet, noneLeft, open, pidIn, plan, program, run, say, SHORT, start, startTime, tryStart, until } from './harness.ts';

const stores: Store[] = [];

afterEach(async () => {
  await noneLeft();
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

function openStore(file = ':memory:'): Store {
  const store = openSqlite(file, SUPERVISOR_SCHEMA);
  stores.push(store);
  return store;
}

function reap(store: Store): Promise<number> {
  return reapLeftovers({ store, clock: steadyClock, log: silentLog, limits: SHORT });
}

describe('the record of what runs', () => {
  const rows = (store: Store): Promise<readonly unknown[]> => store.read(sql('SELECT pid, agent FROM processes'));

  it('is kept while an agent runs, and erased when it has ended', async () => {
    const store = openStore();
    const first = await start({}, { store });
    const second = await start({}, { store });
    expect(await rows(store)).toEqual(
      [first, second].map(({ process: { pid } }) => ({ pid, agent: 'tester' })).sort((a, b) => a.pid - b.pid),
    );
    await first.process.stop();
    expect(await rows(store)).toEqual([{ pid: second.process.pid, agent: 'tester' }]);
    process.kill(second.process.pid, 'SIGKILL');
    await second.process.ended;
    expect(await rows(store)).toEqual([]);
    expect(await tryStart(plan({ dieAtStart: 1 }), { store })).toMatchObject({ ok: false });
    expect(await rows(store)).toEqual([]);
  });

  it('lets the next supervisor end what a killed one left, whole trees', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'skep.db');
    const launch = plan({
      rules: [
        {
          do: [
            {
              spawn: {
                command: ['/bin/sh', '-c', 'trap "" TERM; echo $$ > child.part; mv child.part child; sleep 600; true'],
                detached: true,
              },
            },
            { wait: 'never' },
          ],
        },
      ],
      ignoreStdinEof: true,
      ignoreSigterm: true,
    });
    const [node, ...words] = program('supervises-one-agent', file, JSON.stringify(launch));
    const supervisor = run(node, words);
    const agent = await pidIn(launch.cwd, 'agent');
    const child = await pidIn(launch.cwd, 'child');
    await supervisor.kill();
    expect([agent, child].map(alive)).toEqual([true, true]);

    const store = openStore(file);
    expect(await rows(store)).toEqual([{ pid: agent, agent: 'tester' }]);
    expect(await reap(store)).toBe(1);
    expect([agent, child].map(alive)).toEqual([false, false]);
    expect(await rows(store)).toEqual([]);
  });

  it('never costs a stranger its life: pid and start time must both match', async () => {
    const store = openStore();
    const innocent = run('sleep', ['60']);
    const pid = innocent.pid;
    meet(pid);
    await store.write(
      sql(
        'INSERT INTO processes (pid, started, agent) VALUES (?, ?, ?)',
        pid,
        `boot/${Number(startTime(pid)) - 1}`,
        'bee',
      ),
      sql('INSERT INTO processes (pid, started, agent) VALUES (?, ?, ?)', process.pid, '', 'bee'),
      sql('INSERT INTO processes (pid, started, agent) VALUES (?, ?, ?)', 1, 'boot/1', 'bee'),
      sql('INSERT INTO processes (pid, started, agent) VALUES (?, ?, ?)', 4_000_000, 'boot/1', 'bee'),
    );
    expect(await reap(store)).toBe(0);
    expect(alive(pid)).toBe(true);
    // The control: with its own start time it would be ended.
    const { started } = (await processTable().row(pid)) ?? { started: '' };
    await store.write(sql('INSERT INTO processes (pid, started, agent) VALUES (?, ?, ?)', pid, started, 'bee'));
    expect(await reap(store)).toBe(1);
    await innocent.exited;
    expect(alive(pid)).toBe(false);
  });
});

/** Writes a pid, of the shell if no other, in one step. */
const tell = (name: string, pid = '$$'): string => `echo ${pid} > ${name}.part; mv ${name}.part ${name}`;
const UNTIL_GO = 'until [ -e go ]; do sleep 0.01; done';
const SLEEPER = `${tell('tool')}; exec sleep 600`;

describe('what a killed supervisor left when the agent itself has ended since', () => {
  it.each([
    ['in its group', SLEEPER, false],
    ['in a session of its own', SLEEPER, true],
    ['in a session of its own, forked twice', `setsid sh -c 'setsid sh -c "${SLEEPER.replaceAll('$', '\\$')}" &' & true`, true],
    ['in its group without an environment, beside one that has it', `sleep 600 & ${tell('other', '$!')}; env -i sleep 600 & ${tell('tool', '$!')}`, false],
  ])('is ended: a tool %s', async (_, script, detached) => {
    const file = join(temporaryDirectory(), 'skep.db');
    const tool = { spawn: { command: ['/bin/sh', '-c', script], detached } };
    const launch = plan({ rules: [{ do: [tool, { wait: 'never' }] }] }, { env: { [ENV_PROCESS]: 'ours' } });
    const [node, ...words] = program('supervises-one-agent', file, JSON.stringify(launch));
    const supervisor = run(node, words);
    const agent = await pidIn(launch.cwd, 'agent');
    const left = await pidIn(launch.cwd, 'tool');
    const bystander = run('env', [`${ENV_PROCESS}=another`, 'sleep', '600']);
    meet(bystander.pid);
    await supervisor.kill();
    await until(() => !alive(agent));
    expect(alive(left)).toBe(true);

    const store = openStore(file);
    expect(await reap(store)).toBe(1);
    expect([alive(left), alive(bystander.pid)]).toEqual([false, true]);
    expect(await store.read(sql('SELECT * FROM processes'))).toEqual([]);
    await bystander.kill();
  });

  it('is not taken for ours by its number alone', async () => {
    const directory = temporaryDirectory();
    const daemon = run('/bin/sh', ['-c', `sleep 600 & ${tell('child', '$!')}; ${tell('leader')}; ${UNTIL_GO}`], directory);
    const [leader, child] = [await pidIn(directory, 'leader'), await pidIn(directory, 'child')];
    const { started = '' } = (await processTable().row(leader)) ?? {};
    writeFileSync(join(directory, 'go'), '');
    await daemon.exited;
    const store = openStore();
    await recordProcess(store, { pid: leader, started, agent: 'bee', mark: markOf({ [ENV_PROCESS]: 'ours' }), cwd: undefined });
    expect(await reap(store)).toBe(0);
    expect(alive(child)).toBe(true);
    process.kill(child, 'SIGKILL');
    await until(() => !alive(child));
  });

  it('is not ourselves, nor who started us, though the agent did', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'skep.db');
    await recordProcess(openStore(file), { pid: 4_000_000, started: '', agent: 'bee', mark: markOf({ [ENV_PROCESS]: 'ours' }), cwd: undefined });
    const reaper = program('reaps-what-is-left', file).map((word) => `'${word}'`).join(' ');
    const script = `sleep 600 & ${tell('sibling', '$!')}; ${reaper}; ${tell('lived')}; ${UNTIL_GO}`;
    const shell = run('env', [`${ENV_PROCESS}=ours`, '/bin/sh', '-c', script], directory);
    const sibling = await pidIn(directory, 'sibling');
    const starter = await pidIn(directory, 'lived');
    expect([starter, sibling].map(alive)).toEqual([true, false]);
    writeFileSync(join(directory, 'go'), '');
    await shell.exited;
  });

  it('is known by a database of an earlier version too', async () => {
    const file = join(temporaryDirectory(), 'skep.db');
    const old = openSqlite(file, SUPERVISOR_SCHEMA.slice(0, 1));
    const leftover = run('sleep', ['600']);
    meet(leftover.pid);
    const { started = '' } = (await processTable().row(leftover.pid)) ?? {};
    await old.write(sql('INSERT INTO processes (pid, started, agent) VALUES (?, ?, ?)', leftover.pid, started, 'bee'));
    await old.close();
    expect(await reap(openStore(file))).toBe(1);
    expect(alive(leftover.pid)).toBe(false);
    await leftover.exited;
  });
});

describe('a tool that its agent starts in a session of its own in the moment of its death', () => {
  it.each([
    ['is ended with it: it carries the mark', { [ENV_PROCESS]: 'ours' }, false],
    ['would live on without a mark', {}, true],
  ])('%s', async (_, env, lives) => {
    const spawn = { command: ['/bin/sh', '-c', SLEEPER], detached: true };
    const started = await start({ rules: [{ do: [{ spawn }, { wait: 'tool' }, { die: 'SIGKILL' }] }] }, { env });
    void say(started.process, await open(started));
    const tool = await pidIn(started.directory, 'tool');
    expect(await started.process.ended).toMatchObject({ how: 'signalled', signal: 'SIGKILL' });
    expect(alive(tool)).toBe(lives);
    if (lives) process.kill(tool, 'SIGKILL');
    await until(() => !alive(tool));
  });
});
