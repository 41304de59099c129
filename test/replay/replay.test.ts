/** One fixture replayed: whatever was recorded otherwise is found, and said to be where it is. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replayFile, streamFixtureText, turnFixtureText } from '../../src/replay/index.ts';
import type { Difference, Outcome } from '../../src/replay/index.ts';
import { message } from '../supervisor/people.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { arrive, done, failed, SETTINGS, streamSample, turnSample } from './samples.ts';

type Path = readonly (string | number)[];

function fileOf(text: string): string {
  const file = join(temporaryDirectory(), 'fixture.json');
  writeFileSync(file, text);
  return file;
}

const replayText = (text: string, update = false): Promise<Outcome> => replayFile(fileOf(text), { update });

function differencesOf(outcome: Outcome): readonly Difference[] {
  if (outcome.is !== 'different') throw new Error(`it is ${JSON.stringify(outcome)}`);
  return outcome.differences;
}

/** Every value in `value` that holds no other, by its path. */
function leaves(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, [...path, index]));
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]));
}

/** `value` with what stands at `path` changed in kind. */
function changed(value: unknown, [step, ...rest]: Path): unknown {
  if (step === undefined) return typeof value === 'string' ? `${value}x` : typeof value === 'number' ? value + 1 : value !== true;
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === step ? changed(item, rest) : item));
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, inner]) => [name, name === step ? changed(inner, rest) : inner]));
}

/** `value` without what stands at `path`. */
function without(value: unknown, [step, ...rest]: Path): unknown {
  if (Array.isArray(value)) return rest.length === 0 ? value.filter((_, index) => index !== step) : value.map((item: unknown, index) => (index === step ? without(item, rest) : item));
  const entries = Object.entries(value ?? {}).flatMap(([name, inner]) =>
    (name !== step ? [[name, inner]] : rest.length === 0 ? [] : [[name, without(inner, rest)]]));
  return Object.fromEntries(entries);
}

const TURN = turnSample();
const PROMPT = turnSample('As a prompt', { standingRole: 'prompt' });
const STREAM = streamSample();

