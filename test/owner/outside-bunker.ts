/** A remote signer (NIP-46) that only knows its specification: nostr-tools over a real WebSocket. It holds the owner's key. */
import * as nip44 from 'nostr-tools/nip44';
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure';
import type { Event, EventTemplate } from 'nostr-tools/pure';
import { onTestFinished } from 'vitest';
import { signedIn } from '../../src/cli/demo/signed-in.ts';

interface Answer {
  readonly result?: string;
  readonly error?: string;
}

export interface OutsideBunker {
  readonly pubkey: string;
  readonly secret: string;
  /** Every method asked for, in order. */
  readonly asked: string[];
  /** In the place of the honest answer; undefined gives none at all. */
  answers: (method: string, params: readonly string[], honest: () => Answer) => Answer | undefined;
  /** Sent before the answer, where it is set. */
  authUrl: string | undefined;
}

export async function openOutsideBunker(url: string, ownerKey: Uint8Array): Promise<OutsideBunker> {
  const key = generateSecretKey();
  const relay = await signedIn(url, key);
  onTestFinished(() => { relay.close(); });
  const clients = new Set<string>();
  const bunker: OutsideBunker = { pubkey: getPublicKey(key), secret: 'one-time-word', asked: [], answers: (_method, _params, honest) => honest(), authUrl: undefined };

  const honest = (client: string, method: string, [first = '', second = '']: readonly string[]): Answer => {
    if (method === 'connect') {
      // A secret admits once.
      if (clients.size > 0 || second !== bunker.secret) return { error: 'invalid secret' };
      clients.add(client);
      return { result: 'ack' };
    }
    if (!clients.has(client)) return { error: 'unknown client' };
    switch (method) {
      case 'get_public_key':
        return { result: getPublicKey(ownerKey) };
      case 'sign_event':
        return { result: JSON.stringify(finalizeEvent(JSON.parse(first) as EventTemplate, ownerKey)) };
      case 'nip44_encrypt':
        return { result: nip44.encrypt(second, nip44.getConversationKey(ownerKey, first)) };
      case 'nip44_decrypt':
        return { result: nip44.decrypt(second, nip44.getConversationKey(ownerKey, first)) };
      default:
        return { error: 'unknown method' };
    }
  };
  const reply = async (client: string, body: object): Promise<void> => {
    const content = nip44.encrypt(JSON.stringify(body), nip44.getConversationKey(key, client));
    await relay.publish(finalizeEvent({ kind: 24133, content, tags: [['p', client]], created_at: Math.floor(Date.now() / 1000) }, key)).catch(() => undefined);
  };
  const serve = async (event: Event): Promise<void> => {
    const { id, method, params } = JSON.parse(nip44.decrypt(event.content, nip44.getConversationKey(key, event.pubkey))) as { id: string; method: string; params: string[] };
    bunker.asked.push(method);
    if (bunker.authUrl !== undefined) await reply(event.pubkey, { id, result: 'auth_url', error: bunker.authUrl });
    const answer = bunker.answers(method, params, () => honest(event.pubkey, method, params));
    if (answer !== undefined) await reply(event.pubkey, { id, ...answer });
  };
  await new Promise<void>((resolve) => {
    relay.subscribe([{ kinds: [24133], '#p': [bunker.pubkey], since: Math.floor(Date.now() / 1000) - 10 }], { onevent: (event) => void serve(event), oneose: resolve });
  });
  return bunker;
}
