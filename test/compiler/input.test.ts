import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTurnInput, parseTurnText } from '../../compiler/index.ts';
import { hostileTurn } from './hostile.ts';
import { CHANNEL_ID, deepFreeze, idOf, MORGAN, reordered, SAM, triggeredOf, turnOf } from './turns.ts';

const FULL = turnOf({
  channel: { name: 'engineering', type: 'stream', description: 'Builds' },
  events: [triggeredOf({ tags: [['p', SAM], ['e', idOf(9), '', 'reply'], []] }), triggeredOf()],
  interrupted: { mode: 'steer', events: [triggeredOf()] },
  history: {
    scope: 'dm',
    messages: [{ eventId: idOf(3), pubkey: SAM, timestamp: 0, content: '' }],
    total: 1,
    truncated: false,
  },
  historyDelivered: true,
  profiles: { [MORGAN]: { displayName: 'Morgan', nip05: 'm@example.com', isAgent: false }, [SAM]: {} },
  standing: {
    workspace: '',
    base: '',
    system: '',
    teamInstructions: '',
    coreMemory: '',
    huddleInstructions: '',
    channelCanvas: '',
  },
  standingRole: 'prompt',
});

type Step = string | number;
const GONE = Symbol('gone');
const UUID_EXPECTED = 'a lowercase hyphenated UUID';

/** `value` with what stands at `steps` replaced by `member`, added, or taken away. */
function changed(value: unknown, [step, ...rest]: readonly Step[], member: unknown): unknown {
  if (step === undefined) return member;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? changed(item, rest, member) : item));
  }
  const entries = Object.entries(value ?? {}).filter(([name]) => name !== step);
  const inner = changed(Object.entries(value ?? {}).find(([name]) => name === step)?.[1], rest, member);
  return Object.fromEntries(inner === GONE ? entries : [...entries, [String(step), inner]]);
}

function pathOf(steps: readonly Step[]): string {
  return (
    steps
      .map((step) => (typeof step === 'number' ? `[${String(step)}]` : `.${step}`))
      .join('')
      .replace(/^\./, '') || '$'
  );
}

test('a full and a bare turn are read as they are', () => {
  expect(parseTurnInput(FULL)).toEqual({ ok: true, input: FULL });
  expect(parseTurnInput(turnOf())).toEqual({ ok: true, input: turnOf() });
});

test('every legal turn is read, from a value and from text, and as itself', () => {
  fc.assert(
    fc.property(hostileTurn, (input) => {
      expect(parseTurnInput(deepFreeze(input))).toEqual({ ok: true, input });
      expect(parseTurnText(JSON.stringify(input))).toEqual({ ok: true, input });
    }),
    { numRuns: 200 },
  );
});

test('members come in the order of the format, whatever order they had', () => {
  const { profiles, ...rest } = FULL; // A map has no order of its own; the compiler only looks things up in it.
  expect(profiles).toBeDefined();
  expect(JSON.stringify(parseTurnInput(reordered(rest)))).toBe(JSON.stringify(parseTurnInput(rest)));
});

