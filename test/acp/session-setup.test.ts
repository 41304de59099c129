/** What is done in a new session as its profile says, and what an agent's signs mean in a turn: with real processes. */
import { afterEach, describe, expect, it } from 'vitest';
import { findAdapter, USAGE_BY_LOOKING } from '../../adapters/index.ts';
import type { Dialect } from '../../adapters/index.ts';
import { fails, shows } from '../../src/acp/signs.ts';
import { silentLog } from '../../src/model/index.ts';
import { noneLeft, open, play, say, start } from './harness.ts';
import type { Started } from './harness.ts';

afterEach(noneLeft);

const PLAIN: Dialect = { standing: 'first-message', usage: USAGE_BY_LOOKING };

function dialectOf(name: string): Dialect {
  const profile = findAdapter(name);
  if (profile === undefined) throw new Error(`${name} is not in the catalogue`);
  return profile.dialect;
}

/** The requests that were written, but initialize. */
function requests({ lines }: Started): unknown[] {
  return lines.filter(({ direction }) => direction === 'write').map(({ text }) => JSON.parse(text) as { method?: string; params: unknown })
    .filter(({ method }) => method !== undefined && method !== 'initialize').map(({ method, params }) => [method, params]);
}

const modes = { currentModeId: 'auto', availableModes: [{ id: 'auto', name: 'Auto' }, { id: 'default', name: 'Ask' }] };
const option = { id: 'mode', category: 'mode', currentValue: 'auto', options: [{ value: 'auto', name: 'Auto' }, { value: 'default', name: 'Ask' }] };

describe('a session that is opened', () => {
  const dialect: Dialect = { ...PLAIN, startMode: 'default' };

  it('is put into the mode in which the agent asks, before its first prompt', async () => {
    const started = await start({ newSession: { modes }, answers: { 'session/set_mode': { result: {} } } }, { dialect });
    const sessionId = await open(started);
    await say(started.process, sessionId);
    expect(requests(started)).toMatchObject([['session/new', {}], ['session/set_mode', { sessionId, modeId: 'default' }], ['session/prompt', {}]]);
  });

  it('is put there by its config option where it has one', async () => {
    const started = await start({ newSession: { modes, configOptions: [option] }, answers: { 'session/set_config_option': { result: {} } } }, { dialect });
    const sessionId = await open(started);
    expect(requests(started)).toMatchObject([['session/new', {}], ['session/set_config_option', { sessionId, configId: 'mode', value: 'default' }]]);
  });

  it.each([
    ['does not offer it', {}, 'the session does not offer the mode default'],
    ['offers others', { newSession: { modes: { ...modes, availableModes: [{ id: 'auto' }, { id: 'plan' }] } } }, 'the session does not offer the mode default; it offers auto, plan'],
    ['refuses it', { newSession: { modes }, answers: { 'session/set_mode': { error: { code: -32603, message: 'not trusted' } } } }, 'not trusted'],
  ])('is open all the same where the agent %s, with one warning a process', async (_, script, detail) => {
    const told: unknown[] = [];
    const log = { ...silentLog, warn: (text: string, fields?: object) => told.push([text, fields]) };
    const started = await start(script, { dialect, log });
    await open(started);
    await open(started);
    expect(told).toEqual([['an agent is not in the mode in which it asks before it acts', { agent: 'tester', pid: started.process.pid, detail }]]);
  });

  it('is left as it is where it is in that mode', async () => {
    const started = await start({ newSession: { modes: { ...modes, currentModeId: 'default' } } }, { dialect });
    await open(started);
    expect(requests(started)).toMatchObject([['session/new', {}]]);
  });

  it('is left as it is where the profile wants no mode', async () => {
    const started = await start({ newSession: { modes } }, { dialect: PLAIN });
    await open(started);
    expect(requests(started)).toMatchObject([['session/new', {}]]);
  });
});

