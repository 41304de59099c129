/**
 * The owner's key in the keyring, where this machine holds it, and the narrow door to it: it answers a relay's challenge
 * (NIP-42) and opens what the owner has sealed to themselves, so that an agent can be started with it (NIP-AP "Privacy").
 * Nothing else is signed in the owner's name, and nothing is sealed.
 */
import type { Pubkey } from '../model/index.ts';
import type { Keyring } from './keyring.ts';
import type { OwnerDoor } from './owner-ports.ts';

/** NIP-42. */
const AUTH_KIND = 22_242;

export function openOwnerDoor(keyring: Pick<Keyring, 'sign' | 'open'>, pubkey: Pubkey): OwnerDoor {
  return {
    pubkey,
    async sign(template) {
      if (template.kind !== AUTH_KIND) throw new TypeError(`owner: expected the answer to a challenge, found kind ${template.kind}`);
      return keyring.sign(pubkey, template);
    },
    async open(peer, payload) {
      if (peer !== pubkey) throw new TypeError('owner: expected what the owner sealed to themselves');
      const opening = keyring.open(pubkey, pubkey, payload);
      return opening.ok ? opening.plaintext : undefined;
    },
  };
}
