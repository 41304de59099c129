/**
 * Waiting that a cancel can end.
 * in: something awaited and the signal of its turn. out: its value, or Cancelled.
 */
/** The turn was cancelled while a step waited. Not an error: the turn's own code ends it. */
export class Cancelled extends Error {}

/** `promise`, or Cancelled as soon as `signal` aborts. The promise itself goes on unobserved. */
export function orCancelled<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      reject(new Cancelled());
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', cancel);
    });
  });
}

/** `ms` milliseconds, less when `signal` aborts; rejects never. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      done();
    };
    const timer = setTimeout(finish, ms);
    if (signal.aborted) finish();
    else signal.addEventListener('abort', finish, { once: true });
  });
}
