import { readFileSync } from 'node:fs';
import { verifyEvent } from 'nostr-tools';
import { expect, test } from 'vitest';
import { compileTurn, parseTurnText } from '../../compiler/index.ts';

const page = readFileSync(new URL('../../docs/compiler.md', import.meta.url), 'utf8');
const [input = '', standing, envelope, manifest = ''] = [...page.matchAll(/```(?:json|xml)\n([\s\S]*?)\n```/g)].map(
  (match) => match[1],
);

test('the example of the page is true', () => {
  const parsed = parseTurnText(input);
  if (!parsed.ok) throw new Error(`${parsed.path}: expected ${parsed.expected}`);
  for (const { event } of parsed.input.events) {
    expect(verifyEvent({ ...event, tags: event.tags.map((tag) => [...tag]) })).toBe(true);
  }
  const compiled = compileTurn(parsed.input);
  expect(compiled.blocks).toEqual([standing, envelope]);
  expect(compiled.manifest).toEqual(JSON.parse(manifest));
});