describe('refused, with the path and what was found', () => {
  const event = ['events', 1, 'event'];
  const cases: readonly (readonly [readonly Step[], unknown, string | undefined, string])[] = [
    [[], null, 'null', 'an object'],
    [[], [], 'an array of 0', 'an object'],
    [[], 'turn', '"turn"', 'an object'],
    [[], undefined, undefined, 'an object'],
    [['v'], GONE, undefined, '1'],
    [['v'], 2, '2', '1'],
    [['v'], '1', '"1"', '1'],
    [['channelId'], GONE, undefined, UUID_EXPECTED],
    [['channelId'], CHANNEL_ID.toUpperCase(), '"0B9C1F5E-6A53-4D0E-9A57-…" (length 36)', UUID_EXPECTED],
    [
      ['channelId'],
      CHANNEL_ID.replaceAll('-', ''),
      '"0b9c1f5e6a534d0e9a573f1f…" (length 32)',
      UUID_EXPECTED,
    ],
    [['channelId'], `${CHANNEL_ID}\n`, '"0b9c1f5e-6a53-4d0e-9a57-…" (length 37)', UUID_EXPECTED],
    [['channel'], null, 'null', 'an object'],
    [['channel'], undefined, undefined, 'an object'],
    [['channel', 'name'], GONE, undefined, 'a string'],
    [['channel', 'type'], '', '""', 'a channel type, such as "stream"'],
    [['channel', 'type'], null, 'null', 'a channel type, such as "stream"'],
    [['channel', 'description'], null, 'null', 'a string'],
    [['channel', 'topic'], 'x', '"x"', 'no member of this name'],
    [['events'], GONE, undefined, 'an array of 1 to 50 events'],
    [['events'], [], 'an array of 0', 'an array of 1 to 50 events'],
    [['events'], Array.from({ length: 51 }, () => triggeredOf()), 'an array of 51', 'an array of 1 to 50 events'],
    [['events'], { length: 1 }, 'an object', 'an array of 1 to 50 events'],
    [['events', 1], null, 'null', 'an object'],
    [['events', 0, 'rule'], GONE, undefined, 'a string'],
    [['events', 0, 'rules'], [], 'an array of 0', 'no member of this name'],
    [[...event, 'id'], 'A0'.repeat(32), '"A0A0A0A0A0A0A0A0A0A0A0A0…" (length 64)', '64 lowercase hex characters'],
    [[...event, 'id'], 'a'.repeat(63), '"aaaaaaaaaaaaaaaaaaaaaaaa…" (length 63)', '64 lowercase hex characters'],
    [
      [...event, 'pubkey'],
      `${'a'.repeat(64)}\n`,
      '"aaaaaaaaaaaaaaaaaaaaaaaa…" (length 65)',
      '64 lowercase hex characters',
    ],
    [[...event, 'pubkey'], 'nsec1qqqqqqqq', 'a secret key (not shown)', '64 lowercase hex characters'],
    [[...event, 'created_at'], 1.5, '1.5', 'whole seconds since 1970'],
    [[...event, 'created_at'], -1, '-1', 'whole seconds since 1970'],
    [[...event, 'created_at'], 2 ** 53, '9007199254740992', 'whole seconds since 1970'],
    [[...event, 'created_at'], Number.NaN, 'NaN', 'whole seconds since 1970'],
    [[...event, 'created_at'], '1', '"1"', 'whole seconds since 1970'],
    [[...event, 'kind'], 65_536, '65536', 'an integer from 0 to 65535'],
    [[...event, 'tags'], {}, 'an object', 'an array of tags'],
    [['events', 0, 'event', 'tags', 0], 'p', '"p"', 'an array of strings'],
    [['events', 0, 'event', 'tags', 0, 1], null, 'null', 'a string'],
    [['events', 0, 'event', 'tags', 1, 2], 7, '7', 'a string'],
    [[...event, 'content'], GONE, undefined, 'a string'],
    [[...event, 'sig'], 'a'.repeat(64), '"aaaaaaaaaaaaaaaaaaaaaaaa…" (length 64)', '128 lowercase hex characters'],
    [[...event, 'sig'], GONE, undefined, '128 lowercase hex characters'],
    [[...event, 'seen'], true, 'true', 'no member of this name'],
    [['interrupted', 'mode'], 'stop', '"stop"', '"steer" or "interrupt"'],
    [['interrupted', 'events'], [], 'an array of 0', 'an array of 1 to 50 events'],
    [['interrupted', 'reason'], '', '""', 'no member of this name'],
    [['history', 'scope'], 'channel', '"channel"', '"thread" or "dm"'],
    [['history', 'messages'], GONE, undefined, 'an array of messages'],
    [['history', 'messages', 0, 'eventId'], 'x', '"x"', '64 lowercase hex characters'],
    [['history', 'messages', 0, 'timestamp'], -1, '-1', 'whole seconds since 1970'],
    [['history', 'messages', 0, 'author'], 'x', '"x"', 'no member of this name'],
    [['history', 'total'], -1, '-1', 'a count of messages'],
    [['history', 'total'], Infinity, 'Infinity', 'a count of messages'],
    [['history', 'truncated'], 0, '0', 'true or false'],
    [['historyDelivered'], 'yes', '"yes"', 'true or false'],
    [['profiles'], [], 'an array of 0', 'an object'],
    [['standing', 'base'], null, 'null', 'a string'],
    [['standing', 'memory'], '', '""', 'no member of this name'],
    [['standingRole'], GONE, undefined, '"system" or "prompt" or "sent"'],
    [['standingRole'], 'user', '"user"', '"system" or "prompt" or "sent"'],
    [['extra'], { a: 1 }, 'an object', 'no member of this name'],
    [['channel', 'name'], 1n, 'a bigint', 'a string'],
  ];

  test.each(cases.map(([steps, member, found, expected]) => ({ path: pathOf(steps), steps, member, found, expected })))(
    '$path: $found',
    ({ steps, member, found, expected, path }) => {
      expect(parseTurnInput(changed(FULL, steps, member))).toEqual({
        ok: false,
        path,
        expected,
        ...(found === undefined ? {} : { found }),
      });
    },
  );

  test('a profile under a name that is no lowercase pubkey', () => {
    const refused = (name: string) => parseTurnInput({ ...FULL, profiles: Object.fromEntries([[name, {}]]) });
    const expected = "64 lowercase hex characters as the member's name";
    expect(refused(MORGAN.toUpperCase())).toEqual({
      ok: false,
      path: 'profiles["AAAAAAAAAAAAAAAAAAAAAAAA…" (length 64)]',
      expected,
      found: '"AAAAAAAAAAAAAAAAAAAAAAAA…" (length 64)',
    });
    expect(refused('__proto__')).toEqual({ ok: false, path: 'profiles.__proto__', expected, found: '"__proto__"' });
    expect(refused('nsec1qqqq')).toMatchObject({
      path: 'profiles[a secret key (not shown)]',
      found: 'a secret key (not shown)',
    });
  });

  test('a member of a profile, under its shortened pubkey', () => {
    expect(parseTurnInput({ ...FULL, profiles: { [MORGAN]: { isAgent: 1 } } })).toEqual({
      ok: false,
      path: 'profiles["aaaaaaaaaaaaaaaaaaaaaaaa…" (length 64)].isAgent',
      expected: 'true or false',
      found: '1',
    });
  });

  test('a hole in an array', () => {
    expect(parseTurnInput({ ...FULL, events: new Array(2) })).toEqual({
      ok: false,
      path: 'events[0]',
      expected: 'an object',
    });
  });

  test('an inherited member is no member', () => {
    const { standingRole, ...rest } = FULL;
    const value: unknown = Object.assign(Object.create({ standingRole }), rest);
    expect(parseTurnInput(value)).toMatchObject({ ok: false, path: 'standingRole' });
  });

  test('strange text is shown escaped, cut between scalars', () => {
    const refused = parseTurnInput({ ...FULL, standingRole: `"\\\n\u202e\ud800é${'😀'.repeat(30)}` });
    expect(refused).toMatchObject({
      found: `"\\"\\\\\\u{a}\\u{202e}\\u{d800}\\u{e9}${'\\u{1f600}'.repeat(18)}…" (length 66)`,
    });
  });

  test('a strange name is shown in the same way', () => {
    expect(parseTurnInput({ ...FULL, ['a.b\n']: 1 })).toMatchObject({ path: '["a.b\\u{a}"]' });
    expect(parseTurnInput({ ...FULL, nsec1qqqq: 1 })).toMatchObject({ path: '[a secret key (not shown)]' });
  });
});

test('a fault of the value itself is no refusal', () => {
  const value = {
    ...FULL,
    get standing(): never {
      throw new RangeError('bug');
    },
  };
  expect(() => parseTurnInput(value)).toThrow(RangeError);
});

test('the result shares nothing with the value', () => {
  const tags = [['p', SAM]];
  const parsed = parseTurnInput(turnOf({ events: [triggeredOf({ tags })] }));
  tags[0]?.push('later');
  tags.push([]);
  expect(parsed).toEqual({ ok: true, input: turnOf({ events: [triggeredOf({ tags: [['p', SAM]] })] }) });
});
