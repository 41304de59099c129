/**
 * Filters that are refused whatever they would find, so that a client hears why its answer would be empty. What each
 * event's own audience is, is `access.ts`: it holds behind every filter that is let through here. Pure.
 */
import { refuse } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import type { Filter } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';
import { KIND, P_GATED } from './kinds.ts';
import type { Query } from './messages.ts';

/** The first refusal, or undefined. */
export function checkQueries(queries: readonly Query[], reader: Pubkey): RelayRefusal | undefined {
  return queries.map(({ filter }) => checkFilter(filter, reader)).find((refusal) => refusal !== undefined);
}

function checkFilter(filter: Filter, reader: Pubkey): RelayRefusal | undefined {
  const toReader = areAll(filter.tags?.get('p'), reader);
  if (canFindGated(filter) && !toReader) {
    return refuse('restricted', 'p-gated events require #p matching your pubkey');
  }
  // NIP-AE: an engram is between the agent that wrote it and its owner.
  if (filter.kinds?.includes(KIND.engram) === true && !toReader && !areAll(filter.authors, reader)) {
    return refuse('restricted', 'agent-engram reads require authors=[self] or #p=[self]');
  }
  return undefined;
}

/**
 * A filter without `kinds` can find any kind. Where it names events or channels it is let through all the same: whoever
 * looks for an answer's parent, or reads a channel, asks for nothing private, and is shown nothing.
 */
function canFindGated({ kinds, ids, tags }: Filter): boolean {
  if (kinds !== undefined) return kinds.some((kind) => P_GATED.has(kind));
  return ids === undefined && tags?.has('h') !== true;
}

function areAll(values: readonly string[] | undefined, reader: Pubkey): boolean {
  return values !== undefined && values.length > 0 && values.every((value) => value === reader);
}