describe('what an operator wishes of a session', () => {
  const levels = { low: ['a', 'b'], high: ['a', 'b', 'c'] };
  const effort = { id: 'effort', category: 'thought_level', currentValue: 'a', options: levels.low.map((value) => ({ value })) };
  const model = { id: 'model', category: 'model', currentValue: 's', options: [{ value: 's' }, { value: 'l' }] };
  const script = { newSession: { modes, configOptions: [model, effort] }, rules: [{ do: [{ say: '{{mode}} {{model}} {{effort}}' }] }] };

  it('is asked for before the first prompt: mode, model, effort', async () => {
    const started = await start(script, { dialect: { ...PLAIN, startMode: 'auto' } });
    const session = await started.process.newSession({ cwd: started.directory, wished: { effort: 'b', model: 'l', mode: 'default' } });
    if (!session.ok) throw new Error(session.detail);
    expect(session.refused).toEqual([]);
    expect(requests(started).map((request) => (request as unknown[])[0])).toEqual(['session/new', 'session/set_mode', 'session/set_config_option', 'session/set_config_option']);
    expect(await say(started.process, session.sessionId)).toMatchObject({ seen: { text: 'default l b' } });
  });

  it('takes the place of the mode of the profile, and is not asked for where it is so', async () => {
    const started = await start(script, { dialect: { ...PLAIN, startMode: 'default' } });
    await started.process.newSession({ cwd: started.directory, wished: { mode: 'auto', model: 's' } });
    expect(requests(started).map((request) => (request as unknown[])[0])).toEqual(['session/new']);
  });

  it('is told when it is not granted, with what there is; the session goes on', async () => {
    const answers = { 'session/set_mode': { error: { code: -32_603, message: 'not trusted' } } };
    const started = await start({ ...script, answers });
    const session = await started.process.newSession({ cwd: started.directory, wished: { mode: 'default', model: 'huge', effort: 'b' } });
    if (!session.ok) throw new Error(session.detail);
    expect(session.refused).toEqual([
      { setting: 'mode', value: 'default', offered: ['auto', 'default'], detail: 'not trusted' },
      { setting: 'model', value: 'huge', offered: ['s', 'l'], detail: 'the agent does not offer that model' },
    ]);
    expect(await say(started.process, session.sessionId)).toMatchObject({ seen: { text: 'auto s b' } });
  });

  it('knows that another model has other efforts', async () => {
    const after = { configOptions: [{ ...model, currentValue: 'l' }, { ...effort, options: levels.high.map((value) => ({ value })) }] };
    const started = await start({ ...script, answers: { 'session/set_config_option': { result: after } } });
    const session = await started.process.newSession({ cwd: started.directory, wished: { model: 'l', effort: 'c' } });
    expect(session).toMatchObject({ ok: true, refused: [] });
    expect(requests(started).at(-1)).toMatchObject(['session/set_config_option', { configId: 'effort', value: 'c' }]);
  });

  it('is told as not granted where there is no answer in time', async () => {
    const started = await start({ ...script, answers: { 'session/set_mode': { never: true } } }, { limits: { modelMs: 1 } });
    const session = await started.process.newSession({ cwd: started.directory, wished: { mode: 'default' } });
    expect(session).toMatchObject({ ok: true, refused: [{ setting: 'mode', detail: 'the choice of a mode: no answer in time' }] });
  });
});

describe('the standing text of goose', () => {
  const method = '_goose/unstable/session/system-prompt/set';

  it('is set by its own method', async () => {
    const started = await start({ answers: { [method]: { result: {} } } }, { dialect: { ...PLAIN, standing: 'goose-method' } });
    expect(started.process.takesSystemPrompt).toBe(true);
    const session = await started.process.newSession({ cwd: started.directory, systemPrompt: 'be kind' });
    expect(session).toMatchObject({ ok: true, tookSystemPrompt: true });
    expect(requests(started)).toMatchObject([
      ['session/new', { cwd: started.directory, mcpServers: [] }],
      [method, { sessionId: session.ok && session.sessionId, mode: 'set', key: 'skep', text: 'be kind' }],
    ]);
  });

  it('goes into the first prompt where an older goose has no such method, and it is not asked again', async () => {
    const started = await start({}, { dialect: { ...PLAIN, standing: 'goose-method' } });
    expect(await started.process.newSession({ cwd: started.directory, systemPrompt: 'be kind' })).toMatchObject({ ok: true, tookSystemPrompt: false });
    expect(started.process.takesSystemPrompt).toBe(false);
    await open(started);
    expect(requests(started).map((request) => (request as string[])[0])).toEqual(['session/new', method, 'session/new']);
  });
});

