/** Control frames of the owner's, as their client sends them. */
import * as nip44 from 'nostr-tools/nip44';
import type { Stage } from '../e2e/stage.ts';

export function ordersOf({ owner, ownerKey, agent, channelId }: Stage): (body: object) => Promise<void> {
  return async (body) => {
    const content = nip44.encrypt(JSON.stringify({ channelId, ...body }), nip44.getConversationKey(ownerKey, agent));
    await owner.publish(24_200, { content, tags: [['p', agent], ['agent', agent], ['frame', 'control']] });
  };
}
