/**
 * A fixture's file as a fixture: which of the three it is, read strictly, its events verified.
 * in: text. out: a fixture, or a refusal with path and line.
 */
import { lineOfPath } from '../../compiler/index.ts';
import { readText, refuse } from '../../compiler/reading.ts';
import type { Read, Reader } from '../../compiler/reading.ts';
import { unreachable } from '../model/index.ts';
import { falseAt, falseEvent } from '../turn-file/index.ts';
import type { FalseEvent } from '../turn-file/index.ts';
import { streamFixture, streamFixtureText } from './stream-fixture.ts';
import type { StreamFixture, StreamStep } from './stream-fixture.ts';
import { operatorFixture, operatorFixtureText, turnFixture, turnFixtureText } from './turn-fixture.ts';
import type { OperatorFixture, TurnFixture } from './turn-fixture.ts';

export type Fixture =
  | { readonly is: 'turn'; readonly turn: TurnFixture }
  | { readonly is: 'operator'; readonly turn: OperatorFixture }
  | { readonly is: 'stream'; readonly stream: StreamFixture };

const fixture: Reader<Fixture> = (value, path) => {
  const members = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  if (members.includes('input')) return { is: 'turn', turn: turnFixture(value, path) };
  if (members.includes('operator')) return { is: 'operator', turn: operatorFixture(value, path) };
  if (members.includes('steps')) return { is: 'stream', stream: streamFixture(value, path) };
  return refuse(path, 'a recorded turn (member input, or operator) or stream (member steps)', value);
};

/** The fixture in `source`, each of its events with a true id and signature. */
export function readFixture(source: string): Read<Fixture> {
  const read = readText(source, fixture);
  if (!read.ok) return read;
  const { value } = read;
  const wrong = falseIn(value);
  return wrong === undefined ? read : { ok: false, ...wrong, line: lineOfPath(source, wrong.path) };
}

/** The text of a fixture's file. */
export function fixtureText(one: Fixture): string {
  switch (one.is) {
    case 'turn':
      return turnFixtureText(one.turn);
    case 'operator':
      return operatorFixtureText(one.turn);
    case 'stream':
      return streamFixtureText(one.stream);
    default:
      return unreachable(one);
  }
}

function falseIn(one: Fixture): FalseEvent | undefined {
  switch (one.is) {
    case 'turn':
      return falseEvent(one.turn.input, 'input.');
    case 'operator':
      return undefined;
    case 'stream':
      return falseArrival(one.stream.steps);
    default:
      return unreachable(one);
  }
}

function falseArrival(steps: readonly StreamStep[]): FalseEvent | undefined {
  for (const [index, step] of steps.entries()) {
    const wrong = step.do === 'arrive' ? falseAt(step.event, `steps[${index}].event`) : undefined;
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
