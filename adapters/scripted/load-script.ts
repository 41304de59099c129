/**
 * From a file name to a Script.
 * in: the path on the command line, or none. out: the script and the directory it lies in, or one line that says what
 * is wrong, the file first. YAML is loaded only for a YAML file: starting fast is what this program is for.
 */
import { readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { BUILTIN } from './builtin.ts';
import { ScriptError } from './check.ts';
import { isJson } from './json.ts';
import { readScript } from './read-script.ts';
import type { Script } from './script.ts';

export type Loaded =
  | { readonly ok: true; readonly script: Script; readonly directory: string }
  | { readonly ok: false; readonly detail: string };

export async function loadScript(path: string | undefined): Promise<Loaded> {
  if (path === undefined) return { ok: true, script: readScript(BUILTIN), directory: process.cwd() };
  try {
    const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
    const value = await parse(text, extname(path));
    if (!isJson(value)) return { ok: false, detail: `${path}: holds a value that is not JSON, such as NaN` };
    return { ok: true, script: readScript(value), directory: dirname(resolve(path)) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const expected = error instanceof ScriptError || error instanceof SyntaxError;
    if (!expected && !('code' in error)) throw error;
    return { ok: false, detail: `${path}: ${error.message.split('\n', 1)[0] ?? ''}` };
  }
}

async function parse(text: string, extension: string): Promise<unknown> {
  if (extension !== '.yaml' && extension !== '.yml') return JSON.parse(text);
  const { parse: parseYaml } = await import('yaml');
  return parseYaml(text, { maxAliasCount: 100 });
}
