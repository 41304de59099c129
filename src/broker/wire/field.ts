/**
 * A field reads one wire value out of the JSON tree, validated and in canonical form, and writes it back as compact
 * JSON. Reading never throws. Writing takes what the types allow and throws (a bug) for what the wire cannot carry.
 * A detail names the member, what was found (by type and size, never by content) and what was expected.
 */
import { unreachable } from '../../model/index.ts';
import type { JsonValue } from './json.ts';
import { scalarCount, shown } from './text.ts';

export type Reading<T> = { readonly ok: true; readonly value: T } | Mismatch;
export type Mismatch = { readonly ok: false; readonly detail: string };

// Methods, not function members: a table of fields of many types is then a table of `Field<unknown>`.
export interface Field<T> {
  read(value: JsonValue, path: string): Reading<T>;
  write(value: T): string;
}

export function accept<T>(value: T): Reading<T> {
  return { ok: true, value };
}

export function mismatch(path: string, found: string, expected: string): Mismatch {
  return { ok: false, detail: `${path}: found ${found}, expected ${expected}` };
}

/** `value` by type and size. Opaque strings may hold secrets, so their text is never part of it. */
export function describe(value: JsonValue): string {
  switch (value.type) {
    case 'object':
      return `an object of ${value.members.size} members`;
    case 'array':
      return `an array of ${value.items.length}`;
    case 'string':
      return `a string of ${scalarCount(value.text)} characters`;
    case 'number':
      return `the number ${shown(value.lexeme)}`;
    case 'boolean':
      return String(value.value);
    case 'null':
      return 'null';
    default:
      return unreachable(value);
  }
}

/** `field`, and then `rule` on what it read: undefined when it holds, otherwise what was expected. */
export function refine<T>(field: Field<T>, rule: (value: T) => string | undefined): Field<T> {
  return {
    read(value, path) {
      const reading = field.read(value, path);
      const expected = reading.ok ? rule(reading.value) : undefined;
      return expected === undefined ? reading : mismatch(path, describe(value), expected);
    },
    write: (value) => field.write(value),
  };
}
