/**
 * `skep owner watch`: what agents do, as it happens, one line an event, until a signal or until nobody reads any more.
 * What was streamed within the last five minutes and is still on the relay comes first.
 */
import type { Note } from '../owner/index.ts';
import { systemClock } from '../system/index.ts';
import { noteJson, noteLines } from './owner-notes.ts';
import { asOwner } from './owner-open.ts';
import type { Owner, OwnerFlags } from './owner-open.ts';
import { jsonLine } from './owner-text.ts';
import { write } from './output.ts';
import { plural, safe, tell } from './print.ts';
import { firstSignal } from './signals.ts';

/** Bytes that a reader may be behind (a terminal that is held); what comes beyond is left out, and counted. */
const MAX_BEHIND_BYTES = 8_388_608;

export async function watch(flags: OwnerFlags): Promise<void> {
  const output = openOutput();
  const say = (note: Note, owner: Owner): void => {
    if (flags.json === true) output.say([jsonLine(noteJson(note, owner.nameOf))]);
    else output.say(noteLines(note, owner.nameOf, systemClock.now()));
  };
  await asOwner(flags, async ({ desk }) => {
    const agents = desk.agents().length;
    tell(`watching ${agents === 0 ? 'for agents of yours' : plural(agents, 'agent')} on ${safe(desk.relayUrl)}; Ctrl-C stops`);
    await Promise.race([firstSignal(), output.gone]);
  }, say);
}

interface Output {
  readonly say: (lines: readonly string[]) => void;
  /** Resolves when nobody reads any more; rejects when the lines cannot be written. */
  readonly gone: Promise<void>;
}

function openOutput(): Output {
  let leftOut = 0;
  let over: { readonly resolve: () => void; readonly reject: (error: unknown) => void } = { resolve: () => undefined, reject: () => undefined };
  const gone = new Promise<void>((resolve, reject) => {
    over = { resolve, reject };
  });
  // Looked at in the race; a failure before it begins is not lost.
  gone.catch(() => undefined);
  return {
    gone,
    say(lines) {
      if (process.stdout.writableLength > MAX_BEHIND_BYTES) {
        leftOut += lines.length;
        return;
      }
      if (leftOut > 0) tell(`${plural(leftOut, 'line')} left out: they were not read in time`);
      leftOut = 0;
      write(lines.map((line) => `${line}\n`).join('')).then((isRead) => {
        if (!isRead) over.resolve();
      }, over.reject);
    },
  };
}
