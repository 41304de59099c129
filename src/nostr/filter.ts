/** NIP-01 filters: the shape, one strict parse, and the match that a relay and a client must agree on. */
import { excerpt, refuse } from '../model/index.ts';
import type { EventId, Refusal } from '../model/index.ts';
import type { UnverifiedEvent } from './event.ts';

/** Times in seconds, both inclusive. `tags` maps a single letter to the values one of which must occur. */
export interface Filter {
  readonly ids?: readonly string[];
  readonly authors?: readonly string[];
  readonly kinds?: readonly number[];
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
  readonly tags?: ReadonlyMap<string, readonly string[]>;
}

/**
 * A filter with the composite cursor of NIP-AP "Current version and history": `beforeId` goes with `until`, and asks for
 * what comes after that event, newest first and the lower id first within a second. An extension: a relay may not know it.
 */
export interface PagedFilter extends Filter {
  readonly beforeId?: EventId;
}

const HEX64 = /^[0-9a-f]{64}$/;
const TAG_NAME = /^#[A-Za-z]$/;

/** Outside data as a filter. Unknown members, wrong types and prefixes of ids are refused with the member's name. */
export function parseFilter(value: unknown): { readonly ok: true; readonly filter: Filter } | Refusal<'invalid'> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad('filter', 'an object');
  const filter: { -readonly [Member in keyof Filter]: Filter[Member] } = {};
  const tags = new Map<string, readonly string[]>();
  for (const [name, member] of Object.entries(value)) {
    if (name === 'ids' || name === 'authors') {
      if (!isTexts(member) || !member.every((text) => HEX64.test(text))) return bad(name, 'an array of 64-hex strings');
      filter[name] = [...member];
    } else if (name === 'kinds') {
      if (!isWholes(member)) return bad(name, 'an array of integers');
      filter.kinds = [...member];
    } else if (name === 'since' || name === 'until' || name === 'limit') {
      if (!isWhole(member)) return bad(name, 'a whole number');
      filter[name] = member;
    } else if (TAG_NAME.test(name)) {
      if (!isTexts(member)) return bad(name, 'an array of strings');
      tags.set(name.slice(1), [...member]);
    } else {
      return bad(excerpt(name), 'a member of NIP-01: ids, authors, kinds, #<letter>, since, until, limit');
    }
  }
  return { ok: true, filter: tags.size > 0 ? { ...filter, tags } : filter };
}

/** True when every member of the filter holds for the event; `limit` does not take part. */
export function matchesFilter(filter: Filter, event: UnverifiedEvent): boolean {
  if (filter.ids !== undefined && !filter.ids.includes(event.id)) return false;
  if (filter.authors !== undefined && !filter.authors.includes(event.pubkey)) return false;
  if (filter.kinds !== undefined && !filter.kinds.includes(event.kind)) return false;
  if (filter.since !== undefined && event.created_at < filter.since) return false;
  if (filter.until !== undefined && event.created_at > filter.until) return false;
  for (const [letter, wanted] of filter.tags ?? []) {
    const found = event.tags.some((tag) => tag[0] === letter && tag[1] !== undefined && wanted.includes(tag[1]));
    if (!found) return false;
  }
  return true;
}

/** The filter as it goes over the wire. */
export function filterToWire(filter: PagedFilter): Readonly<Record<string, unknown>> {
  const { tags, beforeId, ...members } = filter;
  const wire: Record<string, unknown> = { ...members, ...(beforeId === undefined ? {} : { before_id: beforeId }) };
  for (const [letter, values] of tags ?? []) wire[`#${letter}`] = values;
  return wire;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isWholes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isWhole);
}

function bad(field: string, expected: string): Refusal<'invalid'> {
  return refuse('invalid', `${field}: expected ${expected}`);
}
