/** What can be chosen in a session, in the forms that agents give it, and the choice of a model on a real process. */
import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { currentOf, offeredFor, readConfigOptions, readSettings, routeTo, withChosen } from '../../src/acp/session-settings.ts';
import { noneLeft, open, play, say, start, until } from './harness.ts';
import type { Started } from './harness.ts';

afterEach(noneLeft);

const MODELS = { currentModelId: 'small', availableModels: [{ modelId: 'small', name: 'S' }, { modelId: 'large', name: 'L' }] };
const OPTION = { id: 'model', category: 'model', type: 'select', name: 'Model', currentValue: 'small', options: [{ value: 'small' }, { value: 'large' }] };

describe('the settings of a session', () => {
  it('are read as agents write them', () => {
    expect(readSettings({ sessionId: 's', models: MODELS, modes: { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] } })).toEqual({
      configOptions: [], models: { values: ['small', 'large'], current: 'small' }, modes: { values: ['ask', 'code'], current: 'ask' },
    });
    expect(readSettings({ configOptions: [OPTION, { configId: 'effort', category: 'thought_level', options: [] }, { name: 'no id' }, 7] })).toEqual({
      configOptions: [{ id: 'model', category: 'model', current: 'small', values: ['small', 'large'] }, { id: 'effort', category: 'thought_level', values: [] }],
    });
  });

  it('may come in groups', () => {
    const options = [{ group: 'g', name: 'G', options: [{ value: 'a' }, { value: 'b' }] }, { value: 'c' }];
    expect(readConfigOptions([{ ...OPTION, options }])?.[0]?.values).toEqual(['a', 'b', 'c']);
  });

  it.each([undefined, null, 'x', [], { models: 7, modes: 'x', configOptions: {} }, { models: { availableModels: [7, {}, { modelId: 7 }, { modelId: '' }] } }])('of another form (%j) offer nothing', (result) => {
    expect(routeTo(readSettings(result), 'model', 'small')).toBeUndefined();
    expect(currentOf(readSettings(result), 'model')).toBeUndefined();
  });

  it('are bounded in number and length', () => {
    const many = Array.from({ length: 300 }, (_, index) => ({ value: `m${index}` }));
    const read = readConfigOptions(Array.from({ length: 40 }, () => ({ ...OPTION, options: [{ value: 'm'.repeat(201) }, { group: 'g', options: many }, { group: 'h', options: many }] })));
    expect(read).toHaveLength(32);
    expect(read?.[0]?.values).toHaveLength(256);
    expect(read?.[0]?.values[0]).toBe('m0');
  });

  it('say how a model is chosen: by an option of that category before a list of models', () => {
    const both = readSettings({ models: { ...MODELS, availableModels: [...MODELS.availableModels, { modelId: 'only-listed' }] }, configOptions: [{ ...OPTION, category: 'mode' }, OPTION] });
    expect(routeTo(both, 'model', 'large')).toEqual({ by: 'config_option', configId: 'model' });
    expect(routeTo(both, 'model', 'only-listed')).toEqual({ by: 'set_model' });
    expect(routeTo(both, 'model', 'huge')).toBeUndefined();
    expect(routeTo(readSettings({ configOptions: [{ ...OPTION, category: 'mode' }] }), 'model', 'large')).toBeUndefined();
    expect(currentOf(withChosen(both, { by: 'config_option', configId: 'model' }, 'large'), 'model')).toBe('large');
    expect(currentOf(withChosen(readSettings({ models: MODELS }), { by: 'set_model' }, 'large'), 'model')).toBe('large');
  });
});

function asked({ lines }: Started, method: string): readonly unknown[] {
  return lines.flatMap(({ direction, text }) => {
    const frame = JSON.parse(text) as { readonly method?: string; readonly params?: unknown };
    return direction === 'write' && frame.method === method ? [frame.params] : [];
  });
}

describe('every setting', () => {
  const MODE = { id: 'mode', category: 'mode', currentValue: 'auto', options: [{ value: 'auto' }, { value: 'default' }] };
  const MODES = { currentModeId: 'auto', availableModes: [{ id: 'auto' }, { id: 'default' }] };
  const EFFORT = { id: 'effort', category: 'thought_level', currentValue: 'low', options: [{ value: 'low' }, { value: 'high' }] };

  it.each([
    ['a mode by the modes', 'mode', { modes: MODES }, { by: 'set_mode' }],
    ['a mode by the option, which goes first', 'mode', { modes: MODES, configOptions: [OPTION, MODE] }, { by: 'config_option', configId: 'mode' }],
    ['a mode by an option that calls its id key', 'mode', { configOptions: [{ ...MODE, id: undefined, key: 'm' }] }, { by: 'config_option', configId: 'm' }],
    ['a mode by an option that calls its id configId', 'mode', { configOptions: [{ ...MODE, id: undefined, configId: 'c' }] }, { by: 'config_option', configId: 'c' }],
    ['a mode by an option in a group', 'mode', { configOptions: [{ ...MODE, options: [{ name: 'G', options: [{ value: 'default' }] }] }] }, { by: 'config_option', configId: 'mode' }],
    ['a mode by the modes, where the option has no such value', 'mode', { modes: MODES, configOptions: [{ ...MODE, options: [] }] }, { by: 'set_mode' }],
    ['no mode that is not offered', 'mode', { modes: { ...MODES, availableModes: [{ id: 'auto' }] } }, undefined],
    ['no mode where nothing can be read', 'mode', { modes: 7, configOptions: [null, 7] }, undefined],
    ['no effort by the modes', 'effort', { modes: MODES }, undefined],
  ] as const)('is chosen by its own way: %s', (_, setting, answer, route) => {
    expect(routeTo(readSettings(answer), setting, 'default')).toEqual(route);
  });

  it('says what there is, and what is chosen: the option before the list', () => {
    const both = readSettings({ modes: { ...MODES, currentModeId: 'default' }, configOptions: [MODE, EFFORT] });
    expect(offeredFor(both, 'mode')).toEqual(['auto', 'default']);
    expect(currentOf(both, 'mode')).toBe('auto');
    expect(offeredFor(both, 'effort')).toEqual(['low', 'high']);
    expect(offeredFor(both, 'model')).toEqual([]);
    expect(currentOf(withChosen(both, { by: 'config_option', configId: 'effort' }, 'high'), 'effort')).toBe('high');
    expect(currentOf(withChosen(readSettings({ modes: MODES }), { by: 'set_mode' }, 'default'), 'mode')).toBe('default');
    expect(offeredFor(undefined, 'mode')).toEqual([]);
    expect(currentOf(undefined, 'mode')).toBeUndefined();
  });
});

