/** An explanation as lines for people: a table of the layers, and what none of them accounts for. */
import { unreachable } from '../model/index.ts';
import type { Explanation, LineRange } from './explanation.ts';
import { plural } from './print.ts';

const HEAD = ['order', 'layer', 'source', 'version', 'tokens', 'truncated', 'lines'] as const;
/** Columns of numbers are read from the right. */
const RIGHT: ReadonlySet<string> = new Set(['order', 'tokens']);

export function explainLines(explained: Explanation): readonly string[] {
  const { hash, verified, envelope, standing, layers } = explained;
  const tokens = layers.reduce((sum, layer) => sum + layer.estimatedTokens, 0);
  const rows = layers.map((layer) => [
    String(layer.order), layer.layer, layer.source, shortVersion(layer.version), String(layer.estimatedTokens),
    layer.truncated ? 'yes' : 'no', lineList(layer.envelopeLines, layer.standingLines),
  ]);
  const frame = lineList(envelope.frame, standing.frame);
  return [
    `manifest  ${hash}${verified ? '' : '   (no event was verified)'}`,
    `envelope  ${plural(envelope.lines, 'line')}, ${plural(envelope.bytes, 'byte')}`,
    `standing  ${standing.lines === 0 ? 'none' : `${plural(standing.lines, 'line')}, ${plural(standing.bytes, 'byte')}; ${placeOf(explained.standingRole)}`}`,
    '',
    ...table([HEAD, ...rows, ['', 'in no layer', '', '', '', '', frame], ['', 'in all', '', '', String(tokens), '', '']]),
  ];
}

function placeOf(role: Explanation['standingRole']): string {
  switch (role) {
    case 'system':
      return 'given to the session\'s system role';
    case 'prompt':
      return 'the first block of this prompt';
    case 'sent':
      return 'read before in this session';
    default:
      return unreachable(role);
  }
}

/** Enough of a version to tell two apart; `--json` has all of it. */
function shortVersion(version: string): string {
  const [, kind = '', hex = ''] = /^(sha256:)?(.*)$/.exec(version) ?? [];
  return `${kind === '' ? 'event:' : kind}${hex.slice(0, 12)}`;
}

/** `envelope 4-5, 9; standing 1-3`. */
function lineList(envelope: readonly LineRange[], standing: readonly LineRange[]): string {
  return [['envelope', envelope] as const, ['standing', standing] as const]
    .filter(([, ranges]) => ranges.length > 0)
    .map(([name, ranges]) => `${name} ${ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ')}`)
    .join('; ');
}

/** Rows of plain ASCII, their columns aligned; every cell of ours is. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row
    .map((cell, column) => (RIGHT.has(HEAD[column] ?? '') ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
    .join('  ')
    .trimEnd());
}
