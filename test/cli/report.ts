/**
 * What a running supervisor says of itself, asked of its socket as `skep status` does: a program started for each look
 * would cost more than what is looked at. That the program tells the same is test/cli/up.test.ts.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { askStatus, socketPathOf } from '../../src/control/index.ts';
import type { StatusReport } from '../../src/control/index.ts';

const PATIENCE_MS = 30_000;
const BETWEEN_MS = 20;

/** `data` is the data directory. */
export function reportOf(data: string): Promise<StatusReport> {
  return askStatus(socketPathOf(data), PATIENCE_MS);
}

/** Asks until the report is as wanted. */
export async function reportWhen(data: string, fits: (report: StatusReport) => boolean): Promise<StatusReport> {
  for (;;) {
    const report = await reportOf(data);
    if (fits(report)) return report;
    await wait(BETWEEN_MS);
  }
}
