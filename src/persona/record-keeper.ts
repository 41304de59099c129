/**
 * Launch records on their way to the relay: kept once the agent has started, tried again until the relay has stored them,
 * and only then forgotten. After a crash the kept ones are written: the same slug, the same value.
 */
import { pause } from '../model/index.ts';
import type { Engram } from './launch-record.ts';
import type { Patience } from './delete.ts';

/** Durable when its promise has settled. */
export interface PendingRecords {
  keep(record: Engram): Promise<void>;
  forget(slug: string): Promise<void>;
  all(): Promise<readonly Engram[]>;
}

/** Writes one engram as the agent. `stored` only where the relay has it. */
export interface RecordWriter {
  put(record: Engram): Promise<'stored' | 'unknown'>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

/** Until nothing is pending (`done`) or the signal ends it (`stopped`); what is pending then is so at the next start. */
export async function writeRecords(pending: PendingRecords, writer: RecordWriter, { clock, signal }: Patience): Promise<'done' | 'stopped'> {
  const isOver = (): boolean => signal.aborted;
  for (let failures = 0; !isOver();) {
    const left = await pending.all();
    if (left.length === 0) return 'done';
    let stored = 0;
    for (const record of left) {
      if (isOver()) return 'stopped';
      if (await writer.put(record) !== 'stored') continue;
      stored += 1;
      await pending.forget(record.slug);
    }
    failures = stored > 0 ? 0 : failures + 1;
    if (stored < left.length) await pause(clock, Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS), signal);
  }
  return 'stopped';
}
