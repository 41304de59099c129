/** The driver of an agent, its commits and its end: what a slow or full disk, a stop and a new start make of a turn. */
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/model/index.ts';
import { openBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { inThread, message, someRoot } from './people.ts';

const ANSWER = { do: [{ say: 'answer' }] };
const HANG = { rules: [{ do: [{ hang: true }] }] };
const GRACE_MS = 10_000;
const NONE = { events: [], undecided: false };
const UNDECIDED = { events: [], undecided: true };

/** Takes away what the test expected to be fatal. */
function fatal(bench: Bench): readonly unknown[] {
  return bench.fatal.splice(0);
}

describe('a process that ends while its turn is committed', () => {
  it('ends nothing else: the message goes back and is answered by the next one', async () => {
    const bench = openBench();
    const { pid } = await bench.nth('process_started');
    const commit = bench.store.hold('dispatched');
    const question = message();
    const heard = bench.hear(question);
    await commit.reached;
    process.kill(pid, 'SIGKILL');
    await bench.nth('process_ended');
    commit.release();
    await heard;
    await bench.until(() => bench.agent.snapshot().inbox.queued === 1);
    expect(await bench.row(question)).toMatchObject({ status: 'queued', attempts: 0, interrupted: 0 });
    bench.clock.push(5_000);
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
  });
});

describe('a disk that takes no more', () => {
  it.each(['insert', 'dispatched', 'done', 'queued'] as const)('at "%s" is fatal, and the agent still stops', async (kind) => {
    const bench = openBench({ script: { rules: kind === 'queued' ? [{ do: [{ error: { code: 1, message: 'no' } }] }] : [ANSWER] } });
    await bench.nth('process_started');
    bench.store.refuse(kind);
    const heard = bench.hear(message());
    if (kind === 'insert' || kind === 'dispatched') await expect(heard).rejects.toBeInstanceOf(Failure);
    else await heard;
    await bench.until(() => bench.fatal.length > 0);
    expect(fatal(bench)).toEqual([expect.objectContaining({ code: 'storage_full' })]);
    await bench.agent.stop(GRACE_MS);
    expect(bench.agent.snapshot().turns).toEqual([]);
    expect(bench.link.said.filter((said) => said.kind === 'notice')).toEqual([]);
  });

  it.each(['dispatched', 'queued'] as const)('at "%s" of a message for a turn under way is fatal, and the agent still stops', async (kind) => {
    const bench = openBench({
      midTurn: 'steer',
      script: {
        initialize: { meta: { steering: { supported: true } } }, onSteer: { answer: 'promptRequired' },
        rules: [{ do: [{ mark: 'ready' }, { wait: 'go' }, { say: 'answer' }] }],
      },
    });
    const first = message();
    await bench.hear(first);
    await bench.until(() => bench.isMarked('ready'));
    bench.store.refuse(kind);
    await bench.hear(message({ tags: inThread(first.id) }));
    await bench.until(() => bench.fatal.length > 0);
    expect(fatal(bench)[0]).toMatchObject({ code: 'storage_full' });
    bench.openGate('go');
    await bench.agent.stop(GRACE_MS);
    fatal(bench);
    expect(bench.agent.snapshot().turns).toEqual([]);
  });

  it('when a process is put on record is fatal, and the agent still stops', async () => {
    const bench = openBench();
    const { pid } = await bench.nth('process_started');
    bench.store.refuse('process');
    process.kill(pid, 'SIGKILL');
    await bench.nth('process_ended');
    bench.clock.push(5_000);
    await bench.until(() => bench.fatal.length > 0);
    expect(fatal(bench)).toEqual([expect.objectContaining({ code: 'storage_full' })]);
    await bench.agent.stop(GRACE_MS);
  });
});

describe('a stop', () => {
  it('waits for the turn under way and begins no other', async () => {
    const bench = openBench({ script: { rules: [{ match: 'hold', do: [{ wait: 'go' }, { say: 'held' }] }, ANSWER] } });
    const [held, next] = [message({ content: 'hold' }), message()];
    await bench.hear(held);
    await bench.nth('turn_started');
    await bench.hear(next);
    const stopped = bench.agent.stop(GRACE_MS);
    bench.openGate('go');
    await stopped;
    expect(bench.answers).toEqual(['held']);
    expect(await bench.row(held)).toMatchObject({ status: 'done' });
    expect(await bench.row(next)).toMatchObject({ status: 'queued', attempts: 0 });
  });

  it('cuts the turn short when the grace is over: it is kept as interrupted, and not counted', async () => {
    const bench = openBench({ script: HANG });
    const question = message();
    await bench.hear(question);
    await bench.nth('turn_started');
    const stopped = bench.agent.stop(GRACE_MS);
    expect(bench.seen('turn_ended')).toEqual([]);
    bench.clock.push(GRACE_MS);
    await stopped;
    expect(bench.seen('turn_ended')).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await bench.row(question)).toMatchObject({ status: 'queued', attempts: 0, interrupted: 1 });
  });

  it('before the prompt leaves the message as if it had not been taken', async () => {
    const bench = openBench();
    await bench.hear(message());
    await bench.nth('turn_ended');
    // The gate knows the author and the channel by now; the turn asks for its thread, and waits.
    let answer = (): void => undefined;
    bench.link.held = new Promise((resolve) => { answer = resolve; });
    const asked = bench.link.asked.length;
    const question = message({ tags: inThread(someRoot) });
    await bench.hear(question);
    await bench.until(() => bench.link.asked.length > asked);
    const stopped = bench.agent.stop(GRACE_MS);
    bench.clock.push(GRACE_MS);
    answer();
    await stopped;
    expect(await bench.row(question)).toMatchObject({ status: 'queued', attempts: 0, interrupted: 0 });
    expect(bench.seen('turn_started')).toHaveLength(1);
  });

  it('while no session is opened ends the process, and leaves the message as it was', async () => {
    const bench = openBench({ script: { newSession: { never: true }, rules: [] } });
    const question = message();
    await bench.hear(question);
    await bench.until(() => bench.agent.snapshot().turns[0]);
    const stopped = bench.agent.stop(GRACE_MS);
    bench.clock.push(GRACE_MS);
    await stopped;
    expect(await bench.row(question)).toMatchObject({ status: 'queued', attempts: 0, interrupted: 0 });
    expect(bench.seen('turn_started')).toEqual([]);
  });
});

