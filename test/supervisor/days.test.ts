/** Days of work in little: what must be the same at the end as after the first turns. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../setup/temp.ts';
import { HARD_MS, IDLE_MS, openBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { agent, channel, inThread, message } from './people.ts';

const PATIENCE_MS = 120_000;
const IDLE_CANCEL_GRACE_MS = 30_000;
const ANSWER = { do: [{ say: 'answer' }] };

/** What the bench itself keeps of a day is no part of the agent. */
function forget({ notes, link }: Bench): void {
  for (const list of [notes, link.said, link.calls, link.told, link.asked, link.metrics]) list.splice(0);
}

async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

const handles = (): number => process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length;

it('1,000 turns that fail leave no timer and no handle, and a stop takes less than two seconds', async () => {
  const at = openBench({ script: { rules: [{ do: [{ error: { code: -32_603, message: 'no' } }] }] } });
  await at.nth('process_started');
  const fail = async (messages: number): Promise<void> => {
    for (let n = 0; n < messages; n += 1) {
      await at.hear(message());
      for (let attempt = 0; attempt <= 10; attempt += 1) {
        await at.nth('turn_ended');
        forget(at);
        at.clock.push(HARD_MS);
      }
      await at.until(() => at.agent.snapshot().inbox.queued + at.agent.snapshot().inbox.dispatched === 0);
      forget(at);
    }
  };
  await fail(5);
  const before = [at.clock.armed, handles()];
  await fail(86);
  expect([at.clock.armed, handles()]).toEqual(before);
  expect(at.agent.snapshot().inbox).toMatchObject({ queued: 0, dispatched: 0, dead: 91 });
  const begun = performance.now();
  await at.agent.stop(0);
  expect(performance.now() - begun).toBeLessThan(2_000);
}, PATIENCE_MS);

it('turns in threads that are always new leave the heap, the timers and the sessions as they were', async () => {
  const at = openBench({ script: { rules: [ANSWER] }, session: 'thread' });
  await at.nth('process_started');
  let threads = 0;
  const work = async (turns: number): Promise<void> => {
    for (let n = 0; n < turns; n += 1) {
      threads += 1;
      const root = threads.toString(16).padStart(64, '0');
      await at.hear(message({ tags: [...inThread(root), ['h', channel], ['p', agent.pubkey]] }));
      await at.nth('turn_ended');
      forget(at);
    }
  };
  await work(260);
  const before = { heap: await heapBytes(), armed: at.clock.armed, handles: handles() };
  await work(400);
  expect({ armed: at.clock.armed, handles: handles() }).toEqual({ armed: before.armed, handles: before.handles });
  expect((await heapBytes()) - before.heap).toBeLessThan(2_000_000);
  expect(at.agent.snapshot().processes[0]?.sessions).toBeLessThanOrEqual(256);
}, PATIENCE_MS);