describe('the choice of a model', () => {
  it('asks by the list of models', async () => {
    const started = await start({ newSession: { models: MODELS }, rules: [{ do: [{ say: '{{model}}' }] }] });
    const sessionId = await open(started);
    expect(await started.process.setModel(sessionId, 'large')).toEqual({ ok: true });
    expect(asked(started, 'session/set_model')).toEqual([{ sessionId, modelId: 'large' }]);
    expect(currentOf(started.process.settings(sessionId), 'model')).toBe('large');
    expect(await say(started.process, sessionId)).toMatchObject({ seen: { text: 'large' } });
  });

  it('asks by the option', async () => {
    const started = await start({ newSession: { configOptions: [OPTION] }, rules: [{ do: [{ say: '{{model}}' }] }] });
    const sessionId = await open(started);
    expect(await started.process.setModel(sessionId, 'large')).toEqual({ ok: true });
    expect(asked(started, 'session/set_config_option')).toEqual([{ sessionId, configId: 'model', value: 'large' }]);
    expect(currentOf(started.process.settings(sessionId), 'model')).toBe('large');
    expect(await say(started.process, sessionId)).toMatchObject({ seen: { text: 'large' } });
  });

  it('is told with what the turn has used', async () => {
    const usage = { inputTokens: 7, outputTokens: 2, totalTokens: 9 };
    const started = await start({ newSession: { models: MODELS }, rules: [{ do: [{ stop: { usage } }] }] });
    const sessionId = await open(started);
    expect(await say(started.process, sessionId)).toMatchObject({ seen: { usage: { model: 'small' } } });
    await started.process.setModel(sessionId, 'large');
    expect(await say(started.process, sessionId)).toMatchObject({ seen: { usage: { model: 'large' } } });
  });

  it('leaves nothing behind, five hundred times', async () => {
    const started = await start({ newSession: { models: MODELS } });
    const sessionId = await open(started);
    const held = (): readonly number[] => [readdirSync('/proc/self/fd').length, readdirSync(`/proc/${started.process.pid}/fd`).length];
    await started.process.setModel(sessionId, 'large');
    const before = held();
    for (let turn = 0; turn < 500; turn += 1) expect(await started.process.setModel(sessionId, turn % 2 === 0 ? 'small' : 'large')).toEqual({ ok: true });
    expect(held()).toEqual(before);
  });

  it('asks for nothing that is not offered, and of no session that is not known', async () => {
    const started = await start({ newSession: { models: MODELS } });
    const sessionId = await open(started);
    expect(await started.process.setModel(sessionId, 'huge')).toMatchObject({ ok: false, code: 'unsupported' });
    expect(await started.process.setModel('another', 'large')).toMatchObject({ ok: false, code: 'unsupported' });
    expect(asked(started, 'session/set_model')).toEqual([]);
  });

  it('is refused as unsupported where the agent says no', async () => {
    const started = await start({ newSession: { models: MODELS }, answers: { 'session/set_model': { error: { code: -32_601, message: 'method not found' } } } });
    expect(await started.process.setModel(await open(started), 'large')).toMatchObject({ ok: false, code: 'unsupported', detail: 'method not found' });
  });

  it('is refused when there is no answer in time, or never will be', async () => {
    const started = await start({ newSession: { models: MODELS } }, { limits: { modelMs: 1 } });
    const sessionId = await open(started);
    process.kill(started.process.pid, 'SIGSTOP');
    expect(await started.process.setModel(sessionId, 'large')).toMatchObject({ ok: false, code: 'timeout' });
    process.kill(started.process.pid, 'SIGKILL');
    await started.process.ended;
    expect(await started.process.setModel(sessionId, 'large')).toMatchObject({ ok: false, code: 'process_ended' });
  });

  it('knows what the agent changes by itself, in a turn and beside it', async () => {
    const larger = { sessionUpdate: 'config_option_update', configOptions: [{ ...OPTION, currentValue: 'large' }] };
    const played = await play({ newSession: { configOptions: [OPTION] }, rules: [{ do: [{ update: larger }] }] });
    expect(currentOf(played.process.settings(played.sessionId), 'model')).toBe('large');
    const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] };
    const beside = await start({ newSession: { modes, configOptions: [OPTION], after: [larger, { sessionUpdate: 'current_mode_update', currentModeId: 'code' }] } });
    const sessionId = await open(beside);
    await until(() => beside.process.settings(sessionId)?.modes?.current === 'code');
    expect(currentOf(beside.process.settings(sessionId), 'model')).toBe('large');
  });
});
