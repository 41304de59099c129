/**
 * The only place that holds secret keys. It signs what the broker's other rooms have composed, and nothing leaves it
 * but signed events. There is no way to read a key back: not by name, not by enumeration, not in a log.
 * in: identities, templates. out: verified events. NIP-BA "Session and transport": agents hold no durable key.
 */
import { Failure, shortId } from '../model/index.ts';
import type { Pubkey, Random } from '../model/index.ts';
import { publicKeyOf, signEvent } from '../nostr/index.ts';
import type { EventTemplate, VerifiedEvent } from '../nostr/index.ts';

export interface Keyring {
  /** Signs as `pubkey`. Throws (a bug) when the ring holds no key of that name. */
  sign(pubkey: Pubkey, template: EventTemplate): VerifiedEvent;
  /** Overwrites every key. Later calls to `sign` throw. */
  close(): void;
}

interface KeyHolder {
  readonly pubkey: Pubkey;
  readonly secretKey: Uint8Array;
}

const AUX_BYTES = 32;

/** Copies the keys. Throws `Failure('config')` for one that is not the key of its pubkey; the key is not shown. */
export function openKeyring(holders: readonly KeyHolder[], random: Random): Keyring {
  const keys = new Map<Pubkey, Uint8Array>();
  for (const { pubkey, secretKey } of holders) {
    const found = publicKeyOf(secretKey);
    if (found === undefined || Buffer.from(found).toString('hex') !== pubkey) {
      throw new Failure('config', `agent ${shortId(pubkey)}: the secret key is not the key of this pubkey`);
    }
    keys.set(pubkey, Uint8Array.from(secretKey));
  }
  return {
    sign(pubkey, template) {
      const key = keys.get(pubkey);
      if (key === undefined) throw new TypeError(`no key for ${shortId(pubkey)}`);
      return signEvent(template, key, random.bytes(AUX_BYTES));
    },
    close() {
      for (const key of keys.values()) key.fill(0);
      keys.clear();
    },
  };
}
