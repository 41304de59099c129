/** An agent whose processes start late and sleep early: no message is lost over it, and none is answered twice. */
import { describe, expect, it } from 'vitest';
import { openBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { message } from './people.ts';

const SLEEP_MS = 30_000;
const SLEEPY = { rest: { lazy: false, sleepAfterMs: SLEEP_MS } } as const;
const GATED = { rules: [{ do: [{ wait: 'go' }, { say: 'answer' }] }] };

function states(bench: Bench): readonly string[] {
  return bench.agent.snapshot().processes.map(({ state }) => state);
}

/** Resolves when the deadline of the sleep is armed, with everything done that leads to it. */
async function rests(bench: Bench): Promise<void> {
  await bench.until(() => bench.clock.waits(SLEEP_MS));
}

describe('a lazy agent', () => {
  it('has no process before its first message, and says so', async () => {
    const bench = openBench({ rest: { lazy: true }, signals: { presence: true, typing: false }, processes: 2 });
    expect(states(bench)).toEqual(['asleep', 'asleep']);
    await bench.hear(message());
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    await bench.until(() => states(bench).every((state) => state === 'idle'));
    expect([...new Set(bench.link.calls.filter((call) => call.startsWith('presence')))]).toEqual(['presence away', 'presence online']);
  });

  it('starts for what the last run left', async () => {
    const first = openBench({ rest: { lazy: true }, script: { rules: [{ do: [{ hang: true }] }] } });
    await first.hear(message());
    await first.nth('turn_started');
    await first.agent.stop(0);
    const second = openBench({ rest: { lazy: true }, store: first.store });
    await second.nth('turn_ended');
    expect(second.answers).toEqual(['answer']);
  });

  it('is the exception: the control starts at once', async () => {
    const bench = openBench();
    expect(states(bench)).toEqual(['starting']);
    await bench.nth('process_started');
  });

  it('ends at once while it is asleep', async () => {
    const bench = openBench({ rest: { lazy: true } });
    await bench.agent.stop(0);
    expect(bench.notes).toEqual([]);
  });
});

describe('an agent without work', () => {
  it('sleeps after its time, and the next message wakes it', async () => {
    const bench = openBench({ ...SLEEPY, processes: 2, signals: { presence: true, typing: false } });
    await bench.nth('process_started', 2);
    bench.clock.push(SLEEP_MS - 1);
    expect(states(bench)).toEqual(['idle', 'idle']);
    bench.clock.push(1);
    await bench.nth('process_ended', 2);
    await bench.until(() => states(bench).every((state) => state === 'asleep'));
    expect(bench.seen('process_ended').map(({ how }) => how)).toEqual(['the agent was stopped', 'the agent was stopped']);
    expect(bench.clock.armed).toBe(0);
    await bench.hear(message());
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    await rests(bench);
    expect(bench.link.calls.filter((call) => call.startsWith('presence'))).toContain('presence away');
  });

  it('wakes in the conversation in which it fell asleep', async () => {
    const bench = openBench({ ...SLEEPY, script: { sessions: { resume: true, close: true }, rules: [{ do: [{ say: '{{session}} {{turns}}' }] }] } });
    await bench.hear(message());
    await bench.nth('turn_ended', 1);
    await rests(bench);
    bench.clock.push(SLEEP_MS);
    await bench.nth('process_ended');
    await bench.hear(message());
    await bench.nth('turn_ended', 2);
    expect(bench.answers[1]).toBe(bench.answers[0]?.replace(/1$/, '2'));
  });

  it('that has no such time keeps its processes', async () => {
    const bench = openBench();
    await bench.nth('process_started');
    bench.clock.push(7 * 86_400_000);
    expect(states(bench)).toEqual(['idle']);
  });
});

describe('an agent with work does not sleep', () => {
  it('while a turn runs, however long', async () => {
    const bench = openBench({ ...SLEEPY, script: GATED });
    await bench.hear(message());
    await bench.nth('turn_started');
    bench.clock.push(SLEEP_MS + 1);
    expect(states(bench)).toEqual(['busy']);
    bench.openGate('go');
    await bench.nth('turn_ended');
    await rests(bench);
    expect(bench.answers).toEqual(['answer']);
    expect(bench.seen('process_started')).toHaveLength(1);
  });

  it('while its owner is asked', async () => {
    const bench = openBench({
      ...SLEEPY, permission: { policy: 'ask', askMs: 300_000 }, observation: { livenessMs: 600_000, packed: false, program: { command: 'x', args: [] } },
      script: { rules: [{ do: [{ ask: 'rm' }, { say: 'answer' }] }] },
    });
    await bench.hear(message());
    await bench.until(() => bench.link.told.some(({ authorization }) => authorization?.actionable));
    bench.clock.push(SLEEP_MS + 1);
    expect(states(bench)).toEqual(['busy']);
    bench.clock.push(300_000);
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    expect(bench.seen('process_started')).toHaveLength(1);
  });

  it('while a message waits for its next attempt', async () => {
    const bench = openBench({ ...SLEEPY, script: { rules: [{ match: 'fail', do: [{ error: { code: -32_603, message: 'no' } }] }] } });
    await bench.hear(message({ content: 'fail' }));
    await bench.nth('turn_ended');
    for (const attempt of [2, 3, 4]) {
      bench.clock.push(45_000);
      await bench.nth('turn_ended', attempt);
    }
    expect(bench.seen('process_started')).toHaveLength(1);
  });

  it('while a message waits for the relay', async () => {
    const bench = openBench(SLEEPY);
    await bench.nth('process_started');
    bench.link.phase = 'waiting';
    await bench.hear(message());
    bench.clock.push(10 * SLEEP_MS);
    expect(states(bench)).toEqual(['idle']);
    bench.link.phase = 'ready';
    bench.clock.push(1_000);
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
  });
});

describe('a message at the very moment of sleep is answered once', () => {
  it('when its acceptance and its dispatch are being committed', async () => {
    const bench = openBench(SLEEPY);
    await bench.nth('process_started');
    const hold = bench.store.hold('dispatched');
    const heard = bench.hear(message());
    await hold.reached;
    bench.clock.push(SLEEP_MS);
    await bench.until(() => states(bench)[0] !== 'idle');
    hold.release();
    await heard;
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    expect(bench.seen('process_started')).toHaveLength(2);
    expect(bench.seen('turn_started')).toHaveLength(1);
  });

  it('when the processes are ending', async () => {
    const bench = openBench({ ...SLEEPY, script: { ...GATED, ignoreStdinEof: true } });
    await bench.nth('process_started');
    bench.clock.push(SLEEP_MS);
    expect(states(bench)).toEqual(['stopping']);
    bench.play({ rules: [{ do: [{ say: 'answer' }] }] });
    await bench.hear(message());
    // Its end has its own waits: stdin, then a signal.
    await bench.until(() => {
      bench.clock.push(1_000);
      return bench.seen('process_ended').length === 1;
    });
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    expect(bench.seen('process_started')).toHaveLength(2);
  });

  it('and before any process had answered at all', async () => {
    const bench = openBench(SLEEPY);
    bench.clock.push(SLEEP_MS);
    expect(states(bench)).toEqual(['asleep']);
    await bench.hear(message());
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
    expect(bench.seen('process_failed')).toEqual([]);
  });

  it('eight times in a row', async () => {
    const bench = openBench(SLEEPY);
    for (let round = 1; round <= 8; round += 1) {
      await bench.until(() => states(bench)[0] === 'idle');
      bench.clock.push(SLEEP_MS);
      await bench.hear(message({ content: `round ${round}` }));
      await bench.nth('turn_ended', round);
      await rests(bench);
    }
    expect(bench.answers).toHaveLength(8);
    expect(bench.seen('turn_started')).toHaveLength(8);
  });
});
