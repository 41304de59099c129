/**
 * Takes known secrets out of what is told. The one case in which a payload is not the very bytes of the line: the session
 * credential stands in `session/new`, and an agent may print what it was given.
 */
export type SecretFilter = (text: string) => string;

/** Says the same in JSON, as it is, and where it stands. */
const REDACTED = '<redacted>';

/** A way to write a character in JSON that the character does not need. A control character needs it. */
const NEEDLESS_ESCAPE = /\\(?:u(?!00[01])|\/)/i;

/**
 * Finds each secret as it is, and as JSON writes it inside a string. A text without one comes back as it was; JSON that
 * holds one in needless escapes (`\/`, `\u0026`, which some programs always write) comes back as JSON that says the rest.
 */
export function secretFilter(secrets: readonly string[]): SecretFilter {
  const forms = [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))]
    .filter((form) => form !== '')
    // Longest first, so that a value inside another leaves no rest.
    .sort((a, b) => b.length - a.length);
  const without = (text: string): string => forms.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, REDACTED) : rest), text);
  return (text) => {
    const rest = without(text);
    const plain = NEEDLESS_ESCAPE.test(rest) ? respelt(rest) : undefined;
    const clean = plain === undefined ? undefined : without(plain);
    return clean === undefined || clean === plain ? rest : clean;
  };
}

/** The same JSON with no more escapes than it needs; undefined for what is none. */
function respelt(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}
