/**
 * Who owns an agent, as far as this relay knows (NIP-AO "Authorization": `is_agent_owner`). The operator's word decides
 * where there is one. Else it is what the agent has proven by NIP-OA: on this connection, or first of all on an earlier
 * one or in its profile, which the store remembers.
 */
import type { Pubkey } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { ownerOf } from './archive.ts';

export interface Bond {
  readonly agent: string;
  readonly owner: string;
}

export class Owners {
  readonly #store: Store;
  readonly #vouched: ReadonlyMap<string, string>;

  constructor(store: Store, vouched: readonly Bond[]) {
    this.#store = store;
    this.#vouched = new Map(vouched.map(({ agent, owner }) => [agent, owner]));
  }

  /** `proven` is what the agent's own connection has proven. Rejects with a `Failure` of the store. */
  async hold({ agent, owner }: Bond, proven?: Pubkey): Promise<boolean> {
    const vouched = this.#vouched.get(agent);
    if (vouched !== undefined) return vouched === owner;
    return proven === owner || (await ownerOf(this.#store, agent)) === owner;
  }
}
