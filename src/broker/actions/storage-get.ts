/**
 * `storage.get` (NIP-BA "Memory"): the value of a record's head. A missing head and a tombstone are `{}`; a relay that
 * does not answer is a failure, never an absent memory. An existing empty string is a value.
 */
import { refused, unanswered } from './action.ts';
import type { Plan } from './action.ts';
import { readEngramHead } from './engram-head.ts';
import { NO_OWNER } from './storage-address.ts';

export const planGet: Plan<'storage.get'> = async ({ slug }, context) => {
  const dTag = context.withOwner.engramAddress(slug);
  if (dTag === undefined) return refused('internal', NO_OWNER);
  const reading = await readEngramHead(dTag, context);
  if (reading.status === 'unreadable') return unanswered(reading.refusal, 'the memory could not be read; it may well exist');
  const value = reading.head?.value;
  const outcome = value === undefined ? {} : { value };
  return { type: 'answer', verdict: { status: 'succeeded', action: 'storage.get', outcome } };
};
