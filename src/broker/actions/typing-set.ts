/** `typing.set` (NIP-BA "Live signals"): kind 20002 in the channel, without content. It expires by the relay's policy. */
import { TYPING_KIND } from '../../nostr/index.ts';
import type { Plan } from './action.ts';

export const planTyping: Plan<'typing.set'> = ({ channelId }) =>
  Promise.resolve({
    type: 'publish',
    action: 'typing.set',
    draft: { kind: TYPING_KIND, tags: [['h', channelId]], content: '' },
  });
