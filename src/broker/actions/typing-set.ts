/** `typing.set` (NIP-BA "Live signals"): kind 20002 in the channel, without content. It expires by the relay's policy. */
import type { Plan } from './action.ts';

const TYPING_KIND = 20_002;

export const planTyping: Plan<'typing.set'> = ({ channelId }) =>
  Promise.resolve({
    type: 'publish',
    action: 'typing.set',
    draft: { kind: TYPING_KIND, tags: [['h', channelId]], content: '' },
  });
