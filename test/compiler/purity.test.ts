import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  appendSteer,
  compileSteer,
  compileTurn,
  ledgerManifest,
  openLedger,
  parseTurnInput,
  parseTurnText,
} from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import { hostileTurn } from './hostile.ts';
import { deepFreeze, MORGAN, reordered, ROOT, SAM, triggeredOf, turnOf } from './turns.ts';
import { watched } from './watched.ts';

const ROOM = new URL('../../compiler/', import.meta.url);
const files = readdirSync(ROOM).filter((name) => name.endsWith('.ts'));
const sourceOf = (name: string): string => readFileSync(new URL(name, ROOM), 'utf8');

/** Everything the room does with a turn. */
function allOf(input: TurnInput): string {
  const compiled = compileTurn(input);
  const ledger = appendSteer(openLedger(compiled.manifest), compileSteer(input).layers);
  return JSON.stringify([
    compiled,
    compileSteer(input),
    ledgerManifest(ledger),
    parseTurnInput(input),
    parseTurnText(JSON.stringify(input)),
  ]);
}

describe('the source', () => {
  test('imports nothing but itself, and SHA-256 in one file', () => {
    const imports = files.flatMap((name) =>
      [...sourceOf(name).matchAll(/\bfrom '([^']+)'|\bimport\s*\(|\bimport '([^']+)'/g)].map((match) => [
        name,
        match[1] ?? match[0],
      ]),
    );
    const foreign = imports.filter(([, from]) => !files.includes(from?.replace(/^\.\//, '') ?? ''));
    expect(foreign).toEqual([['sha256.ts', 'node:crypto']]);
    expect(sourceOf('sha256.ts')).toContain("import { hash } from 'node:crypto'");
    expect(imports.length).toBeGreaterThan(20);
  });

  test('no file imports the door of its own room', () => {
    for (const name of files) expect(sourceOf(name)).not.toContain("'./index.ts'");
  });

  test('names no clock, chance, environment, locale, timer or network', () => {
    const words = [
      'Date',
      'Math\\.random',
      'performance',
      'process',
      'globalThis',
      'Intl',
      'toLocale\\w+',
      'localeCompare',
      'normalize',
      'setTimeout',
      'setInterval',
      'setImmediate',
      'queueMicrotask',
      'fetch',
      'console',
      'require',
      'await',
      'async',
    ];
    const impure = new RegExp(`\\b(?:${words.join('|')})\\b(?=[.(\\s])`);
    expect(impure.exec('const now = Date.now();')?.[0]).toBe('Date');
    for (const name of files) {
      const code = sourceOf(name).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
      expect([name, impure.exec(code)?.[0]]).toEqual([name, undefined]);
    }
  });
});

const FULL = turnOf({
  channel: { name: 'engineering', type: 'stream', description: 'Builds' },
  events: [triggeredOf({ tags: [['p', SAM]] }), triggeredOf({ tags: [['p', MORGAN]] })],
  interrupted: { mode: 'steer', events: [triggeredOf({ tags: [['p', SAM]] })] },
  history: {
    scope: 'thread',
    messages: [{ eventId: ROOT, pubkey: SAM, timestamp: 0, content: 'x' }],
    total: 1,
    truncated: true,
  },
  historyDelivered: true,
  profiles: { [MORGAN]: { displayName: 'Morgan', nip05: 'm@example.com', isAgent: false } },
  standing: {
    workspace: 'a', base: 'b', system: 'c', teamInstructions: 'd', coreMemory: 'e', huddleInstructions: 'f', channelCanvas: 'g',
  },
  standingRole: 'prompt',
});

const eventMembers = (path: string): readonly string[] => [
  path, `${path}[]`, `${path}[].rule`, `${path}[].event`,
  ...['id', 'pubkey', 'created_at', 'kind', 'content', 'sig', 'tags', 'tags[]', 'tags[][]'].map((name) => `${path}[].event.${name}`),
];
/** Every member of the format, lists as `[]`, pubkeys as `*`. */
const MEMBERS: readonly string[] = [
  'v', 'channelId', 'channel', 'channel.name', 'channel.type', 'channel.description',
  ...eventMembers('events'),
  'interrupted', 'interrupted.mode', ...eventMembers('interrupted.events'),
  'history', 'history.scope', 'history.total', 'history.truncated', 'history.messages', 'history.messages[]',
  ...['eventId', 'pubkey', 'timestamp', 'content'].map((name) => `history.messages[].${name}`),
  'historyDelivered', 'profiles', 'profiles.*', 'profiles.*.displayName', 'profiles.*.nip05', 'profiles.*.isAgent',
  'standing', ...Object.keys(FULL.standing ?? {}).map((section) => `standing.${section}`), 'standingRole',
];

describe('the input', () => {
  const inputs = fc.sample(hostileTurn, { numRuns: 100, seed: 7 });

  test('a frozen input is compiled like any other', () => {
    for (const input of inputs) expect(allOf(deepFreeze(structuredClone(input)))).toBe(allOf(input));
  });

  test('is never written to', () => {
    for (const input of inputs) {
      const watch = watched(input);
      expect(allOf(watch.value)).toBe(allOf(input));
      expect(watch.writes).toEqual([]);
    }
    const control = watched({ list: [2, 1] });
    expect(() => control.value.list.sort((one, other) => one - other)).toThrow(TypeError);
    expect(control.writes).not.toEqual([]);
  });

  test.each([
    ['compileTurn', compileTurn],
    ['compileSteer', compileSteer],
    ['parseTurnInput', parseTurnInput],
  ])('is read by %s as the format declares it: no other member, nothing inherited, each once', (_, read) => {
    for (const input of [FULL, reordered(FULL) as TurnInput]) {
      const { value, reads, methods } = watched(input);
      read(value);
      const members = [...reads.keys()].map((path) => path.replace(/\b[0-9a-f]{64}\b/, '*').replaceAll(/\[\d+\]/g, '[]'));
      expect([...new Set(members)].sort()).toEqual([...MEMBERS].sort());
      // A member that changes between two looks cannot be one thing in the envelope and another in the manifest.
      expect([...reads].filter(([, times]) => times > 1)).toEqual([]);
      expect(['length', 'map', 'constructor', 'at', 'Symbol(Symbol.iterator)']).toEqual(expect.arrayContaining([...methods]));
    }
  });

  test('is not asked for a member that the format does not have', () => {
    const strange = { locale: 'tr', toJSON: (): string => 'x', then: 1 };
    const [entry] = FULL.events;
    if (entry === undefined) throw new Error('no event');
    const events = [{ ...entry, ...strange, event: { ...entry.event, ...strange } }];
    const more = { ...FULL, ...strange, events, channel: { ...FULL.channel, ...strange }, standing: { ...FULL.standing, ...strange } };
    const { value, reads } = watched(more as TurnInput);
    const plain: TurnInput = { ...FULL, events: [entry] };
    expect(compileTurn(value)).toEqual(compileTurn(plain));
    expect([...reads.keys()].filter((path) => /locale|toJSON|then/.test(path))).toEqual([]);
  });

  test('the order of members changes nothing', () => {
    for (const input of inputs) {
      expect(JSON.stringify(compileTurn(reordered(input) as TurnInput))).toBe(JSON.stringify(compileTurn(input)));
    }
  });

  test('one object in several places is as several that are alike', () => {
    const entry = triggeredOf({ tags: [['p', SAM]] });
    const input = turnOf({ events: [entry, entry], interrupted: { mode: 'steer', events: [entry] } });
    expect(allOf(input)).toBe(allOf(JSON.parse(JSON.stringify(input)) as TurnInput));
  });

  test('the order of events, tags and messages does (control)', () => {
    const events = [
      triggeredOf({ content: 'a' }),
      triggeredOf({
        content: 'b',
        tags: [
          ['p', MORGAN],
          ['p', SAM],
        ],
      }),
    ];
    const { envelope } = compileTurn(turnOf({ events }));
    expect(compileTurn(turnOf({ events: [...events].reverse() })).envelope).not.toBe(envelope);
  });

  test('the same turn twice is the same, and an earlier one leaves nothing behind', () => {
    const [first, ...others] = inputs;
    if (first === undefined) throw new Error('no inputs');
    const text = allOf(first);
    others.forEach(allOf);
    expect(allOf(first)).toBe(text);
  });
});
