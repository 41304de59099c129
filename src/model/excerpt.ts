/**
 * Outside text as it may stand in an error or a log line: one line, shortened, control characters, bidi controls and
 * zero-width characters shown as escapes, and anything that looks like a secret replaced.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const SECRETS: readonly RegExp[] = [
  /nsec1[02-9ac-hj-np-z]+/gi,
  /ncryptsec1[02-9ac-hj-np-z]+/gi,
  /\bsk-[\w-]{8,}/g,
  /\bBearer\s+\S+/gi,
  /\b(?:gh[oprsu]|github_pat|glpat|xox[abprs])[_-][\w-]{8,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  // A JSON Web Token.
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
];

/** `text` without anything that has the form of a key, token or credential. */
export function redact(text: string): string {
  return SECRETS.reduce((rest, pattern) => rest.replace(pattern, '<redacted>'), text);
}

/** At most `maxScalars` scalars of `text`, redacted and escaped, ending in `…` when cut. */
export function excerpt(text: string, maxScalars = 60): string {
  const whole = redact(text.toWellFormed()).replace(UNPRINTABLE, escapeScalar);
  const scalars = Array.from(whole.slice(0, maxScalars * 2 + 2));
  return scalars.length > maxScalars ? `${scalars.slice(0, maxScalars).join('')}…` : whole;
}

function escapeScalar(scalar: string): string {
  return `\\u{${(scalar.codePointAt(0) ?? 0).toString(16)}}`;
}
