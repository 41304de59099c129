/**
 * A recorded turn: where it comes from, turn input v1, output v1. One closed JSON object, written as
 * `JSON.stringify(value, null, 2)` and LF.
 * in: a value, or a fixture. out: a fixture, or text. Never: compiles, or verifies an event.
 */
import type { CompiledTurn, Layer, Manifest, OperatorTurnInput, TurnInput } from '../../compiler/index.ts';
import { arrayOf, closed, flag, oneOf, operatorTurn, optional, refuse, text, textWhere, turnInput, whole } from '../../compiler/reading.ts';
import type { Reader } from '../../compiler/reading.ts';

export interface TurnFixture {
  readonly provenance: string;
  readonly input: TurnInput;
  /** Absent in a new fixture until its first blessing. */
  readonly output?: CompiledTurn;
}

/** One line that says where a fixture comes from. */
export const provenance: Reader<string> = textWhere((line) => /^[^\n\r]*[^\n\r\s][^\n\r]*$/.test(line), 'one line of text');

const layer = closed<Layer>({
  order: whole(Number.MAX_SAFE_INTEGER, 'the number of a layer'),
  layer: text,
  scope: text,
  source: text,
  version: text,
  authority: text,
  freshness: text,
  estimatedTokens: whole(Number.MAX_SAFE_INTEGER, 'a count of tokens'),
  truncated: flag,
});

const output = closed<CompiledTurn>({
  v: oneOf(1),
  system: optional(text),
  blocks: arrayOf(text, 'an array of text blocks'),
  envelope: text,
  manifest: closed<Manifest>({
    schemaVersion: oneOf(1),
    hash: text,
    layers: arrayOf(layer, 'an array of layers'),
  }),
});

/** Members come out in the order of the format; in another order they would be other bytes, and another hash. */
const inOrder: Reader<CompiledTurn> = (value, path) => {
  const read = output(value, path);
  return JSON.stringify(read) === JSON.stringify(value) ? read : refuse(path, 'the members of output v1 in their order', value);
};

export const turnFixture: Reader<TurnFixture> = closed<TurnFixture>({
  provenance,
  input: turnInput,
  output: optional(inOrder),
});

/** A recorded turn that no message asked for. */
export interface OperatorFixture {
  readonly provenance: string;
  readonly operator: OperatorTurnInput;
  /** Absent in a new fixture until its first blessing. */
  readonly output?: CompiledTurn;
}

export const operatorFixture: Reader<OperatorFixture> = closed<OperatorFixture>({
  provenance,
  operator: operatorTurn,
  output: optional(inOrder),
});

export function operatorFixtureText({ provenance: line, operator, output: compiled }: OperatorFixture): string {
  return `${JSON.stringify({ provenance: line, operator, ...(compiled && { output: compiled }) }, null, 2)}\n`;
}

/** The text of the fixture's file. */
export function turnFixtureText({ provenance: line, input, output: compiled }: TurnFixture): string {
  return `${JSON.stringify({ provenance: line, input, ...(compiled && { output: compiled }) }, null, 2)}\n`;
}
