/**
 * `storage.put` (NIP-BA "Memory"): replaces a record by a kind 30174 event stamped above whatever stands at its address
 * (NIP-AE). A stamp implausibly far ahead is a conflict and not outrun: nothing is published. After the relay's OK the
 * head is read again; that another event is there then does not undo the publication, which succeeded, but is said in
 * the log, because somebody else writes with this agent's key.
 */
import { seconds, shortId } from '../../model/index.ts';
import { ENGRAM_KIND, engramBody } from '../../nostr/index.ts';
import { MAX_AHEAD_SEC, refused, unanswered } from './action.ts';
import type { ActionContext, Done, Plan } from './action.ts';
import { readEngramHead } from './engram-head.ts';
import { NO_OWNER } from './storage-address.ts';

export const planPut: Plan<'storage.put'> = async ({ slug, value }, context) => {
  const { owner, withOwner } = context;
  const dTag = withOwner.engramAddress(slug);
  if (dTag === undefined) return refused('internal', NO_OWNER);
  if (!(await context.alone(`${ENGRAM_KIND}:${dTag}`))) {
    return refused('internal', 'another write of this record is under way; nothing was sent');
  }
  const reading = await readEngramHead(dTag, context);
  if (reading.status === 'unreadable') return unanswered(reading.refusal);
  const { newestSec } = reading;
  if (newestSec !== undefined && newestSec > context.now() + MAX_AHEAD_SEC) {
    return refused('action_failed', 'a conflict: the record is stamped far in the future; nothing was sent');
  }
  const sealing = withOwner.seal(engramBody(slug, value));
  if (!sealing.ok) return refused('internal', NO_OWNER);
  return {
    type: 'publish',
    action: 'storage.put',
    draft: {
      kind: ENGRAM_KIND,
      tags: [['d', dTag], ['p', owner]],
      content: sealing.payload,
      notBefore: seconds((newestSec ?? -1) + 1),
    },
    ended: (done) => lookAgain(dTag, context, done),
  };
};

async function lookAgain(dTag: string, context: ActionContext, done: Done | undefined): Promise<void> {
  if (done === undefined) return;
  const reading = await readEngramHead(dTag, context);
  const head = reading.status === 'read' ? reading.head?.event.id : undefined;
  if (head === done.eventId) return;
  // The address tells no slug to whoever reads the log.
  const fields = { agent: shortId(context.agent), record: shortId(dTag), event: done.eventId };
  if (reading.status === 'unreadable') context.log.info('broker: a memory could not be read again', fields);
  else context.log.warn('broker: a memory was written, and another event is its head', { ...fields, head });
}
