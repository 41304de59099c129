/**
 * The small checkers that read a script, member by member.
 * in: JSON and the path it stands at. out: a typed value, or a ScriptError that names the path, what was found and
 * what was expected. Objects are closed: an unknown member is refused, for a typo in a script is a test that lies.
 */
import { constants } from 'node:os';
import { excerpt } from '../../src/model/index.ts';
import { isList, isMembers } from './json.ts';
import type { Json, Members } from './json.ts';
import type { Ending, RpcError } from './script.ts';

/** A script that cannot be played. The message is one line for the author: path, found, expected. */
export class ScriptError extends Error {}

/** Reads `value`, which stands at `path`. */
export type Reader<T> = (value: Json, path: string) => T;

export function wrong(path: string, expected: string, found: Json): never {
  throw new ScriptError(`${path}: expected ${expected}, found ${excerpt(JSON.stringify(found))}`);
}

export function string(value: Json, path: string): string {
  return typeof value === 'string' ? value : wrong(path, 'a string', value);
}

export function flag(value: Json, path: string): boolean {
  return typeof value === 'boolean' ? value : wrong(path, 'true or false', value);
}

/** A step that says nothing more than that it is there: `hang: true`. */
export function yes(value: Json, path: string): true {
  return value === true ? true : wrong(path, 'true', value);
}

export function json(value: Json): Json {
  return value;
}

export function members(value: Json, path: string): Members {
  return isMembers(value) ? value : wrong(path, 'an object', value);
}

export function integer(minimum: number, maximum: number): Reader<number> {
  return (value, path) => {
    const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum && value <= maximum;
    return fits ? value : wrong(path, `an integer from ${minimum} to ${maximum}`, value);
  };
}

export function list<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, path) => {
    if (!isList(value)) return wrong(path, 'a list', value);
    return value.map((entry, index) => item(entry, `${path}[${index}]`));
  };
}

/** An object that has no member but `names`. */
export function closed(value: Json, path: string, names: readonly string[]): Members {
  const object = members(value, path);
  for (const name of Object.keys(object)) {
    if (!names.includes(name)) {
      throw new ScriptError(`${at(path, name)}: unknown member; expected one of ${names.join(', ')}`);
    }
  }
  return object;
}

/** The member `name` read by `reader`, or undefined where it is absent. */
export function pick<T>(object: Members, name: string, path: string, reader: Reader<T>): T | undefined {
  const value = object[name];
  return value === undefined ? undefined : reader(value, at(path, name));
}

export function need<T>(object: Members, name: string, path: string, reader: Reader<T>): T {
  const value = object[name];
  if (value === undefined) throw new ScriptError(`${at(path, name)}: missing`);
  return reader(value, at(path, name));
}

/** Names of marker and gate files: plain names, so that no script reaches out of its gates directory. */
export function fileName(value: Json, path: string): string {
  return typeof value === 'string' && /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(value)
    ? value
    : wrong(path, 'a plain file name', value);
}

export function signal(value: Json, path: string): NodeJS.Signals {
  return typeof value === 'string' && isSignal(value) ? value : wrong(path, 'a signal name such as SIGKILL', value);
}

const exitCode = integer(0, 255);

/** An exit code or a signal name. */
export function ending(value: Json, path: string): Ending {
  if (typeof value === 'string') return { type: 'signal', signal: signal(value, path) };
  if (typeof value === 'number') return { type: 'exit', code: exitCode(value, path) };
  return wrong(path, 'an exit code or a signal name', value);
}

export function rpcError(value: Json, path: string): RpcError {
  const object = closed(value, path, ['code', 'message', 'data']);
  return {
    code: pick(object, 'code', path, integer(-2_147_483_648, 2_147_483_647)) ?? -32603,
    message: pick(object, 'message', path, string) ?? 'scripted error',
    data: object['data'],
  };
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

function at(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
