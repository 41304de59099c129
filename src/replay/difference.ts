/**
 * How what was recorded and what the code of today gives differ: as values, for whoever reports them.
 * Offsets count bytes of UTF-8 from 0; lines and columns count from 1, columns in scalars.
 */
import { structuredPatch } from 'diff/lib/patch/create.js';
import type { Layer } from '../../compiler/index.ts';

/** `at` is the member of the fixture, like `output.envelope`; `line` where it stands in the file. */
export type Difference = { readonly at: string; readonly line: number } & DifferenceKind;

export type DifferenceKind =
  /** `layer` is the one that accounts for the line, where one does. */
  | { readonly is: 'text'; readonly layer?: string; readonly first: FirstDifference; readonly diff: readonly string[] }
  | { readonly is: 'layer'; readonly layer: string; readonly change: LayerChange; readonly members: readonly ChangedMember[] }
  /** One value against another, or against nothing; `note` says what it should have been. */
  | { readonly is: 'value'; readonly recorded?: string; readonly now?: string; readonly note?: string }
  /** What was seen, from the first that differs on. */
  | { readonly is: 'sightings'; readonly recorded?: string; readonly now?: string; readonly diff: readonly string[] }
  /** Nothing was recorded yet. */
  | { readonly is: 'new' }
  /** The code of today fails on it. */
  | { readonly is: 'thrown'; readonly message: string };

export type LayerChange = 'changed' | 'added' | 'gone' | 'moved';

export interface ChangedMember {
  readonly name: keyof Layer;
  readonly recorded: string | number | boolean;
  readonly now: string | number | boolean;
}

export interface FirstDifference {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  readonly recorded: Place;
  readonly now: Place;
}

/** `scalar` and `byte` (hex) are absent at the end of the text. */
export interface Place {
  readonly scalar?: string;
  readonly byte?: string;
}

/** Beyond this many changed lines a diff is the whole text, out and in: nobody reads it, and finding less costs time. */
const MAX_EDITS = 2_000;
const CONTEXT_LINES = 3;

/** The first byte in which two different texts differ. */
export function firstDifference(recorded: string, now: string): FirstDifference {
  let at = 0;
  while (at < recorded.length && recorded.charCodeAt(at) === now.charCodeAt(at)) at += 1;
  // Within a pair of surrogates the scalar begins one unit before.
  if (isHigh(recorded.charCodeAt(at - 1)) && (isLow(recorded.charCodeAt(at)) || isLow(now.charCodeAt(at)))) at -= 1;
  const same = recorded.slice(0, at);
  const [one, other] = [scalarAt(recorded, at), scalarAt(now, at)];
  const [oneBytes, otherBytes] = [Buffer.from(one), Buffer.from(other)];
  let shared = 0;
  while (shared < oneBytes.length && shared < otherBytes.length && oneBytes[shared] === otherBytes[shared]) shared += 1;
  const lineStart = same.lastIndexOf('\n') + 1;
  return {
    offset: Buffer.byteLength(same) + shared,
    line: same.split('\n').length,
    column: Array.from(same.slice(lineStart)).length + 1,
    recorded: place(one, oneBytes, shared),
    now: place(other, otherBytes, shared),
  };
}

/** The unified diff of two texts without its file names; empty for equal ones. */
export function unifiedDiff(recorded: string, now: string): readonly string[] {
  const patch = structuredPatch('', '', `${recorded}\n`, `${now}\n`, '', '', { context: CONTEXT_LINES, maxEditLength: MAX_EDITS });
  if (patch === undefined) return [...recorded.split('\n').map((line) => `-${line}`), ...now.split('\n').map((line) => `+${line}`)];
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines,
  ]);
}

function place(scalar: string, bytes: Buffer, at: number): Place {
  const byte = bytes[at];
  return { ...(scalar !== '' && { scalar }), ...(byte !== undefined && { byte: byte.toString(16).padStart(2, '0') }) };
}

function scalarAt(text: string, at: number): string {
  const codePoint = text.codePointAt(at);
  return codePoint === undefined ? '' : String.fromCodePoint(codePoint);
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
