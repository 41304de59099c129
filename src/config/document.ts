/**
 * A YAML text as data that remembers its lines. Duplicate members, unknown tags and several documents in one file are
 * refused; a byte order mark and CRLF change nothing. The parser's own messages are used only by their code: they
 * quote the source, and the source may hold a secret. All that is quoted is a short name that stands twice.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node, YAMLError } from 'yaml';
import { redact } from '../model/index.ts';

export type Path = readonly (string | number)[];

export interface SourceDocument {
  readonly value: unknown;
  /** The line (from 1) of a member, or of the nearest thing around it. */
  readonly lineOf: (path: Path) => number;
}

const MEANINGS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'the same member twice',
  MULTIPLE_DOCS: 'a second document in the file',
  TAG_RESOLVE_FAILED: 'a YAML tag that is not known here',
  TAB_AS_INDENT: 'a tab as indentation; use spaces',
  BAD_INDENT: 'wrong indentation',
  MISSING_CHAR: 'a missing quotation mark, bracket, colon or space',
  UNEXPECTED_TOKEN: 'an unexpected character',
};

export type Parsed =
  | { readonly ok: true; readonly source: SourceDocument }
  | { readonly ok: false; readonly line: number; readonly detail: string };

export function parseSource(text: string): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, version: '1.2' });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) return { ok: false, line: lines.linePos(problem.pos[0]).line, detail: placeOf(problem, text) + meaningOf(problem) };
  try {
    // Anchors may be used, but not to blow a small file up.
    const value: unknown = document.toJS({ maxAliasCount: 50 });
    return { ok: true, source: { value, lineOf: (path) => lineOf(document, lines, path) } };
  } catch {
    return { ok: false, line: 1, detail: 'anchors and aliases that cannot be resolved' };
  }
}

/** Of a member that stands twice its name, where it has the looks of one, and of no secret. */
function placeOf({ code, pos: [start] }: YAMLError, text: string): string {
  const [name] = code === 'DUPLICATE_KEY' ? /^[A-Za-z][\w-]{0,31}(?=\s*:)/.exec(text.slice(start, start + 50)) ?? [] : [];
  return name === undefined || redact(name) !== name ? '' : `${name}: `;
}

function meaningOf(problem: YAMLError): string {
  return MEANINGS[problem.code] ?? `not valid YAML (${problem.code.toLowerCase().replaceAll('_', ' ')})`;
}

function lineOf(document: Document, lines: LineCounter, path: Path): number {
  let node = resolved(document.contents, document);
  let line = node?.range === undefined || node.range === null ? 1 : lines.linePos(node.range[0]).line;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
      if (pair === undefined) return line;
      line = startOf(pair.key, lines) ?? line;
      node = resolved(pair.value, document);
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(step)];
      line = startOf(item, lines) ?? line;
      node = resolved(item, document);
    } else {
      return line;
    }
  }
  return line;
}

function startOf(node: unknown, lines: LineCounter): number | undefined {
  if (!isNode(node) || node.range === undefined || node.range === null) return undefined;
  return lines.linePos(node.range[0]).line;
}

function resolved(node: unknown, document: Document): Node | undefined {
  if (isAlias(node)) return node.resolve(document);
  return isNode(node) ? node : undefined;
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);
}
