/**
 * A turn that no message asked for: its instruction is a text of the operator's, given at an interval (a heartbeat) or
 * once at the beginning. It has no channel, no event and no delivery: nobody waits for an answer.
 * in: an operator turn. out: as of every turn, output version 1, by the same text rules.
 * Never: shows a message, so that no message is answered by it.
 */
import { placed } from './compile.ts';
import type { CompiledTurn } from './compile.ts';
import { operatorLayers } from './layers.ts';
import { manifestOf } from './manifest.ts';
import { attributes, escapeText } from './markup.ts';
import { wellFormed } from './text.ts';
import type { Standing, StandingRole } from './turn.ts';
import { wellFormedStanding } from './well-formed.ts';

/** Operator turn input, version 1. `prompt` is shown as it is, escaped. */
export interface OperatorTurnInput {
  readonly v: 1;
  readonly source: 'heartbeat' | 'initial';
  readonly prompt: string;
  readonly standing?: Standing;
  readonly standingRole: StandingRole;
}

/** Compiles `input`. Same value, same bytes, for ever. */
export function compileOperatorTurn(input: OperatorTurnInput): CompiledTurn {
  const { source, standingRole } = input;
  const standing = wellFormedStanding(input.standing ?? {});
  const status = `Scope: ${source}`;
  const instruction = [`<operator-prompt${attributes([['type', source]])}>`, `Content: ${escapeText(wellFormed(input.prompt))}`, '</operator-prompt>'].join('\n');
  const envelope = ['<buzz-turn>', '<ambient-context>', status, '</ambient-context>', instruction, '</buzz-turn>'].join('\n');
  const manifest = manifestOf(operatorLayers({ standing, source, status, instruction }));
  return { v: 1, ...placed({ standing, standingRole }, envelope), envelope, manifest };
}
