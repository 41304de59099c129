/**
 * The plan of each of the fifteen actions, complete by type: a new action is a file with a plan and its line here. This
 * host offers all of them.
 */
import type { ActionName, RequestOf } from '../wire/index.ts';
import { planCreate } from './agents-create.ts';
import { planDelete } from './agents-delete.ts';
import { planUpdate } from './agents-update.ts';
import { planRead } from './channel-read.ts';
import type { ActionContext, Decision, Plan } from './action.ts';
import { planPing } from './liveness-ping.ts';
import { planPost } from './message-post.ts';
import { planReply } from './message-reply.ts';
import { planEmit } from './observer-emit.ts';
import { planPresence } from './presence-set.ts';
import { planProfile } from './profile-set.ts';
import { planReaction } from './reaction-add.ts';
import { planAddress } from './storage-address.ts';
import { planGet } from './storage-get.ts';
import { planPut } from './storage-put.ts';
import { planTyping } from './typing-set.ts';

type Plans = { readonly [Name in ActionName]: Plan<Name> };

const PLANS: Plans = {
  'channel.read': planRead,
  'message.post': planPost,
  'message.reply': planReply,
  'reaction.add': planReaction,
  'profile.set': planProfile,
  'storage.address': planAddress,
  'storage.get': planGet,
  'storage.put': planPut,
  'presence.set': planPresence,
  'typing.set': planTyping,
  'observer.emit': planEmit,
  'liveness.ping': planPing,
  'agents.create': planCreate,
  'agents.update': planUpdate,
  'agents.delete': planDelete,
};

/** What a request comes to. */
export function decide<Name extends ActionName>(request: RequestOf<Name>, context: ActionContext): Promise<Decision<Name>> {
  const plan: Plans[Name] = PLANS[request.action];
  return plan(request.args, context);
}
