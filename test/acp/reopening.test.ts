/** A session that goes on in another process: resumed or loaded, and what is heard of its past. With real processes. */
import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { readInitialize } from '../../src/acp/handshake.ts';
import type { AgentProcess } from '../../src/acp/index.ts';
import type { LineAbout } from '../../src/acp/index.ts';
import { alive, noneLeft, plan, say, start, tryStart } from './harness.ts';
import type { Options } from './harness.ts';

afterEach(noneLeft);

const RULES = [{ do: [{ say: '{{turns}} {{system}}' }, { stop: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } }] }];

/** Two processes that play one script in one directory, one after the other; the first has had one turn in its session. */
async function twice(script: object, options: Options = {}): Promise<{ readonly agent: AgentProcess; readonly sessionId: string; readonly cwd: string; readonly heard: LineAbout[] }> {
  const heard: LineAbout[] = [];
  const launch = plan({ rules: RULES, ...script });
  const before = await tryStart(launch, options);
  if (!before.ok) throw new Error('not started');
  const opened = await before.process.newSession({ cwd: launch.cwd, ...(before.process.takesSystemPrompt && { systemPrompt: 'be kind' }) });
  if (!opened.ok) throw new Error(opened.detail);
  await say(before.process, opened.sessionId, 'first');
  process.kill(before.process.pid, 'SIGKILL');
  await before.process.ended;
  const after = await tryStart(launch, { ...options, onLine: (direction, _, about) => { if (direction === 'read') heard.push(about); } });
  if (!after.ok) throw new Error('not started again');
  return { agent: after.process, sessionId: opened.sessionId, cwd: launch.cwd, heard };
}

describe('what an agent says of sessions', () => {
  it.each([
    ['resumes', { loadSession: true, sessionCapabilities: { resume: {}, close: {} } }, 'resume', true],
    ['loads', { loadSession: true }, 'load', false],
    ['does neither', { loadSession: false, sessionCapabilities: {} }, 'none', false],
    ['says nothing', undefined, 'none', false],
    ['says it in another form', { loadSession: 'yes', sessionCapabilities: { resume: 'yes', close: 1 } }, 'none', false],
  ])('that it %s', (_, agentCapabilities, reopens, closesSessions) => {
    expect(readInitialize({ protocolVersion: 1, agentCapabilities }, { standing: 'capability' })).toMatchObject({ ok: true, traits: { reopens, closesSessions } });
  });

  it('is not loaded where what it tells again comes late', () => {
    expect(readInitialize({ protocolVersion: 1, agentCapabilities: { loadSession: true } }, { standing: 'capability', replaysLate: true }))
      .toMatchObject({ ok: true, traits: { reopens: 'none' } });
  });
});

describe.each(['load', 'resume'] as const)('a session that is opened by session/%s', (way) => {
  const script = { sessions: { [way]: true }, newSession: { systemPrompt: true } };

  it('goes on where it was, with its standing text and its number of turns', async () => {
    const { agent, sessionId, cwd } = await twice(script);
    expect(agent.reopens).toBe(way);
    const opened = await agent.reopenSession({ sessionId, cwd, systemPrompt: 'be kind', turnSeq: 1 });
    expect(opened).toMatchObject({ ok: true, sessionId, tookSystemPrompt: true });
    expect(await say(agent, sessionId)).toMatchObject({ status: 'ended', seen: { text: '2 be kind', updates: 1, usage: { turnSeq: 2 } } });
  });

  it('is put to what is wished, as one that begins', async () => {
    const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] };
    const { agent, sessionId, cwd } = await twice({ ...script, newSession: { modes }, rules: [{ do: [{ say: '{{mode}}' }] }] });
    expect(await agent.reopenSession({ sessionId, cwd, turnSeq: 0, wished: { mode: 'code', effort: 'high' } })).toMatchObject({ ok: true, refused: [{ setting: 'effort' }] });
    expect(await say(agent, sessionId)).toMatchObject({ seen: { text: 'code' } });
  });

  it('is refused where the agent does not know it, and by whatever code', async () => {
    const { agent, cwd } = await twice(script);
    expect(await agent.reopenSession({ sessionId: 'nobody', cwd, turnSeq: 0 })).toMatchObject({ ok: false, code: 'error', rpcCode: -32_002 });
    const odd = await twice({ ...script, answers: { [`session/${way}`]: { error: { code: 401, message: 'Invalid session identifier' } } } });
    expect(await odd.agent.reopenSession({ sessionId: odd.sessionId, cwd: odd.cwd, turnSeq: 0 })).toMatchObject({ ok: false, rpcCode: 401, detail: 'Invalid session identifier' });
    expect(await odd.agent.newSession({ cwd: odd.cwd })).toMatchObject({ ok: true });
  });

  it('is not opened twice, nor in a directory that is not there', async () => {
    const { agent, sessionId, cwd } = await twice(script);
    await agent.reopenSession({ sessionId, cwd, turnSeq: 0 });
    expect(await agent.reopenSession({ sessionId, cwd, turnSeq: 0 })).toMatchObject({ ok: false, detail: `session/${way}: the session is open` });
    expect(await agent.reopenSession({ sessionId: 'other', cwd: '/nowhere', turnSeq: 0 })).toMatchObject({ ok: false, rpcCode: -32_602 });
  });

  it('settles when there is no answer in time, or the agent dies of it', async () => {
    const silent = await twice({ ...script, answers: { [`session/${way}`]: { never: true } } }, { limits: { callMs: 2_000 } });
    expect(await silent.agent.reopenSession({ sessionId: silent.sessionId, cwd: silent.cwd, turnSeq: 0 })).toMatchObject({ ok: false, code: 'timeout' });
    const dying = await twice({ ...script, answers: { [`session/${way}`]: { die: 3 } } });
    expect(await dying.agent.reopenSession({ sessionId: dying.sessionId, cwd: dying.cwd, turnSeq: 0 })).toMatchObject({ ok: false, code: 'process_ended' });
  });

  it('is opened again after it was closed', async () => {
    const { agent, sessionId, cwd } = await twice({ ...script, sessions: { [way]: true, close: true } });
    await agent.reopenSession({ sessionId, cwd, turnSeq: 0 });
    agent.closeSession(sessionId);
    expect(await agent.reopenSession({ sessionId, cwd, turnSeq: 0 })).toMatchObject({ ok: true });
    expect(await say(agent, sessionId)).toMatchObject({ status: 'ended' });
  });
});

