import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileTurn, lineOfPath, parseJsonText, parseTurnText } from '../../compiler/index.ts';
import { readJson } from '../../compiler/json.ts';
import { Refused } from '../../compiler/refusal.ts';
import { triggeredOf, turnOf } from './turns.ts';

const TEXT = JSON.stringify(turnOf(), null, 2);

function refusalOf(text: string): unknown {
  try {
    readJson(text);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
  return undefined;
}

/** What `JSON.parse` says: the value as text, or `undefined`. */
function oracle(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function ours(text: string): string | undefined {
  return refusalOf(text) === undefined ? JSON.stringify(readJson(text)) : undefined;
}

describe('agrees with JSON.parse', () => {
  test('on any value, however it is laid out', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom<string | number>('', 1, '\t', 4), (text, indent) => {
        const laidOut = JSON.stringify(JSON.parse(text), null, indent);
        expect(ours(laidOut)).toBe(oracle(laidOut));
      }),
    );
  });

  test('on text with something wrong in it, or right by chance', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '"b"',
      '\\',
      '\\u',
      '00e9',
      '\\n',
      '0',
      '1',
      '-',
      '.5',
      'e+1',
      '01',
      'true',
      'nul',
      'null',
      ' ',
      '\n',
      '\r',
      '\t',
      '\f',
      '\u00a0',
      '\ufeff',
      '\u0000',
      '\u001f',
      '\u2028',
      '/',
      '//',
      "'",
      'NaN',
      '😀',
      '\ud800',
      '"\\ud83d"',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const text = pieces.join('');
        fc.pre(!text.startsWith('\ufeff') && !/"a".*"a"|"b".*"b"/s.test(text));
        expect(ours(text)).toBe(oracle(text));
      }),
      { numRuns: 20_000 },
    );
  });

  test('on text one unit away from a turn', () => {
    fc.assert(
      fc.property(
        fc.nat(TEXT.length - 1),
        fc.constantFrom('', '"', ',', '}', ']', '\\', '0', ' ', '\n'),
        (at, unit) => {
          const text = TEXT.slice(0, at) + unit + TEXT.slice(at + 1);
          fc.pre(!/no_such|each member once/.test(JSON.stringify(refusalOf(text) ?? '')));
          expect(ours(text)).toBe(oracle(text));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test.each([
    '{"__proto__":{"a":1},"constructor":2}',
    '"\\u00e9\\ud83d\\ude00\\ud800\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '-0',
    '1e400',
    '1E-2',
    '[ ]',
    '{ }',
    ' [1 , 2 ] ',
  ])('on %j', (text) => {
    expect(readJson(text)).toEqual(JSON.parse(text));
    expect(ours(text)).toBe(oracle(text));
  });
});

test('every character below U+0020 is refused raw in a string, and no other', () => {
  for (let unit = 0; unit < 0x100; unit += 1) {
    const text = `"a${String.fromCharCode(unit)}"`;
    expect([unit, ours(text)]).toEqual([unit, oracle(text)]);
  }
});

describe('refuses', () => {
  test.each<[string, string, object]>([
    [
      'a member given twice',
      '{"a":1,\n"b":2,\n"a":1}',
      { path: 'a', line: 3, expected: 'each member once', found: '"a"' },
    ],
    [
      'twice under an escape',
      '{"a":1,"\\u0061":2}',
      { path: 'a', line: 1, expected: 'each member once', found: '"a"' },
    ],
    [
      'twice, deep',
      '{"x":[0,{"y":{"a":1,"a":2}}]}',
      { path: 'x[1].y.a', line: 1, expected: 'each member once', found: '"a"' },
    ],
    [
      '__proto__ twice',
      '{"__proto__":1,"__proto__":2}',
      { path: '__proto__', line: 1, expected: 'each member once', found: '"__proto__"' },
    ],
    ['nothing', '', { path: '$', line: 1, expected: 'a JSON value', found: 'the end of the text' }],
    ['text after the value', '{}\r\n{}', { path: '$', line: 2, expected: 'nothing after the value', found: '"{}"' }],
    ['a trailing comma', '[1,\n]', { path: '[1]', line: 2, expected: 'a JSON value', found: '"]"' }],
    [
      'a trailing comma in an object',
      '{"a":1,}',
      { path: '$', line: 1, expected: 'a member name in double quotes', found: '"}"' },
    ],
    ['a missing colon', '{"a" 1}', { path: 'a', line: 1, expected: '":"', found: '"1}"' }],
    ['a missing comma', '[1 2]', { path: '$', line: 1, expected: '"," or "]"', found: '"2]"' }],
    ['an object left open', '{"a":1', { path: '$', line: 1, expected: '"," or "}"', found: 'the end of the text' }],
    [
      'a string left open',
      '{"a":"b',
      { path: 'a', line: 1, expected: 'a closed string, control characters escaped', found: 'the end of the text' },
    ],
    [
      'a line break in a string',
      '["a\nb"]',
      { path: '[0]', line: 1, expected: 'a closed string, control characters escaped', found: '"\\u{a}b\\"]"' },
    ],
    ['an unknown escape', '"\\x"', { path: '$', line: 1, expected: 'one of the escapes of JSON', found: '"x\\""' }],
    ['half an escape', '"\\u12"', { path: '$', line: 1, expected: 'four hex digits', found: '"12\\""' }],
    [
      'two byte order marks',
      '\ufeff\ufeff{}',
      { path: '$', line: 1, expected: 'a JSON value', found: '"\\u{feff}{}"' },
    ],
    ['a byte order mark inside', '[\ufeff]', { path: '[0]', line: 1, expected: 'a JSON value', found: '"\\u{feff}]"' }],
  ])('%s', (_, text, refusal) => {
    expect(refusalOf(text)).toEqual({ ok: false, ...refusal });
  });

  test('no more than 12 units of what it cannot read, and no secret key', () => {
    expect(refusalOf(`x${'y'.repeat(99)}`)).toMatchObject({ found: '"xyyyyyyyyyyy"' });
    expect(JSON.stringify(refusalOf('nsec1qqqqqqqqqqqqqqqq'))).not.toContain('qqq');
    expect(JSON.stringify(refusalOf('{"nsec1qqq":1,"nsec1qqq":2}'))).not.toContain('qqq');
  });

  test('the same member in two objects is no duplicate', () => {
    expect(readJson('[{"a":1},{"a":1,"b":{"a":1}}]')).toEqual([{ a: 1 }, { a: 1, b: { a: 1 } }]);
  });

  test('nesting deeper than 32', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(refusalOf(nested(32))).toBeUndefined();
    expect(refusalOf(nested(33))).toMatchObject({ line: 1, expected: 'nesting no deeper than 32' });
    expect(refusalOf('{"a":'.repeat(1_000_000))).toMatchObject({ expected: 'nesting no deeper than 32' });
  });
});

test('every path of a value has the line where it stands', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value, null, 1);
      const at = new Map<string, number>();
      readJson(text, (path, index) => {
        if (!at.has(path)) at.set(path, text.slice(0, index).split('\n').length);
      });
      for (const [path, line] of at) expect(lineOfPath(text, path)).toBe(line);
    }),
  );
});

