/** A connection of nostr-tools to a relay that lets in only who proves a key (NIP-42), with that key. */
import { finalizeEvent } from 'nostr-tools/pure';
import type { EventTemplate, VerifiedEvent } from 'nostr-tools/pure';
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay';
import WebSocket from 'ws';

useWebSocketImplementation(WebSocket);

/** Resolves when the relay has taken the proof; rejects when it does not answer, or refuses. The caller closes it. */
export async function signedIn(url: string, secretKey: Uint8Array): Promise<Relay> {
  const relay = new Relay(url);
  const sign = async (template: EventTemplate): Promise<VerifiedEvent> => finalizeEvent(template, secretKey);
  const challenged = new Promise<void>((resolve) => {
    relay.onauth = (template) => {
      resolve();
      return sign(template);
    };
  });
  await relay.connect();
  await challenged;
  await relay.auth(sign);
  return relay;
}
