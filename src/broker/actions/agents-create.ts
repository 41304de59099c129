/**
 * `agents.create` (NIP-BA "Managed agents"): mints a key, makes a record of the agent and attaches it to the channel
 * with a put-user (NIP-29) that the requester signs. Whether the requester may attach anybody is the relay's to say: its
 * no is proof that nothing was done. Whether the agent's program runs is not part of it.
 */
import type { Pubkey } from '../../model/index.ts';
import { PUT_USER_KIND } from '../../nostr/index.ts';
import type { Held, ManagedSettings } from '../managed/index.ts';
import type { Args } from '../wire/index.ts';
import { refused } from './action.ts';
import type { Plan, Refused } from './action.ts';
import { choiceRefusal, MAX_DEPTH, MAX_MANAGED, whileHeld } from './managed.ts';

export const planCreate: Plan<'agents.create'> = (args, context) =>
  whileHeld(context, (held) => {
    const refusal = choiceRefusal(args, held) ?? boundRefusal(held);
    if (refusal !== undefined) return refusal;
    const { channelId, displayName } = args;
    const { pubkey, write } = context.managed.provision(context.agent, channelId, settingsOf(args, context.agent, held));
    return {
      type: 'attach',
      draft: { kind: PUT_USER_KIND, tags: [['h', channelId], ['p', pubkey]], content: '' },
      accepted: {
        status: 'succeeded',
        action: 'agents.create',
        outcome: { agentPubkey: pubkey, displayName, channelId },
      },
      writes: [write],
      release: held.release,
    };
  });

function boundRefusal({ lineage: { depth }, count }: Held): Refused | undefined {
  if (depth >= MAX_DEPTH) {
    return refused('action_failed', `an agent ${depth} deep makes no further one; expected a depth below ${MAX_DEPTH}`);
  }
  if (count >= MAX_MANAGED) {
    return refused('action_failed', `the agents of one owner have made ${count}; at most ${MAX_MANAGED} at a time`);
  }
  return undefined;
}

/** Without a choice it runs on what its maker runs on, now and later. */
function settingsOf(args: Args<'agents.create'>, requester: Pubkey, { all }: Held): ManagedSettings {
  const { displayName, systemPrompt, respondTo = 'owner-only' } = args;
  const runtime = args.runtime ?? all.find(({ pubkey }) => pubkey === requester)?.runtime;
  return { displayName, systemPrompt, respondTo, ...(runtime === undefined ? {} : { runtime }) };
}
