/** The two formats: what is read is what is written, and whatever is not of the format is refused where it stands. */
import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixtureText, readFixture, streamFixtureText, turnFixtureText } from '../../src/replay/index.ts';
import { falseEvent } from '../../src/turn-file/index.ts';
import { streamSample, turnSample } from './samples.ts';

const TURN = turnSample();
const STREAM = streamSample();

describe.each([
  ['turn', turnFixtureText(TURN)],
  ['stream', streamFixtureText(STREAM)],
])('the file of a %s', (is, source) => {
  it('is read as it was written, and written as it was read', () => {
    const read = readFixture(source);
    if (!read.ok) throw new Error(`${read.path}: ${read.expected}`);
    expect(read.value).toEqual(is === 'turn' ? { is, turn: TURN } : { is, stream: STREAM });
    expect(fixtureText(read.value)).toBe(source);
    expect(source.endsWith('}\n')).toBe(true);
  });

  it('may carry a byte order mark and CRLF', () => {
    expect(readFixture(`\ufeff${source.replaceAll('\n', '\r\n')}`)).toEqual(readFixture(source));
  });

  it('is refused with a line for each member taken away, doubled or unknown', () => {
    const lines = source.split('\n');
    const members = lines.flatMap((line, index) => (/^ +"\w+": /.test(line) ? [index] : []));
    fc.assert(fc.property(fc.constantFrom(...members), (index) => {
      const line = lines[index] ?? '';
      const twice = [...lines.slice(0, index), `${/^ +"\w+": /.exec(line)?.[0] ?? ''}0,`, ...lines.slice(index)].join('\n');
      expect(readFixture(twice)).toMatchObject({ ok: false, expected: 'each member once', line: index + 2 });
      const strange = [...lines.slice(0, index), '"stranger": 0,', ...lines.slice(index)].join('\n');
      const read = readFixture(strange);
      expect(read).toMatchObject({ ok: false });
      if (!read.ok && read.path.endsWith('stranger')) expect(read.line).toBe(index + 1);
    }), { numRuns: 60 });
  });
});

describe('a turn', () => {
  it('may be without an output until it is blessed', () => {
    const fresh = { provenance: TURN.provenance, input: TURN.input };
    expect(readFixture(turnFixtureText(fresh))).toEqual({ ok: true, value: { is: 'turn', turn: fresh } });
  });

  it.each([
    ['an event with another content', (text: string) => text.replace('"content": "What', '"content": "Why'), 'input.events[0].event.id', 'the hash of the event'],
    ['a false signature', (text: string) => text.replace(/"sig": "[0-9a-f]{8}/, '"sig": "00000000'), 'input.events[0].event.sig', 'a signature of the author on the id'],
    ['an output of another version', (text: string) => text.replace('"output": {\n    "v": 1', '"output": {\n    "v": 2'), 'output.v', '1'],
    ['a provenance of two lines', (text: string) => text.replace('made: a sample', 'made:\\na sample'), 'provenance', 'one line of text'],
    ['members of a layer in another order', (text: string) => text.replace(/("order": 1),(\s+)("layer": "\w+")/, '$3,$2$1'), 'output', 'the members of output v1 in their order'],
    ['nothing it is about', (text: string) => text.replace('"input"', '"imput"'), '$', 'a recorded turn (member input, or operator) or stream (member steps)'],
  ])('with %s is refused', (_, change, path, expected) => {
    const text = turnFixtureText(TURN);
    expect(change(text)).not.toBe(text);
    const read = readFixture(change(text));
    expect(read).toMatchObject({ ok: false, path, expected });
    if (!read.ok && read.path !== '$') expect(change(text).split('\n')[(read.line ?? 0) - 1]).toContain(`"${path.split('.').at(-1) ?? ''}"`);
  });

  it('tells a false event apart for whoever compiles', () => {
    expect(falseEvent(TURN.input)).toBeUndefined();
    const [first] = TURN.input.events;
    if (first === undefined) throw new Error('no event');
    const other = { ...first, event: { ...first.event, content: 'x' } };
    expect(falseEvent({ ...TURN.input, events: [first, other] })).toMatchObject({ path: 'events[1].event.id' });
    expect(falseEvent({ ...TURN.input, interrupted: { mode: 'steer', events: [other] } })).toMatchObject({ path: 'interrupted.events[0].event.id' });
  });
});

describe('a stream', () => {
  const change = (from: string | RegExp, to: string) => {
    const text = streamFixtureText(STREAM);
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    return readFixture(changed);
  };

  it.each([
    ['a word nobody knows', '"do": "finish"', '"do": "flee"', 'steps[2].do'],
    ['time going back', '"atMs": 900', '"atMs": 99', 'steps[2].atMs'],
    ['a turn 0', '"turn": 1', '"turn": 0', 'steps[2].turn'],
    ['an ending nobody knows', '"how": "done"', '"how": "gone"', 'steps[2].ending.how'],
    ['no processes', '"processes": 1', '"processes": 0', 'settings.processes'],
    ['an event that was changed', '"content": "', '"content": "x', 'steps[0].event.id'],
    ['a sighting nobody knows', '"saw": "done"', '"saw": "won"', 'expected[3].saw'],
    ['another version', '"v": 1', '"v": 2', 'v'],
    ['a key that is none', `"owner": "${STREAM.settings.owner}"`, '"owner": "me"', 'settings.owner'],
  ])('with %s is refused', (_, from, to, path) => {
    const read = change(from, to);
    expect(read).toMatchObject({ ok: false, path });
    expect(!read.ok && (read.line ?? 0) > 1).toBe(true);
  });

  it('takes turns by itself or step by step, not both', () => {
    const both = streamFixtureText({ ...STREAM, steps: [...STREAM.steps, { atMs: 1_000, do: 'take' }] });
    expect(readFixture(both)).toMatchObject({ ok: false, path: 'steps[3].do' });
  });
});

it('every recorded turn of the repository is one', () => {
  const folder = new URL('../../fixtures/turns/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const source = readFileSync(new URL(name, folder), 'utf8');
    const read = readFixture(source);
    expect(read, name).toMatchObject({ ok: true, value: { is: 'turn' } });
  }
});
