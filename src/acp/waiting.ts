/** What a driver of this room waits for: the bytes that lie in a pipe, the one settling of a promise. */

/** Resolves when everything that lay in a pipe at the call has been read: one whole round of the event loop. */
export function afterReading(): Promise<void> {
  return new Promise((resolve) => {
    // The first may come before this round's reads, the second comes after the next one's.
    setImmediate(() => setImmediate(resolve));
  });
}

/** A promise and the function that settles it; calls after the first change nothing. */
export function settleable<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}
