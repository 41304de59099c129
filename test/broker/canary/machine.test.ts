/** The table of the canary machine, and every way a small world may go: who is deaf is found, nobody else is, and it is told once. */
import { describe, expect, it } from 'vitest';
import { canaryDueMs, ECHO_MS, LIMITED_MS, newCanary, PACE_MS, SETTLE_MS, stepCanary } from '../../../src/broker/canary/machine.ts';
import type { CanaryCommand, CanaryInput, CanaryState } from '../../../src/broker/canary/machine.ts';
import { channelId, milliseconds } from '../../../src/model/index.ts';

const EVERY_MS = 60_000;
const CHANNEL = channelId('11111111-1111-4111-8111-111111111111');
const tick: CanaryInput = { type: 'tick', isReading: true, isLimited: false };
const opened = (id: string): CanaryInput => ({ type: 'opened', id });
const up: CanaryInput = { type: 'line', isUp: true };
const down: CanaryInput = { type: 'line', isUp: false };

class Run {
  now = 0;
  state: CanaryState = newCanary(EVERY_MS, milliseconds(0));

  take(...inputs: readonly CanaryInput[]): readonly CanaryCommand[] {
    return inputs.flatMap((input) => {
      const { state, commands } = stepCanary(this.state, input, milliseconds(this.now));
      this.state = state;
      return commands;
    });
  }

  /** A tick when something is due next. */
  next(change: Partial<Extract<CanaryInput, { type: 'tick' }>> = {}): readonly CanaryCommand[] {
    this.now = canaryDueMs(this.state) ?? expect.fail('nothing is due');
    return this.take({ ...tick, ...change } as CanaryInput);
  }

  get sub(): object | undefined {
    return this.state.subs.get('s');
  }
}

/** One subscription, sounded. */
function sounded(): Run {
  const run = new Run();
  run.take(up, opened('s'));
  run.next();
  return run;
}

describe('the canary', () => {
  it('sounds nothing before the line is up, and then each subscription in its turn', () => {
    const run = new Run();
    run.take(opened('s'), { type: 'opened', id: 'ch', channelId: CHANNEL });
    expect(canaryDueMs(run.state)).toBeUndefined();
    expect(run.take(tick)).toEqual([]);
    run.take(up);
    expect(run.next()).toEqual([{ type: 'sound', token: 1 }]);
    expect(run.now).toBe(SETTLE_MS);
    run.take({ type: 'echo', id: 's' });
    expect(run.next()).toEqual([{ type: 'sound', token: 2, channelId: CHANNEL }]);
    expect(run.now).toBe(SETTLE_MS + PACE_MS);
    run.take({ type: 'echo', id: 'ch' });
    expect(run.next()).toEqual([{ type: 'sound', token: 3 }]);
    expect(run.now).toBe(SETTLE_MS + EVERY_MS);
  });

  it('waits for the echo from the answer on', () => {
    const run = sounded();
    run.now += 4_000;
    run.take({ type: 'answered', token: 1, verdict: 'accepted' });
    expect(canaryDueMs(run.state)).toBe(run.now + ECHO_MS);
  });

  it('takes no answer but that of the sounding under way', () => {
    const run = sounded();
    const before = run.state;
    run.take({ type: 'answered', token: 7, verdict: 'rejected' });
    expect(run.state).toEqual(before);
  });

  it.each(['accepted', 'unknown'] as const)('finds who does not echo after %s deaf: opened anew, then the line ended, then opened anew at the interval', (verdict) => {
    const run = sounded();
    const sinceMs = run.now;
    run.take({ type: 'answered', token: 1, verdict });
    expect(run.next()).toEqual([{ type: 'deaf', id: 's' }, { type: 'reopen', id: 's' }]);
    expect(run.sub).toMatchObject({ deaf: { sinceMs, times: 1 } });
    expect(run.next()).toMatchObject([{ type: 'sound' }]);
    expect(run.next()).toEqual([{ type: 'end_line' }]);
    run.take(down, up);
    expect(run.next()).toMatchObject([{ type: 'sound' }]);
    expect(run.next()).toEqual([{ type: 'reopen', id: 's' }]);
    const soundedMs = run.now;
    expect(run.next()).toMatchObject([{ type: 'sound' }]);
    expect(run.now - soundedMs).toBe(EVERY_MS);
    run.now += 1_000;
    expect(run.take({ type: 'echo', id: 's' })).toEqual([{ type: 'recovered', id: 's', deafMs: run.now - sinceMs }, { type: 'reopen', id: 's' }]);
    expect(run.state).toMatchObject({ deafened: 1, recovered: 1 });
    expect(run.sub).toEqual({ heardMs: run.now, nextMs: run.now + EVERY_MS });
  });

  it.each<readonly [string, CanaryInput]>([
    ['it is opened anew', opened('s')], ['it is gone', { type: 'gone', id: 's' }], ['the line is down', down],
  ])('calls nobody deaf where %s meanwhile', (_, input) => {
    const run = sounded();
    run.take(input);
    expect(run.state.sounding).toBeUndefined();
    expect(run.state.deafened).toBe(0);
  });

  it('calls nobody deaf whom the relay refuses, and says why', () => {
    const run = sounded();
    run.take({ type: 'answered', token: 1, verdict: 'rejected', reason: 'restricted: no' });
    expect(run.sub).toMatchObject({ refusal: 'restricted: no', nextMs: run.now + EVERY_MS });
    expect(run.next()).toMatchObject([{ type: 'sound' }]);
    run.take({ type: 'echo', id: 's' });
    expect(run.sub).not.toHaveProperty('refusal');
  });

  it('waits while we do not read, and gives way while the relay counts', () => {
    const run = sounded();
    expect(run.next({ isReading: false })).toEqual([]);
    expect(run.state.deafened).toBe(0);
    expect(run.next({ isLimited: true })).toEqual([]);
    expect(run.state.sounding).toBeUndefined();
    expect(canaryDueMs(run.state)).toBe(run.now + LIMITED_MS);
    expect(run.next({ isLimited: true })).toEqual([]);
    expect(canaryDueMs(run.state)).toBe(run.now + LIMITED_MS);
  });

  it('ends the line once an interval, however many are deaf', () => {
    const run = new Run();
    run.take(up, opened('a'), opened('b'), opened('c'));
    const ended: number[] = [];
    while (run.now < 10 * EVERY_MS) {
      if (run.next().some(({ type }) => type === 'end_line')) {
        ended.push(run.now);
        run.take(down, up);
      }
    }
    expect(ended.length).toBeGreaterThan(0);
    expect(ended.every((at, index) => index === 0 || at - (ended[index - 1] ?? 0) >= EVERY_MS)).toBe(true);
    expect(run.state.deafened).toBe(3);
  });

  it('knows nothing of a subscription that is not there', () => {
    const run = new Run();
    expect(run.take({ type: 'echo', id: 's' }, { type: 'gone', id: 's' })).toEqual([]);
    expect(run.state).toEqual(newCanary(EVERY_MS, milliseconds(0)));
  });
});

