/**
 * A strict JSON reader (RFC 8259). `JSON.parse` keeps the last of two members of one name and says nothing; here the
 * second is refused, with path and line, so that two readers can never see two turns in one text.
 * in: text. out: the value, or a `Refused`. Linear in the text; depth bounded.
 * Never: takes a comment, a trailing comma, or anything else that `JSON.parse` would not.
 */
import { memberPath, quoted, Refused } from './refusal.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

// A turn input nests 7 deep. 32 leaves room for a wrong text to be refused for what is wrong with it.
const MAX_DEPTH = 32;

const WHITE_SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const FOUR_HEX = /[0-9a-fA-F]{4}/y;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Told of every value before it is read: its path ('' for the whole) and the index of its first character. */
export type Watcher = (path: string, at: number) => void;

/** The one value that `source` holds. Throws `Refused`. */
export function readJson(source: string, watcher?: Watcher): Json {
  const cursor: Cursor = { source, at: source.startsWith('\ufeff') ? 1 : 0, watcher };
  const value = readValue(cursor, '', 0);
  if (cursor.at < source.length) unexpected(cursor, '', 'nothing after the value');
  return value;
}

interface Cursor {
  readonly source: string;
  at: number;
  readonly watcher: Watcher | undefined;
}

/** One value and the white space on both its sides. */
function readValue(cursor: Cursor, path: string, depth: number): Json {
  skipWhiteSpace(cursor);
  cursor.watcher?.(path, cursor.at);
  const value = readBare(cursor, path, depth);
  skipWhiteSpace(cursor);
  return value;
}

function readBare(cursor: Cursor, path: string, depth: number): Json {
  switch (cursor.source[cursor.at]) {
    case '{':
      return readObject(cursor, path, depth + 1);
    case '[':
      return readArray(cursor, path, depth + 1);
    case '"':
      return readString(cursor, path);
    default:
      return readScalar(cursor, path);
  }
}

function readObject(cursor: Cursor, path: string, depth: number): Json {
  enter(cursor, path, depth);
  const members = new Map<string, Json>();
  if (take(cursor, '}')) return {};
  do {
    skipWhiteSpace(cursor);
    const start = cursor.at;
    if (cursor.source[start] !== '"') unexpected(cursor, path, 'a member name in double quotes');
    const name = readString(cursor, path);
    const inner = memberPath(path, name);
    if (members.has(name))
      fault(cursor.source, start, { path: inner, expected: 'each member once', found: quoted(name) });
    skipWhiteSpace(cursor);
    if (!take(cursor, ':')) unexpected(cursor, inner, '":"');
    members.set(name, readValue(cursor, inner, depth));
  } while (take(cursor, ','));
  if (!take(cursor, '}')) unexpected(cursor, path, '"," or "}"');
  // Own members, whatever their name: an assignment would lose `__proto__`.
  return Object.fromEntries(members);
}

function readArray(cursor: Cursor, path: string, depth: number): Json {
  enter(cursor, path, depth);
  const items: Json[] = [];
  if (take(cursor, ']')) return items;
  do {
    items.push(readValue(cursor, `${path}[${String(items.length)}]`, depth));
  } while (take(cursor, ','));
  if (!take(cursor, ']')) unexpected(cursor, path, '"," or "]"');
  return items;
}

/** Steps over the opening bracket. */
function enter(cursor: Cursor, path: string, depth: number): void {
  if (depth > MAX_DEPTH) unexpected(cursor, path, `nesting no deeper than ${String(MAX_DEPTH)}`);
  cursor.at += 1;
  skipWhiteSpace(cursor);
}

function readString(cursor: Cursor, path: string): string {
  const { source } = cursor;
  cursor.at += 1;
  let text = '';
  let start = cursor.at;
  for (;;) {
    const unit = source.charCodeAt(cursor.at);
    // NaN, past the end, is no `>=` either.
    if (!(unit >= 0x20)) unexpected(cursor, path, 'a closed string, control characters escaped');
    if (unit === 0x22) break;
    cursor.at += 1;
    if (unit !== 0x5c) continue;
    text += source.slice(start, cursor.at - 1) + readEscape(cursor, path);
    start = cursor.at;
  }
  text += source.slice(start, cursor.at);
  cursor.at += 1;
  return text;
}

/** What stands after a backslash. */
function readEscape(cursor: Cursor, path: string): string {
  const letter = cursor.source[cursor.at];
  const plain = letter === undefined ? undefined : ESCAPES.get(letter);
  if (plain !== undefined) {
    cursor.at += 1;
    return plain;
  }
  if (letter !== 'u') unexpected(cursor, path, 'one of the escapes of JSON');
  cursor.at += 1;
  const digits = match(cursor, FOUR_HEX);
  if (digits === undefined) unexpected(cursor, path, 'four hex digits');
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function readScalar(cursor: Cursor, path: string): Json {
  const number = match(cursor, NUMBER);
  if (number !== undefined) return Number(number);
  switch (match(cursor, LITERAL)) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return unexpected(cursor, path, 'a JSON value');
  }
}

/** The text `pattern` (sticky) matches here, stepping over it. */
function match(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.source)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}

function take(cursor: Cursor, sign: string): boolean {
  if (cursor.source[cursor.at] !== sign) return false;
  cursor.at += 1;
  return true;
}

function skipWhiteSpace(cursor: Cursor): void {
  match(cursor, WHITE_SPACE);
}

// Enough to find the place by; too little to show a key that a fault splits.
const SHOWN_UNITS = 12;

function unexpected({ source, at }: Cursor, path: string, expected: string): never {
  const found = at < source.length ? quoted(source.slice(at, at + SHOWN_UNITS)) : 'the end of the text';
  fault(source, at, { path, expected, found });
}

function fault(source: string, at: number, facts: { path: string; expected: string; found: string }): never {
  throw new Refused({ ...facts, path: facts.path === '' ? '$' : facts.path, line: lineAt(source, at) });
}

/** The 1-based line of the character at index `at`. A line ends at LF. */
export function lineAt(source: string, at: number): number {
  let line = 1;
  for (let end = source.indexOf('\n'); end !== -1 && end < at; end = source.indexOf('\n', end + 1)) line += 1;
  return line;
}
