/**
 * The gates: files and signals through which a script and the test beside it wait for each other.
 * in: a directory and the signals a script waits for. out: `opened` (wait for a file), `mark` (leave one), `claim`
 * (be the first of all processes to leave one), `signalled`, and files that grow (`append`, `read`). Watched, never polled.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Gates {
  readonly opened: (gate: string, signal: AbortSignal) => Promise<void>;
  readonly mark: (name: string, text: string) => void;
  readonly claim: (name: string) => boolean;
  readonly append: (name: string, text: string) => void;
  /** Undefined where there is no such file. */
  readonly read: (name: string) => string | undefined;
  readonly signalled: (name: NodeJS.Signals) => Promise<void>;
}

/** `directory` is undefined only for a script that needs none; see `needsGates`. */
export function gates(directory: string | undefined, signals: readonly NodeJS.Signals[]): Gates {
  const file = (name: string): string => {
    if (directory === undefined) throw new Error(`${name}: no gates directory`);
    return join(directory, name);
  };
  const signalled = listen(signals);
  return {
    opened: (gate, signal) => appeared(file(gate), signal),
    mark: (name, text) => {
      // Renamed into place: whoever sees the mark can read it whole. No gate can be named like the draft.
      const draft = file(`.${name}.${process.pid}`);
      writeFileSync(draft, text);
      renameSync(draft, file(name));
    },
    claim: (name) => {
      try {
        writeFileSync(file(name), String(process.pid), { flag: 'wx' });
        return true;
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
        throw error;
      }
    },
    append: (name, text) => { appendFileSync(file(name), text); },
    read: (name) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : undefined),
    signalled,
  };
}

function appeared(path: string, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const watcher = watch(join(path, '..'), { signal });
    const look = (): void => {
      if (!existsSync(path)) return;
      watcher.close();
      done();
    };
    watcher.on('change', look);
    watcher.on('error', fail);
    // After the watcher stands, so that a file made in between is seen by one of the two.
    look();
  });
}

/** A signal that nobody waits for yet is kept for the next one who does; else a test would have to guess when. */
function listen(signals: readonly NodeJS.Signals[]): Gates['signalled'] {
  const kept = new Map<NodeJS.Signals, number>();
  const waiting = new Map<NodeJS.Signals, (() => void)[]>();
  for (const name of new Set(signals)) {
    process.on(name, () => {
      const released = waiting.get(name) ?? [];
      waiting.delete(name);
      if (released.length === 0) kept.set(name, (kept.get(name) ?? 0) + 1);
      for (const release of released) release();
    });
  }
  return (name) => {
    const count = kept.get(name) ?? 0;
    if (count > 0) {
      kept.set(name, count - 1);
      return Promise.resolve();
    }
    return new Promise((release) => waiting.set(name, [...(waiting.get(name) ?? []), release]));
  };
}
