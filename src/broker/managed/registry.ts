/**
 * What the managed actions know and may prepare: the records in an agent's reach, seen alone. One operation at a time
 * for all agents of one person, from its look at the records to the end of its journal record: what it decided on is
 * what it changes, and no name, depth or number is counted twice.
 */
import { unreachable } from '../../model/index.ts';
import type { ChannelId, Clock, Pubkey } from '../../model/index.ts';
import { ATTACHING } from '../journal/index.ts';
import type { Evidence, LocalWrite, Verdict } from '../journal/index.ts';
import { openLines } from '../lines.ts';
import type { KeyFiles } from './key-files.ts';
import { lineagesOf } from './lineage.ts';
import type { Configured, Lineage } from './lineage.ts';
import { insertProvisioning, makeLive, markDeleted } from './rows.ts';
import type { ManagedRecord, ManagedRows, ManagedSettings } from './rows.ts';

/** The records, held still for one operation of one requester. */
export interface Held {
  readonly lineage: Lineage;
  /** What the requester has made and not deleted, those that are not attached yet included. */
  readonly own: readonly ManagedRecord[];
  readonly all: readonly ManagedRecord[];
  /** How many agents the person's agents have made, all in all. */
  readonly count: number;
  /** Lets the next operation look. Twice is once. */
  readonly release: () => void;
}

export interface Registry {
  /** Waits its turn, in bounded time; `busy` when it did not come, `orphan` for a requester without a person. */
  hold(requester: Pubkey): Promise<Held | 'busy' | 'orphan'>;
  /** A new key on disk, and the write that makes a record of it. Throws `Failure`. */
  provision(requester: Pubkey, channelId: ChannelId, settings: ManagedSettings): Provision;
  /** What the end of an attachment makes of the record, in whatever run it comes. */
  aftermath(evidence: Evidence, verdict: Verdict): readonly LocalWrite[];
}

export interface Provision {
  readonly pubkey: Pubkey;
  readonly write: LocalWrite;
}

export interface RegistryOptions {
  readonly rows: ManagedRows;
  readonly keyFiles: KeyFiles;
  readonly configured: readonly Configured[];
  readonly community: string;
  readonly clock: Clock;
  /** For deadlines. */
  readonly steadyClock: Clock;
}

/** Shorter than planning may take (8 s): who waits longer is told to come again, and nothing was done. */
const TURN_TIMEOUT_MS = 6_000;

export function openRegistry({ rows, keyFiles, configured, community, clock, steadyClock }: RegistryOptions): Registry {
  const lines = openLines(steadyClock);

  return {
    async hold(requester) {
      const person = lineagesOf(configured, await rows.all())(requester)?.person;
      if (person === undefined) return 'orphan';
      const release = await lines.enter(person, TURN_TIMEOUT_MS);
      if (release === undefined) return 'busy';
      try {
        const all = (await rows.all()).filter(({ status }) => status !== 'deleted');
        const lineages = lineagesOf(configured, all);
        const lineage = lineages(requester);
        if (lineage !== undefined) {
          const own = all.filter((record) => record.requester === requester);
          const count = all.filter((record) => lineages(record.pubkey)?.person === person).length;
          return { lineage, own, all, count, release };
        }
      } catch (error) {
        release();
        throw error;
      }
      release();
      return 'orphan';
    },
    provision(requester, channelId, settings) {
      const pubkey = keyFiles.mint();
      const createdAtMs = clock.now();
      return { pubkey, write: insertProvisioning({ ...settings, pubkey, requester, channelId, community, createdAtMs }) };
    },
    aftermath(evidence, verdict) {
      if (evidence.action !== ATTACHING) return [];
      const { agentPubkey } = evidence.accepted.outcome;
      switch (verdict.status) {
        case 'succeeded':
          return [makeLive(agentPubkey)];
        case 'failed':
          return [markDeleted(agentPubkey)];
        case 'indeterminate':
          // Given up, and yet it may be seen: then it becomes live.
          return [];
        default:
          return unreachable(verdict);
      }
    },
  };
}
