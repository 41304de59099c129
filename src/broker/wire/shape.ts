/**
 * Closed objects and bounded lists of fields ("Objects are closed", NIP-BA "Wire and normalization"). A shape is a
 * table of members; it reads and writes in the order of the table, so equal values give equal bytes.
 */
import { accept, describe, mismatch } from './field.ts';
import type { Field } from './field.ts';
import type { JsonObject } from './json.ts';
import { boolean, oneOf, unsigned } from './scalars.ts';
import { shown } from './text.ts';

/** A member that may be left out. `omitWhen` is a value the writer leaves out too. */
export interface Optional<T> {
  readonly optional: Field<T>;
  readonly omitWhen?: T;
}

/** A member that always has this very value: demanded and written on the wire, absent from what is read. */
export interface Constant<T> {
  readonly constant: T;
  readonly field: Field<T>;
}

type Member<T> = Field<T> | Optional<T> | Constant<T>;
type Members = Readonly<Record<string, Member<unknown>>>;
type Flat<T> = { readonly [K in keyof T]: T[K] };
type NamesOf<M, Sort> = { [K in keyof M]: M[K] extends Sort ? K : never }[keyof M];

/** What a field reads. */
export type Read<F> = F extends Field<infer T> ? T : F extends Optional<infer T> ? T : never;
/** The object that a table of members describes: optional ones by omission, never undefined; no constants. */
export type ObjectOf<M> = Flat<
  { [K in NamesOf<M, Field<unknown>>]: Read<M[K]> } & { [K in NamesOf<M, Optional<unknown>>]?: Read<M[K]> }
>;

/** `field`, or nothing at all. */
export function optional<T>(field: Field<T>): Optional<T> {
  return { optional: field };
}

/** An optional boolean that defaults to false: accepted as false, but not sent. */
export const flag: Optional<boolean> = { optional: boolean, omitWhen: false };

/** The word that says what an object is. */
export function word<const Word extends string>(text: Word): Constant<Word> {
  return { constant: text, field: oneOf(text) };
}

/** A version member: this number, in integer syntax. */
export function version(number: number): Constant<number> {
  return { constant: number, field: unsigned(number, number) };
}

/** An object of exactly these members. */
export function object<M extends Members>(members: M): Field<ObjectOf<M>> {
  const table = Object.entries<Member<unknown>>(members).map(([name, member]) => rowOf(name, member));
  const names = new Set(table.map(({ name }) => name));
  return {
    read(value, path) {
      if (value.type !== 'object') return mismatch(path, describe(value), 'an object');
      const twice = value.repeated[0];
      if (twice !== undefined) return mismatch(inside(path, shown(twice)), 'the member twice', 'once');
      const result: Record<string, unknown> = {};
      let known = 0;
      for (const { name, field, sort } of table) {
        const found = value.members.get(name);
        if (found === undefined) {
          if (sort !== 'optional') return mismatch(inside(path, name), 'nothing', 'the member');
          continue;
        }
        const reading = field.read(found, inside(path, name));
        if (!reading.ok) return reading;
        if (sort !== 'constant') result[name] = reading.value;
        known += 1;
      }
      if (known < value.members.size) {
        return mismatch(inside(path, shown(strangerIn(value, names))), 'a member', 'none of that name');
      }
      return accept(result as ObjectOf<M>); // each member of the table was read, so this is the object it describes
    },
    write(value) {
      const given: Readonly<Record<string, unknown>> = value;
      let text = '';
      for (const { name, label, field, sort, fixed } of table) {
        const member = given[name];
        if (sort === 'optional' && (member === undefined || member === fixed)) continue;
        text += (text === '' ? '{' : ',') + (sort === 'constant' ? label : label + field.write(member));
      }
      return text === '' ? '{}' : `${text}}`;
    },
  };
}

/** A member as both directions look at it, worked out once: asking what it is costs more than reading it. */
interface Row {
  readonly name: string;
  /** As the writer begins it; of a constant, all of it. */
  readonly label: string;
  readonly field: Field<unknown>;
  readonly sort: 'required' | 'optional' | 'constant';
  /** Of an optional member the value that the writer leaves out. */
  readonly fixed: unknown;
}

function rowOf(name: string, member: Member<unknown>): Row {
  const label = `"${name}":`;
  if ('optional' in member) return { name, label, field: member.optional, sort: 'optional', fixed: member.omitWhen };
  if ('constant' in member) {
    const { constant, field } = member;
    return { name, label: label + field.write(constant), field, sort: 'constant', fixed: undefined };
  }
  return { name, label, field: member, sort: 'required', fixed: undefined };
}

/** The first member that is not among `names`. There is one, as there are more than were found. */
function strangerIn({ members }: JsonObject, names: ReadonlySet<string>): string {
  return [...members.keys()].find((name) => !names.has(name)) ?? '';
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** An array of `min` to `max` items. */
export function list<T>(item: Field<T>, { min = 0, max = Infinity } = {}): Field<readonly T[]> {
  return {
    read(value, path) {
      if (value.type !== 'array') return mismatch(path, describe(value), 'an array');
      if (value.items.length < min || value.items.length > max) {
        return mismatch(path, describe(value), `an array of ${min} to ${max}`);
      }
      const items: T[] = [];
      for (const [index, found] of value.items.entries()) {
        const reading = item.read(found, `${path}[${index}]`);
        if (!reading.ok) return reading;
        items.push(reading.value);
      }
      return accept(items);
    },
    write: (items) => `[${items.map((each) => item.write(each)).join(',')}]`,
  };
}
