/** A stop that gives no time: SIGKILL to the whole tree, at once or in the middle of a gentle stop. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { alive, noneLeft, open, pidIn, say, start, until } from './harness.ts';
import type { Started } from './harness.ts';

afterEach(noneLeft);

describe('a forced stop', () => {
  // Longer than a test may last: only force ends what heeds nothing.
  const patient = { stdinGraceMs: 60_000, termGraceMs: 60_000 };
  // Its sleeps are short: a shell notes the signal when the command under way ends, and one that it is just starting may miss it.
  const deaf = "trap 'echo 1 > term' TERM; echo $$ > child.part; mv child.part child; while :; do sleep 0.1; done";

  async function heedless(limits: typeof patient): Promise<Started & { readonly pids: readonly number[] }> {
    const spawn = { command: ['/bin/sh', '-c', deaf], detached: true };
    const script = { rules: [{ do: [{ spawn }, { wait: 'child' }] }], ignoreStdinEof: true, ignoreSigterm: true };
    const started = await start(script, { limits });
    await say(started.process, await open(started));
    return { ...started, pids: [started.process.pid, await pidIn(started.directory, 'child')] };
  }

  it('ends the whole tree at once', async () => {
    const { process: agent, pids, directory } = await heedless(patient);
    await Promise.all([agent.stop({ force: true }), agent.stop({ force: true })]);
    expect(pids.map(alive)).toEqual([false, false]);
    expect(await agent.ended).toEqual({ how: 'stopped' });
    expect(existsSync(join(directory, 'term'))).toBe(false);
    await agent.stop({ force: true });
  });

  it.each([
    ['the end of stdin', patient],
    ['SIGTERM', { ...patient, stdinGraceMs: 0 }],
  ])('cuts a gentle one short that waits for %s to be heeded', async (what, limits) => {
    const { process: agent, pids, directory } = await heedless(limits);
    const gentle = agent.stop();
    // The control: a gentle stop has reached the tree, and it lives.
    if (what === 'SIGTERM') await until(() => existsSync(join(directory, 'term')));
    expect(pids.map(alive)).toEqual([true, true]);
    await agent.stop({ force: true });
    await gentle;
    expect(pids.map(alive)).toEqual([false, false]);
    expect(await agent.ended).toEqual({ how: 'stopped' });
  });
});
