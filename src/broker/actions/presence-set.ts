/** `presence.set` (NIP-BA "Live signals"): kind 20001, the bare status as its content, no tags. `offline` clears it. */
import { PRESENCE_KIND } from '../../nostr/index.ts';
import type { Plan } from './action.ts';

export const planPresence: Plan<'presence.set'> = ({ status }) =>
  Promise.resolve({
    type: 'publish',
    action: 'presence.set',
    draft: { kind: PRESENCE_KIND, tags: [], content: status },
  });
