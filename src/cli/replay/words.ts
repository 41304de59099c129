/** Differences in words: one line each, and its diff. Text of the outside is escaped, shortened and redacted. */
import { excerpt, unreachable } from '../../model/index.ts';
import type { Broken, ChangedMember, Difference, FirstDifference, LayerChange, Place } from '../../replay/index.ts';
import { safe } from '../print.ts';

/** Longer lines of a diff are cut; the first differing byte is told beside it. */
const MAX_LINE_SCALARS = 240;
const MAX_DIFF_LINES = 80;

/** `file:line: path: what`, as far as it is known. */
export function brokenLine({ file, line, path, what }: Broken): string {
  return `${safe(file)}${line === undefined ? '' : `:${line}`}: ${path === undefined ? '' : `${path}: `}${what}`;
}

/** One line: where, and what. */
export function headOf(difference: Difference): string {
  const at = difference.at.replace(/^output\.(?:manifest\.)?/, '');
  switch (difference.is) {
    case 'text':
      return `${at}: ${firstInWords(difference.first)}${difference.layer === undefined ? '' : `, in layer ${difference.layer}`}`;
    case 'layer':
      return `layer ${difference.layer} ${changeInWords(difference.change)}${difference.members.length > 0 ? `: ${difference.members.map(memberInWords).join(', ')}` : ''}`;
    case 'value': {
      const { recorded, now, note } = difference;
      const values = [...(recorded === undefined ? [] : [`recorded ${safe(recorded)}`]), ...(now === undefined ? [] : [`now ${safe(now)}`])];
      if (note !== undefined) return `${at}: ${[...values, note].join('; ')}`;
      return `${at}: ${recorded === undefined ? 'recorded none; ' : ''}${values.join('; ')}${now === undefined ? '; now none' : ''}`;
    }
    case 'sightings':
      return `${at}: recorded ${shown(difference.recorded)}; now ${shown(difference.now)}`;
    case 'new':
      return `${at}: nothing was recorded yet`;
    case 'thrown':
      return `${at}: the code of today fails on it: ${safe(difference.message)}`;
    default:
      return unreachable(difference);
  }
}

/** The unified diff, where there is one; at most 80 lines of it. */
export function diffOf(difference: Difference): readonly string[] {
  if (!('diff' in difference)) return [];
  const lines = difference.diff.slice(0, MAX_DIFF_LINES).map((line) => excerpt(line, MAX_LINE_SCALARS));
  const more = difference.diff.length - lines.length;
  return ['--- recorded', '+++ now', ...lines, ...(more > 0 ? [`… ${more} more lines`] : [])];
}

function firstInWords({ offset, line, column, recorded, now }: FirstDifference): string {
  return `differs from byte ${offset} on (line ${line}, column ${column}): recorded ${placeInWords(recorded)}, now ${placeInWords(now)}`;
}

function placeInWords({ scalar, byte }: Place): string {
  if (scalar === undefined) return 'the end';
  return `${JSON.stringify(scalar.isWellFormed() ? excerpt(scalar) : `\\u${scalar.charCodeAt(0).toString(16)}`)}${byte === undefined ? '' : ` (0x${byte})`}`;
}

function changeInWords(change: LayerChange): string {
  return { changed: 'changed', added: 'is new', gone: 'is gone', moved: 'has moved' }[change];
}

function memberInWords({ name, recorded, now }: ChangedMember): string {
  return `${name} ${shortened(recorded)} → ${shortened(now)}`;
}

function shortened(value: ChangedMember['now']): string {
  return typeof value === 'string' ? excerpt(value, 20) : String(value);
}

function shown(line: string | undefined): string {
  return line === undefined ? 'nothing more' : safe(line);
}
