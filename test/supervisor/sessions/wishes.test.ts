/** The model, mode and effort that an operator wishes: set before the first prompt, told where they are not granted. */
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/model/index.ts';
import { openBench } from '../bench.ts';
import { message } from '../people.ts';

const configOptions = [
  { id: 'model', category: 'model', currentValue: 'small', options: [{ value: 'small' }, { value: 'large' }] },
  { id: 'effort', category: 'thought_level', currentValue: 'low', options: [{ value: 'low' }, { value: 'high' }] },
];
const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] };
const script = { newSession: { configOptions, modes }, rules: [{ do: [{ say: '{{model}} {{mode}} {{effort}}' }, { stop: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } }] }] };

describe('what an operator wishes of every session', () => {
  it('is so in each, and the metric names the model that ran', async () => {
    const bench = openBench({ script, sessionTurns: 1, wished: { model: 'large', mode: 'code', effort: 'high' } });
    for (let count = 1; count <= 2; count += 1) {
      await bench.hear(message());
      await bench.nth('turn_ended', count);
    }
    expect(bench.answers).toEqual(['large code high', 'large code high']);
    expect(bench.link.metrics.map((text) => JSON.parse(text) as unknown)).toMatchObject([{ model: 'large' }, { model: 'large' }]);
    expect(bench.agent.snapshot()).not.toHaveProperty('refusedSettings');
  });

  it('is told where it is not to be had: the setting, the value and what there is, once; the turn goes on', async () => {
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (text: string, fields?: object) => warned.push([text, fields]) };
    const bench = openBench({ script, sessionTurns: 1, wished: { model: 'huge', mode: 'code', effort: 'ultra' }, log });
    for (let count = 1; count <= 2; count += 1) {
      await bench.hear(message());
      await bench.nth('turn_ended', count);
    }
    expect(bench.answers).toEqual(['small code low', 'small code low']);
    expect(warned).toEqual([
      ['agent helper: model: huge is not set; it goes on as it is', { agent: 'helper', setting: 'model', value: 'huge', offered: 'small, large', detail: 'the agent does not offer that model' }],
      ['agent helper: effort: ultra is not set; it goes on as it is', { agent: 'helper', setting: 'effort', value: 'ultra', offered: 'low, high', detail: 'the agent does not offer that effort' }],
    ]);
    expect(bench.agent.snapshot().refusedSettings).toEqual([
      { setting: 'model', value: 'huge', offered: ['small', 'large'] }, { setting: 'effort', value: 'ultra', offered: ['low', 'high'] },
    ]);
  });
});
