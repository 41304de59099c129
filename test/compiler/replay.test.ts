import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { verifyEvent } from 'nostr-tools';
import { describe, expect, test } from 'vitest';
import { compileTurn, parseTurnInput, parseTurnText } from '../../compiler/index.ts';
import { buildTurns, textOfTurn } from '../../fixtures/make/turns.ts';

const FOLDER = new URL('../../fixtures/turns/', import.meta.url);
const built = buildTurns();

const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length));

interface Recorded {
  readonly provenance: unknown;
  readonly input: unknown;
  readonly output: { readonly manifest: { readonly hash: string; readonly layers: unknown } };
}

function recorded(name: string): Recorded {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as Recorded;
}

test('the committed turns are those that `npm run fixtures` makes, byte for byte', () => {
  expect([...names].sort()).toEqual(built.map(({ name }) => name).sort());
  for (const turn of built) expect(readFileSync(new URL(`${turn.name}.json`, FOLDER), 'utf8')).toBe(textOfTurn(turn));
});

describe.each(names)('the recorded turn %s', (name) => {
  const { provenance, input, output } = recorded(name);

  test('compiles to the same bytes and the same hash', () => {
    expect(provenance).toEqual(expect.stringMatching(/^[^\n]+$/));
    const parsed = parseTurnInput(input);
    if (!parsed.ok) throw new Error(`${parsed.path}: expected ${parsed.expected}`);
    const compiled = compileTurn(parsed.input);
    expect(JSON.stringify(compiled)).toBe(JSON.stringify(output));
    expect(compiled.manifest.hash).toBe(output.manifest.hash);
    // The hash, computed by hand from what is on disk.
    const json = JSON.stringify(output.manifest.layers);
    expect(output.manifest.hash).toBe(`sha256:${createHash('sha256').update(json).digest('hex')}`);
  });

  test('reads the same from text with a byte order mark and CRLF', () => {
    const text = JSON.stringify(input, null, 2).replaceAll('\n', '\r\n');
    expect(parseTurnText(`\ufeff${text}`)).toEqual(parseTurnInput(input));
  });

  test('holds events whose ids and signatures are true', () => {
    const parsed = parseTurnInput(input);
    if (!parsed.ok) throw new Error(parsed.path);
    for (const { event } of [...parsed.input.events, ...(parsed.input.interrupted?.events ?? [])]) {
      expect(verifyEvent({ ...event, tags: event.tags.map((tag) => [...tag]) })).toBe(true);
    }
  });
});
