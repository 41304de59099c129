/**
 * Filters that are refused whatever they would find, so that a client hears why its answer would be empty. What each
 * event's own audience is, is `access.ts`: it holds behind every filter that is let through here. Pure.
 */
import { refuse } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import type { RelayRefusal } from './answers.ts';
import { KIND, P_GATED } from './kinds.ts';
import type { Query } from './messages.ts';

/** The first refusal, or undefined. */
export function checkQueries(queries: readonly Query[], reader: Pubkey): RelayRefusal | undefined {
  return queries.map((query) => checkQuery(query, reader)).find((refusal) => refusal !== undefined);
}

function checkQuery(query: Query, reader: Pubkey): RelayRefusal | undefined {
  const { filter } = query;
  const toReader = areAll(filter.tags?.get('p'), reader);
  if (canFindGated(query) && !toReader) {
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
 * looks for an answer's parent, or reads a channel, asks for nothing private, and is shown nothing. So is a search: no
 * gated kind has words.
 */
function canFindGated({ filter: { kinds, ids, tags }, search }: Query): boolean {
  if (kinds !== undefined) return kinds.some((kind) => P_GATED.has(kind));
  return ids === undefined && tags?.has('h') !== true && search === undefined;
}

function areAll(values: readonly string[] | undefined, reader: Pubkey): boolean {
  return values !== undefined && values.length > 0 && values.every((value) => value === reader);
}
