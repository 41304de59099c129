/**
 * What becomes of entries that were in a turn when the supervisor stopped. Pure. A turn in which the agent had published
 * is done: asking again would answer twice. The others come back as an interrupted turn, at once, and it counts: a
 * message that ends the supervisor each time is given up like any other.
 */
import { MAX_ATTEMPTS } from './entry.ts';
import type { Entry } from './entry.ts';
import type { Save } from './machine.ts';
import type { Stranded } from './rows.ts';

export interface Recovery {
  readonly entries: readonly Entry[];
  readonly saves: readonly Save[];
}

export function recover(stranded: readonly Stranded[], answeredTurns: ReadonlySet<string>): Recovery {
  const entries: Entry[] = [];
  const saves: Save[] = [];
  for (const { turnId, entry } of stranded) {
    if (answeredTurns.has(turnId)) {
      saves.push({ change: 'done', eventId: entry.eventId, outcome: 'answered before the restart' });
    } else if (entry.attempts >= MAX_ATTEMPTS) {
      saves.push({ change: 'dead', eventId: entry.eventId, outcome: 'gave up: each turn ended with the supervisor' });
    } else {
      const back: Entry = { ...entry, attempts: entry.attempts + 1, interrupted: true };
      entries.push(back);
      saves.push({ change: 'queued', entry: back, outcome: 'the supervisor stopped in mid-turn' });
    }
  }
  return { entries, saves };
}
