/**
 * What an agent said about its own trouble (stderr, error messages), fit for a log, an error text or a notice: without
 * the values of its secrets and without anything that has the form of one.
 */
import { redact } from '../model/index.ts';

const SECRET_NAME = /key|token|secret|passw|credential|auth/i;
/** Shorter values would blot out ordinary words. */
const MIN_SECRET_LENGTH = 8;

export type Redactor = (text: string) => string;

/** The values of a child's environment whose names say that they are secrets, the longest first. */
export function secretValues(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && value.length >= MIN_SECRET_LENGTH)
    .map(([, value]) => value)
    // Longest first, so that a value inside another leaves no rest.
    .sort((a, b) => b.length - a.length);
}

export function redactorFor(env: Readonly<Record<string, string>>): Redactor {
  const secrets = secretValues(env);
  return (text) => redact(secrets.reduce((rest, secret) => rest.replaceAll(secret, '<redacted>'), text));
}
