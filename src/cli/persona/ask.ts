/**
 * A question before something is done. Asked on stderr, answered by a line on stdin, wherever that comes from: only `y`
 * and `yes` are a yes, and the end of stdin is a no.
 */
import { createInterface } from 'node:readline';
import { Failure } from '../../model/index.ts';

export interface AskFlags {
  readonly yes?: boolean;
  /** Called where the answer is yes, or was not asked for. */
  readonly agreed?: (() => void) | undefined;
}

/** Returns when it may be done. Rejects with `Failure('declined')` where the answer is no, or nobody gives one. */
export async function confirm(question: string, { yes = false, agreed }: AskFlags): Promise<void> {
  if (yes) {
    agreed?.();
    return;
  }
  process.stderr.write(`${question} [y/N] `);
  const answer = await lineOf(process.stdin);
  if (!process.stdin.isTTY) process.stderr.write('\n');
  if (answer === undefined) throw new Failure('declined', 'nobody answered, so nothing was changed; --yes does not ask');
  if (!/^(?:y|yes)$/i.test(answer.trim())) throw new Failure('declined', 'nothing was changed');
  agreed?.();
}

/** The next line; undefined at the end. */
async function lineOf(stream: NodeJS.ReadStream): Promise<string | undefined> {
  const lines = createInterface({ input: stream, terminal: false });
  try {
    for await (const line of lines) return line;
    return undefined;
  } finally {
    lines.close();
    stream.pause();
  }
}
