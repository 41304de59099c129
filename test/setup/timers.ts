/**
 * Watches the timers that a test file and the code under it arm, so that the ones left can be told from the runner's.
 * The runner took its own `setTimeout` before; this one is put in its place for everybody who comes later.
 */
const MAX_KEPT = 1_000;

const armed = new Map<NodeJS.Timeout, string>();

let isWatching = false;

/** Replaces the global `setTimeout` and `setInterval`, once, by ones that remember what they armed. */
export function watchTimers(): void {
  if (isWatching) return;
  isWatching = true;
  globalThis.setTimeout = watched(globalThis.setTimeout);
  globalThis.setInterval = watched(globalThis.setInterval);
}

/** The armed timers that would keep a program alive, each with the beginning of its callback. */
export function armedTimers(): ReadonlyMap<NodeJS.Timeout, string> {
  forgetEnded();
  return new Map([...armed].filter(([timer]) => timer.hasRef()));
}

function watched<Arm extends typeof setTimeout | typeof setInterval>(arm: Arm): Arm {
  return new Proxy(arm, {
    apply(target, self, args: unknown[]): unknown {
      const timer: unknown = Reflect.apply(target, self, args);
      if (armed.size >= MAX_KEPT) forgetEnded();
      if (isTimer(timer)) armed.set(timer, String(args[0]).slice(0, 100));
      return timer;
    },
  });
}

function forgetEnded(): void {
  // Node's own mark on a timer that fired or was cleared.
  for (const timer of armed.keys()) if (Reflect.get(timer, '_destroyed') === true) armed.delete(timer);
}

function isTimer(value: unknown): value is NodeJS.Timeout {
  return typeof value === 'object' && value !== null && 'hasRef' in value;
}
