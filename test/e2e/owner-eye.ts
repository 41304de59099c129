/** What an owner's client sees of an agent at work: a stranger's NIP-AO client on nostr-tools, with the owner's key. */
import * as nip44 from 'nostr-tools/nip44';
import { getPublicKey, verifyEvent } from 'nostr-tools/pure';
import type { Event } from 'nostr-tools/pure';
import { signedIn } from '../../src/cli/demo/signed-in.ts';
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
  const relay = await signedIn(stage.running.relayUrl, stage.ownerKey);
  stage.closing.push(() => { relay.close(); });
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
