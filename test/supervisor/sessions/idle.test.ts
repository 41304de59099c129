/** Sessions that nobody uses are closed, those in use never; what was closed is gone on with. Real processes. */
import { describe, expect, it } from 'vitest';
import { milliseconds } from '../../../src/model/index.ts';
import { IdleSessions } from '../../../src/supervisor/sessions/idle.ts';
import { openBench } from '../bench.ts';
import type { Bench } from '../bench.ts';
import { HandClock } from '../hand-clock.ts';
import { agent, message, otherChannel } from '../people.ts';

const IDLE = 30_000;
const SAY = { do: [{ say: '{{session}} {{turns}}' }] };
const HOLD = { match: 'hold', do: [{ wait: 'go' }, { say: 'held' }] };
const WATCHED = { observation: { livenessMs: 600_000, packed: false, program: { command: 'agent', args: [] } } };

function closed({ link }: Bench): number {
  return link.told.filter(({ kind, payload }) => kind === 'acp_write' && payload.includes('"session/close"')).length;
}

function sessions({ agent: driver }: Bench): number | undefined {
  return driver.snapshot().processes[0]?.sessions;
}

async function told(at: Bench, count: number, content?: string, of?: string): Promise<void> {
  await at.hear(message({ ...(content === undefined ? {} : { content }), ...(of === undefined ? {} : { tags: [['h', of], ['p', agent.pubkey]] }) }));
  await at.nth('turn_ended', count);
}

describe('an idle session', () => {
  it('is closed after its time, and gone on with when it is spoken to again', async () => {
    const at = openBench({ sessionIdleMs: IDLE, script: { sessions: { resume: true, close: true }, rules: [SAY] }, ...WATCHED });
    await told(at, 1);
    at.clock.push(IDLE - 1);
    expect([sessions(at), closed(at)]).toEqual([1, 0]);
    at.clock.push(1);
    expect(sessions(at)).toBe(0);
    await at.until(() => closed(at) === 1);
    await told(at, 2);
    const [first, second] = at.answers.map((text) => text.split(' '));
    expect(second).toEqual([first?.[0], '2']);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'resumed']);
  });

  it('is not closed while a turn runs in it, however long, and has its whole time after it', async () => {
    const at = openBench({ sessionIdleMs: IDLE, script: { sessions: { resume: true, close: true }, rules: [HOLD, SAY] }, ...WATCHED });
    await told(at, 1);
    await at.hear(message({ content: 'hold' }));
    await at.nth('turn_started', 2);
    at.clock.push(IDLE + 10_000);
    expect([sessions(at), closed(at)]).toEqual([1, 0]);
    at.openGate('go');
    await at.nth('turn_ended', 2);
    at.clock.push(IDLE - 1);
    expect(sessions(at)).toBe(1);
    at.clock.push(1);
    await at.until(() => closed(at) === 1);
  });

  it('is closed beside a turn of another', async () => {
    const at = openBench({ sessionIdleMs: IDLE, script: { sessions: { close: true }, rules: [HOLD, SAY] }, ...WATCHED });
    await told(at, 1);
    await at.hear(message({ content: 'hold', tags: [['h', otherChannel], ['p', agent.pubkey]] }));
    await at.nth('turn_started', 2);
    at.clock.push(IDLE);
    expect(sessions(at)).toBe(1);
    at.openGate('go');
    await at.nth('turn_ended', 2);
    expect(at.answers.at(-1)).toBe('held');
  });

  it('is closed beside a turn of its lane in another process', async () => {
    const at = openBench({ processes: 2, sessionIdleMs: IDLE, script: { sessions: { close: true }, rules: [HOLD, { match: 'hang', do: [{ hang: true }] }, SAY] }, ...WATCHED });
    await at.nth('process_started', 2);
    await told(at, 1);
    await at.hear(message({ content: 'hold', tags: [['h', otherChannel], ['p', agent.pubkey]] }));
    await at.nth('turn_started', 2);
    await told(at, 2);
    at.openGate('go');
    await at.nth('turn_ended', 3);
    await at.hear(message({ content: 'hang' }));
    await at.nth('turn_started', 4);
    expect(at.agent.snapshot().processes.map((one) => one.sessions)).toEqual([2, 1]);
    at.clock.push(IDLE);
    expect(at.agent.snapshot().processes.map((one) => one.sessions)).toEqual([1, 0]);
  });

  it('is kept where the agent closes none, and where the operator wants it so', async () => {
    const kept = openBench({ sessionIdleMs: IDLE, script: { rules: [SAY] }, ...WATCHED });
    await told(kept, 1);
    kept.clock.push(10 * IDLE);
    expect([sessions(kept), closed(kept)]).toEqual([1, 0]);
    const never = openBench({ sessionIdleMs: 0, script: { sessions: { close: true }, rules: [SAY] }, ...WATCHED });
    await told(never, 1);
    never.clock.push(10 * IDLE);
    expect([sessions(never), closed(never)]).toEqual([1, 0]);
  });
});

describe('too many sessions', () => {
  it('are never open: the one used longest ago is closed', async () => {
    const at = openBench({ maxSessions: 1, script: { sessions: { resume: true, close: true }, rules: [SAY] }, ...WATCHED });
    await told(at, 1);
    await told(at, 2, undefined, otherChannel);
    expect(sessions(at)).toBe(1);
    await at.until(() => closed(at) === 1);
    await told(at, 3);
    expect(at.answers[2]).toBe(at.answers[0]?.replace(/1$/, '2'));
  });
});

describe('the one timer', () => {
  it('is armed by the first use, for the one used first, and not after the end', () => {
    const clock = new HandClock();
    const looks: number[] = [];
    let next: number | undefined;
    const idle = new IdleSessions({
      clock, idleMs: IDLE,
      close: (beforeMs) => {
        looks.push(beforeMs);
        return next === undefined ? undefined : milliseconds(next);
      },
    });
    const begun = clock.now();
    idle.used();
    idle.used();
    next = begun + 5_000;
    clock.push(IDLE);
    next = undefined;
    clock.push(5_000);
    expect(looks).toEqual([begun, begun + 5_000]);
    clock.push(10 * IDLE);
    expect(looks).toHaveLength(2);
    idle.used();
    idle.close();
    idle.used();
    clock.push(10 * IDLE);
    expect(looks).toHaveLength(2);
  });
});
