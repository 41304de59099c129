/**
 * A text in the owner's editor: `$VISUAL`, else `$EDITOR`, else vi, as a shell takes it. The text lies in a file of its
 * own (0600, in a new directory 0700) while the editor runs; whoever called says at the end whether it goes or stays.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../model/index.ts';
import { decodeText } from '../../turn-file/index.ts';
import { safe, tell } from '../print.ts';
import { exitCodeFor, SIGNALS } from '../signals.ts';
import type { EndSignal } from '../signals.ts';

/**
 * What the editor has left, given to `use`, which says when its owner has agreed. The file goes whatever comes; only
 * where what was written could not be saved, or nobody knows whether it was, does it stay, and a line says where.
 * Rejects with `Failure('not_changed')` where the editor failed, left no file, or changed nothing.
 */
export async function edited<T>(text: string, name: string, use: (text: string, agreed: () => void) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'skep-edit-'));
  const file = join(directory, name);
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  let written: string;
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    await runEditor(file);
    const decoded = decodeText(bytesIn(file));
    // What is no text for us is still somebody's work.
    if (!decoded.ok) throw new Failure('refused_input', `${safe(name)}:${decoded.line}: expected ${decoded.expected}; nothing was changed; what you wrote is in ${file}`);
    written = decoded.text;
    if (written === text) throw new Failure('not_changed', 'the editor changed nothing');
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'refused_input') remove();
    throw error;
  }
  let isAgreed = false;
  // A Ctrl-C at the question is a no. One afterwards, or a terminal that is gone, is none: then nobody knows what was saved.
  const onSignal = (signal: EndSignal): void => {
    if (signal === 'SIGINT' && !isAgreed) remove();
    else tell(`it is not known to be saved; what you wrote is in ${file}`);
    process.exit(exitCodeFor(signal));
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    const result = await use(written, () => { isAgreed = true; });
    remove();
    return result;
  } catch (error) {
    if (error instanceof Failure && isWanted(error)) throw new Failure(error.code, `${error.message}; what you wrote is in ${file}`, { cause: error });
    remove();
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

function bytesIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Failure('not_changed', 'the editor left no file that can be read; nothing was changed', { cause: error });
  }
}

/** Where the answer was no, the text is not; where it is stored, it is not lost. */
function isWanted({ code }: Failure): boolean {
  return code !== 'declined' && code !== 'partly_done';
}

/** One that was named may need no terminal; vi would wait without one, for ever. */
function chosenEditor(): string {
  const named = [process.env['VISUAL'], process.env['EDITOR']].find((one) => one !== undefined && one.trim() !== '');
  if (named === undefined && !process.stdin.isTTY) {
    throw new Failure('usage', 'there is no terminal to edit at: name an editor that needs none in EDITOR, or say it in options (--help)');
  }
  return named ?? 'vi';
}

function runEditor(file: string): Promise<void> {
  const editor = chosenEditor();
  // A Ctrl-C in the editor is the editor's: without this it would end us, and the file stay behind.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  // Where stdout goes to a file or a program, the screen is at stderr.
  const screen = process.stdout.isTTY ? 'inherit' : process.stderr;
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: ['inherit', screen, 'inherit'] });
  const end = (signal: NodeJS.Signals): void => { child.kill(signal); };
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  return new Promise<void>((resolve, reject) => {
    const fail = (what: string): void => reject(new Failure('not_changed', `the editor ${what}: ${safe(editor)}; nothing was changed`));
    child.once('error', () => fail('could not be started'));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else fail(code === null ? `was ended by ${String(signal)}` : `ended with ${code}`);
    });
  }).finally(() => {
    process.off('SIGINT', ignore);
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, end);
  });
}
