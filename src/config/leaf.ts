/**
 * The kinds of values a config file holds, as zod schemas whose messages are whole sentences: what was found, what is
 * expected. A reader returns undefined for a value that does not fit, or its own sentence for a mistake worth one.
 */
import { z } from 'zod';
import { asChannelId } from '../model/index.ts';
import type { ChannelId, Pubkey } from '../model/index.ts';
import { parsePubkey } from '../nostr/index.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { found, holdsSecretKey, shown } from './found.ts';
import { nearest } from './nearest.ts';

/** Anything in, a checked `T` out. */
export type Leaf<T> = z.ZodType<T>;

/** A mistake that deserves a sentence of its own. */
export class Mistake {
  readonly sentence: string;
  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export function leaf<T>(expected: string, read: (value: unknown) => T | Mistake | undefined): Leaf<T> {
  return z.unknown().transform((value, context): T => {
    const result = read(value);
    if (result === undefined) context.addIssue({ code: 'custom', message: `${found(value)}, expected ${expected}` });
    else if (result instanceof Mistake) context.addIssue({ code: 'custom', message: result.sentence });
    else return result;
    return z.NEVER;
  });
}

/** How a sentence about a member begins that is not in the schema. */
export const UNKNOWN_MEMBER = 'unknown member';

/** A mapping of exactly these members. */
export function closed<Shape extends z.core.$ZodLooseShape>(
  shape: Shape, expected: string,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return `${found(issue.input)}, expected ${expected}`;
      const known = Object.keys(shape);
      const [stranger = ''] = issue.keys;
      const near = nearest(stranger, known);
      const hint = near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`;
      return `${UNKNOWN_MEMBER}, ${hint}`;
    },
  });
}

export function list<Item extends z.ZodType>(item: Item, { min, max, expected }: ListBounds): z.ZodArray<Item> {
  const wrong = (issue: { readonly input?: unknown }): string =>
    Array.isArray(issue.input)
      ? `found ${issue.input.length} entries, expected ${expected}`
      : `${found(issue.input)}, expected ${expected}`;
  return z.array(item, { error: wrong }).min(min, { error: wrong }).max(max, { error: wrong });
}

interface ListBounds {
  readonly min: number;
  readonly max: number;
  readonly expected: string;
}

export function word<const Words extends readonly string[]>(words: Words): Leaf<Words[number]> {
  return leaf(`${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`, (value): Words[number] | undefined =>
    words.find((known) => known === value));
}

/** One line or more of well-formed text without NUL, at most `maxBytes` of UTF-8. */
export function text(expected: string, maxBytes = 4_096): Leaf<string> {
  return leaf(expected, (value) => {
    if (typeof value !== 'string' || value.trim() === '') return undefined;
    if (holdsSecretKey(value)) return new Mistake(`found a secret key, expected ${expected}`);
    if (!isPlain(value)) return new Mistake(`found text that is not well-formed, expected ${expected}`);
    const bytes = Buffer.byteLength(value);
    if (bytes <= maxBytes) return value;
    return new Mistake(`found ${bytes} bytes, expected ${expected} of at most ${maxBytes} bytes`);
  });
}

export function count(min: number, max: number): Leaf<number> {
  return leaf(`a whole number ${min}..${max}`, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined);
}

/** Bounds in milliseconds. With `minMs: 0` a bare `0` is understood, too. */
export function duration(minMs: number, maxMs: number): Leaf<number> {
  const expected = `a duration like 90s, 5m or 2h between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`;
  return leaf(expected, (value) => {
    const ms = value === 0 && minMs === 0 ? 0 : typeof value === 'string' ? parseDuration(value) : undefined;
    return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
  });
}

/** The same, or undefined for `off`, which other readers of YAML take for false. */
export function durationOrOff(minMs: number, maxMs: number): Leaf<number | undefined> {
  const expected = `off, or a duration like 90s, 5m or 2h between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`;
  return z.unknown().transform((value, context): number | undefined => {
    if (value === 'off' || value === false) return undefined;
    const ms = typeof value === 'string' ? parseDuration(value) : undefined;
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
    context.addIssue({ code: 'custom', message: `${found(value)}, expected ${expected}` });
    return z.NEVER;
  });
}

export function publicKey(expected: string): Leaf<Pubkey> {
  return leaf(expected, (value): Pubkey | Mistake | undefined => {
    // 64 digits without quotation marks are a number to YAML.
    if (typeof value === 'number') return new Mistake(`found a number, expected ${expected}; put it in quotes`);
    if (typeof value !== 'string') return undefined;
    const parsed = parsePubkey(value);
    if (parsed.ok) return parsed.pubkey;
    const mixed = `found an npub in mixed case, expected ${expected}, all lower or all upper case`;
    return parsed.code === 'mixed_case' ? new Mistake(mixed) : undefined;
  });
}

export function channel(): Leaf<ChannelId> {
  return leaf('a channel id (a UUID)', (value): ChannelId | undefined =>
    typeof value === 'string' ? asChannelId(value.trim().toLowerCase()) : undefined);
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The broker's endpoint and credential go by these names. */
const OURS = /^SKEP_/;

/** Extra environment of an agent. Values are never shown, whatever is wrong with them. */
export function environment(): Leaf<Readonly<Record<string, string>>> {
  return leaf('a mapping of names to texts', (value): Readonly<Record<string, string>> | Mistake | undefined => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const env: Record<string, string> = {};
    for (const [name, content] of Object.entries(value)) {
      const mistake = nameMistake(name) ?? contentMistake(content);
      if (mistake !== undefined || typeof content !== 'string') return new Mistake(`${shown(name)}: ${mistake ?? ''}`);
      env[name] = content;
    }
    return env;
  });
}

function nameMistake(name: string): string | undefined {
  if (holdsSecretKey(name)) return 'found a secret key as a name';
  if (!ENV_NAME.test(name)) return 'expected a name of letters, digits and _';
  return OURS.test(name) ? 'expected no name that begins with SKEP_: those are set by skep' : undefined;
}

function contentMistake(content: unknown): string | undefined {
  if (typeof content !== 'string') return 'expected a text, put it in quotation marks';
  if (looksLikeKey(content)) return 'found what looks like a Nostr secret key; agents hold no key';
  return isPlain(content) ? undefined : 'found text that is not well-formed';
}

/** What a command line and an environment can carry. */
function isPlain(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function looksLikeKey(content: string): boolean {
  return holdsSecretKey(content) || /^\s*(?:0x)?[0-9a-f]{64}\s*$/i.test(content);
}
