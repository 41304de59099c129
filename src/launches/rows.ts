/** The table of launch records that the relay is not known to have. All its SQL is here. */
import { Failure } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import type { Engram, PendingRecords } from '../persona/index.ts';
import { sql } from '../store/index.ts';
import type { Store } from '../store/index.ts';

/** Every call may reject with the store's `Failure`. */
export interface RecordRows extends PendingRecords {
  /** Those of an earlier life that came to no process: nothing was handed to anybody. */
  dropUnstarted(): Promise<void>;
  /** From here on it is one of `all`. */
  started(slug: string): Promise<void>;
}

export function openRecordRows(store: Store, { community, agent }: { readonly community: string; readonly agent: Pubkey }): RecordRows {
  return {
    async dropUnstarted() {
      await store.write(sql('DELETE FROM launch_records WHERE community = ? AND agent = ? AND started = 0', community, agent));
    },
    async keep({ slug, value }) {
      await store.write(sql('INSERT INTO launch_records (community, agent, slug, value) VALUES (?, ?, ?, ?)', community, agent, slug, value));
    },
    async started(slug) {
      await store.write(sql('UPDATE launch_records SET started = 1 WHERE community = ? AND agent = ? AND slug = ?', community, agent, slug));
    },
    async forget(slug) {
      await store.write(sql('DELETE FROM launch_records WHERE community = ? AND agent = ? AND slug = ?', community, agent, slug));
    },
    async all() {
      const rows = await store.read(sql('SELECT slug, value FROM launch_records WHERE community = ? AND agent = ? AND started = 1', community, agent));
      return rows.map(({ slug, value }): Engram => (typeof slug === 'string' && typeof value === 'string' ? { slug, value } : corrupt()));
    },
  };
}

function corrupt(): never {
  throw new Failure('storage_corrupt', 'launch_records: slug or value holds what skep did not write');
}
