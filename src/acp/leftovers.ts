/**
 * Agent processes on record: written when one has started, erased when its group is gone, so that the next start can
 * end those a crashed supervisor left behind. The only reader and writer of the table `processes`.
 */
import { sql } from '../store/index.ts';
import type { Row, Store } from '../store/index.ts';
import type { Clock, Log } from '../model/index.ts';
import { escapedFrom, ProcessGroup } from './group.ts';
import type { Leak } from './leaks.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { AcpLimits } from './limits.ts';
import { processTable, startedSince } from './process-table.ts';
import type { ProcessIdentity, ProcessTable } from './process-table.ts';

/** A started program: whose it is, and the mark (`markOf`) it and its children carry. */
interface ProcessRecord extends ProcessIdentity {
  readonly agent: string;
  readonly mark: string | undefined;
  /** Where it worked; undefined of a record that an older skep wrote. */
  readonly cwd: string | undefined;
}

export async function recordProcess(store: Store, { pid, started, agent, mark, cwd }: ProcessRecord): Promise<void> {
  await store.write(
    sql('INSERT OR REPLACE INTO processes (pid, started, agent, mark, cwd) VALUES (?, ?, ?, ?, ?)', pid, started, agent, mark ?? null, cwd ?? null),
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
  /** Told of what could not be ended, and of what may have escaped. */
  readonly onLeak?: (leak: Leak) => void;
}

/**
 * Ends what an earlier supervisor left running and clears the table; call it once, before anything is started, with
 * the data directory held. What counts is evidence: the program itself runs, pid and start time as recorded, or
 * something runs that carries its mark. Where the program is gone, its number may be a stranger's by now, and a group of
 * that number is ours only if someone in it carries the mark. Resolves with the number of agents of which something was
 * left, in bounded time. What even SIGKILL does not end stays on record.
 */
export async function reapLeftovers({ store, clock, log, limits, onLeak }: ReapOptions): Promise<number> {
  const table = processTable();
  const bounds = { ...DEFAULT_LIMITS, ...limits };
  const rows = await store.read(sql('SELECT pid, started, agent, mark, cwd FROM processes'));
  const found = await Promise.all(
    rows.map(async (row) => {
      const record = recordOf(row);
      if (record === undefined) return false;
      const { pid, agent, mark, cwd } = record;
      const leader = await whoLeads(record, table);
      if (leader !== undefined) {
        log.warn('ending an agent process that an earlier run left behind', { pid, agent });
        const parts = { mark, agent, table, clock, log, limits: bounds, ...(cwd !== undefined && { cwd }), ...(onLeak && { onLeak }) };
        const left = await new ProcessGroup({ leader: Promise.resolve(leader), ...parts }).end();
        if (left.length > 0) return true;
      } else if (cwd !== undefined && onLeak !== undefined) {
        for (const leak of await escapedFrom({ leader: record, agent, cwd, table })) onLeak(leak);
      }
      await forgetProcess(store, record);
      return leader !== undefined;
    }),
  );
  return found.filter(Boolean).length;
}

/** After whom the group of what is left is named; undefined when nothing is left that is surely ours. */
async function whoLeads(record: ProcessRecord, table: ProcessTable): Promise<ProcessIdentity | undefined> {
  const { pid, started, mark } = record;
  const rows = await table.rows();
  const running = rows.find((row) => row.pid === pid);
  if (running?.started === started && !running.zombie) return record;
  if (mark === undefined) return undefined;
  const younger = rows.filter((row) => startedSince(row, record));
  const marked = await table.marked(mark, younger);
  const survivors = younger.filter((row) => marked.has(row.pid));
  // A number stays reserved while a group or session of that number has members: with one of ours in it, it is ours.
  const isLed = survivors.some(({ group, session }) => group === pid || session === pid);
  return isLed ? record : survivors.find((oldest) => survivors.every((row) => startedSince(row, oldest)));
}

function recordOf({ pid, started, agent, mark, cwd }: Row): ProcessRecord | undefined {
  // pid 0 and 1 name our own group and the machine: never a child of ours.
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 2 || typeof started !== 'string') return undefined;
  return { pid, started, agent: String(agent), mark: typeof mark === 'string' ? mark : undefined, cwd: typeof cwd === 'string' ? cwd : undefined };
}
