/**
 * JSON text for whoever reads turns out of larger files: the strict reader as a value, and the line of a path.
 * in: text. out: its value or a refusal; a line number. Reading again to find a line costs the refused text alone.
 */
import { lineAt, readJson } from './json.ts';
import type { Json } from './json.ts';
import { attempt } from './refusal.ts';
import type { TurnRefusal } from './refusal.ts';

export type JsonParsed = { readonly ok: true; readonly value: Json } | TurnRefusal;

/**
 * The one JSON value of `source`, a byte order mark before it allowed. Refuses what is no JSON, a member given twice,
 * and nesting deeper than 32, each with path and line.
 */
export function parseJsonText(source: string): JsonParsed {
  return attempt(() => ({ ok: true, value: readJson(source) }));
}

/**
 * The 1-based line of `source`, which is JSON, where the value at `path` begins; `path` as refusals write it. For a
 * member that is absent: where the object begins that it is absent from.
 */
export function lineOfPath(source: string, path: string): number {
  let deepest: string | undefined;
  let deepestAt = 0;
  readJson(source, (at, index) => {
    // Of two that are written alike the first: strange names are shortened in a path.
    if ((deepest !== undefined && at.length <= deepest.length) || !leadsTo(at, path)) return;
    deepest = at;
    deepestAt = index;
  });
  return lineAt(source, deepestAt);
}

function leadsTo(ancestor: string, path: string): boolean {
  if (ancestor === '') return true;
  if (!path.startsWith(ancestor)) return false;
  const next = path[ancestor.length];
  return next === undefined || next === '.' || next === '[';
}
