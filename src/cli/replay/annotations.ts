/**
 * The results as a pull request shows them: GitHub reads workflow commands from the log, GitLab a Code Quality report.
 * One annotation a fixture, at the line of its first difference.
 */
import { createHash } from 'node:crypto';
import { resolve, relative, sep } from 'node:path';
import type { Result } from './result.ts';
import { brokenLine, diffOf, headOf } from './words.ts';

interface Note {
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly text: string;
  readonly isBroken: boolean;
}

/** `::error ...` lines, one for a result that is not as it should be; '' for another. */
export function githubAnnotation(result: Result): string {
  const note = noteOf(result);
  if (note === undefined) return '';
  const { file, line, title, text } = note;
  return `::error file=${property(file)},line=${line},title=${property(title)}::${data(text)}\n`;
}

/** The whole report. GitLab wants a fingerprint that stays while the finding does. */
export function gitlabReport(results: readonly Result[]): string {
  const notes = results.flatMap((result) => noteOf(result) ?? []);
  return `${JSON.stringify(notes.map(({ file, line, title, text, isBroken }) => ({
    description: `${title}: ${text.split('\n', 1)[0] ?? ''}`,
    check_name: 'skep replay',
    fingerprint: createHash('sha256').update(`skep replay\0${file}`).digest('hex'),
    severity: isBroken ? 'critical' : 'major',
    location: { path: file, lines: { begin: line } },
  })), null, 2)}\n`;
}

function noteOf({ outcome, blessed }: Result): Note | undefined {
  const file = fromHere(outcome.file);
  switch (outcome.is) {
    case 'same':
      return undefined;
    case 'broken':
      return { file, line: outcome.line ?? 1, title: 'Broken fixture', text: brokenLine(outcome), isBroken: true };
    case 'different': {
      if (blessed) return undefined;
      const [first] = outcome.differences;
      const lines = outcome.differences.flatMap((one) => [headOf(one), ...diffOf(one)]);
      return { file, line: first?.line ?? 1, title: 'Replay differs', text: lines.join('\n'), isBroken: false };
    }
  }
}

/** Both want a path from the root of the repository, where CI runs. */
function fromHere(file: string): string {
  const path = relative(process.cwd(), resolve(file));
  return (path.startsWith('..') ? file : path).split(sep).join('/');
}

function data(value: string): string {
  return value.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(value: string): string {
  return data(value).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
