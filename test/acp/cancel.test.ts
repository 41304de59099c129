/** The end of a turn before its time: by a cancel, by silence, by its hard bound. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PermissionAnswer } from '../../src/acp/index.ts';
import { alive, answering, noneLeft, open, pidIn, play, say, start, until } from './harness.ts';
import type { Started } from './harness.ts';
import { LeapClock } from './leap-clock.ts';

afterEach(noneLeft);

const CANCELLED: PermissionAnswer = { outcome: 'cancelled' };
const ONCE: PermissionAnswer = { outcome: 'selected', optionId: 'allow-once' };
const rule = (...steps: readonly object[]): object => ({ rules: [{ do: steps }] });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ALIVE = { notify: { method: '_alive', params: {} } };

/** For longer than any test takes. */
function chatter(word: object): readonly object[] {
  return Array.from({ length: 3_000 }, () => [word, { sleep: 20 }]).flat();
}

/** How many lines of the agent have that word. */
function read({ lines }: Started, word: string): number {
  return lines.filter(({ direction, text }) => direction === 'read' && text.includes(word)).length;
}

describe('a cancel', () => {
  it('is heeded', async () => {
    const started = await start(rule({ say: 'working' }, { mark: 'begun' }, { hang: true }));
    const sessionId = await open(started);
    const turn = say(started.process, sessionId);
    await pidIn(started.directory, 'begun');
    started.process.cancel(sessionId);
    started.process.cancel(sessionId);
    expect(await turn).toEqual({
      status: 'cancelled',
      processAlive: true,
      seen: { text: 'working', textCut: false, thoughts: 0, toolCalls: 0, updates: 1 },
    });
    expect(started.lines.filter(({ text }) => text.includes('session/cancel')).length).toBe(1);
    expect(alive(started.process.pid)).toBe(true);
  });

  it.each(['end_turn', 'refusal', 'max_tokens'])('is ours though the agent ends with %s', async (reason) => {
    const started = await start({ ...rule({ mark: 'begun' }, { hang: true }), onCancel: [{ stop: reason }] });
    const sessionId = await open(started);
    const turn = say(started.process, sessionId);
    await pidIn(started.directory, 'begun');
    started.process.cancel(sessionId);
    expect(await turn).toMatchObject({ status: 'cancelled', processAlive: true });
  });

  it('is told of what is asked then, so that nothing is granted', async () => {
    const started = await start(
      {
        ...rule(
          { ignoreCancel: true },
          { mark: 'begun' },
          { wait: 'cancelled' },
          { ask: 'rm -rf /', as: 'v' },
          { say: '{{v.outcome}}' },
        ),
      },
      { desk: answering(({ turn }) => (turn?.cancelling === true ? CANCELLED : ONCE)), limits: { cancelGraceMs: 10_000 } },
    );
    const sessionId = await open(started);
    const turn = say(started.process, sessionId, 'go', { turnId: 't' });
    await pidIn(started.directory, 'begun');
    started.process.cancel(sessionId);
    writeFileSync(join(started.directory, 'cancelled'), '');
    expect(await turn).toMatchObject({ status: 'cancelled', processAlive: true, seen: { text: 'cancelled' } });
    expect(started.asked).toMatchObject([{ turn: { turnId: 't', cancelling: true } }]);
  });

  it('that is ignored costs the agent its life, and everything it started', async () => {
    const started = await start({
      ...rule(
        { ignoreCancel: true },
        { spawn: { seconds: 60, detached: true, trapTerm: true }, as: 'child' },
        { say: '{{child.pid}}' },
        { mark: 'begun' },
        { wait: 'never' },
      ),
      ignoreStdinEof: true,
      ignoreSigterm: true,
    });
    const sessionId = await open(started);
    const turn = say(started.process, sessionId);
    await pidIn(started.directory, 'begun');
    started.process.cancel(sessionId);
    const outcome = await turn;
    expect(outcome).toMatchObject({ status: 'cancelled', processAlive: false });
    expect(await started.process.ended).toEqual({ how: 'stopped' });
    expect([started.process.pid, Number(outcome.seen.text)].filter((pid) => running(pid))).toEqual([]);
  });

  it('before the prompt was sent keeps it from being sent, and needs no cancel itself', async () => {
    const started = await start({ rules: [{ match: 'never', do: [{ say: 'worked' }] }, { do: [{ say: 'next' }] }] });
    const sessionId = await open(started);
    let sent = 0;
    const unsent = say(started.process, sessionId, 'never', { onSent: () => (sent += 1) });
    started.process.cancel(sessionId);
    started.process.cancel(sessionId);
    expect(await unsent).toEqual({
      status: 'cancelled',
      processAlive: true,
      seen: { text: '', textCut: false, thoughts: 0, toolCalls: 0, updates: 0 },
    });
    // The control: the next prompt of the session goes out and is answered, so the first would have been seen by now.
    expect(await say(started.process, sessionId, 'next')).toMatchObject({ status: 'ended', seen: { text: 'next' } });
    const written = started.lines.filter(({ direction }) => direction === 'write').map(({ text }) => text);
    expect(written.filter((text) => text.includes('session/prompt'))).toHaveLength(1);
    expect(written.some((text) => text.includes('never') || text.includes('session/cancel'))).toBe(false);
    expect(sent).toBe(0);
  });

  it('of a session without a turn is nothing', async () => {
    const { process: agent, sessionId, lines } = await play({});
    agent.cancel(sessionId);
    agent.cancel('no such session');
    expect(await say(agent, sessionId)).toMatchObject({ status: 'ended' });
    expect(lines.some(({ text }) => text.includes('session/cancel'))).toBe(false);
  });
});

