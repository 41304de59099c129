/**
 * The owner's key as a port: sign, seal, open. Where the key is (in a file of this machine, or at a remote signer) is not
 * seen from outside. Nothing here or behind it logs a plaintext.
 */
import { Failure } from '../model/index.ts';
import type { Pubkey, Random } from '../model/index.ts';
import { conversationKey, openText, parseSecretKey, sealText, signEventAs } from '../nostr/index.ts';
import type { ConversationKey, EventTemplate, VerifiedEvent } from '../nostr/index.ts';

/** Every method rejects with `Failure('relay')` where a remote signer does not answer or says no. */
export interface OwnerKey {
  readonly pubkey: Pubkey;
  sign(template: EventTemplate): Promise<VerifiedEvent>;
  /** NIP-44 v2 to `peer`. */
  seal(peer: Pubkey, plaintext: string): Promise<string>;
  /** What `peer` sealed for the owner; undefined when it is not that. */
  open(peer: Pubkey, payload: string): Promise<string | undefined>;
  /** Forgets the key. Twice is once. */
  close(): Promise<void>;
}

const NONCE_BYTES = 32;
/** Agents whose conversation key is kept: one costs a multiplication on the curve. */
const MAX_CONVERSATIONS = 256;

/** A key of this machine, as the text of its file has it (nsec or hex). Throws `Failure('config')`, without the text. */
export function openLocalKey(text: string, name: string, random: Random): OwnerKey {
  const parsed = parseSecretKey(text);
  if (!parsed.ok) throw new Failure('config', `${name}: ${parsed.detail}`);
  const { secretKey, pubkey } = parsed;
  const conversations = new Map<Pubkey, ConversationKey>();
  const conversation = (peer: Pubkey): ConversationKey => {
    const key = conversations.get(peer) ?? conversationKey(secretKey, peer);
    if (key === undefined) throw new Failure('relay', 'an agent\'s key is no point on the curve');
    if (conversations.size >= MAX_CONVERSATIONS) conversations.clear();
    conversations.set(peer, key);
    return key;
  };
  return {
    pubkey,
    sign: async (template) => signEventAs({ pubkey, secretKey }, template, random.bytes(NONCE_BYTES)),
    async seal(peer, plaintext) {
      const sealing = sealText(plaintext, conversation(peer), random.bytes(NONCE_BYTES));
      if (!sealing.ok) throw new TypeError(sealing.detail);
      return sealing.payload;
    },
    async open(peer, payload) {
      const opening = openText(payload, conversation(peer));
      return opening.ok ? opening.plaintext : undefined;
    },
    async close() {
      for (const key of [secretKey, ...conversations.values()]) key.fill(0);
      conversations.clear();
    },
  };
}
