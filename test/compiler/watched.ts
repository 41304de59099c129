/** A value that tells what is read of it, and refuses to be changed. */

export interface Watched<T> {
  readonly value: T;
  /** Path (`events[0].event.id`) of each member that was read, and how often. */
  readonly reads: ReadonlyMap<string, number>;
  /** What was taken from the prototypes of its arrays: `map`, `at`. */
  readonly methods: ReadonlySet<string>;
  readonly writes: readonly string[];
}

export function watched<T extends object>(target: T): Watched<T> {
  const reads = new Map<string, number>();
  const methods = new Set<string>();
  const writes: string[] = [];

  const watch = <V extends object>(object: V, path: string): V => {
    const refuse = (what: string) => (_: V, name?: unknown): false => {
      writes.push(`${what} ${path} ${typeof name === 'string' ? name : ''}`);
      return false;
    };
    return new Proxy(object, {
      get(_, name): unknown {
        const value: unknown = Reflect.get(object, name);
        if (Array.isArray(object) && !/^\d+$/.test(String(name))) {
          methods.add(String(name));
          return value;
        }
        const member = Array.isArray(object) ? `${path}[${String(name)}]` : `${path}.${String(name)}`.replace(/^\./, '');
        reads.set(member, (reads.get(member) ?? 0) + 1);
        return typeof value === 'object' && value !== null ? watch(value, member) : value;
      },
      set: refuse('set'),
      defineProperty: refuse('define'),
      deleteProperty: refuse('delete'),
      setPrototypeOf: refuse('set the prototype of'),
      preventExtensions: refuse('close'),
    });
  };
  return { value: watch(target, ''), reads, methods, writes };
}
