/** What a driver of this room waits for: the bytes that lie in a pipe. */

/** Resolves when everything that lay in a pipe at the call has been read: one whole round of the event loop. */
export function afterReading(): Promise<void> {
  return new Promise((resolve) => {
    // The first may come before this round's reads, the second comes after the next one's.
    setImmediate(() => setImmediate(resolve));
  });
}
