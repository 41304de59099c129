/** Stores that misbehave on purpose: one that dies with its process, one whose disk takes no more. */
import { Failure } from '../../src/model/index.ts';
import type { Store } from '../../src/store/index.ts';

/** `before`: the nth write never reaches the disk; `after`: it does, but nobody lives to hear of it. */
export interface Death {
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** From its death on no write ends, as if the process had been killed there; `died` resolves then. */
export function mortal(store: Store, death: Death): Store & { readonly died: Promise<void> } {
  let writes = 0;
  let announce = (): void => {};
  const died = new Promise<void>((resolve) => {
    announce = resolve;
  });
  return {
    died,
    read: (statement) => store.read(statement),
    close: () => store.close(),
    async write(...statements) {
      writes += 1;
      if (writes < death.write) return await store.write(...statements);
      if (writes === death.write && death.when === 'after') await store.write(...statements);
      announce();
      return await new Promise<never>(() => {});
    },
  };
}

/** As `mortal`, at the first write that holds a statement with `text` in it. `bury` ends whoever waits for the dead. */
export function mortalAt(
  store: Store,
  text: string,
  when: Death['when'],
): Store & { readonly died: Promise<void>; readonly bury: () => void } {
  let isDead = false;
  let announce = (): void => {};
  let bury = (): void => {};
  const died = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const buried = new Promise<void>((resolve) => {
    bury = resolve;
  });
  return {
    died,
    bury,
    read: (statement) => store.read(statement),
    close: () => store.close(),
    async write(...statements) {
      const isLast = !isDead && statements.some(({ sql }) => sql.includes(text));
      if (!isDead && (!isLast || when === 'after')) {
        const written = await store.write(...statements);
        if (!isLast) return written;
      }
      isDead = true;
      announce();
      await buried;
      throw new Failure('storage_failed', 'skep.db: nobody writes to it any more');
    },
  };
}

/** A disk that is full while `full()` says so. */
export function fillable(store: Store, full: () => boolean): Store {
  return {
    read: (statement) => store.read(statement),
    close: () => store.close(),
    write: (...statements) =>
      full() ? Promise.reject(new Failure('storage_full', 'skep.db: the disk is full')) : store.write(...statements),
  };
}
