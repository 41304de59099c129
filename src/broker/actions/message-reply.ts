/**
 * `message.reply` (NIP-BA "Channel and messages"): an answer that names its thread's root and its immediate parent.
 * Missing, inaccessible or inconsistent ancestry fails here, before anything is signed.
 */
import { unreachable } from '../../model/index.ts';
import { refused, unanswered } from './action.ts';
import type { Plan } from './action.ts';
import { ancestryOf } from './ancestry.ts';
import { contentRefusal, messageDraft } from './message.ts';

export const planReply: Plan<'message.reply'> = async ({ replyToEventId, ...message }, { fetch }) => {
  const refusal = contentRefusal(message.content);
  if (refusal !== undefined) return refusal;
  const ancestry = await ancestryOf(message.channelId, replyToEventId, fetch);
  switch (ancestry.status) {
    case 'known':
      return { type: 'publish', action: 'message.reply', draft: messageDraft({ ...message, thread: ancestry }) };
    case 'missing':
      return refused('action_failed', ancestry.detail);
    case 'unreadable':
      return unanswered(ancestry.refusal);
    default:
      return unreachable(ancestry);
  }
};
