/**
 * The body of a request, in memory and never longer than allowed. A request that says it is longer is refused before
 * a byte of it is read; one that lies about it, at the first byte too many.
 */
import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly status: 'whole'; readonly bytes: Uint8Array }
  | { readonly status: 'too_large' }
  /** The client went away, or was too slow and was cut off. */
  | { readonly status: 'broken' };

/** `declaredBytes` is what the head says, 0 where it says nothing. */
export function readBody(incoming: IncomingMessage, declaredBytes: number, maxBytes: number): Promise<Body> {
  if (declaredBytes > maxBytes) return Promise.resolve({ status: 'too_large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let settled = false;
    // The first has the word. Not left to `resolve`: Node reports each further call of it, which costs more than a body.
    const settle = (body: Body): void => {
      if (!settled) resolve(body);
      settled = true;
    };
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) settle({ status: 'too_large' });
      else chunks.push(chunk);
    };
    const end = (): void => {
      settle({
        status: 'whole',
        bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks),
      });
    };
    const fail = (): void => {
      settle({ status: 'broken' });
    };
    incoming.on('data', take);
    incoming.on('end', end);
    incoming.on('close', fail);
    // An error without a listener would end the program; what it means is told by `close`, which follows it.
    incoming.on('error', ignore);
  });
}

function ignore(): void {}
