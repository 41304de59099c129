/**
 * Who owns an agent, as far as this relay knows (NIP-AO "Authorization": `is_agent_owner`). The operator's word decides
 * where there is one. Else it is what the agent has proven by NIP-OA: on this connection, or first of all on an earlier
 * one or in its profile, which the store remembers.
 */
import { Failure } from '../model/index.ts';
import type { Log, Pubkey } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { ownerOf, rememberOwner } from './archive.ts';
import type { Identity } from './auth.ts';

export interface Bond {
  readonly agent: string;
  readonly owner: string;
}

export class Owners {
  readonly #store: Store;
  readonly #log: Log;
  readonly #vouched: ReadonlyMap<string, string>;

  constructor(store: Store, log: Log, vouched: readonly Bond[]) {
    this.#store = store;
    this.#log = log;
    this.#vouched = new Map(vouched.map(({ agent, owner }) => [agent, owner]));
  }

  /** Keeps what was proven with an identity. Never rejects: who the client is has been proven all the same. */
  async remember({ pubkey, owner }: Identity): Promise<void> {
    if (owner === undefined) return;
    await this.#store.write(rememberOwner(pubkey, owner)).catch((error: unknown) => {
      this.#log.error('owner of an agent not stored', { agent: pubkey, code: error instanceof Failure ? error.code : 'bug' });
    });
  }

  /** `proven` is what the agent's own connection has proven. Rejects with a `Failure` of the store. */
  async hold({ agent, owner }: Bond, proven?: Pubkey): Promise<boolean> {
    const vouched = this.#vouched.get(agent);
    if (vouched !== undefined) return vouched === owner;
    return proven === owner || (await ownerOf(this.#store, agent)) === owner;
  }
}
