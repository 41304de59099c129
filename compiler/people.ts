/**
 * What profiles say about people: the label shown for a pubkey, and who is known to be an agent.
 * in: the profiles of the turn. out: short names without line breaks or direction changes; they may still be anything
 * a stranger chose, so the pubkey always stands beside them where it matters.
 */
import { firstScalars, trim } from './text.ts';
import type { Profile, Profiles } from './turn.ts';

// A name is a courtesy: 64 scalars show any real one. The rest is cut without a mark.
const MAX_LABEL_SCALARS = 64;

// General category Cc, and the bidi controls, which could make a name read as other text than it is.
const CONTROLS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

export interface People {
  /** The label of `pubkey` (any case), if its profile gives one. */
  label(pubkey: string): string | undefined;
  /** Whether `pubkey` (any case) is known to be an agent. Unknown people are people. */
  isAgent(pubkey: string): boolean;
}

/**
 * Reads `profiles`. Each label is made once, however often its person speaks and in however many spellings the key is
 * mentioned: else a long name times many spellings would cost more than the size of the input.
 */
export function peopleOf(profiles: Profiles | undefined): People {
  const labels = new Map<string, string | undefined>();
  // Own members only: a mention may be any text, `constructor` and `__proto__` too.
  const profileOf = (key: string): Profile | undefined =>
    profiles !== undefined && Object.hasOwn(profiles, key) ? profiles[key] : undefined;
  return {
    label(pubkey) {
      const key = pubkey.toLowerCase();
      if (!labels.has(key)) labels.set(key, labelOf(profileOf(key)));
      return labels.get(key);
    },
    isAgent: (pubkey) => profileOf(pubkey.toLowerCase())?.isAgent === true,
  };
}

function labelOf(profile: Profile | undefined): string | undefined {
  // A display name of which nothing is left is none, so the address stands in for it.
  return clean(profile?.displayName) ?? clean(profile?.nip05);
}

function clean(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const label = firstScalars(trim(name).replace(CONTROLS, ''), MAX_LABEL_SCALARS);
  return label === '' ? undefined : label;
}
