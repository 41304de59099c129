/**
 * Agent processes on record: written when one has started, erased when its group is gone, so that the next start can
 * end those a crashed supervisor left behind. The only reader and writer of the table `processes`.
 */
import { sql } from '../store/index.ts';
import type { Row, Store } from '../store/index.ts';
import type { Clock, Log } from '../model/index.ts';
import { ProcessGroup } from './group.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { AcpLimits } from './limits.ts';
import { processTable } from './process-table.ts';
import type { ProcessIdentity } from './process-table.ts';

export async function recordProcess(store: Store, { pid, started }: ProcessIdentity, agent: string): Promise<void> {
  await store.write(
    sql('INSERT OR REPLACE INTO processes (pid, started, agent) VALUES (?, ?, ?)', pid, started, agent),
  );
}

export async function forgetProcess(store: Store, { pid, started }: ProcessIdentity): Promise<void> {
  await store.write(sql('DELETE FROM processes WHERE pid = ? AND started = ?', pid, started));
}

export interface ReapOptions {
  readonly store: Store;
  /** For deadlines alone: one that nobody sets. */
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<AcpLimits>;
}

/**
 * Ends what an earlier supervisor left running and clears the table; call it once, before anything is started, with
 * the data directory held. A row counts only while its pid runs with the same start time: where the leader is gone,
 * what it may have left in its group cannot be told from a stranger's, and is not touched. Resolves with the number of
 * agents ended, in bounded time.
 */
export async function reapLeftovers({ store, clock, log, limits }: ReapOptions): Promise<number> {
  const table = processTable();
  const rows = await store.read(sql('SELECT pid, started, agent FROM processes'));
  const ended = await Promise.all(
    rows.map(async (row) => {
      const leader = identityOf(row);
      if (leader === undefined) return 0;
      const running = await table.row(leader.pid);
      const ours = running !== undefined && running.started === leader.started && !running.zombie;
      if (ours) {
        log.warn('ending an agent process that an earlier run left behind', { pid: leader.pid, agent: row['agent'] });
        const bounds = { ...DEFAULT_LIMITS, ...limits };
        await new ProcessGroup({ leader: Promise.resolve(leader), table, clock, log, limits: bounds }).end();
      }
      await forgetProcess(store, leader);
      return ours ? 1 : 0;
    }),
  );
  return ended.filter((count) => count === 1).length;
}

function identityOf({ pid, started }: Row): ProcessIdentity | undefined {
  // pid 0 and 1 name our own group and the machine: never a child of ours.
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 2 || typeof started !== 'string') return undefined;
  return { pid, started };
}
