/**
 * The answer of a verb that computes: exact bytes to stdout, no faster than they are read. A reader that has gone
 * (`| head -1`) has had enough, which is no failure; a disk that is full is one.
 */
import { diskTrouble, errorCode, Failure } from '../model/index.ts';

/** Writes `text` and waits until it is taken. False when nobody reads any more: there is nothing left to do. */
export function write(text: string, stream: NodeJS.WriteStream = process.stdout): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      const failure = error ? unwritten(error) : undefined;
      if (failure === undefined) resolve(!error);
      else reject(failure);
    });
  });
}

/** What a failed write to stdout is; undefined where nobody reads any more. */
export function unwritten(error: Error): Failure | undefined {
  if (['EPIPE', 'ERR_STREAM_DESTROYED', 'ECONNRESET'].includes(errorCode(error))) return undefined;
  return new Failure(diskTrouble(error)?.code ?? 'storage_failed', `stdout: ${error.message}`, { cause: error });
}
