/**
 * Why a turn input is refused: where, what was expected, what was found. A refusal travels as a private throw from
 * the depth of a value to the two parse functions, which return it as a value; nothing of it leaves this room thrown.
 */

/** `path` like `events[3].event.sig` (`$` for the whole); `found` shortened and escaped, absent where nothing stood. */
export interface TurnRefusal {
  readonly ok: false;
  readonly path: string;
  readonly expected: string;
  readonly found?: string;
  /** 1-based line of the text, where one was read; of the object, for a member that it lacks. */
  readonly line?: number;
}

export class Refused extends Error {
  readonly refusal: TurnRefusal;

  constructor(refusal: Omit<TurnRefusal, 'ok'>) {
    super(`${refusal.path}: expected ${refusal.expected}`);
    this.refusal = { ok: false, ...refusal };
  }
}

/** Refuses `value`, which stands at `path`. */
export function refuse(path: string, expected: string, value: unknown): never {
  const found = shown(value);
  throw new Refused({ path: path === '' ? '$' : path, expected, ...(found === undefined ? {} : { found }) });
}

/** What `read` returns, or the refusal it threw. Anything else thrown is a bug and passes. */
export function attempt<T extends { readonly ok: true }>(read: () => T): T | TurnRefusal {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

const SECRET_KEY = /n(?:crypt)?sec1/i;
// Longer than any name of ours, shorter than any key.
const PLAIN_MEMBER = /^[A-Za-z_]\w{0,23}$/;

/** The path of member `name` of the object at `path`; a strange name is quoted, shortened and escaped. */
export function memberPath(path: string, name: string): string {
  if (!PLAIN_MEMBER.test(name) || SECRET_KEY.test(name)) return `${path}[${quoted(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

// Enough to recognise a value by, too little to use it: no key is ever shown whole.
const SHOWN_SCALARS = 24;
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/gu;

function shown(value: unknown): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return undefined;
    case 'string':
      return quoted(value);
    case 'number':
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? `an array of ${String(value.length)}` : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

/** `text` in quotes: at most 24 scalars, printable ASCII, never a secret key. */
export function quoted(text: string): string {
  if (SECRET_KEY.test(text)) return 'a secret key (not shown)';
  const scalars = Array.from(text.slice(0, 2 * SHOWN_SCALARS + 2));
  const head = scalars.slice(0, SHOWN_SCALARS).join('').replace(/["\\]/g, '\\$&').replace(NOT_PRINTABLE_ASCII, escaped);
  return scalars.length > SHOWN_SCALARS ? `"${head}…" (length ${String(text.length)})` : `"${head}"`;
}

function escaped(scalar: string): string {
  return `\\u{${(scalar.codePointAt(0) ?? 0).toString(16)}}`;
}
