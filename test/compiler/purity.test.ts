import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
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
import { deepFreeze, MORGAN, reordered, SAM, triggeredOf, turnOf } from './turns.ts';

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

describe('at run time', () => {
  const env = process.env;
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    process.env = env;
  });

  const refuseAll = (): never => {
    throw new Error('impure');
  };
  const trap: ProxyHandler<object> = {
    get: refuseAll,
    apply: refuseAll,
    construct: refuseAll,
    has: refuseAll,
    ownKeys: refuseAll,
  };
  const inputs = fc.sample(hostileTurn, { numRuns: 100, seed: 7 });

  test('clock, chance, environment and locale are not touched', () => {
    const before = inputs.map(allOf);
    for (const name of ['Date', 'Intl', 'performance', 'setTimeout', 'setImmediate', 'fetch', 'console']) {
      vi.stubGlobal(
        name,
        new Proxy(
          Object.assign(() => undefined),
          trap,
        ),
      );
    }
    vi.spyOn(Math, 'random').mockImplementation(refuseAll);
    for (const method of ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase', 'normalize'] as const) {
      vi.spyOn(String.prototype, method).mockImplementation(refuseAll);
    }
    process.env = new Proxy({}, trap);
    const after: string[] = [];
    let control: unknown;
    try {
      for (const input of inputs) after.push(allOf(input));
      try {
        control = Date.now();
      } catch (error) {
        control = error;
      }
    } finally {
      vi.unstubAllGlobals();
      vi.restoreAllMocks();
      process.env = env;
    }
    expect(after).toEqual(before);
    expect(control).toBeInstanceOf(Error);
  });

  test('a frozen input is compiled like any other', () => {
    for (const input of inputs) expect(allOf(deepFreeze(structuredClone(input)))).toBe(allOf(input));
  });

  test('nothing is ever written to the input', () => {
    const writes: string[] = [];
    const watched = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (object, name, receiver): unknown => {
          const value: unknown = Reflect.get(object, name, receiver);
          return typeof value === 'object' && value !== null ? watched(value) : value;
        },
        set: (_, name) => writes.push(String(name)) > 0,
        defineProperty: (_, name) => writes.push(String(name)) > 0,
        deleteProperty: (_, name) => writes.push(String(name)) > 0,
        setPrototypeOf: () => writes.push('prototype') > 0,
        preventExtensions: () => writes.push('extensible') > 0,
      });
    for (const input of inputs) expect(allOf(watched(input))).toBe(allOf(input));
    expect(writes).toEqual([]);
    const control = watched({ list: [2, 1] });
    control.list.sort((one, other) => one - other);
    expect(writes).not.toEqual([]);
  });

  test('the order of members changes nothing', () => {
    for (const input of inputs) {
      expect(JSON.stringify(compileTurn(reordered(input) as TurnInput))).toBe(JSON.stringify(compileTurn(input)));
    }
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
