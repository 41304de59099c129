/**
 * The selector of `agents.update` and `agents.delete`: exactly one of a pubkey and a name ("Managed agents"). Both
 * together, or neither, select nothing.
 */
import type { Pubkey } from '../../model/index.ts';
import { accept, describe, mismatch } from './field.ts';
import type { Field } from './field.ts';
import { argument } from './scalars.ts';
import { object, optional } from './shape.ts';

export type Target = { readonly pubkey: Pubkey } | { readonly name: string };

const selectors = object({ pubkey: optional(argument.pubkey), name: optional(argument.name) });

export const target: Field<Target> = {
  read(value, path) {
    const reading = selectors.read(value, path);
    if (!reading.ok) return reading;
    const { pubkey, name } = reading.value;
    if (pubkey !== undefined && name === undefined) return accept({ pubkey });
    if (name !== undefined && pubkey === undefined) return accept({ name });
    return mismatch(path, describe(value), 'exactly one of pubkey and name');
  },
  write: (value) => selectors.write(value),
};

/** An outcome must be about the selected agent. A name proves nothing by echo, so only a pubkey is compared. */
export function selectedPubkey(
  args: { readonly target: Target },
  outcome: { readonly agentPubkey: Pubkey },
): string | undefined {
  if (!('pubkey' in args.target) || args.target.pubkey === outcome.agentPubkey) return undefined;
  return `agentPubkey: found ${outcome.agentPubkey}, asked for ${args.target.pubkey}`;
}
