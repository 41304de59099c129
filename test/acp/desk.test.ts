/** Requests that are answered later than they come, and what their desk is told meanwhile. */
import { afterEach, describe, expect, it } from 'vitest';
import type {
  IncomingRequest, OpenPermissionDesk, PermissionAnswer, PermissionDoors, PermissionReply,
} from '../../src/acp/index.ts';
import { noneLeft, open, pidIn, say, start, until } from './harness.ts';
import { LeapClock } from './leap-clock.ts';

afterEach(noneLeft);

const ONCE: PermissionAnswer = { outcome: 'selected', optionId: 'allow-once' };
const CANCELLED: PermissionAnswer = { outcome: 'cancelled' };
const rule = (...steps: readonly object[]): object => ({ rules: [{ do: steps }] });
const ASKS = rule({ ask: 'Run it?', as: 'v' }, { say: '{{v.outcome}}' });

interface Slow {
  readonly desk: OpenPermissionDesk;
  readonly asked: { readonly request: IncomingRequest; readonly reply: PermissionReply }[];
  readonly told: string[];
  readonly doors: () => PermissionDoors;
}

/** Answers when the test does. */
function slowDesk(): Slow {
  const asked: Slow['asked'][number][] = [];
  const told: string[] = [];
  let doors: PermissionDoors | undefined;
  return {
    asked, told,
    doors: () => doors ?? expect.unreachable(),
    desk: (given) => {
      doors = given;
      return {
        requested: (request, reply) => { asked.push({ request, reply }); },
        turnCancelled: (turnId, overtime) => { told.push(`cancelled ${turnId}${overtime ? ' overtime' : ''}`); },
        turnOver: (turnId) => { told.push(`over ${turnId}`); },
        stopping: () => { told.push('stopping'); },
        ended: () => { told.push('ended'); },
      };
    },
  };
}