describe('time', () => {
  it('an agent that says nothing is asked to stop, and told to have been idle', async () => {
    const clock = new LeapClock();
    const started = await start(rule({ say: 'hm' }, { hang: true }), { clock });
    const turn = say(started.process, await open(started), 'go', { idleTimeoutMs: MINUTE_MS, hardTimeoutMs: HOUR_MS });
    await until(() => read(started, 'hm') === 1);
    clock.leap(MINUTE_MS);
    expect(await turn).toMatchObject({ status: 'idle_timeout', afterMs: MINUTE_MS, processAlive: true, seen: { text: 'hm' } });
  });

  it('and is ended when it says nothing to that either', async () => {
    const started = await start(rule({ ignoreCancel: true }, { wait: 'never' }));
    const outcome = await say(started.process, await open(started), 'go', { idleTimeoutMs: 200 });
    expect(outcome).toMatchObject({ status: 'idle_timeout', processAlive: false });
    expect(await started.process.ended).toEqual({ how: 'stopped' });
  });

  it.each([
    ['a word of no session', ALIVE],
    ['news of the session', { update: { sessionUpdate: 'session_info_update', title: 'at work' } }],
  ])('%s is no progress: the turn is idle', async (_, word) => {
    const clock = new LeapClock();
    const started = await start(rule({ say: 'hm' }, ...chatter(word)), { clock });
    const turn = say(started.process, await open(started), 'go', { idleTimeoutMs: MINUTE_MS, hardTimeoutMs: HOUR_MS });
    for (const times of [1, 2]) {
      await until(() => read(started, word === ALIVE ? '_alive' : 'at work') > 10 * times);
      clock.leap(MINUTE_MS / 2);
    }
    expect(await turn).toMatchObject({ status: 'idle_timeout', afterMs: MINUTE_MS, processAlive: true, seen: { text: 'hm' } });
  });

  it('every sign that the turn goes on puts the idle timeout off, until the hard one', async () => {
    const clock = new LeapClock();
    const started = await start(rule(...chatter({ update: { sessionUpdate: 'a_kind_from_the_future' } })), { clock });
    const turn = say(started.process, await open(started), 'go', { idleTimeoutMs: MINUTE_MS, hardTimeoutMs: 2 * MINUTE_MS });
    for (let third = 0; third < 3; third += 1) {
      const before = read(started, 'a_kind_from_the_future');
      await until(() => read(started, 'a_kind_from_the_future') > before);
      clock.leap(MINUTE_MS * 2 / 3);
    }
    expect(await turn).toMatchObject({ status: 'hard_timeout', afterMs: 2 * MINUTE_MS, processAlive: true });
  });

  it.each([
    ['idle', 'hang'],
    ['hard', 'chat'],
  ])('the %s timeout holds when the clock is set back', async (kind, what) => {
    const rules = [{ match: 'chat', do: [{ mark: 'begun' }, ...chatter({ say: '.' })] }, { do: [{ mark: 'begun' }, { hang: true }] }];
    const started = await start({ rules });
    const bounds = kind === 'idle' ? { idleTimeoutMs: 600 } : { idleTimeoutMs: 10_000, hardTimeoutMs: 1_000 };
    const turn = say(started.process, await open(started), what, bounds);
    await pidIn(started.directory, 'begun');
    const before = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => before() - 3_600_000);
    try {
      expect(await turn).toMatchObject({ status: `${kind}_timeout`, processAlive: true });
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('but the lines of another session keep no one alive', async () => {
    const clock = new LeapClock();
    const started = await start({ rules: [{ match: 'chat', do: chatter({ say: '.' }) }, { do: [{ mark: 'hangs' }, { hang: true }] }] }, { clock });
    const [a, b] = [await open(started), await open(started)];
    const chatting = say(started.process, a, 'chat', { idleTimeoutMs: HOUR_MS, hardTimeoutMs: HOUR_MS });
    const hanging = say(started.process, b, 'hang', { idleTimeoutMs: MINUTE_MS, hardTimeoutMs: HOUR_MS });
    await pidIn(started.directory, 'hangs');
    for (let half = 0; half < 2; half += 1) {
      const before = read(started, 'agent_message_chunk');
      await until(() => read(started, 'agent_message_chunk') > before);
      clock.leap(MINUTE_MS / 2);
    }
    expect(await hanging).toMatchObject({ status: 'idle_timeout', processAlive: true });
    started.process.cancel(a);
    expect(await chatting).toMatchObject({ status: 'cancelled' });
  });
});

function running(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}