describe('what was said before', () => {
  it('comes as replayed, and counts in no turn; what comes after is new', async () => {
    const { agent, sessionId, cwd, heard } = await twice({ sessions: { load: true } });
    await agent.reopenSession({ sessionId, cwd, turnSeq: 0 });
    const updates = (): readonly string[] => heard.flatMap((about) => ('method' in about && about.method === 'session/update' ? [about.is] : []));
    expect(updates()).toEqual(['replayed', 'replayed']);
    expect(await say(agent, sessionId)).toMatchObject({ seen: { text: '2 ', updates: 1 } });
    expect(updates()).toEqual(['replayed', 'replayed', 'message']);
  });

  it('is no setting of the session now: its answer says what that is', async () => {
    const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] };
    const { agent, sessionId, cwd } = await twice({
      sessions: { load: true }, newSession: { modes }, rules: [{ do: [{ update: { sessionUpdate: 'current_mode_update', currentModeId: 'code' } }] }],
    });
    await agent.reopenSession({ sessionId, cwd, turnSeq: 0 });
    expect(agent.settings(sessionId)?.modes?.current).toBe('ask');
    await say(agent, sessionId);
    expect(agent.settings(sessionId)?.modes?.current).toBe('code');
  });

  it('tells of no use in the turn that follows', async () => {
    const cost = (amount: number): object => ({ update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } } });
    const rules = [{ when: { turns: '1' }, do: [cost(3)] }, { do: [cost(5)] }];
    const { agent, sessionId, cwd } = await twice({ sessions: { load: true }, rules });
    await agent.reopenSession({ sessionId, cwd, turnSeq: 1 });
    expect(await say(agent, sessionId)).toMatchObject({ seen: { usage: { turnSeq: 2, turn: { costUsd: 2 }, deltaReliable: true, cumulative: { costUsd: 5 } } } });
  });

  it('is unknown to a session that is resumed: no difference is made up', async () => {
    const cost = { update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 5, currency: 'USD' } } };
    const { agent, sessionId, cwd } = await twice({ sessions: { resume: true }, rules: [{ do: [cost] }] });
    await agent.reopenSession({ sessionId, cwd, turnSeq: 4 });
    expect(await say(agent, sessionId)).toMatchObject({ seen: { usage: { turnSeq: 5, turn: { costUsd: null }, cumulative: { costUsd: 5 } } } });
  });
});

describe('the same session, again and again', () => {
  it('in twenty processes, one after the other: one lives', async () => {
    const launch = plan({ sessions: { load: true }, rules: [{ do: [{ say: '{{turns}}' }] }] });
    const pids: number[] = [];
    let sessionId: string | undefined;
    for (let count = 1; count <= 20; count += 1) {
      const started = await tryStart(launch);
      if (!started.ok) throw new Error(JSON.stringify(started.end));
      const { process: agent } = started;
      const opened = await (sessionId === undefined ? agent.newSession({ cwd: launch.cwd }) : agent.reopenSession({ sessionId, cwd: launch.cwd, turnSeq: 0 }));
      if (!opened.ok) throw new Error(opened.detail);
      ({ sessionId } = opened);
      expect(await say(agent, sessionId)).toMatchObject({ seen: { text: String(count) } });
      pids.push(agent.pid);
      expect(pids.filter(alive)).toEqual([agent.pid]);
      if (count === 20) continue;
      process.kill(agent.pid, 'SIGKILL');
      await agent.ended;
    }
  }, 60_000);

  it('a thousand of them, opened and closed in one process, leave nothing behind', async () => {
    const { process: agent, directory } = await start({ sessions: { close: true } });
    const held = (): readonly number[] => [readdirSync('/proc/self/fd').length, readdirSync(`/proc/${agent.pid}/fd`).length];
    const round = async (): Promise<void> => {
      const opened = await agent.newSession({ cwd: directory });
      if (!opened.ok) throw new Error(opened.detail);
      agent.closeSession(opened.sessionId);
      expect(agent.settings(opened.sessionId)).toBeUndefined();
    };
    await round();
    const before = held();
    for (let count = 0; count < 1_000; count += 1) await round();
    expect(held()).toEqual(before);
  }, 60_000);
});

it('is asked of no agent that does not offer it', async () => {
  const { agent, sessionId, cwd } = await twice({});
  expect(agent.reopens).toBe('none');
  await expect(agent.reopenSession({ sessionId, cwd, turnSeq: 0 })).rejects.toThrow('does not offer it');
});
