/**
 * `reaction.add` (NIP-BA "Channel and messages"): kind 7 with one `e` tag, as Buzz sends it: the relay knows the
 * channel from the target. That the target stands in the channel is therefore checked here, before anything is signed.
 */
import { unreachable } from '../../model/index.ts';
import { refused, unanswered } from './action.ts';
import type { Plan } from './action.ts';
import { readEvent } from './ancestry.ts';

const REACTION_KIND = 7;

export const planReaction: Plan<'reaction.add'> = async ({ channelId, targetEventId, reaction }, { fetch }) => {
  const target = await readEvent(targetEventId, channelId, fetch);
  switch (target.status) {
    case 'found':
      return {
        type: 'publish',
        action: 'reaction.add',
        draft: { kind: REACTION_KIND, tags: [['e', targetEventId]], content: reaction },
      };
    case 'missing':
      return refused('action_failed', 'the target is not a readable event of this channel');
    case 'unreadable':
      return unanswered(target.refusal);
    default:
      return unreachable(target);
  }
};
