/**
 * JSON as the scripted agent handles it: what a script may hold, what arrives on stdin, what a template yields.
 * in: unknown. out: a value that is JSON for certain.
 */
export type Json = null | boolean | number | string | readonly Json[] | Members;
export interface Members {
  readonly [name: string]: Json;
}

export function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.every(isJson);
  return Object.values(value).every(isJson);
}

/** Unlike Array.isArray, this narrows a readonly list away in the branch where it is false. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isMembers(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parsed text, or undefined where it is not JSON: a line of noise is not an error here. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How a value reads inside a sentence: text as it is, nothing as nothing, the rest as compact JSON. */
export function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The value at a dotted path (`answer.eventId`, `page.messages.0.id`), or undefined. Own members only. */
export function valueAt(root: Json | undefined, path: readonly string[]): Json | undefined {
  let value = root;
  for (const name of path) {
    if (isList(value)) value = /^\d+$/.test(name) ? value[Number(name)] : undefined;
    else if (isMembers(value)) value = Object.hasOwn(value, name) ? value[name] : undefined;
    else return undefined;
  }
  return value;
}