test('JSON text is a value, or refused with its line', () => {
  expect(parseJsonText('\ufeff{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
  expect(parseJsonText('{"a":1,\n"a":2}')).toEqual({ ok: false, path: 'a', expected: 'each member once', found: '"a"', line: 2 });
});

describe('the text of a turn', () => {
  test('is the same with a byte order mark, with CRLF, and with both', () => {
    const parsed = parseTurnText(TEXT);
    expect(parsed).toEqual({ ok: true, input: turnOf() });
    for (const text of [`\ufeff${TEXT}`, TEXT.replaceAll('\n', '\r\n'), `\ufeff${TEXT.replaceAll('\n', '\r\n')}\r\n`]) {
      expect(parseTurnText(text)).toEqual(parsed);
    }
  });

  test('is refused as a value is, with its line', () => {
    expect(parseTurnText('{"v":1}')).toEqual({ ok: false, path: 'channelId', expected: 'a lowercase hyphenated UUID', line: 1 });
  });

  test.each([
    ['"rule": "@mention"', '"rule": 7', 'events[0].rule'],
    [',\n      "rule": "@mention"', '', 'events[0].rule'],
    ['"kind": 9', '"kind": 70000', 'events[0].event.kind'],
    ['"tags": []', '"tags": [\n["a"],\n["b",\nnull]]', 'events[0].event.tags[1][1]'],
    ['"standingRole": "sent"', '"standingRole": "sent",\n"a stranger":\n1', '["a stranger"]'],
    ['"standingRole"', '"profiles": { "X": {} },\n"standingRole"', 'profiles.X'],
  ])('names the line when %j is %j', (from, to, path) => {
    const text = TEXT.replace(from, to);
    const parsed = parseTurnText(text);
    const lines = text.split('\n');
    // The line of the value itself; of the object that lacks it; of the value alone, where its name stands before.
    const shown = { 'events[0].rule': to === '' ? '{' : '"rule": 7', '["a stranger"]': '1', 'events[0].event.tags[1][1]': 'null' }[path];
    expect(parsed).toMatchObject({ ok: false, path });
    if (!parsed.ok) expect(lines[(parsed.line ?? 0) - 1]).toContain(shown ?? to.split('\n')[0]);
  });

  test('that is no object is refused where it begins', () => {
    expect(parseTurnText('\n\n []')).toEqual({ ok: false, path: '$', expected: 'an object', found: 'an array of 0', line: 3 });
  });

  test('is refused for a member given twice, where the last would have been legal', () => {
    const text = TEXT.replace('"v": 1,', '"v": 2,\n  "v": 1,');
    expect(parseTurnText(text)).toEqual({ ok: false, path: 'v', expected: 'each member once', found: '"v"', line: 3 });
    expect(parseTurnText(TEXT)).toMatchObject({ ok: true });
  });

  test.each([
    ['1.0', 1], ['1e0', 1], ['10e-1', 1], ['-0', 0], ['-0.0', 0], ['0E9', 0], ['9007199254740991', 2 ** 53 - 1],
  ])('gives the bytes of the number that %s is', (numeral, number) => {
    const history = { scope: 'thread', messages: [], total: 77, truncated: false } as const;
    const parsed = parseTurnText(JSON.stringify(turnOf({ history })).replace('77', numeral));
    if (!parsed.ok) throw new Error(parsed.expected);
    expect(compileTurn(parsed.input)).toEqual(compileTurn(turnOf({ history: { ...history, total: number } })));
  });

  test.each(['1.5', '-1', '9007199254740992', '18446744073709551615', '1e400', '1e-1'])(
    'is refused for a count of %s', (numeral) => {
      const history = { scope: 'thread', messages: [], total: 77, truncated: false } as const;
      const text = JSON.stringify(turnOf({ history })).replace('77', numeral);
      expect(parseTurnText(text)).toMatchObject({ ok: false, path: 'history.total' });
    },
  );

  test('is refused for a member named __proto__, at any depth', () => {
    expect(parseTurnText(TEXT.replace('{', '{"__proto__":{},'))).toMatchObject({ ok: false, path: '__proto__' });
    expect(parseTurnText(TEXT.replace('"event": {', '"event": {"__proto__":null,'))).toMatchObject({
      ok: false, path: 'events[0].event.__proto__',
    });
  });

  test('holds a lone surrogate from an escape as the same text as a raw one', () => {
    const events = [triggeredOf({ content: 'a\ud800b' })];
    const escaped = parseTurnText(JSON.stringify(turnOf({ events })));
    expect(escaped).toEqual(parseTurnText(JSON.stringify(turnOf({ events })).replace('\\ud800', '\ud800')));
    expect(escaped).toEqual({ ok: true, input: turnOf({ events }) });
  });

  test('of a megabyte is read in one pass', () => {
    const content = 'x"\\\n😀'.repeat(150_000);
    const { events, ...rest } = turnOf();
    const long = { ...rest, events: events.map((entry) => ({ ...entry, event: { ...entry.event, content } })) };
    expect(parseTurnText(JSON.stringify(long))).toEqual({ ok: true, input: long });
  });
});
