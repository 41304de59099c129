/** An owner's key as a file has it, and a relay in memory that can cap, shuffle, repeat, refuse and fall silent. */
import { refuse, seconds } from '../../src/model/index.ts';
import type { Seconds } from '../../src/model/index.ts';
import { conversationKey, matchesFilter, newestFirst, openText, sealText, signEvent } from '../../src/nostr/index.ts';
import type { PagedFilter, VerifiedEvent } from '../../src/nostr/index.ts';
import { addressText, identifierOf } from '../../src/persona/index.ts';
import type { OwnerKey, OwnerPorts, PersonaRelay, Publication } from '../../src/persona/index.ts';
import { keyOf, owner } from './people.ts';

const SECRET = keyOf(1);
const SELF = conversationKey(SECRET, owner) ?? (() => { throw new Error('no key'); })();
let nonces = 0;

function nonce(): Uint8Array {
  nonces += 1;
  return keyOf(nonces);
}

export function seal(plaintext: string): string {
  const sealed = sealText(plaintext, SELF, nonce());
  if (!sealed.ok) throw new Error(sealed.detail);
  return sealed.payload;
}

/** Each call may be said to fail by `broken`, which is asked with its name. */
export function ownerKey(broken: (call: 'sign' | 'seal' | 'open') => 'unavailable' | undefined = () => undefined): OwnerKey {
  return {
    pubkey: owner,
    sign: async (template) => (broken('sign') === undefined ? { ok: true, event: signEvent(template, SECRET, nonce()) } : refuse('unavailable', 'no signer')),
    sealToSelf: async (plaintext) => (broken('seal') === undefined ? { ok: true, payload: seal(plaintext) } : refuse('unavailable', 'no signer')),
    openFromSelf: async (payload) => {
      if (broken('open') !== undefined) return refuse('unavailable', 'no signer');
      const opened = openText(payload, SELF);
      return opened.ok ? opened : refuse('unreadable', opened.detail);
    },
  };
}

export interface RelayFaults {
  /** At most so many events a page. */
  readonly cap?: () => number;
  /** The events of a page in the order in which they are sent, or another answer altogether. */
  readonly answer?: (events: readonly VerifiedEvent[], queries: readonly PagedFilter[]) => readonly VerifiedEvent[];
  readonly isComplete?: () => boolean;
  /** What is said of an event; `stored` also where nothing is said. */
  readonly verdict?: (event: VerifiedEvent) => { readonly publication: Publication; readonly stored: boolean } | undefined;
}

export interface MemoryRelay extends PersonaRelay {
  readonly events: () => readonly VerifiedEvent[];
  readonly published: readonly VerifiedEvent[];
  put(event: VerifiedEvent): void;
}

export function memoryRelay(faults: RelayFaults = {}): MemoryRelay {
  let stored: readonly VerifiedEvent[] = [];
  const published: VerifiedEvent[] = [];
  const put = (event: VerifiedEvent): void => {
    if (event.kind === 5) stored = stored.filter((one) => !deletes(event, one));
    // NIP-01: only the head of an address is kept; a request reaches what is no newer than itself.
    const rivals = stored.filter((one) => placeOf(one) !== undefined && placeOf(one) === placeOf(event));
    if (rivals.some((one) => newestFirst(one, event) < 0) || stored.some((one) => one.kind === 5 && deletes(one, event))) return;
    stored = [...stored.filter((one) => !rivals.includes(one) && one.id !== event.id), event];
  };
  return {
    events: () => stored,
    published,
    put,
    query: async (queries) => {
      const found = new Set(queries.flatMap((query) => answerTo(query, stored, faults.cap?.() ?? Infinity)));
      const events = [...found].sort(newestFirst);
      return { events: faults.answer?.(events, queries) ?? events, complete: faults.isComplete?.() ?? true };
    },
    publish: async (event) => {
      published.push(event);
      const { publication, stored: isStored } = faults.verdict?.(event) ?? { publication: { status: 'accepted' }, stored: true };
      if (isStored) put(event);
      return publication;
    },
  };
}

function answerTo({ beforeId, ...filter }: PagedFilter, events: readonly VerifiedEvent[], cap: number): readonly VerifiedEvent[] {
  return events
    .filter((event) => matchesFilter(filter, event))
    .filter((event) => beforeId === undefined || event.created_at < (filter.until ?? 0) || event.id > beforeId)
    .sort(newestFirst)
    .slice(0, Math.min(filter.limit ?? Infinity, cap));
}

function placeOf({ kind, pubkey, tags }: VerifiedEvent): string | undefined {
  return kind >= 30_000 && kind < 40_000 ? addressText({ kind, author: pubkey, d: identifierOf(tags) ?? '' }) : undefined;
}

function deletes(request: VerifiedEvent, event: VerifiedEvent): boolean {
  if (event.kind === 5) return false;
  return request.tags.some(([name, value]) => (name === 'e' && value === event.id)
    || (name === 'a' && value === placeOf(event) && event.created_at <= request.created_at));
}

/** Ports over a relay, with a clock that stands where it is told to. */
export function ports(relay: PersonaRelay, now: () => number = () => 1_700_000_000, key: OwnerKey = ownerKey()): OwnerPorts {
  return { key, relay, nowSec: (): Seconds => seconds(now()) };
}

export function signed(template: Parameters<OwnerKey['sign']>[0], secret = SECRET): VerifiedEvent {
  return signEvent(template, secret, nonce());
}