describe('a request', () => {
  it.each([[7], ['7'], [0], ['']])('under id %j is answered later under exactly that, and the write is told', async (id) => {
    const slow = slowDesk();
    const started = await start(rule({ ask: { title: 'Run it?', id }, as: 'v' }, { say: '{{v.outcome}}' }), { desk: slow.desk });
    const turn = say(started.process, await open(started), 'go', { turnId: 't' });
    await until(() => slow.asked.length === 1);
    const { request, reply } = slow.asked[0] ?? expect.unreachable();
    expect(request).toMatchObject({ id, turn: { turnId: 't', cancelling: false } });
    expect(started.lines).toContainEqual({ direction: 'read', text: request.line });
    const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}}}`;
    expect(await reply(ONCE)).toEqual({ written: true, line: answer });
    expect(() => reply(ONCE)).toThrow('one answer');
    expect(await turn).toMatchObject({ status: 'ended', seen: { text: 'selected' } });
    expect(slow.told).toEqual(['over t']);
  });

  it('tells what line it is: the desk has it, and the tap can leave it to the desk', async () => {
    const about: string[] = [];
    const started = await start(ASKS, { onLine: (direction, text, what) => { if (what.is === 'permission') about.push(`${direction} ${text.includes('allow-once')}`); } });
    await say(started.process, await open(started));
    expect(about).toEqual(['read true', 'write false']);
  });

  it('that waits in one session holds up no other', async () => {
    const slow = slowDesk();
    const started = await start({ rules: [{ match: 'ask', do: [{ ask: 'x', as: 'v' }, { say: '{{v.outcome}}' }] }, { do: [{ say: 'free' }] }] }, { desk: slow.desk });
    const [a, b] = [await open(started), await open(started)];
    const waiting = say(started.process, a, 'ask');
    await until(() => slow.asked.length === 1);
    expect(await say(started.process, b, 'hello')).toMatchObject({ status: 'ended', seen: { text: 'free' } });
    void slow.asked[0]?.reply(ONCE);
    expect(await waiting).toMatchObject({ seen: { text: 'selected' } });
  });

  it('outside of a turn has none', async () => {
    const slow = slowDesk();
    const started = await start(ASKS, { desk: slow.desk });
    const turn = say(started.process, await open(started));
    await until(() => slow.asked.length === 1);
    expect(slow.asked[0]?.request).not.toHaveProperty('turn');
    void slow.asked[0]?.reply(CANCELLED);
    await turn;
  });

  it('whose process has died is settled as not written, before and after', async () => {
    const slow = slowDesk();
    const started = await start(rule({ mark: 'pid' }, { ask: 'x', as: 'v' }), { desk: slow.desk });
    const turn = say(started.process, await open(started), 'go', { turnId: 't' });
    await until(() => slow.asked.length === 1);
    process.kill(started.process.pid, 'SIGKILL');
    await turn;
    expect(slow.told).toEqual(['ended', 'over t']);
    expect(await slow.asked[0]?.reply(ONCE)).toMatchObject({ written: false });
  });
});

describe('the end of a turn', () => {
  it('by a cancel is told after the agent was asked to stop, and the answer still arrives', async () => {
    const slow = slowDesk();
    const started = await start({ ...ASKS, onCancel: { waitForAsks: true, do: [] } }, { desk: slow.desk, limits: { cancelGraceMs: 10_000 } });
    const sessionId = await open(started);
    const turn = say(started.process, sessionId, 'go', { turnId: 't' });
    await until(() => slow.asked.length === 1);
    started.process.cancel(sessionId);
    await until(() => slow.told.length === 1);
    expect(slow.told).toEqual(['cancelled t']);
    expect(started.lines.at(-1)?.text).toContain('session/cancel');
    expect(await slow.asked[0]?.reply(CANCELLED)).toMatchObject({ written: true });
    expect(await turn).toMatchObject({ status: 'cancelled', processAlive: true });
  });

  it('by its hard timeout is told as that', async () => {
    const slow = slowDesk();
    const clock = new LeapClock();
    const started = await start(ASKS, { desk: slow.desk, clock });
    const turn = say(started.process, await open(started), 'go', { turnId: 't', hardTimeoutMs: 60_000 });
    await until(() => slow.asked.length === 1);
    clock.leap(60_000);
    expect(await turn).toMatchObject({ status: 'hard_timeout' });
    expect(slow.told).toEqual(['cancelled t overtime', 'over t']);
  });

  it('a stop of the process is told once', async () => {
    const slow = slowDesk();
    const started = await start(ASKS, { desk: slow.desk });
    void say(started.process, await open(started), 'go', { turnId: 't' });
    await until(() => slow.asked.length === 1);
    await Promise.all([started.process.stop(), started.process.stop()]);
    expect(slow.told.filter((word) => word === 'stopping')).toHaveLength(1);
  });
});

describe('the idle timeout', () => {
  it('stands still while it is suspended, and begins anew', async () => {
    const slow = slowDesk();
    const clock = new LeapClock();
    const started = await start(rule({ ask: 'x', as: 'v' }, { mark: 'answered' }, { hang: true }), { desk: slow.desk, clock });
    const sessionId = await open(started);
    const bounds = { idleTimeoutMs: 60_000, hardTimeoutMs: 600_000 };
    const turn = say(started.process, sessionId, 'go', { turnId: 't', ...bounds });
    await until(() => slow.asked.length === 1);
    slow.doors().suspendIdle(sessionId);
    // The control: another session of the same silence ends by it meanwhile.
    const other = say(started.process, await open(started), 'go', bounds);
    clock.leap(60_000);
    expect(await other).toMatchObject({ status: 'idle_timeout' });
    expect(slow.told).toEqual([]);
    slow.doors().resumeIdle(sessionId);
    void slow.asked[0]?.reply(ONCE);
    await pidIn(started.directory, 'answered');
    clock.leap(60_000);
    expect(await turn).toMatchObject({ status: 'idle_timeout', afterMs: 60_000 });
  });
});

describe('poison', () => {
  it('ends every turn as such, and nothing is written any more', async () => {
    const slow = slowDesk();
    const started = await start({ rules: [{ match: 'hang', do: [{ mark: 'hangs' }, { hang: true }] }, { do: [{ ask: 'x', as: 'v' }] }] }, { desk: slow.desk });
    const [a, b] = [await open(started), await open(started)];
    const turns = [say(started.process, a, 'ask', { turnId: 'a' }), say(started.process, b, 'hang', { turnId: 'b' })];
    await until(() => slow.asked.length === 1);
    await pidIn(started.directory, 'hangs');
    const before = started.lines.length;
    slow.doors().poison('cancelled');
    expect(await slow.asked[0]?.reply(ONCE)).toMatchObject({ written: false });
    for (const turn of turns) expect(await turn).toMatchObject({ status: 'permission_poisoned', cause: 'cancelled' });
    await started.process.stop();
    expect(await started.process.ended).toEqual({ how: 'poisoned', cause: 'cancelled' });
    expect(started.lines.slice(before)).toEqual([]);
  });

  it('that meets a cancel has the last word', async () => {
    const slow = slowDesk();
    const started = await start({ ...ASKS, onCancel: { waitForAsks: true, do: [] } }, { desk: slow.desk, limits: { cancelGraceMs: 10_000 } });
    const sessionId = await open(started);
    const turn = say(started.process, sessionId, 'go', { turnId: 't' });
    await until(() => slow.asked.length === 1);
    started.process.cancel(sessionId);
    await until(() => slow.told.length === 1);
    slow.doors().poison('cancelled');
    expect(await turn).toMatchObject({ status: 'permission_poisoned' });
  });
});
