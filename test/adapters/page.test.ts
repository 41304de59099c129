import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../house/imports.ts';
import { profiles, runRow, speechRow, traitRow } from './page.ts';

const page = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8').split('\n');

describe('docs/agents.md', () => {
  it.each(profiles.map((profile) => [profile.name, profile] as const))('says of %s what its profile says', (_, profile) => {
    expect(page).toContain(runRow(profile));
    expect(page).toContain(speechRow(profile));
    expect(page).toContain(traitRow(profile));
    for (const note of profile.notes ?? []) expect(page).toContain(`- ${profile.name}: ${note}`);
  });
});
