/**
 * Whose frames and cards count: agents that are named (by the config, or on the command line), and where none are named
 * to the exclusion of others, those whose profile proves that they are this owner's (NIP-OA on kind 0).
 *
 * Asked before anything is opened (NIP-AO "Client Behavior"). A profile that proves nothing is asked for again after a
 * while: it may be on its way.
 */
import { later } from '../model/index.ts';
import type { Clock, Milliseconds, Pubkey } from '../model/index.ts';
import { attestationIn } from '../nostr/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';

export interface Trust {
  /** Those that are known now, named ones first. */
  agents(): readonly Pubkey[];
  /** Whether `agent` is known, looking for its profile where need be. Never rejects. */
  knows(agent: Pubkey): Promise<boolean>;
}

export interface TrustOptions {
  readonly owner: Pubkey;
  readonly named: readonly Pubkey[];
  /** False: none but the named ones. */
  readonly others: boolean;
  /** The newest profile of that key, verified. */
  readonly profile: (agent: Pubkey) => Promise<VerifiedEvent | undefined>;
  readonly clock: Clock;
}

/** Strangers may fill this; beyond it the oldest is forgotten, a known agent never. */
const MAX_STRANGERS = 256;
const MAX_PROVEN = 256;
const ASK_AGAIN_MS = 60_000;

export function openTrust({ owner, named, others, profile, clock }: TrustOptions): Trust {
  const known = new Set(named);
  const strangers = new Map<Pubkey, Milliseconds>();
  return {
    agents: () => [...known],
    async knows(agent) {
      if (known.has(agent)) return true;
      const again = strangers.get(agent);
      if (!others || known.size >= MAX_PROVEN || (again !== undefined && clock.now() < again)) return false;
      const found = await profile(agent);
      const attested = found === undefined ? undefined : attestationIn(found.tags, agent, found);
      if (attested?.ok === true && attested.attestation.owner === owner) {
        strangers.delete(agent);
        known.add(agent);
        return true;
      }
      strangers.delete(agent);
      strangers.set(agent, later(clock.now(), ASK_AGAIN_MS));
      const [oldest] = strangers.keys();
      if (strangers.size > MAX_STRANGERS && oldest !== undefined) strangers.delete(oldest);
      return false;
    },
  };
}
