/** Closed shapes told apart by a word: a step by what it does, a sighting by what was seen. */
import { oneOf, refuse } from '../../compiler/reading.ts';
import type { Reader } from '../../compiler/reading.ts';

/** The reader that `readers` has for the word in member `name`. */
export function wordOf<T extends { readonly [N in Name]: string }, Name extends keyof T & string>(
  name: Name, readers: { readonly [Word in T[Name]]: Reader<Extract<T, { readonly [N in Name]: Word }>> },
): Reader<T> {
  const known = new Map<string, Reader<T>>(Object.entries(readers));
  const words = oneOf(...known.keys());
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(path, 'an object', value);
    const word = words(Reflect.get(value, name), path === '' ? name : `${path}.${name}`);
    return known.get(word)?.(value, path) ?? refuse(path, 'a known word', word);
  };
}
