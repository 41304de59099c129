/**
 * Closed shapes, read once: a reader takes an unknown value and gives a fresh, typed one, or refuses it.
 * in: values of any sort. out: values of the type, members in the order of the shape, sharing nothing with the input.
 * Never: coerces, fills in a default, or lets null or an unknown member pass.
 */
import { memberPath, refuse } from './refusal.ts';

/** Reads the value at `path` or refuses it. */
export type Reader<T> = (value: unknown, path: string) => T;

/** A member that may be absent (and only that: `undefined` as a value is refused). */
export interface Optional<T> {
  readonly optional: Reader<T>;
}

/** A reader for every member of `T`; the type demands `Optional` exactly where `T` has a `?`. */
export type Shape<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Optional<Exclude<T[K], undefined>> : Reader<T[K]>;
};

export function optional<T>(reader: Reader<T>): Optional<T> {
  return { optional: reader };
}

/** An object with exactly the members of `shape`. */
export function closed<T extends object>(shape: Shape<T>): Reader<T> {
  const members = new Map(Object.entries<Reader<unknown> | Optional<unknown>>(shape));
  return (value, path) => {
    const object = record(value, path);
    for (const name of Object.keys(object)) {
      if (!members.has(name)) refuse(memberPath(path, name), 'no member of this name', object[name]);
    }
    const entries: [string, unknown][] = [];
    for (const [name, member] of members) {
      const present = Object.hasOwn(object, name);
      if (typeof member !== 'function' && !present) continue;
      const read = typeof member === 'function' ? member : member.optional;
      // An absent member is read as `undefined`, which every reader refuses, naming what it expected.
      entries.push([name, read(present ? object[name] : undefined, memberPath(path, name))]);
    }
    return Object.fromEntries(entries) as T; // The loop above is what makes it one.
  };
}

/** An object whose names all pass `isName`. */
export function mapOf<T>(
  isName: (name: string) => boolean,
  expectedName: string,
  reader: Reader<T>,
): Reader<Record<string, T>> {
  return (value, path) => {
    const object = record(value, path);
    const entries = Object.keys(object).map((name): [string, T] => {
      if (!isName(name)) refuse(memberPath(path, name), `${expectedName} as the member's name`, name);
      return [name, reader(object[name], memberPath(path, name))];
    });
    return Object.fromEntries(entries);
  };
}

/** An array of `min` to `max` items. */
export function arrayOf<T>(reader: Reader<T>, expected = 'an array', min = 0, max = Infinity): Reader<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) refuse(path, expected, value);
    // Array.from and not map: a hole is read, as `undefined`, and so refused.
    return Array.from(value, (item: unknown, index) => reader(item, `${path}[${String(index)}]`));
  };
}

/** A string that passes `test`. */
export function textWhere(test: (text: string) => boolean, expected: string): Reader<string> {
  return (value, path) => (typeof value === 'string' && test(value) ? value : refuse(path, expected, value));
}

export const text: Reader<string> = textWhere(() => true, 'a string');

export const flag: Reader<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'true or false', value);

/** An integer from 0 to `max`. */
export function whole(max: number, expected: string): Reader<number> {
  return (value, path) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
      ? value
      : refuse(path, expected, value);
}

/** One of the values of `choices`. */
export function oneOf<const T extends string | number>(...choices: readonly T[]): Reader<T> {
  const expected = choices.map((choice) => JSON.stringify(choice)).join(' or ');
  return (value, path) => choices.find((choice) => choice === value) ?? refuse(path, expected, value);
}

function record(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(path, 'an object', value);
  return value as Readonly<Record<string, unknown>>;
}
