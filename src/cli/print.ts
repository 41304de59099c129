/** Lines for people. Only this room prints; everything that is not the answer to the verb goes to stderr. */
import { relative } from 'node:path';
import { excerpt } from '../model/index.ts';

/** A line of the verb's own answer. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** These words as a person can type them here: the program by the name it was called by. */
export function typed(...words: readonly string[]): string {
  const called = process.argv[1] ?? 'skep';
  const program = called.endsWith('.js') ? `node ${quoted(relative(process.cwd(), called))}` : 'skep';
  return [program, ...words.map(quoted)].join(' ');
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A line about the program: what happens next, what went wrong. */
export function tell(line: string): void {
  process.stderr.write(`skep: ${line}\n`);
}

/** `1 turn`, `2 turns`. */
export function plural(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun}${/(?:s|ch|x)$/.test(noun) ? 'es' : 's'}`;
}

/** Text of the outside on one line of a terminal. */
export function safe(text: string): string {
  return excerpt(text, 160);
}

/** `4 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A line of `skep status` below the name of what it is about. */
export function row(label: string, text: string): string {
  return `  ${label.padEnd(8)} ${text}`;
}
