/** A key of the owner's side (a file's, or a signer's far away) as the port of this room: what fails there is a value here. */
import { Failure, refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import type { EventTemplate, VerifiedEvent } from '../nostr/index.ts';
import type { OwnerKey } from './ports.ts';

/** As `src/owner` has it: rejects with a `Failure` where a signer does not answer or says no. */
export interface SigningKey {
  readonly pubkey: Pubkey;
  sign(template: EventTemplate): Promise<VerifiedEvent>;
  seal(peer: Pubkey, plaintext: string): Promise<string>;
  /** Undefined where the payload does not open. */
  open(peer: Pubkey, payload: string): Promise<string | undefined>;
}

export function portOf(key: SigningKey): OwnerKey {
  const { pubkey } = key;
  return {
    pubkey,
    sign: async (template) => orUnavailable(async () => ({ ok: true, event: await key.sign(template) })),
    sealToSelf: async (plaintext) => orUnavailable(async () => ({ ok: true, payload: await key.seal(pubkey, plaintext) })),
    openFromSelf: async (payload) => orUnavailable(async () => {
      const plaintext = await key.open(pubkey, payload);
      return plaintext === undefined ? refuse('unreadable', 'content: not sealed by the owner to themselves, or changed') : { ok: true, plaintext };
    }),
  };
}

/** A signer's no and its silence are one: nothing is known, and the owner may ask again. A bug stays one. */
async function orUnavailable<T>(ask: () => Promise<T>): Promise<T | Refusal<'unavailable'>> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Failure) return refuse('unavailable', error.message);
    throw error;
  }
}
