/**
 * `{{name}}` in the texts of a script: the facts of the turn, and what earlier steps captured.
 * in: script JSON and the variables of a turn. out: the JSON with every template filled.
 * A text that is one template and nothing else takes the value as it is (a number stays a number, an absent member is
 * left out); anywhere else a value reads as text and an absent one as nothing.
 */
import { asText, isList, isMembers, valueAt } from './json.ts';
import type { Json, Members } from './json.ts';
import type { Conditions } from './script.ts';

export type Variables = ReadonlyMap<string, Json>;

const TEMPLATE = /\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}/g;
const WHOLE = new RegExp(`^${TEMPLATE.source}$`);

export function fillText(text: string, variables: Variables): string {
  return text.replace(TEMPLATE, (_, path: string) => asText(lookUp(path, variables)));
}

/** The filled value; undefined where the whole of it was a template with no value. */
export function fill(value: Json, variables: Variables): Json | undefined {
  if (typeof value === 'string') {
    const path = WHOLE.exec(value)?.[1];
    return path === undefined ? fillText(value, variables) : lookUp(path, variables);
  }
  if (isList(value)) return value.flatMap((item) => fill(item, variables) ?? []);
  return isMembers(value) ? fillMembers(value, variables) : value;
}

export function fillMembers(value: Members, variables: Variables): Members {
  const filled: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    const result = fill(member, variables);
    if (result !== undefined) filled.push([name, result]);
  }
  return Object.fromEntries(filled);
}

/** Every condition reads as one of its texts. No condition holds always. */
export function holds(conditions: Conditions, variables: Variables): boolean {
  return Array.from(conditions).every(([path, texts]) => texts.includes(asText(lookUp(path, variables))));
}

/** The first names of all templates in `value`, with the path each stands at. */
export function templateNames(value: Json, path: string): readonly { readonly name: string; readonly path: string }[] {
  if (typeof value === 'string') {
    return Array.from(value.matchAll(TEMPLATE), ([, found = '']) => ({ name: found.split('.')[0] ?? '', path }));
  }
  if (isList(value)) return value.flatMap((item, index) => templateNames(item, `${path}[${index}]`));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => templateNames(member, `${path}.${name}`));
}

function lookUp(path: string, variables: Variables): Json | undefined {
  const [name = '', ...rest] = path.split('.');
  return valueAt(variables.get(name), rest);
}
