/**
 * A person at their own Nostr client: nostr-tools over a real WebSocket, with a key of its own. It knows nothing of
 * skep; what it sees is what any client would see.
 */
import { decrypt, encrypt, getConversationKey } from 'nostr-tools/nip44';
import { finalizeEvent, generateSecretKey, getPublicKey, verifyEvent } from 'nostr-tools/pure';
import type { Filter } from 'nostr-tools/filter';
import type { Event } from 'nostr-tools/pure';
import type { Relay } from 'nostr-tools/relay';
import { signedIn } from './signed-in.ts';

export interface Message {
  readonly content: string;
  readonly tags: readonly (readonly string[])[];
  /** Unix seconds; absent: now. */
  readonly createdAtSec?: number;
}

export class Client {
  readonly name: string;
  readonly pubkey: string;
  readonly #secretKey: Uint8Array;
  readonly #relay: Relay;
  readonly #published = new Set<string>();

  private constructor(name: string, secretKey: Uint8Array, relay: Relay) {
    this.name = name;
    this.#secretKey = secretKey;
    this.pubkey = getPublicKey(secretKey);
    this.#relay = relay;
  }

  /** Connects and authenticates (NIP-42). */
  static async connect(name: string, url: string, secretKey: Uint8Array = generateSecretKey()): Promise<Client> {
    return new Client(name, secretKey, await signedIn(url, secretKey));
  }

  /**
   * Signs and publishes; resolves with the event once the relay has accepted it. The same words twice within a second are
   * two events: without a time of its own the second is of the next second.
   */
  async publish(kind: number, { content, tags, createdAtSec }: Message): Promise<Event> {
    const signedAt = (created_at: number): Event => finalizeEvent({ kind, content, tags: tags.map((tag) => [...tag]), created_at }, this.#secretKey);
    let event = signedAt(createdAtSec ?? Math.floor(Date.now() / 1000));
    while (createdAtSec === undefined && this.#published.has(event.id)) event = signedAt(event.created_at + 1);
    this.#published.add(event.id);
    await this.#relay.publish(event);
    return event;
  }

  /** What only `peer` and we can read (NIP-44). */
  seal(peer: string, text: string): string {
    return encrypt(text, getConversationKey(this.#secretKey, peer));
  }

  open(peer: string, payload: string): string {
    return decrypt(payload, getConversationKey(this.#secretKey, peer));
  }

  /** Calls back for each stored and each new message of the channel whose signature is good. */
  listen(channelId: string, onMessage: (event: Event) => void): void {
    this.follow({ 'kinds': [9], '#h': [channelId] }, onMessage);
  }

  /** The same for any filter. */
  follow(filter: Filter, onEvent: (event: Event) => void): void {
    this.#relay.subscribe([filter], {
      onevent: (event) => {
        if (verifyEvent(event)) onEvent(event);
      },
    });
  }

  /** Calls back for every stored message of the channel and resolves when there are no more. */
  history(channelId: string, onMessage: (event: Event) => void): Promise<void> {
    return new Promise((resolve) => {
      const subscription = this.#relay.subscribe([{ 'kinds': [9], '#h': [channelId] }], {
        onevent: onMessage,
        oneose: () => {
          subscription.close();
          resolve();
        },
      });
    });
  }

  close(): void {
    this.#relay.close();
  }
}
