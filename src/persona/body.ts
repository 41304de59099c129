/**
 * Content bodies read member by member: outside JSON in, typed values or the first fault out. What is not asked for is
 * ignored, absent and null are one (NIP-AP "Content body"); a member that is asked for and stands there twice is a
 * fault, because two readers would take two values.
 */
import { excerpt, refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import { asPubkey } from '../model/index.ts';
import { jsonMembers } from '../nostr/index.ts';

/** One member's form. `read` gives undefined for what has another. */
export interface Form<T> {
  readonly expected: string;
  readonly read: (value: unknown) => T | undefined;
}

export interface Body {
  /** Undefined where it is absent, null, or at fault. */
  optional<T>(name: string, form: Form<T>): T | undefined;
  /** Undefined only where it is at fault; being absent or null is one. */
  required<T>(name: string, form: Form<T>): T | undefined;
  /** True when the text names the member, whatever its value: where null says something else than nothing. */
  names(name: string): boolean;
  /** The first fault among what was asked for. */
  fault(): Refusal<'content'> | undefined;
}

/** `content` as a body, or why it is none. Bounded before it is parsed. */
export function openBody(content: string, maxBytes: number): { readonly ok: true; readonly body: Body } | Refusal<'content'> {
  if (Buffer.byteLength(content) > maxBytes) return refuse('content', `content: expected at most ${maxBytes} bytes`);
  const parsed = jsonMembers(content);
  if (parsed === undefined) return refuse('content', 'content: expected a JSON object');
  const names = parsed.members.map(({ name }) => name);
  const values = new Map(parsed.members.map(({ name, raw }) => [name, raw] as const));
  return { ok: true, body: bodyOf((name) => {
    const raw = values.get(name);
    return raw === undefined ? undefined : JSON.parse(raw) as unknown;
  }, names, '') };
}

/** An object inside a body, as a body of its own; `path` stands before its names in a fault. */
export function innerBody(value: unknown, path: string): { readonly ok: true; readonly body: Body } | Refusal<'content'> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('content', `${path}: expected an object`);
  const values = new Map<string, unknown>(Object.entries(value));
  return { ok: true, body: bodyOf((name) => values.get(name), [...values.keys()], `${path}.`) };
}

function bodyOf(valueOf: (name: string) => unknown, names: readonly string[], path: string): Body {
  let first: Refusal<'content'> | undefined;
  const fail = (name: string, expected: string): undefined => {
    first ??= refuse('content', `${path}${name}: expected ${expected}`);
    return undefined;
  };
  const read = <T>(name: string, form: Form<T>, isRequired: boolean): T | undefined => {
    if (names.indexOf(name) !== names.lastIndexOf(name)) return fail(name, 'it once');
    const value = valueOf(name);
    if (value === undefined || value === null) return isRequired ? fail(name, form.expected) : undefined;
    return form.read(value) ?? fail(name, `${form.expected}${found(value)}`);
  };
  return {
    optional: (name, form) => read(name, form, false),
    required: (name, form) => read(name, form, true),
    names: (name) => names.includes(name),
    fault: () => first,
  };
}

/** Scalars are shown, shortened; a long text may hold anything, and is not. */
function found(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return `, found ${value}`;
  return typeof value === 'string' && value.length <= 40 ? `, found "${excerpt(value)}"` : '';
}

/** Well-formed: a lone surrogate has no UTF-8, so it could not be written again as it was read. */
export const TEXT: Form<string> = {
  expected: 'well-formed text',
  read: (value) => (typeof value === 'string' && value.isWellFormed() ? value : undefined),
};

export const NAME: Form<string> = {
  expected: 'a nonempty text',
  read: (value) => (value === '' ? undefined : TEXT.read(value)),
};

/** At most `maxBytes` of UTF-8. */
export function textUpTo(maxBytes: number): Form<string> {
  return {
    expected: `a text of at most ${maxBytes} bytes`,
    read: (value) => {
      const text = TEXT.read(value);
      return text !== undefined && Buffer.byteLength(text) <= maxBytes ? text : undefined;
    },
  };
}

export function oneOf<const Word extends string>(words: readonly Word[]): Form<Word> {
  return { expected: words.join(' or '), read: (value) => words.find((word) => word === value) };
}

export function integer(least: number, most: number): Form<number> {
  return {
    expected: `an integer ${least}..${most}`,
    read: (value) => (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? value : undefined),
  };
}

export function listOf<T>(form: Form<T>, most = Number.MAX_SAFE_INTEGER): Form<readonly T[]> {
  const bound = most === Number.MAX_SAFE_INTEGER ? '' : ` of at most ${most}`;
  return {
    expected: `a list${bound}, each ${form.expected}`,
    read: (value) => {
      if (!Array.isArray(value) || value.length > most) return undefined;
      const elements = (value as readonly unknown[]).map((element) => form.read(element));
      return elements.every((element) => element !== undefined) ? elements : undefined;
    },
  };
}

export const PUBKEY: Form<Pubkey> = {
  expected: '64 lowercase hex characters',
  read: (value) => (typeof value === 'string' ? asPubkey(value) : undefined),
};

/** Any value, for an object or a list that its own reader looks at. */
export const ANYTHING: Form<unknown> = { expected: 'a value', read: (value) => value };
