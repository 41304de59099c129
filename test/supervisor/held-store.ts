/** A real store whose commits of the inbox a test can hold up or refuse, each kind by its name. */
import { Failure } from '../../src/model/index.ts';
import type { Statement, Store } from '../../src/store/index.ts';
import type { Save } from '../../src/supervisor/inbox/machine.ts';

type Kind = Save['change'] | 'process';

export interface Hold {
  /** Resolves when a commit has come and waits. */
  readonly reached: Promise<void>;
  release(): void;
}

export class HeldStore implements Store {
  readonly #store: Store;
  #held: { readonly kind: Kind; readonly reach: () => void; readonly released: Promise<void> } | undefined;
  #refused: Kind | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Every commit that has a save of this kind waits until `release`. */
  hold(kind: Kind): Hold {
    let reach = (): void => undefined;
    let free = (): void => undefined;
    const reached = new Promise<void>((resolve) => { reach = resolve; });
    const released = new Promise<void>((resolve) => { free = resolve; });
    this.#held = { kind, reach, released };
    return { reached, release: () => { this.#held = undefined; free(); } };
  }

  /** From now on the disk has no room for a commit with a save of this kind. */
  refuse(kind: Kind): void {
    this.#refused = kind;
  }

  async write(...statements: readonly Statement[]): ReturnType<Store['write']> {
    const kinds = statements.map(kindOf);
    if (this.#held !== undefined && kinds.includes(this.#held.kind)) {
      this.#held.reach();
      await this.#held.released;
    }
    if (this.#refused !== undefined && kinds.includes(this.#refused)) throw new Failure('storage_full', 'skep.db: the disk is full');
    return this.#store.write(...statements);
  }

  read(statement: Statement): ReturnType<Store['read']> {
    return this.#store.read(statement);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

function kindOf({ sql, params }: Statement): Kind | undefined {
  if (sql.includes('processes')) return 'process';
  if (sql.startsWith('INSERT INTO inbox')) return 'insert';
  const [, status = params[0]] = /UPDATE inbox SET status = '(\w+)'/.exec(sql) ?? [];
  return (['dispatched', 'queued', 'done', 'dead'] as const).find((kind) => kind === status);
}
