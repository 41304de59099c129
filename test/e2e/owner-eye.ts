/** What an owner's client sees of an agent at work: a stranger's NIP-AO client on nostr-tools, with the owner's key. */
import * as nip44 from 'nostr-tools/nip44';
import { finalizeEvent, getPublicKey, verifyEvent } from 'nostr-tools/pure';
import type { Event, EventTemplate, VerifiedEvent } from 'nostr-tools/pure';
import { Relay } from 'nostr-tools/relay';
import { onTestFinished } from 'vitest';
import type { Stage } from './stage.ts';

export interface SeenFrame {
  readonly event: Event;
  /** As it was sealed. */
  readonly plaintext: string;
  readonly seq: number;
  readonly kind: string;
  readonly agentIndex: number | null;
  readonly channelId: string | null;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The frames that come from now on, in order of arrival. */
export async function openEye(stage: Stage): Promise<readonly SeenFrame[]> {
  const frames: SeenFrame[] = [];
  const relay = new Relay(stage.running.relayUrl);
  const sign = async (template: EventTemplate): Promise<VerifiedEvent> => finalizeEvent(template, stage.ownerKey);
  const challenged = new Promise<void>((resolve) => {
    relay.onauth = (template) => {
      resolve();
      return sign(template);
    };
  });
  await relay.connect();
  onTestFinished(() => { relay.close(); });
  await challenged;
  await relay.auth(sign);
  const key = nip44.getConversationKey(stage.ownerKey, stage.agent);
  await new Promise<void>((resolve) => {
    relay.subscribe([{ 'kinds': [24_200], '#p': [getPublicKey(stage.ownerKey)], 'since': Math.floor(Date.now() / 1000) - 300 }], {
      oneose: resolve,
      onevent: (event) => {
        if (!verifyEvent(event) || event.pubkey !== stage.agent) return;
        const plaintext = nip44.decrypt(event.content, key);
        frames.push({ ...(JSON.parse(plaintext) as SeenFrame), event, plaintext });
        stage.watch.look();
      },
    });
  });
  return frames;
}
