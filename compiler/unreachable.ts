/** The end of every switch on a union: a new member is a type error here, and a bug at run time. */
export function unreachable(value: never): never {
  throw new TypeError(`unreachable: ${JSON.stringify(value)}`);
}
