/**
 * Takes known secrets out of what is told. The one case in which a payload is not the very bytes of the line: the session
 * credential stands in `session/new`, and an agent may print what it was given.
 */
export type SecretFilter = (text: string) => string;

/** Says the same in JSON, as it is, and where it stands. */
const REDACTED = '<redacted>';

/** Finds each secret as it is, and as JSON writes it inside a string. A text without one comes back as it was. */
export function secretFilter(secrets: readonly string[]): SecretFilter {
  const forms = [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))]
    .filter((form) => form !== '')
    // Longest first, so that a value inside another leaves no rest.
    .sort((a, b) => b.length - a.length);
  return (text) => forms.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, REDACTED) : rest), text);
}
