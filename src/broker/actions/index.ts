/**
 * The fifteen actions of NIP-BA: what each comes to before it has any effect.
 * in: src/model, src/nostr, the wire's types. out: the decision on a request, cursors, and the parts of a kind 9 message.
 */
export { decide } from './table.ts';
export { MAX_AHEAD_SEC, standsIn } from './action.ts';
export { readEngramHead } from './engram-head.ts';
export type { ActionContext, Decision, Done, OwnerConversation, Refused } from './action.ts';
export { openCursors } from './cursor.ts';
export type { Cursors } from './cursor.ts';
export { messageDraft, MESSAGE_KIND } from './message.ts';
