/**
 * What was found, as an error may show it: shortened, escaped, and never a secret. 64 hex characters may be a secret
 * key wherever they stand, and more may hold one, so they are counted and not shown. Fewer are a
 * name; but hex alone in a key's place is a mistyped key.
 */
import { excerpt } from '../model/index.ts';

const HEX_KEY = /[0-9a-f]{64,}/gi;
const HEX_ALONE = /^[0-9a-f]{32,}$/i;

export function found(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'found nothing';
  if (typeof value === 'string') return holdsSecretKey(value) ? 'found a secret key' : `found ${quoted(value)}`;
  if (typeof value === 'number' || typeof value === 'boolean') return `found ${value}`;
  return Array.isArray(value) ? 'found a list' : 'found a mapping';
}

/** True for a text with an nsec in it. */
export function holdsSecretKey(text: string): boolean {
  return /n(?:crypt)?sec1[02-9ac-hj-np-z]{10}/i.test(text);
}

/** A name as it may stand in a message. */
export function shown(text: string): string {
  return excerpt(text.replace(HEX_KEY, counted), 48);
}

/** The path of a key file as a message may name it: the key itself may have been written there, with a slip. */
export function keyFileName(path: string): string {
  return HEX_ALONE.test(path) ? counted(path) : path;
}

function counted(hex: string): string {
  return `<${hex.length} hex characters>`;
}

function quoted(text: string): string {
  return HEX_ALONE.test(text) ? `${text.length} hex characters` : `"${shown(text)}"`;
}
