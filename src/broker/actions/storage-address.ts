/** `storage.address` (NIP-BA "Memory"): where a record is, for whoever reads relays; never the key it is sealed with. */
import { ENGRAM_KIND } from '../../nostr/index.ts';
import { refused } from './action.ts';
import type { Plan } from './action.ts';

/** The owner is a point on the curve, or the configuration was refused; a plan refuses all the same. */
export const NO_OWNER = 'the owner’s key is none';

export const planAddress: Plan<'storage.address'> = async ({ slug }, { agent, withOwner }) => {
  const dTag = withOwner.engramAddress(slug);
  if (dTag === undefined) return refused('internal', NO_OWNER);
  const outcome = { authorPubkey: agent, kind: ENGRAM_KIND, dTag };
  return { type: 'answer', verdict: { status: 'succeeded', action: 'storage.address', outcome } };
};
