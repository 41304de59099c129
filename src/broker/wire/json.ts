/**
 * The strict JSON reader: UTF-8 bytes in, a faithful tree out. It decides what is JSON at all, and notes the first
 * *flaw*: a thing JSON allows and NIP-BA does not at any depth (a duplicate member name, null, an unpaired surrogate
 * escape, nesting beyond the limit). A flawed tree is kept because a verdict still needs its requestId; nobody may
 * read anything else from it. Numbers stay as they were written.
 *
 * No recursion, linear time, and past the depth limit no memory but one pointer a level.
 * NIP-BA "Wire and normalization"; RFC 8259.
 */
import { Lexer, NotJson } from './lexer.ts';
import type { BodyLimits } from './limits.ts';
import { shown } from './text.ts';

export type JsonValue =
  | JsonObject
  | { readonly type: 'array'; readonly items: readonly JsonValue[] }
  | { readonly type: 'string'; readonly text: string }
  | { readonly type: 'number'; readonly lexeme: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'null' };

export interface JsonObject {
  readonly type: 'object';
  /** By name; of a repeated name, the first value. */
  readonly members: ReadonlyMap<string, JsonValue>;
  readonly repeated: readonly string[];
}

export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue; readonly flaw: string | undefined }
  | { readonly ok: false; readonly detail: string };

type OpenObject = JsonObject & {
  readonly members: Map<string, JsonValue>;
  readonly repeated: string[];
  /** Of the member being read, and whether it stood there before. */
  name: string;
  again: boolean;
};
type OpenArray = { readonly type: 'array'; readonly items: JsonValue[] };
/** A container past the depth limit: its syntax is checked, its contents are dropped. */
type Dropped = { readonly type: 'dropped'; readonly closer: Closer };
type Closer = '}' | ']';
type Open = OpenObject | OpenArray | Dropped;

const TRUE: JsonValue = { type: 'boolean', value: true };
const FALSE: JsonValue = { type: 'boolean', value: false };
const NULL: JsonValue = { type: 'null' };
const DROPPED = { '}': { type: 'dropped', closer: '}' }, ']': { type: 'dropped', closer: ']' } } as const;
// `ignoreBOM` keeps a byte order mark in the text, where it is no JSON white space and so refused.
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `bytes` as a JSON document, or why they are none. `flaw` is set when the document breaks a rule of NIP-BA. */
export function readJson(bytes: Uint8Array, limits: BodyLimits): JsonReading {
  if (bytes.byteLength > limits.maxBytes) {
    return { ok: false, detail: `body: found ${bytes.byteLength} bytes, expected at most ${limits.maxBytes}` };
  }
  try {
    const reader = new Reader(new Lexer(decode(bytes)), limits.maxDepth);
    const value = reader.document();
    return { ok: true, value, flaw: reader.flaw };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, detail: error.message };
    throw error;
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes);
  } catch (cause) {
    throw new NotJson('body: found bytes that are not UTF-8, expected UTF-8', { cause });
  }
}

class Reader {
  flaw: string | undefined;
  private readonly lexer: Lexer;
  private readonly maxDepth: number;
  private readonly open: Open[] = [];

  constructor(lexer: Lexer, maxDepth: number) {
    this.lexer = lexer;
    this.maxDepth = maxDepth;
  }

  document(): JsonValue {
    for (;;) {
      let value = this.startValue();
      while (value !== undefined) {
        const parent = this.open.at(-1);
        if (parent === undefined) return this.end(value);
        add(parent, value);
        value = this.nextOrClose(parent);
      }
    }
  }

  /** A scalar or an empty container; undefined when a container was opened and its first value is next. */
  private startValue(): JsonValue | undefined {
    switch (this.lexer.peek()) {
      case '{': {
        const opened = this.enter('}');
        if (this.lexer.peek() === '}') return this.close(opened);
        this.readName(opened);
        return undefined;
      }
      case '[': {
        const opened = this.enter(']');
        return this.lexer.peek() === ']' ? this.close(opened) : undefined;
      }
      case '"':
        return { type: 'string', text: this.string() };
      case 't':
        this.lexer.literal('true');
        return TRUE;
      case 'f':
        this.lexer.literal('false');
        return FALSE;
      case 'n':
        this.lexer.literal('null');
        this.note('found null, expected an omitted member');
        return NULL;
      default:
        return { type: 'number', lexeme: this.lexer.number() };
    }
  }

  /** After an item or member: undefined at a comma, the finished container at its closer. */
  private nextOrClose(parent: Open): JsonValue | undefined {
    const closer = closerOf(parent);
    const next = this.lexer.peek();
    if (next === closer) return this.close(parent);
    if (next !== ',') throw this.lexer.unexpected(`',' or '${closer}'`);
    this.lexer.pass();
    if (closer === '}') this.readName(parent);
    return undefined;
  }

  private enter(closer: Closer): Open {
    const deep = this.open.length >= this.maxDepth;
    if (deep) this.note(`found nesting beyond ${this.maxDepth}, expected less`);
    const opened = deep ? DROPPED[closer] : container(closer);
    this.open.push(opened);
    this.lexer.pass();
    return opened;
  }

  private close(opened: Open): JsonValue {
    this.lexer.pass();
    this.open.pop();
    return opened.type === 'dropped' ? NULL : opened;
  }

  private readName(parent: Open): void {
    if (this.lexer.peek() !== '"') throw this.lexer.unexpected('a member name');
    const name = this.string();
    if (this.lexer.peek() !== ':') throw this.lexer.unexpected("':'");
    this.lexer.pass();
    if (parent.type !== 'object') return;
    parent.name = name;
    parent.again = parent.members.has(name);
    if (!parent.again) return;
    parent.repeated.push(name);
    this.note('found the member twice, expected once');
  }

  private string(): string {
    const text = this.lexer.string();
    // What was UTF-8 is well-formed; only an escape can write half a pair.
    if (this.lexer.escaped && !text.isWellFormed()) this.note('found an unpaired surrogate, expected Unicode text');
    return text;
  }

  private end(value: JsonValue): JsonValue {
    if (this.lexer.peek() !== undefined) throw this.lexer.unexpected('the end of the body');
    return value;
  }

  private note(what: string): void {
    this.flaw ??= `${this.path()}: ${what}`;
  }

  private path(): string {
    let path = '';
    for (const opened of this.open) {
      if (opened.type === 'object') path += path === '' ? shown(opened.name) : `.${shown(opened.name)}`;
      if (opened.type === 'array') path += `[${opened.items.length}]`;
    }
    return path === '' ? 'body' : path;
  }
}

function container(closer: Closer): OpenObject | OpenArray {
  return closer === '}'
    ? { type: 'object', members: new Map(), repeated: [], name: '', again: false }
    : { type: 'array', items: [] };
}

function closerOf(opened: Open): Closer {
  if (opened.type === 'dropped') return opened.closer;
  return opened.type === 'object' ? '}' : ']';
}

function add(parent: Open, value: JsonValue): void {
  if (parent.type === 'array') parent.items.push(value);
  else if (parent.type === 'object' && !parent.again) parent.members.set(parent.name, value);
}
