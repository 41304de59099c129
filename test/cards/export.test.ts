/** `skep/cards` as a client gets it: the built package, and nothing of Node behind it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as cards from '../../src/cards/index.ts';
import { importsOf, ROOT } from '../house/imports.ts';

function reached(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { to, isOurs } of importsOf(file)) {
    if (isOurs) reached(to, seen);
    else seen.add(to);
  }
  return seen;
}

it('is found under its name', async () => {
  const name = 'skep/cards';
  const built: unknown = await import(name);
  expect(Object.keys(Object(built)).sort()).toEqual(Object.keys(cards).sort());
});

it('reaches files of pure rooms only, and no package', () => {
  const strangers = [...reached('src/cards/index.ts')].filter((file) => !/^src\/(cards|model)\//.test(file));
  expect(strangers).toEqual([]);
});

it('the page names every function and bound that it exports', () => {
  const page = readFileSync(join(ROOT, 'docs/permission.md'), 'utf8');
  expect(Object.keys(cards).filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});
