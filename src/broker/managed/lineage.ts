/**
 * Who owns whom: an agent made by an agent is owned by it, and every chain ends at the person who owns a configured
 * agent (NIP-BA "Managed agents"). Pure. A record whose chain does not end there is nobody's, and is not run.
 */
import type { ChannelId, Pubkey } from '../../model/index.ts';
import type { ManagedRecord } from './rows.ts';

/** A configured agent, as far as those that it makes are concerned. */
export interface Configured {
  readonly pubkey: Pubkey;
  readonly owner: Pubkey;
  readonly channels?: readonly ChannelId[];
  /** What an agent it makes may run on, its own first; absent when it may make none. */
  readonly runtimes?: readonly string[];
}

export interface Lineage {
  /** The configured agent at the root. */
  readonly root: Configured;
  /** Owner, owner's owner, and so on; the last is the person. */
  readonly owners: readonly [Pubkey, ...Pubkey[]];
  readonly person: Pubkey;
  /** Agents in the chain, itself included: 1 for a configured one. */
  readonly depth: number;
}

export type Lineages = (pubkey: Pubkey) => Lineage | undefined;

/** Undefined also for an agent whose maker is deleted, was never live, or is no longer configured. */
export function lineagesOf(configured: readonly Configured[], records: readonly ManagedRecord[]): Lineages {
  const roots = new Map(configured.map((agent) => [agent.pubkey, agent]));
  const made = new Map(records.map((record) => [record.pubkey, record]));
  const lineageOf = (pubkey: Pubkey, seen: ReadonlySet<Pubkey>): Lineage | undefined => {
    const root = roots.get(pubkey);
    if (root !== undefined) return { root, owners: [root.owner], person: root.owner, depth: 1 };
    const record = made.get(pubkey);
    // A person's key that is an agent's would close a circle: no chain ends there.
    if (record === undefined || record.status === 'deleted' || seen.has(pubkey)) return undefined;
    const above = lineageOf(record.requester, new Set([...seen, pubkey]));
    return above && { ...above, owners: [record.requester, ...above.owners], depth: above.depth + 1 };
  };
  return (pubkey) => lineageOf(pubkey, new Set());
}

/** The agent and all that it and those below it have made, itself first. */
export function below(pubkey: Pubkey, records: readonly ManagedRecord[]): readonly Pubkey[] {
  const found = [pubkey];
  for (const maker of found) {
    const made = records.filter(({ requester, status }) => requester === maker && status !== 'deleted');
    found.push(...made.map((record) => record.pubkey).filter((each) => !found.includes(each)));
  }
  return found;
}
