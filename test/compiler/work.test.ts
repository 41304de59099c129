/** How much work a turn is, counted and not timed; and that random turns reach every piece of the renderer. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TurnInput } from '../../compiler/index.ts';
import { hostileTurn } from './hostile.ts';
import { idOf, MORGAN, triggeredOf, turnOf } from './turns.ts';

const PROGRAM = fileURLToPath(new URL('programs/counts-its-work.mjs', import.meta.url));

function linesFrom(inputs: readonly TurnInput[], ...args: readonly string[]): readonly string[] {
  const child = spawnSync(process.execPath, [PROGRAM, ...args], {
    input: inputs.map((input) => JSON.stringify(input)).join('\n'),
    encoding: 'utf8',
  });
  expect(child.stderr).toBe('');
  return child.stdout.split('\n').filter((line) => line !== '');
}

const list = <T>(length: number, make: (index: number) => T): readonly T[] => Array.from({ length }, (_, index) => make(index));

/** `index` in the case of the letters of a key: as many spellings of one pubkey. */
const spelling = (index: number): string =>
  MORGAN.slice(16) + list(16, (bit) => ((index >> bit) & 1 ? 'A' : 'a')).join('');

const described = (description: string): TurnInput => turnOf({ channel: { name: 'x', type: 'stream', description } });
const named = (displayName: string): TurnInput => turnOf({ profiles: { [MORGAN]: { displayName } } });

// What one could make long, each `size` times.
const AXES: Readonly<Record<string, (size: number) => TurnInput>> = {
  'a message': (size) => turnOf({ events: [triggeredOf({ content: 'a<😀&>"'.repeat(size) })] }),
  'a message of lone surrogates': (size) => turnOf({ events: [triggeredOf({ content: '\ud83d'.repeat(size) })] }),
  'white space inside': (size) => turnOf({ standing: { base: `a${' '.repeat(size)}b` }, standingRole: 'system' }),
  'white space around': (size) => turnOf({ standing: { system: `${' \n'.repeat(size)}b${'\u0085'.repeat(size)}` } }),
  'a description of many lines': (size) => described('a \n\r'.repeat(size)),
  'a description of one line': (size) => described('😀'.repeat(size)),
  'a name': (size) => named('😀'.repeat(size)),
  'a name of controls': (size) => named('\u202e\u0007'.repeat(size)),
  'a rule': (size) => turnOf({ events: [triggeredOf({}, '@'.repeat(size))] }),
  'events': (size) => turnOf({ events: list(size / 64, (index) => triggeredOf({ id: idOf(index) })) }),
  'thread tags': (size) => turnOf({ events: [triggeredOf({ tags: list(size, (index) => ['e', idOf(index), '', 'reply']) })] }),
  'mentions': (size) => turnOf({ events: [triggeredOf({ tags: list(size, (index) => ['p', idOf(index)]) })] }),
  'profiles': (size) =>
    turnOf({ profiles: Object.fromEntries(list(size, (index) => [idOf(index), { displayName: 'x', isAgent: true }])) }),
  'a long name mentioned in many spellings': (size) =>
    turnOf({
      profiles: { [MORGAN]: { displayName: 'Morgan'.repeat(size), isAgent: true } },
      events: [triggeredOf({ tags: list(size, (index) => ['p', spelling(index)]) })],
    }),
  'history': (size) =>
    turnOf({
      profiles: { [MORGAN]: { displayName: 'Morgan' } },
      history: {
        scope: 'thread',
        messages: list(size, (index) => ({ eventId: idOf(index), pubkey: MORGAN, timestamp: 1, content: 'a\n<' })),
        total: size,
        truncated: false,
      },
    }),
};

describe('twice as much input is twice as much work', () => {
  const SIZES = [768, 1536, 3072];
  const work = linesFrom(Object.values(AXES).flatMap((axis) => SIZES.map(axis))).map(Number);

  test.each(Object.keys(AXES).map((name, index) => ({ name, work: work.slice(3 * index, 3 * index + 3) })))(
    '$name',
    ({ work: [one = Number.NaN, two = Number.NaN, four = Number.NaN] }) => {
      expect(two).toBeGreaterThan(one);
      // The second step is twice the first, and four times where something is done for each with all.
      expect((four - two) / (two - one)).toBeLessThan(2.1);
      expect((four - two) / (two - one)).toBeGreaterThan(1.5);
    },
  );
});

test('random turns reach every piece of the renderer', { timeout: 120_000 }, () => {
  const READER = /^(?:input|json|json-text|reading|refusal|shape)\.js: /;
  const unreached = linesFrom(fc.sample(hostileTurn, { numRuns: 3000, seed: 20_261_130 }), '--unreached').filter((line) => !READER.test(line));
  expect(unreached.map((line) => line.replace(/^(\S+ \S.{0,60}).*$/, '$1')).sort()).toEqual([
    // What no legal turn can reach; the two functions of operator turns are those of turns without an event.
    'ambient.js: default: return unreachable(mode);',
    'compile.js: default: return unreachable(standingRole);',
    expect.stringMatching(/^layers\.js: function operatorLayers/),
    expect.stringMatching(/^operator\.js: function compileOperatorTurn/),
    "routing.js: default: return unreachable(mode);",
    "routing.js: throw new TypeError('a turn holds at least one event');",
    expect.stringMatching(/^unreachable\.js: function unreachable/),
  ]);
});
