/** Which cause is kept, and in which order those who wait are told: the parts are stood in for, so that order is ours. */
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ProcessEnd } from '../../src/acp/index.ts';
import { Lifetime } from '../../src/acp/lifetime.ts';
import type { ProcessGroup } from '../../src/acp/group.ts';
import { milliseconds, settleable, silentLog } from '../../src/model/index.ts';

function bench() {
  const told: string[] = [];
  const exited = settleable<{ readonly exitCode: number | null; readonly signal: string | null }>();
  const drained = settleable<undefined>();
  const groupEnded = settleable<readonly number[]>();
  const wakes: (() => void)[] = [];
  const group: Pick<ProcessGroup, 'end' | 'force'> = {
    force: () => void told.push('group forced'),
    end: async (askFirst) => {
      told.push(askFirst === undefined ? 'group ended' : 'group asked');
      return groupEnded.promise;
    },
  };
  const lifetime = new Lifetime({
    child: {
      pid: 42,
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      exited: exited.promise,
      drained: drained.promise,
    },
    group,
    stderr: { push: () => undefined, text: () => 'tail' },
    clock: {
      now: () => milliseconds(0),
      wake: (_, callback) => {
        wakes.push(callback);
        return () => void wakes.splice(wakes.indexOf(callback), 1);
      },
    },
    log: silentLog,
    limits: { drainMs: 250 },
    onGone: ({ how }) => told.push(`gone ${how}`),
    forget: async () => void told.push('forgotten'),
  });
  void lifetime.ended.then(({ how }) => told.push(`ended ${how}`));
  return { lifetime, told, exited, drained, groupEnded, wakes };
}

const PROTOCOL: ProcessEnd = { how: 'protocol', detail: 'too long' };
const STOPPED: ProcessEnd = { how: 'stopped' };
const EXIT = { exitCode: 3, signal: null };

describe('the end of a process', () => {
  it('is told when its last bytes were read, and is complete when its group is gone', async () => {
    const at = bench();
    at.exited.resolve(EXIT);
    await nextTurn();
    expect(at.told).toEqual([]);
    at.drained.resolve(undefined);
    await nextTurn();
    expect(at.told).toEqual(['gone exited', 'group ended']);
    at.groupEnded.resolve([]);
    expect(await at.lifetime.ended).toEqual({ how: 'exited', exitCode: 3, stderrTail: 'tail' });
    expect(at.told).toEqual(['gone exited', 'group ended', 'forgotten', 'ended exited']);
    expect(at.wakes).toEqual([]);
  });

  it('is told in bounded time though somebody holds its pipes', async () => {
    const at = bench();
    at.exited.resolve(EXIT);
    await nextTurn();
    at.wakes.shift()?.();
    await nextTurn();
    expect(at.told).toEqual(['gone exited', 'group ended']);
  });

  it.each<readonly [string, (lifetime: Lifetime) => void, string]>([
    ['a stop after a breach of protocol', (lifetime) => (lifetime.end(PROTOCOL), lifetime.end(STOPPED)), 'protocol'],
    ['a breach of protocol after a stop', (lifetime) => (lifetime.end(STOPPED), lifetime.end(PROTOCOL)), 'stopped'],
  ])('has the first cause: %s', async (_, end, how) => {
    const at = bench();
    end(at.lifetime);
    at.exited.resolve(EXIT);
    at.drained.resolve(undefined);
    at.groupEnded.resolve([]);
    expect(await at.lifetime.ended).toMatchObject({ how });
    expect(at.told).toEqual(['group ended', `gone ${how}`, 'forgotten', `ended ${how}`]);
  });

  it('is cut short by force, and keeps its cause', async () => {
    const at = bench();
    at.lifetime.end(PROTOCOL, () => undefined);
    at.lifetime.force(STOPPED);
    expect(at.told).toEqual(['group asked', 'group forced']);
    at.groupEnded.resolve([42]);
    expect(await at.lifetime.ended).toEqual(PROTOCOL);
  });

  it('is forced before it begins, and asks nothing', () => {
    const at = bench();
    at.lifetime.force(STOPPED);
    at.lifetime.end(STOPPED, () => undefined);
    expect(at.told).toEqual(['group forced', 'group ended']);
  });

  it('has the exit as its cause when that came before the stop', async () => {
    const at = bench();
    at.exited.resolve(EXIT);
    await nextTurn();
    at.lifetime.end(STOPPED);
    at.drained.resolve(undefined);
    at.groupEnded.resolve([]);
    expect(await at.lifetime.ended).toMatchObject({ how: 'exited' });
  });

  it('keeps no one waiting for what even SIGKILL does not end, and leaves it on record', async () => {
    const at = bench();
    at.lifetime.end(STOPPED, () => undefined);
    at.groupEnded.resolve([42]);
    expect(await at.lifetime.ended).toEqual(STOPPED);
    expect(at.told).toEqual(['group asked', 'gone stopped', 'ended stopped']);
  });

  it('is a breach of protocol only when a broken pipe is not followed by an exit', async () => {
    const exits = bench();
    const waiting = exits.lifetime.endUnlessExits(PROTOCOL);
    exits.exited.resolve(EXIT);
    await waiting;
    exits.drained.resolve(undefined);
    exits.groupEnded.resolve([]);
    expect(await exits.lifetime.ended).toMatchObject({ how: 'exited' });

    const lives = bench();
    const late = lives.lifetime.endUnlessExits(PROTOCOL);
    lives.wakes.shift()?.();
    await late;
    lives.groupEnded.resolve([42]);
    expect(await lives.lifetime.ended).toEqual(PROTOCOL);
  });
});
