/**
 * A caller's plain JavaScript value as the tree the shapes read, so that what a client sends meets the same rules as
 * what a host receives. Anything JSON or NIP-BA cannot carry exactly (null, NaN, -0, an unpaired surrogate, a cycle)
 * is refused here or keeps a lexeme that no integer field accepts. Members that are undefined are left out, as
 * JSON.stringify would.
 */
import type { ChannelId, EventId, Pubkey } from '../../model/index.ts';
import { accept, mismatch } from './field.ts';
import type { Reading } from './field.ts';
import type { JsonValue } from './json.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { shown } from './text.ts';

/** `T` before validation: ids are any text, everything else is as it will be. */
export type Draft<T> = T extends ChannelId | EventId | Pubkey
  ? string
  : T extends object
    ? { readonly [K in keyof T]: Draft<T[K]> }
    : T;

/** `value` as a JSON tree; `path` is where it stands. */
export function treeOf(value: unknown, path = 'args', depth = 1): Reading<JsonValue> {
  if (depth > REQUEST_LIMITS.maxDepth) return mismatch(path, `nesting beyond ${REQUEST_LIMITS.maxDepth}`, 'less');
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) return mismatch(path, 'an unpaired surrogate', 'Unicode text');
      return accept({ type: 'string', text: value });
    case 'number':
      return accept({ type: 'number', lexeme: Object.is(value, -0) ? '-0' : String(value) });
    case 'bigint':
      return accept({ type: 'number', lexeme: String(value) });
    case 'boolean':
      return accept({ type: 'boolean', value });
    case 'object':
      if (value === null) return mismatch(path, 'null', 'an omitted member');
      return Array.isArray(value) ? arrayOf(value, path, depth) : objectOf(value, path, depth);
    case 'undefined':
    case 'function':
    case 'symbol':
      return mismatch(path, `a ${typeof value}`, 'a JSON value');
    default:
      throw new TypeError(`${path}: unknown type ${typeof value}`);
  }
}

function arrayOf(values: readonly unknown[], path: string, depth: number): Reading<JsonValue> {
  const items: JsonValue[] = [];
  for (const [index, value] of values.entries()) {
    const item = treeOf(value, `${path}[${index}]`, depth + 1);
    if (!item.ok) return item;
    items.push(item.value);
  }
  return accept({ type: 'array', items });
}

function objectOf(value: object, path: string, depth: number): Reading<JsonValue> {
  const members = new Map<string, JsonValue>();
  for (const [name, member] of Object.entries<unknown>({ ...value })) {
    if (member === undefined) continue;
    const read = treeOf(member, `${path}.${shown(name)}`, depth + 1);
    if (!read.ok) return read;
    members.set(name, read.value);
  }
  return accept({ type: 'object', members, repeated: [] });
}