it('a program that always dies is started seldom, in every slot; it is given no message once that is known, and one notice says so', async () => {
  const at = openBench({ script: { rules: [{ do: [{ wait: 'never' }] }] }, processes: 2 });
  at.command = diesAfterItsStart();
  for (const { pid } of [await at.nth('process_started'), await at.nth('process_started', 2)]) process.kill(pid, 'SIGKILL');
  await at.hear(message());
  const calls = (word: string): number => at.link.calls.filter((call) => call.startsWith(word)).length;
  const starts = (): number => calls('open ');
  // Half an hour; each start is seen to its end before time goes on, and so each process lives for no time at all.
  for (let step = 0; step < 180; step += 1) {
    await at.until(() => starts() >= 2 && at.agent.snapshot().processes.every(({ pid, state }) => pid === undefined && state !== 'starting') && ends(at) === starts());
    at.clock.push(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Three within a minute, then one in five minutes, and nothing more, for each of two slots.
  expect(starts()).toBeGreaterThanOrEqual(2 * (3 + 5));
  expect(starts()).toBeLessThanOrEqual(2 * (3 + 6));
  expect(at.notices).toHaveLength(1);
  // Of the first three of each slot, and of none that came after.
  expect(at.seen('turn_ended').length).toBeLessThanOrEqual(4);
  expect(at.agent.snapshot().inbox).toMatchObject({ queued: 1, dead: 0 });
}, PATIENCE_MS);

/** A program that answers initialize and exits a moment later: time enough to be given a turn. */
function diesAfterItsStart(): string {
  const path = join(temporaryDirectory(), 'dies');
  writeFileSync(path, `#!${process.execPath}
process.stdin.once('data', (line) => {
  const { id } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: 1, agentCapabilities: {} } }) + '\\n');
  setTimeout(() => process.exit(1), 100);
});
`, { mode: 0o755 });
  return path;
}

function ends(at: Bench): number {
  return at.seen('process_ended').length + at.seen('process_failed').length;
}

it('eight programs start side by side and take a turn each', async () => {
  const at = openBench({ script: { rules: [ANSWER] }, processes: 8 });
  await at.nth('process_started', 8);
  expect(new Set(at.seen('process_started').map(({ pid }) => pid)).size).toBe(8);
  for (let n = 0; n < 8; n += 1) await at.hear(message());
  await at.nth('turn_ended', 8);
  expect(at.answers).toHaveLength(8);
}, PATIENCE_MS);

it('an agent that is killed between turns and in one answers each message once, from a fresh process', async () => {
  const at = openBench({ script: { rules: [{ match: 'two', when: { interrupted: '' }, do: [{ wait: 'never' }] }, { do: [{ say: '{{content}}' }] }] } });
  const pids: number[] = [];
  await at.hear(message({ content: 'one' }));
  await at.nth('turn_ended');
  pids.push((await at.nth('process_started')).pid);
  process.kill(pids[0] ?? 0, 'SIGKILL');
  await at.nth('process_ended');
  await at.hear(message({ content: 'two' }));
  at.clock.push(2_000);
  pids.push((await at.nth('process_started', 2)).pid);
  await at.nth('turn_started', 2);
  process.kill(pids[1] ?? 0, 'SIGKILL');
  await at.nth('turn_ended', 2);
  at.clock.push(10_000);
  await at.nth('turn_ended', 3);
  pids.push((await at.nth('process_started', 3)).pid);
  expect(at.answers).toEqual(['one', 'two']);
  expect(new Set(pids).size).toBe(3);
}, PATIENCE_MS);

it('a session that is gone on with twenty times has one living process', async () => {
  const at = openBench({ script: { sessions: { load: true }, rules: [{ do: [{ say: '{{session}}' }] }] } });
  for (let round = 1; round <= 21; round += 1) {
    const { pid } = await at.nth('process_started', round);
    await at.hear(message());
    await at.nth('turn_ended', round);
    if (round === 21) break;
    process.kill(pid, 'SIGKILL');
    await at.nth('process_ended', round);
    at.clock.push(2_000);
  }
  expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', ...Array.from({ length: 20 }, () => 'loaded')]);
  expect(new Set(at.answers).size).toBe(1);
  const pids = at.seen('process_started').map(({ pid }) => pid);
  expect(pids.filter(isAlive)).toEqual(pids.slice(-1));
}, PATIENCE_MS);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('a cancel that is ignored costs the agent its process, and no message that waits', async () => {
  const deaf = { once: 'deaf', do: [{ ignoreCancel: true }, { think: 'deaf from here on' }, { wait: 'never' }] };
  const observation = { livenessMs: HARD_MS, packed: false, program: { command: 'agent', args: [] } };
  const at = openBench({ script: { rules: [deaf, { do: [{ say: '{{content}}' }] }] }, observation });
  await at.hear(message({ content: 'one' }));
  const { pid } = await at.nth('turn_started');
  await at.hear(message({ content: 'two' }));
  await at.until(() => at.link.told.some(({ kind, payload }) => kind === 'acp_read' && payload.includes('deaf from here on')));
  at.clock.push(IDLE_MS);
  await at.until(() => at.clock.waits(IDLE_CANCEL_GRACE_MS));
  at.clock.push(IDLE_CANCEL_GRACE_MS);
  // SIGTERM is heeded, and its grace is not needed.
  await at.nth('process_ended');
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(await at.nth('turn_ended')).toMatchObject({ outcome: 'idle_timeout' });
  at.clock.push(10_000);
  await at.nth('turn_ended', 3);
  expect([...at.answers].sort()).toEqual(['one', 'two']);
}, PATIENCE_MS);
