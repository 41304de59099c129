/**
 * A message for a turn that is running: compiled as a turn of its own, framed as an update to the work in hand.
 * in: a turn. out: one text block, and the layers it adds to the running turn's ledger once the adapter has taken it.
 * Never: repeats ambient or standing text, which the running turn has read already.
 */
import { partsOf } from './envelope.ts';
import { steerLayers } from './layers.ts';
import type { Layer } from './manifest.ts';
import type { TurnInput } from './turn.ts';
import { wellFormedTurn } from './well-formed.ts';

const GUIDANCE =
  '<continuation-guidance>This message arrived while you were working. ' +
  'Weave it into the work in hand and carry on; do not start again.</continuation-guidance>';

/** `text` is one ACP text block; `layers` are for `appendSteer`, if and when the adapter answers `injected`. */
export interface CompiledSteer {
  readonly text: string;
  readonly layers: readonly Layer[];
}

/** Compiles `input` as a steer: its history, standing text and interrupted events are not shown again. */
export function compileSteer(input: TurnInput): CompiledSteer {
  const turn = wellFormedTurn(input);
  const parts = partsOf(turn);
  const text = ['<buzz-turn-update mode="steer">', parts.events, parts.delivery, GUIDANCE, '</buzz-turn-update>'];
  return { text: text.join('\n'), layers: steerLayers(turn, parts, GUIDANCE) };
}
