/** What importing `skep/client` loads: the wire, the curve to verify with, and nothing that is only the host's. */
import { describe, expect, it } from 'vitest';
import { importsOf } from '../../house/imports.ts';

/** Every package and built-in that `file` leads to. */
function loadedBy(file: string, seen = new Set<string>(), outside = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return outside;
  seen.add(file);
  for (const { to, isOurs } of importsOf(file)) {
    if (isOurs) loadedBy(to, seen, outside);
    else outside.add(to);
  }
  return outside;
}

describe('the modules behind skep/client', () => {
  it('are small ones', () => {
    const packages = [...loadedBy('src/client.ts')].filter((name) => !name.startsWith('node:'));
    expect(packages.sort()).toEqual(['@noble/curves/secp256k1.js', 'nostr-tools/nip19', 'tiny-secp256k1']);
  });

  it('and the check sees what the whole program loads', () => {
    const packages = loadedBy('src/root.ts');
    for (const name of ['libsql', 'p-queue', 'ws']) expect(packages).toContain(name);
  });
});