describe('signs', () => {
  const failing = { sessionUpdate: 'session_info_update', _meta: { codex: { threadStatus: { type: 'systemError' } } } };
  const active = { sessionUpdate: 'session_info_update', _meta: { codex: { threadStatus: { type: 'active' } } } };
  const remark = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Auto mode is on.' }, _meta: { claudeCode: { kind: 'informational' } } };

  it('are seen at their place in their update, and nowhere else', () => {
    const signs = dialectOf('codex').failureSigns;
    expect([failing, active, { sessionUpdate: 'session_info_update' }, { ...failing, sessionUpdate: 'plan' }, null].map((update) => fails(update, signs)))
      .toEqual([true, false, undefined, undefined, undefined]);
    expect(fails(failing)).toBeUndefined();
    expect([remark, { ...remark, _meta: null }].map((update) => shows(update, dialectOf('claude').remarkSigns))).toEqual([true, false]);
    expect(shows(remark)).toBe(false);
  });

  it('codex: a turn that ends with the sign of a failure has failed, and its text is the error', async () => {
    const text = { say: 'unexpected status 400 Bad Request' };
    const script = { rules: [{ do: [{ update: active }, text, { update: failing }, { stop: { reason: 'end_turn' } }] }] };
    const { outcome } = await play(script, { dialect: dialectOf('codex') });
    expect(outcome).toMatchObject({ status: 'error', message: 'unexpected status 400 Bad Request' });
    expect((await play(script, { dialect: PLAIN })).outcome).toMatchObject({ status: 'ended', stopReason: 'end_turn' });
  });

  it('codex: one that went on has not failed, nor has one that was cancelled', async () => {
    const went = await play({ rules: [{ do: [{ update: failing }, { update: active }, { say: 'fine' }] }] }, { dialect: dialectOf('codex') });
    expect(went.outcome).toMatchObject({ status: 'ended', stopReason: 'end_turn' });
    const cut = await play({ rules: [{ do: [{ update: failing }, { stop: 'cancelled' }] }] }, { dialect: dialectOf('codex') });
    expect(cut.outcome).toMatchObject({ status: 'ended', stopReason: 'cancelled' });
  });

  it('claude: what the program remarks is none of the answer', async () => {
    const script = { rules: [{ do: [{ update: remark }, { say: 'The answer.' }] }] };
    expect((await play(script, { dialect: dialectOf('claude') })).outcome.seen.text).toBe('The answer.');
    expect((await play(script, { dialect: PLAIN })).outcome.seen.text).toBe('Auto mode is on.The answer.');
  });
});

describe('session/close', () => {
  const closing = { initialize: { capabilities: { sessionCapabilities: { close: {} } } }, answers: { 'session/close': { result: {} } } };

  it('is asked of every open session before stdin ends', async () => {
    const started = await start(closing);
    const sessions = [await open(started), await open(started)];
    started.process.closeSession(sessions[0] ?? '');
    await started.process.stop();
    expect(requests(started).slice(2)).toEqual(sessions.map((sessionId) => ['session/close', { sessionId }]));
    expect(await started.process.ended).toEqual({ how: 'stopped' });
  });

  it('is not asked of an agent that does not offer it', async () => {
    const started = await start({});
    await open(started);
    await started.process.stop();
    expect(requests(started)).toMatchObject([['session/new', {}]]);
  });

  it('is not waited for longer than its limit', async () => {
    const started = await start({ ...closing, answers: {}, stdin: { pauseAfterBytes: 600 } });
    await open(started);
    await started.process.stop();
    expect(await started.process.ended).toEqual({ how: 'stopped' });
  });
});
