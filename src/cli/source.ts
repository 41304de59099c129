/**
 * What a verb reads: a file, or stdin for `-`; whole, or line by line. Bounded, UTF-8 or refused.
 * A source that cannot be read is a `Failure`; the text of one that can is for the verb to judge.
 */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { Failure } from '../model/index.ts';
import { decodeText } from '../turn-file/index.ts';
import type { FileRefusal } from '../turn-file/index.ts';
import { safe } from './print.ts';

/** 16 MiB: fifty events of the most a relay takes, their history and instructions, twice over. More is refused. */
const MAX_BYTES = 16 * 1024 * 1024;
const LF = 0x0a;

/** The name of a source in messages. */
export function nameOf(file: string): string {
  return file === '-' ? 'stdin' : safe(file);
}

/** The failure that names file, line and path of what was refused. */
export function refusedInput(file: string, { line, path, expected, found = 'nothing' }: Omit<FileRefusal, 'ok'>): Failure {
  return new Failure('refused_input', `${nameOf(file)}:${line}: ${path}: expected ${expected}, found ${found}`);
}

/** The whole text of `file`. */
export async function readSource(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(file)) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Failure('refused_input', `${nameOf(file)}: expected at most ${bound()}, found more`);
    chunks.push(chunk);
  }
  return decoded(file, Buffer.concat(chunks), 1);
}

/** The lines of `file` in order, without their LF, each with its number. The next is read when it is asked for. */
export async function* readLines(file: string): AsyncGenerator<{ readonly text: string; readonly line: number }> {
  let parts: Buffer[] = [];
  let size = 0;
  let line = 1;
  const keep = (part: Buffer): void => {
    size += part.length;
    if (size > MAX_BYTES) throw refusedInput(file, { line, path: '$', expected: `a line of at most ${bound()}`, found: 'more' });
    parts.push(part);
  };
  for await (const chunk of chunksOf(file)) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      yield { text: decoded(file, Buffer.concat(parts), line), line };
      [parts, size, start] = [[], 0, end + 1];
      line += 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  if (parts.length > 0) yield { text: decoded(file, Buffer.concat(parts), line), line };
}

/** `firstLine` is the number of the first line of `bytes` in the file. */
function decoded(file: string, bytes: Buffer, firstLine: number): string {
  const text = decodeText(bytes);
  if (text.ok) return text.text;
  throw refusedInput(file, { ...text, line: firstLine - 1 + text.line });
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  const stream: Readable = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of stream) yield chunk as Buffer; // No encoding is set: chunks are buffers.
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return error;
  const failed = (what: string): Failure => new Failure('refused_input', `${nameOf(file)}: ${what}`, { cause: error });
  switch (error.code) {
    case 'ENOENT':
      return failed('there is no such file');
    case 'EISDIR':
      return failed('expected a file, found a directory');
    case 'EACCES':
    case 'EPERM':
      return failed('may not be read');
    default:
      return failed(`cannot be read: ${String(error.code)}`);
  }
}

function bound(): string {
  return `${MAX_BYTES / 1024 / 1024} MiB`;
}
