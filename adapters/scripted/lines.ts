/**
 * Lines of bytes in and out: stdin split at 0x0A, stdout written strictly one piece after the other.
 * in: chunks as they come; pieces to write. out: whole lines; a promise when a piece has left this process.
 * Never splits inside a character: bytes become text only when the line is whole.
 */
import type { Writable } from 'node:stream';

const NEWLINE = 0x0a;

/** Feeds chunks in, gets every finished line out, without its newline. No bound: the client is the one under test. */
export function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  return (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...held, rest.subarray(0, end)]);
      held = [];
      rest = rest.subarray(end + 1);
      onLine(line.toString('utf8'));
    }
    if (rest.length > 0) held.push(rest);
  };
}

export interface Output {
  /** Resolves when the bytes were handed to the system, or at once when nobody reads any more. */
  readonly write: (bytes: string | Uint8Array, byteByByte?: boolean) => Promise<void>;
  /** Resolves when all that was asked for so far is written. */
  readonly flushed: () => Promise<void>;
}

/** One queue for a stream: a frame written byte by byte is never torn by a frame of another session. */
export function output(stream: Writable): Output {
  let last = Promise.resolve();
  const write = (bytes: string | Uint8Array, byteByByte = false): Promise<void> => {
    last = last.then(() => (byteByByte ? writeSingly(stream, Buffer.from(bytes)) : writeOnce(stream, bytes)));
    return last;
  };
  return { write, flushed: () => last };
}

function writeOnce(stream: Writable, bytes: string | Uint8Array): Promise<void> {
  return new Promise((done) => {
    // An error here is a closed pipe; the program ends when its stdin does, so there is nothing to report.
    stream.write(bytes, () => {
      done();
    });
  });
}

async function writeSingly(stream: Writable, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    await writeOnce(stream, Uint8Array.of(byte));
    // Back through the event loop, so that the reader gets a chance to see the byte alone.
    await new Promise<void>((done) => setImmediate(done));
  }
}