describe('a stop while nobody knows whether the turn was answered', () => {
  it.each([
    ['it was: the next start takes it for done', { events: [someRoot], undecided: false }, []],
    ['a notice says that it was not: the next start takes it for done', { events: [], noticed: true, undecided: false }, []],
    ['it was not: the next start asks again', NONE, ['again']],
  ])('%s', async (_, known, answers) => {
    const before = openBench({ publications: [UNDECIDED] });
    const question = message();
    await before.hear(question);
    await before.until(() => before.link.calls.some((call) => call.startsWith('published')));
    await before.agent.stop(GRACE_MS);
    expect(await before.row(question)).toMatchObject({ status: 'dispatched', attempts: 0 });
    expect(before.answers).toEqual([]);

    const again = { when: { merge_disposition: 'continue_prior_work' }, do: [{ say: 'again' }] };
    const after = openBench({ store: before.store, script: { rules: [again, ANSWER] }, publications: [UNDECIDED, known, NONE] });
    await after.until(() => after.clock.waits(2_000));
    expect(after.agent.snapshot()).toMatchObject({ turns: [], inbox: { dispatched: 1 } });
    after.clock.push(2_000);
    await after.until(() => after.agent.snapshot().inbox.done === 1);
    expect(await after.row(question)).toMatchObject({ status: 'done' });
    await after.hear(question);
    await after.hear(message());
    await after.until(() => after.answers.includes('answer'));
    expect(after.answers).toEqual([...answers, 'answer']);
  });

  it('is stopped again before it is known: the row stays as it is', async () => {
    const before = openBench({ publications: [UNDECIDED] });
    const question = message();
    await before.hear(question);
    await before.until(() => before.link.calls.some((call) => call.startsWith('published')));
    await before.agent.stop(GRACE_MS);
    const after = openBench({ store: before.store, publications: [UNDECIDED] });
    await after.until(() => after.link.calls.some((call) => call.startsWith('published')));
    await after.agent.stop(GRACE_MS);
    expect(await after.row(question)).toMatchObject({ status: 'dispatched', attempts: 0 });
  });
});
