/** The `d` tag of a definition (NIP-AP "Slugs"): flat, lowercase, 1 to 64 bytes. */
const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const MAX_LENGTH = 64;

export function isPersonaSlug(text: string): boolean {
  return SLUG.test(text);
}

/**
 * The slug that Buzz gives a record with this id (INTEROP: a record's `d` tag): lowercase, everything outside the
 * grammar a hyphen, an `a` before a first character that is no letter or digit, cut to 64. Always a slug.
 */
export function slugFrom(recordId: string): string {
  const plain = recordId.toLowerCase().replace(/[^a-z0-9_-]/gu, '-');
  return (/^[a-z0-9]/.test(plain) ? plain : `a${plain}`).slice(0, MAX_LENGTH);
}

/** `wanted`, or with the first number behind it that makes it a slug nobody has. */
export function freeSlug(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) {
    const ending = `-${number}`;
    const candidate = `${wanted.slice(0, MAX_LENGTH - ending.length)}${ending}`;
    if (!taken.has(candidate)) return candidate;
  }
}
