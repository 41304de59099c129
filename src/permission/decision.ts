/**
 * Whether a `permission_decision` is the owner's, in time, and which live request it decides. Pure.
 * NIP-AO "permission_decision", "Authorization", "Permission nonce security".
 */
import type { Pubkey } from '../model/index.ts';
import type { Ask, Decided, Entry, Waiting } from './entry.ts';

/** NIP-AO: "a ±5-minute created_at freshness window on incoming control frames". */
const FRESH_SECONDS = 300;

/** Signed by the owner, for this agent, and fresh. */
export function isOwners(decision: Decided, parties: { readonly agent: Pubkey; readonly owner?: Pubkey }): boolean {
  const { sender, agent, createdAt, receivedAt } = decision;
  return sender === parties.owner && agent === parties.agent && Math.abs(createdAt - receivedAt) <= FRESH_SECONDS;
}

/**
 * The request that waits under this nonce in this channel. An entry whose answer is on its way has used its nonce up;
 * a nonce that is gone is known to nobody. Every nonce is compared, so that the time says nothing of them.
 */
export function findLive(entries: readonly Entry[], { nonce, channelId, sender }: Decided): Waiting | undefined {
  const matching = entries.filter((entry): entry is Waiting => entry.status !== 'writing' && sameText(entry.ask.binding.nonce, nonce));
  return matching.find(({ ask }) => ask.binding.channelId === channelId && ask.owner === sender);
}

/** NIP-AO D5: one of the two that the card offers, not any that the agent offered. */
export function isOffered({ card }: Ask, optionId: string): boolean {
  return card.options.some((option) => option.optionId === optionId);
}

/** Equality that takes as long for a text that differs at once as for one that differs at the end. */
export function sameText(known: string, given: string): boolean {
  let difference = known.length ^ given.length;
  for (let index = 0; index < given.length; index += 1) {
    // Round and round the known one: its length is no secret, what it holds is.
    difference |= given.charCodeAt(index) ^ (known.charCodeAt(index % Math.max(known.length, 1)) || 0);
  }
  return difference === 0;
}
