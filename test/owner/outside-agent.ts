/**
 * An agent that only knows NIP-AO: nostr-tools over a real WebSocket. It sends telemetry, posts cards and edits, and
 * hears control frames; nothing of it is skep's.
 */
import { randomUUID } from 'node:crypto';
import * as nip44 from 'nostr-tools/nip44';
import { finalizeEvent, getPublicKey } from 'nostr-tools/pure';
import type { Event } from 'nostr-tools/pure';
import type { Relay } from 'nostr-tools/relay';
import { onTestFinished } from 'vitest';
import { signedIn } from '../../src/cli/demo/signed-in.ts';
import { Watch } from '../e2e/watch.ts';

export interface CardWords {
  readonly nonce?: string;
  readonly description?: string | null;
  readonly expiresInSec?: number;
  readonly p?: string;
  readonly optionIds?: readonly [string, string];
  readonly labels?: readonly [string, string];
  /** How long before now it was written. */
  readonly agoSec?: number;
}

export interface Telling {
  readonly kind: string;
  readonly payload?: object;
  readonly channelId?: string | null;
  readonly sessionId?: string | null;
  readonly turnId?: string | null;
  readonly authorization?: object;
  readonly seq?: number;
}

export class OutsideAgent {
  readonly pubkey: string;
  readonly controls: { readonly [name: string]: unknown }[] = [];
  readonly watch = new Watch(() => JSON.stringify(this.controls));
  /** Called with each control frame. */
  onControl: (body: { readonly [name: string]: unknown }) => void = () => undefined;
  readonly #relay: Relay;
  readonly #key: Uint8Array;
  readonly #owner: string;
  #seq = 0;

  private constructor(relay: Relay, key: Uint8Array, owner: string) {
    this.#relay = relay;
    this.#key = key;
    this.#owner = owner;
    this.pubkey = getPublicKey(key);
  }

  static async connect(url: string, key: Uint8Array, owner: string): Promise<OutsideAgent> {
    const relay = await signedIn(url, key);
    onTestFinished(() => { relay.close(); });
    const agent = new OutsideAgent(relay, key, owner);
    await new Promise<void>((resolve) => {
      relay.subscribe([{ kinds: [24200], '#p': [agent.pubkey], since: now() - 300 }], {
        onevent: (event) => { agent.#control(event); },
        oneose: resolve,
      });
    });
    return agent;
  }

  async tell({ kind, payload = {}, channelId = null, sessionId = null, turnId = null, authorization, seq }: Telling): Promise<Event> {
    this.#seq = seq ?? this.#seq + 1;
    return this.sendSealed(JSON.stringify({
      seq: this.#seq, timestamp: new Date().toISOString(), kind, agentIndex: 0, channelId, sessionId, turnId,
      ...(authorization === undefined ? {} : { authorization }), payload,
    }));
  }

  sendSealed(plaintext: string, tags: readonly (readonly string[])[] = this.#frameTags()): Promise<Event> {
    const content = nip44.encrypt(plaintext, nip44.getConversationKey(this.#key, this.#owner));
    return this.publish(24200, tags, content);
  }

  /** A card in the channel; the event and its nonce. */
  async card(channelId: string, { nonce = randomUUID(), description = 'Run ls (ls -la)', expiresInSec = 300, p = this.#owner, optionIds = ['yes-1', 'no-1'], labels = ['Allow once', 'Deny'], agoSec = 0 }: CardWords = {}): Promise<{ readonly event: Event; readonly nonce: string; readonly content: object }> {
    const content = {
      description, expiresAt: now() + expiresInSec, labels: { [optionIds[0]]: labels[0], [optionIds[1]]: labels[1] },
      optionIds, requestNonce: nonce, sessionId: 's-1', state: 'pending', turnId: 't-1', v: 1,
    };
    const event = await this.publish(9, [['h', channelId], ['p', p]], JSON.stringify(content), now() - agoSec);
    return { event, nonce, content };
  }

  edit(channelId: string, card: { readonly event: Event; readonly content: object }, outcome: string, chosenOptionId: string | null): Promise<Event> {
    const content = { ...card.content, state: 'resolved', originalEventId: card.event.id, outcome, chosenOptionId };
    return this.publish(40003, [['h', channelId], ['e', card.event.id]], JSON.stringify(content));
  }

  async publish(kind: number, tags: readonly (readonly string[])[], content: string, createdAtSec = now()): Promise<Event> {
    const event = finalizeEvent({ kind, content, tags: tags.map((tag) => [...tag]), created_at: createdAtSec }, this.#key);
    await this.#relay.publish(event);
    return event;
  }

  #frameTags(): readonly (readonly string[])[] {
    return [['p', this.#owner], ['agent', this.pubkey], ['frame', 'telemetry']];
  }

  #control(event: Event): void {
    const body = JSON.parse(nip44.decrypt(event.content, nip44.getConversationKey(this.#key, event.pubkey))) as { readonly [name: string]: unknown };
    this.controls.push({ ...body, tags: event.tags, pubkey: event.pubkey });
    this.onControl(body);
    this.watch.look();
  }
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
