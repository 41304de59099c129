/**
 * The answer of a verb that computes: exact bytes to stdout, no faster than they are read. A reader that has gone
 * (`| head -1`) has had enough, which is no failure; a disk that is full is one.
 */
import { diskTrouble, errorCode, Failure } from '../model/index.ts';

/** Writes `text` and waits until it is taken. False when nobody reads any more: there is nothing left to do. */
export function write(text: string, stream: NodeJS.WriteStream = process.stdout): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (!error) resolve(true);
      else if (isGone(error)) resolve(false);
      else reject(new Failure(diskTrouble(error)?.code ?? 'storage_failed', `stdout: ${error.message}`, { cause: error }));
    });
  });
}

function isGone(error: Error): boolean {
  return ['EPIPE', 'ERR_STREAM_DESTROYED', 'ECONNRESET'].includes(errorCode(error));
}
