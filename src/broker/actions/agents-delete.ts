/**
 * `agents.delete` (NIP-BA "Managed agents"): removes the record, and those of all that the agent has made, for nobody
 * owns them any more; in one commit with the result. Their credentials end with it and their programs soon after.
 * What they have said stays where it is.
 */
import { below, markDeleted } from '../managed/index.ts';
import type { Plan } from './action.ts';
import { isRefusal, targetOf, whileHeld } from './managed.ts';

export const planDelete: Plan<'agents.delete'> = (args, context) =>
  whileHeld(context, (held) => {
    const record = targetOf(args.target, held);
    if (isRefusal(record)) return record;
    const { pubkey: agentPubkey, displayName } = record;
    return {
      type: 'answer',
      verdict: { status: 'succeeded', action: 'agents.delete', outcome: { agentPubkey, displayName } },
      writes: below(agentPubkey, held.all).map(markDeleted),
      release: held.release,
    };
  });
