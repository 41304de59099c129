/**
 * One turn compiled: the envelope for the prompt, the standing text for the role the adapter offers, the manifest of
 * both. Compiler spec, "one deterministic dynamic envelope".
 * Never: reads a clock, environment, locale, random source or session; writes to its input.
 */
import { envelopeOf, partsOf } from './envelope.ts';
import { turnLayers } from './layers.ts';
import { manifestOf } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { renderStanding } from './standing.ts';
import type { TurnInput } from './turn.ts';
import { unreachable } from './unreachable.ts';
import { wellFormedTurn } from './well-formed.ts';

/**
 * Output, version 1. `system` is the standing text for the session's system role, absent when there is none to give;
 * `blocks` are the ACP text blocks of the prompt, in order; `envelope` is the last of them.
 */
export interface CompiledTurn {
  readonly v: 1;
  readonly system?: string;
  readonly blocks: readonly string[];
  readonly envelope: string;
  readonly manifest: Manifest;
}

/**
 * Compiles `input`. Same value, same bytes, on every machine and in every year of rules version 1; time is linear in
 * the size of the input. Takes any value of the type; throws a `TypeError` (a caller's bug) for one without events.
 */
export function compileTurn(input: TurnInput): CompiledTurn {
  const turn = wellFormedTurn(input);
  const parts = partsOf(turn);
  const envelope = envelopeOf(parts);
  // Standing layers are in the manifest whatever the role: the session has read them, now or before.
  const manifest = manifestOf(turnLayers(turn, parts));
  return { v: 1, ...placed(turn, envelope), envelope, manifest };
}

/** The standing text and the envelope, each where the adapter takes it. All of it is well-formed. */
export function placed({ standing = {}, standingRole }: Pick<TurnInput, 'standing' | 'standingRole'>, envelope: string): Pick<CompiledTurn, 'system' | 'blocks'> {
  switch (standingRole) {
    case 'system': {
      const system = renderStanding(standing);
      return { ...(system === '' ? {} : { system }), blocks: [envelope] };
    }
    case 'prompt': {
      const text = renderStanding(standing);
      return { blocks: text === '' ? [envelope] : [text, envelope] };
    }
    case 'sent':
      return { blocks: [envelope] };
    default:
      return unreachable(standingRole);
  }
}