/** A world of two subscriptions, of which a relay may make one deaf and hear again; what the machine makes of it that is wrong. */
function faultsOf(step: typeof stepCanary): readonly string[] {
  const faults = new Set<string>();
  interface World { readonly state: CanaryState; readonly now: number; readonly isDeaf: boolean; readonly told: boolean; readonly sounds: number }
  const seen = new Set<string>();
  const act = (world: World, input: CanaryInput): World => {
    const { state, commands } = step(world.state, input, milliseconds(world.now));
    let { told, sounds } = world;
    for (const command of commands) {
      if (command.type === 'sound') sounds += 1;
      if (command.type === 'deaf') {
        if (told) faults.add('told twice');
        if (command.id === 'well') faults.add('calls deaf who hears');
        told = true;
      }
      if (command.type === 'recovered') {
        if (!told) faults.add('recovered who was not deaf');
        told = false;
      }
    }
    const after = { ...world, state, told, sounds };
    const [sound] = commands.filter(({ type }) => type === 'sound');
    if (sound === undefined) return after;
    if (world.state.sounding !== undefined) faults.add('two at once');
    const id = state.sounding?.id ?? '';
    const answered = act(after, { type: 'answered', token: state.tokens, verdict: 'accepted' });
    return id === 'well' || !after.isDeaf ? act(answered, { type: 'echo', id }) : answered;
  };
  const walk = (world: World, depth: number): void => {
    const key = JSON.stringify([world.now, world.isDeaf, world.told, [...world.state.subs], world.state.sounding, depth]);
    if (depth === 0 || seen.has(key)) return;
    seen.add(key);
    const dueMs = canaryDueMs(world.state);
    if (dueMs !== undefined) walk(act({ ...world, now: Math.max(world.now, dueMs) }, tick), depth - 1);
    walk({ ...world, isDeaf: !world.isDeaf }, depth - 1);
    walk(act(act(world, down), up), depth - 1);
    walk(act(world, opened('ill')), depth - 1);
  };
  let start: World = { state: newCanary(EVERY_MS, milliseconds(0)), now: 0, isDeaf: false, told: false, sounds: 0 };
  for (const input of [up, opened('well'), opened('ill')]) start = act(start, input);
  walk(start, 9);
  // One that stays deaf is found, whatever was before.
  let deaf: World = { ...start, isDeaf: true };
  for (let count = 0; count < 12; count += 1) deaf = act({ ...deaf, now: canaryDueMs(deaf.state) ?? deaf.now }, tick);
  if (!deaf.told) faults.add('does not find who is deaf');
  return [...faults].sort();
}

describe('every way a line may go', () => {
  it('finds who is deaf and nobody else', () => {
    expect(faultsOf(stepCanary)).toEqual([]);
  });

  it.each<readonly [string, string, typeof stepCanary]>([
    ['an echo that counts for all', 'does not find who is deaf', (state, input, now) => stepCanary(state, input.type === 'tick' && state.sounding !== undefined ? { type: 'echo', id: state.sounding.id } : input, now)],
    ['an echo that is not heard', 'calls deaf who hears', (state, input, now) => (input.type === 'echo' ? { state, commands: [] } : stepCanary(state, input, now))],
    ['a sounding that outlives its line', 'two at once', (state, input, now) => {
      const { state: next, commands } = stepCanary(state, input.type === 'tick' ? input : input, now);
      return input.type === 'tick' && state.sounding !== undefined && now < state.sounding.dueMs ? { state: next, commands } : input.type === 'line' && state.sounding !== undefined ? { state: { ...next, sounding: state.sounding }, commands: [{ type: 'sound', token: next.tokens }] } : { state: next, commands };
    }],
    ['a deafness that is forgotten by opening anew', 'told twice', (state, input, now) => {
      const { state: next, commands } = stepCanary(state, input, now);
      if (input.type !== 'opened') return { state: next, commands };
      return { state: { ...next, subs: new Map(next.subs).set(input.id, { nextMs: next.subs.get(input.id)?.nextMs ?? now }) }, commands };
    }],
  ])('would show %s', (_, fault, faulty) => {
    expect(faultsOf(faulty)).toContain(fault);
  });
});
