/**
 * A turn input, or a recorded turn (`provenance`, `input`, `output`) of which the input counts.
 * in: text. out: the input, its events verified unless waived, or a refusal with path and line. Turn input v1.
 * Never: looks at what was recorded as the output; whoever compiles compares.
 */
import { lineOfPath } from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import { closed, optional, readText, refuse, turnInput } from '../../compiler/reading.ts';
import type { Reader } from '../../compiler/reading.ts';
import { falseEvent } from './events.ts';
import type { FileRefusal } from './refusal.ts';

export type TurnRead = { readonly ok: true; readonly input: TurnInput } | FileRefusal;

interface Turn {
  readonly input: TurnInput;
  /** Before the paths of the input: '' when the file is a turn input. */
  readonly at: '' | 'input.';
}

const unread: Reader<unknown> = (value) => value;
const recorded = closed<{ readonly provenance?: unknown; readonly input: TurnInput; readonly output?: unknown }>({
  provenance: optional(unread), input: turnInput, output: optional(unread),
});

const turn: Reader<Turn> = (value, path) => {
  const members = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  if (members.includes('input')) return { input: recorded(value, path).input, at: 'input.' };
  if (members.includes('operator')) return refuse(path, 'a turn with messages (one that no message asked for is for skep replay)', value);
  if (members.includes('steps')) return refuse(path, 'one turn (a recorded stream is for skep replay)', value);
  return { input: turnInput(value, path), at: '' };
};

/** The turn in `text`. `unverified` takes every event at its word. */
export function readTurn(text: string, { unverified = false }: { readonly unverified?: boolean } = {}): TurnRead {
  const read = readText(text, turn);
  if (!read.ok) return { ...read, line: read.line ?? 1 };
  const { input, at } = read.value;
  const wrong = unverified ? undefined : falseEvent(input, at);
  return wrong === undefined ? { ok: true, input } : { ok: false, ...wrong, line: lineOfPath(text, wrong.path) };
}