describe('a turn', () => {
  it('that gives what was recorded is the same', async () => {
    expect(await replayText(turnFixtureText(TURN))).toMatchObject({ is: 'same', fixture: 'turn' });
    expect(await replayText(turnFixtureText(PROMPT))).toMatchObject({ is: 'same' });
  });

  it('is not the same for any value of its output that was another, or was not there', async () => {
    for (const fixture of [TURN, PROMPT]) {
      for (const path of leaves(fixture.output)) {
        for (const output of [changed(fixture.output, path), without(fixture.output, path)]) {
          const { is } = await replayText(JSON.stringify({ ...fixture, output }));
          expect([path.join('.'), is]).not.toEqual([path.join('.'), 'same']);
        }
      }
    }
  });

  it('names the layer, its members, and the first byte', async () => {
    const { output } = TURN;
    if (output === undefined) throw new Error('no output');
    const layers = output.manifest.layers.map((layer) => (layer.layer === 'delivery_contract' ? { ...layer, estimatedTokens: 7, version: 'sha256:0' } : layer));
    const other = {
      ...output, envelope: output.envelope.replace('Beds', 'Bads'), blocks: [output.envelope.replace('Beds', 'Bads')], manifest: { ...output.manifest, layers },
    };
    const differences = differencesOf(await replayText(turnFixtureText({ ...TURN, output: other })));
    expect(differences.map(({ at, is }) => [at.replace(/\d+/, 'n'), is])).toEqual([
      ['output.manifest.layers[n]', 'layer'], ['output.manifest.hash', 'value'], ['output.envelope', 'text'],
    ]);
    expect(differences[0]).toMatchObject({ layer: 'delivery_contract', change: 'changed', members: [{ name: 'version', recorded: 'sha256:0' }, { name: 'estimatedTokens', recorded: 7 }] });
    expect(differences[1]).toMatchObject({ recorded: output.manifest.hash });
    const offset = Buffer.from(output.envelope).indexOf('Beds') + 1;
    expect(differences[2]).toMatchObject({ layer: 'channel_snapshot', first: { offset, recorded: { scalar: 'a' }, now: { scalar: 'e' } } });
    expect(differences[2] !== undefined && 'diff' in differences[2] && differences[2].diff).toEqual(expect.arrayContaining(['-Description: Bads &amp; hives', '+Description: Beds &amp; hives']));
  });

  it.each([
    ['its system text', TURN, { system: TURN.output?.system?.replace('Be brief', 'Be brisk') }, { at: 'output.system', is: 'text', layer: 'platform_contract' }],
    ['no system text', TURN, { system: undefined }, { at: 'output.system', is: 'value', now: TURN.output?.system }],
    ['a system text where there is none', PROMPT, { system: 'x' }, { at: 'output.system', is: 'value', recorded: 'x' }],
    [
      'its standing block', PROMPT, { blocks: PROMPT.output?.blocks.map((block) => block.replace('after the garden', 'after the house')) },
      { at: 'output.blocks[0]', is: 'text', layer: 'persona_and_team_guidance' },
    ],
    [
      'its envelope as a block', PROMPT, { blocks: PROMPT.output?.blocks.map((block) => block.replace('Channel: ', 'Chanel: ')) },
      { at: 'output.blocks[1]', is: 'text', layer: 'channel_snapshot' },
    ],
    ['a block too many', PROMPT, { blocks: [...PROMPT.output?.blocks ?? [], 'x'] }, { at: 'output.blocks[2]', is: 'value', recorded: 'x' }],
    ['a block too few', PROMPT, { blocks: PROMPT.output?.blocks.slice(0, 1) }, { at: 'output.blocks[1]', is: 'value', now: PROMPT.output?.envelope }],
  ])('that had recorded %s differs there alone', async (_, fixture, part, difference) => {
    expect(differencesOf(await replayText(JSON.stringify({ ...fixture, output: { v: 1, system: undefined, ...fixture.output, ...part } })))).toMatchObject([difference]);
  });

  it('tells of layers that are gone, new and moved', async () => {
    const { output } = TURN;
    if (output === undefined) throw new Error('no output');
    const [first, second, ...rest] = output.manifest.layers;
    if (first === undefined || second === undefined) throw new Error('no layers');
    const of = async (layers: readonly (typeof first)[]) =>
      differencesOf(await replayText(turnFixtureText({ ...TURN, output: { ...output, manifest: { ...output.manifest, layers } } })))
        .flatMap((one) => (one.is === 'layer' ? [[one.layer, one.change]] : []));
    expect(await of([second, ...rest])).toEqual([[first.layer, 'added']]);
    expect(await of([{ ...first, layer: 'stranger' }, first, second, ...rest])).toEqual([['stranger', 'gone']]);
    expect(await of([second, first, ...rest])).toEqual([[second.layer, 'moved']]);
  });

  it('is different where the recorded hash is not that of the recorded layers, though both are as they were', async () => {
    const text = turnFixtureText(TURN).replace(/"hash": "sha256:../, '"hash": "sha256:zz');
    expect(differencesOf(await replayText(text))).toMatchObject([{ at: 'output.manifest.hash', note: expect.stringContaining('the recorded layers hash to sha256:') }]);
  });

  it('says the line of each difference', async () => {
    const text = turnFixtureText(TURN).replace('"envelope": "<buzz', '"envelope": "<bizz');
    const [difference] = differencesOf(await replayText(text));
    expect(text.split('\n')[(difference?.line ?? 0) - 1]).toContain('"envelope": "<bizz');
  });
});

describe('a stream', () => {
  it('that is seen as it was recorded is the same', async () => {
    expect(await replayText(streamFixtureText(STREAM))).toMatchObject({ is: 'same', fixture: 'stream' });
  });

  it('is not the same for any value that was another, or was not there', async () => {
    const event = message();
    const steps = [
      arrive(0, event), arrive(1, event), arrive(2, message({ tags: [] })), failed(9, 1), { atMs: 6_000, do: 'leave', channelId: '00000000-0000-4000-8000-000000000001' },
    ];
    const other = fileOf(JSON.stringify({ v: 1, provenance: 'made: others', settings: SETTINGS, steps }));
    const fresh = await replayFile(other, { update: true });
    if (fresh.is !== 'different') throw new Error('it was complete');
    fresh.bless?.();
    for (const text of [streamFixtureText(STREAM), readFileSync(other, 'utf8')]) {
      const fixture = JSON.parse(text) as { readonly expected: readonly unknown[] };
      for (const path of [...leaves(fixture.expected), ...fixture.expected.map((_, index) => [index])]) {
        for (const expected of [...(path.length > 1 ? [changed(fixture.expected, path)] : []), without(fixture.expected, path)]) {
          const { is } = await replayText(JSON.stringify({ ...fixture, expected }));
          expect([path.join('.'), is]).not.toEqual([path.join('.'), 'same']);
        }
      }
    }
  });

  it('names the first sighting that differs', async () => {
    const text = streamFixtureText(STREAM).replace('"atMs": 300', '"atMs": 299');
    const [difference, ...more] = differencesOf(await replayText(text));
    expect(more).toEqual([]);
    expect(difference).toMatchObject({ at: 'expected[2]', is: 'sightings', recorded: expect.stringContaining('"atMs":299'), now: expect.stringContaining('"atMs":300') });
    expect(text.split('\n')[(difference?.line ?? 0)]).toContain('"atMs": 299');
  });

  it('may differ by what is not seen any more, and by what is new', async () => {
    const { expected = [] } = STREAM;
    const less = differencesOf(await replayText(streamFixtureText({ ...STREAM, expected: expected.slice(0, -1) })));
    expect(less).toMatchObject([{ at: 'expected', now: expect.stringContaining('"saw":"done"') }]);
    expect('recorded' in (less[0] ?? {})).toBe(false);
    const more = differencesOf(await replayText(streamFixtureText({ ...STREAM, steps: [...STREAM.steps.slice(0, 2)], expected })));
    expect(more).toMatchObject([{ at: 'expected[3]', recorded: expect.stringContaining('"saw":"done"') }]);
  });

  it('has an end, whatever it holds', async () => {
    const steps = Array.from({ length: 300 }, (_, index) => (index === 0 ? arrive(0, message()) : failed(index, index)));
    const endless = { v: 1, provenance: 'made: failing for ever', settings: SETTINGS, steps: [...steps, done(400, 1), failed(315_360_000_000, 2)] } as const;
    expect(differencesOf(await replayText(streamFixtureText(endless), true))).toMatchObject([{ is: 'new' }]);
  });
});

describe('a fixture without what was recorded', () => {
  it.each([
    ['turn', turnFixtureText({ provenance: TURN.provenance, input: TURN.input }), turnFixtureText(TURN)],
    ['stream', streamFixtureText({ v: 1, provenance: STREAM.provenance, settings: STREAM.settings, steps: STREAM.steps }), streamFixtureText(STREAM)],
  ])('is a broken %s, until it is blessed', async (_, text, whole) => {
    const file = fileOf(text);
    expect(await replayFile(file, { update: false })).toMatchObject({ is: 'broken', line: 1 });
    const outcome = await replayFile(file, { update: true });
    expect(readFileSync(file, 'utf8')).toBe(text);
    if (outcome.is === 'different') outcome.bless?.();
    expect(readFileSync(file, 'utf8')).toBe(whole);
    expect(await replayFile(file, { update: false })).toMatchObject({ is: 'same' });
  });
});

it('a blessing changes nothing but what it blesses', async () => {
  const { provenance, input, output } = TURN;
  const { standing, ...rest } = input;
  const turned = { input: { standing, ...rest }, output: { ...output, envelope: 'x' }, provenance };
  const file = fileOf(`\ufeff${JSON.stringify(turned).replaceAll(',', ',\r\n')}`);
  const outcome = await replayFile(file, { update: true });
  if (outcome.is === 'different') outcome.bless?.();
  expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify({ ...turned, output }, null, 2)}\n`);
});

it('a blessing that the disk does not take leaves the file, and everything beside it, as it was', async () => {
  const text = turnFixtureText(TURN).replace('Beds', 'Bads');
  const file = fileOf(text);
  const inTheWay = `${file}.${process.pid}.tmp`;
  writeFileSync(inTheWay, 'of another');
  const outcome = await replayFile(file, { update: true });
  const failure = thrownBy(() => { if (outcome.is === 'different') outcome.bless?.(); });
  expect(failure).toMatchObject({ name: 'Failure', code: 'storage_failed', message: `replay: ${file}: EEXIST; it is as it was` });
  expect([readFileSync(file, 'utf8'), readFileSync(inTheWay, 'utf8')]).toEqual([text, 'of another']);
});

function thrownBy(action: () => void): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
