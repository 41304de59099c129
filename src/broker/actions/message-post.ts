/** `message.post` (NIP-BA "Channel and messages"): a top-level message. Mentions notify; they grant no membership. */
import type { Plan } from './action.ts';
import { contentRefusal, messageDraft } from './message.ts';

export const planPost: Plan<'message.post'> = async (args) =>
  contentRefusal(args.content) ?? { type: 'publish', action: 'message.post', draft: messageDraft(args) };
