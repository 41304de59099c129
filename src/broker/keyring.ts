/**
 * The only place that holds secret keys, and what is derived from them. It signs what the broker's other rooms have
 * composed, seals and opens texts, and nothing leaves it but signed events, sealed texts and what was sealed. There is
 * no way to read a key back: not by name, not by enumeration, not in a log.
 * in: identities, templates, texts. out: verified events, NIP-44 payloads, NIP-AE addresses.
 * NIP-BA "Session and transport": agents hold no durable key.
 */
import { createHmac } from 'node:crypto';
import { Failure, refuse, shortId } from '../model/index.ts';
import type { Pubkey, Random, Refusal } from '../model/index.ts';
import { attest, conversationKey, engramAddress, openText, publicKeyOf, sealText, signEventAs } from '../nostr/index.ts';
import type { ConversationKey, EventTemplate, Opening, Sealing, Tag, VerifiedEvent } from '../nostr/index.ts';

/** Every method throws (a bug) when the ring holds no key of the name `pubkey`. */
export interface Keyring {
  /** Signs as `pubkey`. */
  sign(pubkey: Pubkey, template: EventTemplate): VerifiedEvent;
  /** `plaintext` as NIP-44 v2 from `pubkey` to `peer`, or from `peer` to `pubkey`: their key is the same. */
  seal(pubkey: Pubkey, peer: Pubkey, plaintext: string): Sealing | Refusal<'peer'>;
  open(pubkey: Pubkey, peer: Pubkey, payload: string): Opening | Refusal<'peer'>;
  /** The `d` tag of a memory record between the two (NIP-AE); undefined when `peer` is no point on the curve. */
  engramAddress(pubkey: Pubkey, peer: Pubkey, slug: string): string | undefined;
  /** `text` for a store that others may read: sealed under a key that only the holder of this secret key can derive. */
  protect(pubkey: Pubkey, text: string): string;
  /** What `protect` was given; undefined when it was not made by it under this key. */
  reveal(pubkey: Pubkey, payload: string): string | undefined;
  /** What shows that the ring of `pubkey` has seen these bytes, the same in every run (HMAC-SHA256). */
  mark(pubkey: Pubkey, bytes: Uint8Array): Uint8Array;
  /** Takes one more key. Throws as `openKeyring` does. */
  admit(holder: KeyHolder): void;
  /** Overwrites the key of `pubkey`, and what was derived from it. */
  forget(pubkey: Pubkey): void;
  /** The word of `owner` that `agent` is theirs, without conditions (NIP-OA). */
  attest(owner: Pubkey, agent: Pubkey): Tag;
  /** Overwrites every key. Later calls throw. */
  close(): void;
}

interface KeyHolder {
  readonly pubkey: Pubkey;
  readonly secretKey: Uint8Array;
}

const AUX_BYTES = 32;
const NONCE_BYTES = 32;
/**
 * Conversation keys kept, the least recently used goes first: one costs a multiplication on the curve. Peers are
 * owners, so few; the bound is for whoever configures many.
 */
const MAX_CONVERSATIONS = 256;
/** Sets the key for stored texts apart from every conversation key. Part of the stored form: never changed. */
const STORED_SALT = 'skep/stored/v1';
/** Sets the key for marks apart from both. */
const MARK_SALT = 'skep/mark/v1';

/** Copies the keys. Throws `Failure('config')` for one that is not the key of its pubkey; the key is not shown. */
export function openKeyring(holders: readonly KeyHolder[], random: Random): Keyring {
  const keys = new Map<Pubkey, Uint8Array>();
  function admit({ pubkey, secretKey }: KeyHolder): void {
    const found = publicKeyOf(secretKey);
    if (found === undefined || Buffer.from(found).toString('hex') !== pubkey) {
      throw new Failure('config', `agent ${shortId(pubkey)}: the secret key is not the key of this pubkey`);
    }
    keys.set(pubkey, Uint8Array.from(secretKey));
  }
  for (const holder of holders) admit(holder);
  /** By principal and peer, the least recently used first. */
  const conversations = new Map<string, ConversationKey>();

  function keyOf(pubkey: Pubkey): Uint8Array {
    return keys.get(pubkey) ?? unknownKey(pubkey);
  }

  function conversation(pubkey: Pubkey, peer: Pubkey): ConversationKey | undefined {
    const name = `${pubkey} ${peer}`;
    const key = conversations.get(name) ?? conversationKey(keyOf(pubkey), peer);
    if (key === undefined) return undefined;
    conversations.delete(name);
    conversations.set(name, key);
    const [oldest] = conversations.keys();
    if (conversations.size > MAX_CONVERSATIONS && oldest !== undefined) {
      conversations.get(oldest)?.fill(0);
      conversations.delete(oldest);
    }
    return key;
  }

  function derived(salt: string, pubkey: Pubkey): Buffer {
    return createHmac('sha256', salt).update(keyOf(pubkey)).digest();
  }

  return {
    // That they belong together was seen when the ring was opened.
    sign: (pubkey, template) => signEventAs({ pubkey, secretKey: keyOf(pubkey) }, template, random.bytes(AUX_BYTES)),
    seal(pubkey, peer, plaintext) {
      const key = conversation(pubkey, peer);
      return key === undefined ? noPeer() : sealText(plaintext, key, random.bytes(NONCE_BYTES));
    },
    open(pubkey, peer, payload) {
      const key = conversation(pubkey, peer);
      return key === undefined ? noPeer() : openText(payload, key);
    },
    engramAddress(pubkey, peer, slug) {
      const key = conversation(pubkey, peer);
      return key && engramAddress(key, slug);
    },
    protect(pubkey, text) {
      const sealing = sealText(text, derived(STORED_SALT, pubkey), random.bytes(NONCE_BYTES));
      if (!sealing.ok) throw new TypeError(sealing.detail);
      return sealing.payload;
    },
    reveal(pubkey, payload) {
      const opening = openText(payload, derived(STORED_SALT, pubkey));
      return opening.ok ? opening.plaintext : undefined;
    },
    mark: (pubkey, bytes) => createHmac('sha256', derived(MARK_SALT, pubkey)).update(bytes).digest(),
    admit,
    forget(pubkey) {
      keys.get(pubkey)?.fill(0);
      keys.delete(pubkey);
      for (const [name, key] of conversations) {
        if (!name.startsWith(`${pubkey} `)) continue;
        key.fill(0);
        conversations.delete(name);
      }
    },
    attest: (owner, agent) => attest(agent, '', keyOf(owner), random.bytes(AUX_BYTES)),
    close() {
      for (const key of [...keys.values(), ...conversations.values()]) key.fill(0);
      keys.clear();
      conversations.clear();
    },
  };
}

function noPeer(): Refusal<'peer'> {
  return refuse('peer', 'peer: expected a point on the curve');
}

function unknownKey(pubkey: Pubkey): never {
  throw new TypeError(`no key for ${shortId(pubkey)}`);
}
