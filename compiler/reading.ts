/**
 * A side door for rooms whose formats hold turn inputs and events (recorded fixtures): the strict reading that the
 * compiler itself does, so that no text is read in two ways.
 * in: nothing. out: JSON text through closed shapes, the compiler's own words as readers, and the parts to make more.
 */
import { lineOfPath, parseJsonText } from './json-text.ts';
import { attempt } from './refusal.ts';
import type { TurnRefusal } from './refusal.ts';
import type { Reader } from './shape.ts';

export { refuse } from './refusal.ts';
export { arrayOf, closed, flag, oneOf, optional, text, textWhere, whole } from './shape.ts';
export type { Reader } from './shape.ts';
export { hex64, operatorTurn, turnEvent, turnInput, uuid } from './input.ts';

export type Read<T> = { readonly ok: true; readonly value: T } | TurnRefusal;

/**
 * `source` (one JSON value, a byte order mark before it allowed) through `reader`. Refuses what is no JSON, a member
 * given twice, nesting deeper than 32, and what the reader refuses; each with its path and line.
 */
export function readText<T>(source: string, reader: Reader<T>): Read<T> {
  const json = parseJsonText(source);
  if (!json.ok) return json;
  const read = attempt(() => ({ ok: true, value: reader(json.value, '') }));
  return read.ok ? read : { ...read, line: lineOfPath(source, read.path) };
}
