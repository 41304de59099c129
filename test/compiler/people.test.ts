import { describe, expect, test } from 'vitest';
import type { Profile, Profiles } from '../../compiler/index.ts';
import { peopleOf } from '../../compiler/people.ts';
import { MORGAN, SAM } from './turns.ts';

const labelOf = (profile: Profile): string | undefined => peopleOf({ [MORGAN]: profile }).label(MORGAN);
const named = (displayName: string): string | undefined => labelOf({ displayName });

describe('a label', () => {
  test.each([
    ['plain', 'Morgan', 'Morgan'],
    ['trimmed, with NEL', '\u0085 Morgan \u3000', 'Morgan'],
    ['a byte order mark is no white space', '\ufeffMorgan', '\ufeffMorgan'],
    ['inner white space stays', 'Morgan  Lee', 'Morgan  Lee'],
    ['control characters go', 'Mor\u0000g\n\u007fa\u0085\u009fn', 'Morgan'],
    ['bidi controls go', '\u202aM\u202bo\u202cr\u202dg\u202ea\u2066n\u2067\u2068\u2069', 'Morgan'],
    ['their neighbours stay', '\u2029x\u202f\u2065y\u206az', 'x\u202f\u2065y\u206az'],
    ['zero-width and joiner stay', 'a\u200bb\u200dc', 'a\u200bb\u200dc'],
    ['trimming comes before removing', '\u202e Morgan', ' Morgan'],
    ['64 scalars', 'm'.repeat(64), 'm'.repeat(64)],
    ['65 scalars', 'm'.repeat(65), 'm'.repeat(64)],
    ['an emoji on the edge is whole', `${'m'.repeat(63)}😀x`, `${'m'.repeat(63)}😀`],
    ['an emoji past the edge is gone', `${'m'.repeat(64)}😀`, 'm'.repeat(64)],
    ['64 emoji', '😀'.repeat(70), '😀'.repeat(64)],
    ['controls do not count', `${'\u0001'.repeat(80)}${'m'.repeat(64)}`, 'm'.repeat(64)],
    ['nothing is normalised', 'e\u0301', 'e\u0301'],
    ['empty is none', '', undefined],
    ['blank is none', ' \u0085\n', undefined],
    ['nothing left is none', '\u202e\u0007', undefined],
  ])('%s', (_, displayName, expected) => {
    expect(named(displayName)).toBe(expected);
  });

  test.each<[string, Profile, string | undefined]>([
    ['display name before address', { displayName: 'Morgan', nip05: 'm@example.com' }, 'Morgan'],
    ['address without a display name', { nip05: ' m@example.com ' }, 'm@example.com'],
    ['address for a display name of nothing', { displayName: ' \u202e', nip05: 'm@example.com' }, 'm@example.com'],
    ['neither', { isAgent: true }, undefined],
  ])('%s', (_, profile, expected) => {
    expect(labelOf(profile)).toBe(expected);
  });

  test('is found by the lowercase pubkey, and for nobody else', () => {
    const people = peopleOf({ [MORGAN]: { displayName: 'Morgan' } });
    expect(people.label(MORGAN.toUpperCase())).toBe('Morgan');
    expect(people.label(SAM)).toBeUndefined();
    expect(peopleOf(undefined).label(MORGAN)).toBeUndefined();
  });

  test('is made once, in however many spellings a pubkey is mentioned', () => {
    let made = 0;
    const profile = {
      get displayName(): string {
        made += 1;
        return 'Morgan'.repeat(10_000);
      },
    };
    const people = peopleOf({ [MORGAN]: profile });
    const labels = [MORGAN, MORGAN.toUpperCase(), `A${MORGAN.slice(1)}`].map((key) => people.label(key));
    expect(new Set(labels)).toEqual(new Set([`${'Morgan'.repeat(10)}Morg`]));
    expect(made).toBe(1);
  });

  test('no inherited member is a profile', () => {
    const inherited: Profiles = Object.create({ constructor: { displayName: 'x', isAgent: true } }) as Profiles;
    const people = peopleOf(inherited);
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(people.label(name)).toBeUndefined();
      expect(people.isAgent(name)).toBe(false);
    }
  });
});

test('an agent is who is known to be one', () => {
  const people = peopleOf({ [MORGAN]: { isAgent: true }, [SAM]: { isAgent: false } });
  expect([MORGAN, MORGAN.toUpperCase(), SAM, 'x'].map((who) => people.isAgent(who))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
