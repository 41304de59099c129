/**
 * Subscriptions and fetches, as a part of the connection machine: which REQ is asked when, and what the relay's CLOSED
 * and EOSE mean for it. Filters stay outside: they are evaluated by the driver each time a REQ goes out.
 *
 * A request is queued (ask when possible), held (ask at a time), parked (waits for AUTH), open (asked) or refused (given
 * up until the next connection). A subscription outlives connections; a fetch that was asked on one ends with it.
 */
import { later, unreachable } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { BACKOFF_SEC, MAX_REFUSALS, STABLE_MS } from './limits.ts';
import { closeText, reasonWord, retryAt } from './messages.ts';

type Place =
  | { readonly status: 'queued' }
  | { readonly status: 'held'; readonly untilMs: Milliseconds }
  | { readonly status: 'parked' }
  | { readonly status: 'open'; readonly eose: boolean; readonly sinceMs: Milliseconds }
  | { readonly status: 'refused' };

interface Request {
  readonly id: string;
  readonly sort: 'subscription' | 'fetch';
  /** A fetch ends here, incomplete. */
  readonly deadlineMs: Milliseconds | undefined;
  readonly place: Place;
  readonly authRetried: boolean;
  readonly refusals: number;
}

/** By subscription id, in the order they were made. */
export type Requests = ReadonlyMap<string, Request>;

export type RequestCommand =
  | { readonly type: 'request'; readonly id: string }
  | { readonly type: 'send'; readonly text: string }
  /** The stored events of a subscription have all been handed over. */
  | { readonly type: 'eose'; readonly id: string }
  | { readonly type: 'deliver'; readonly id: string; readonly event: VerifiedEvent; readonly stored: boolean }
  | { readonly type: 'collect'; readonly id: string; readonly event: VerifiedEvent }
  | { readonly type: 'finish'; readonly id: string; readonly complete: boolean; readonly refusal?: string };

export interface RequestStep {
  readonly requests: Requests;
  readonly commands: readonly RequestCommand[];
}

/** A new request; the same id replaces the earlier one, on the relay too (NIP-01). */
export function ask(requests: Requests, id: string, deadlineMs?: Milliseconds): Requests {
  const sort = deadlineMs === undefined ? 'subscription' : 'fetch';
  const request = { id, sort, deadlineMs, authRetried: false, refusals: 0 } as const;
  return new Map(requests).set(id, { ...request, place: { status: 'queued' } });
}

/** Ends a request of ours; a fetch ends incomplete. */
export function drop(requests: Requests, id: string): RequestStep {
  const request = requests.get(id);
  if (request === undefined) return { requests, commands: [] };
  const next = new Map(requests);
  next.delete(id);
  return { requests: next, commands: endOf(request, false) };
}

/**
 * A verified event that matches the request. A subscription takes it in any place: while it waits to be asked again the
 * relay may still serve the earlier REQ, and an ephemeral event never comes back. Only what follows an EOSE is live.
 */
export function received(requests: Requests, id: string, event: VerifiedEvent): readonly RequestCommand[] {
  const request = requests.get(id);
  if (request === undefined) return [];
  const { place, sort } = request;
  if (sort === 'subscription') return [{ type: 'deliver', id, event, stored: place.status !== 'open' || !place.eose }];
  return place.status === 'open' ? [{ type: 'collect', id, event }] : [];
}

export function storedEnded(requests: Requests, id: string): RequestStep {
  const request = requests.get(id);
  if (request?.place.status !== 'open' || request.place.eose) return { requests, commands: [] };
  const next = new Map(requests);
  if (request.sort === 'fetch') {
    next.delete(id);
    return { requests: next, commands: endOf(request, true) };
  }
  next.set(id, { ...request, place: { ...request.place, eose: true } });
  return { requests: next, commands: [{ type: 'eose', id }] };
}

/** The relay's CLOSED. */
export function refused(
  requests: Requests, closed: { readonly id: string; readonly reason: string }, authenticated: boolean, now: Milliseconds,
): RequestStep {
  const request = requests.get(closed.id);
  if (request?.place.status !== 'open') return { requests, commands: [] };
  const next = new Map(requests);
  const word = reasonWord(closed.reason);
  if (word === 'auth-required' && !request.authRetried) {
    next.set(request.id, { ...request, authRetried: true, place: { status: authenticated ? 'queued' : 'parked' } });
  } else if (word === 'rate-limited') {
    next.set(request.id, { ...request, place: { status: 'held', untilMs: retryAt(closed.reason, now) } });
  } else if (request.sort === 'fetch') {
    next.delete(request.id);
    return { requests: next, commands: [{ type: 'finish', id: request.id, complete: false, refusal: closed.reason }] };
  } else {
    const stood = now - request.place.sinceMs >= STABLE_MS;
    const refusals = (stood ? 0 : request.refusals) + 1;
    next.set(request.id, { ...request, refusals, place: afterRefusal(refusals, now) });
  }
  return { requests: next, commands: [] };
}

/** Asks what is queued, at most `most` of it. */
export function askQueued(requests: Requests, most: number, now: Milliseconds): RequestStep {
  const queued = [...requests.values()].filter((request) => request.place.status === 'queued').slice(0, most);
  if (queued.length === 0) return { requests, commands: [] };
  const next = new Map(requests);
  for (const request of queued) next.set(request.id, { ...request, place: { status: 'open', eose: false, sinceMs: now } });
  return { requests: next, commands: queued.map(({ id }) => ({ type: 'request', id })) };
}

/** Ends fetches over time; `ready` also queues what was held until now. */
export function requestsTick(requests: Requests, ready: boolean, now: Milliseconds): RequestStep {
  const next = new Map(requests);
  const commands: RequestCommand[] = [];
  for (const request of requests.values()) {
    if (request.deadlineMs !== undefined && request.deadlineMs <= now) {
      next.delete(request.id);
      commands.push(...endOf(request, false));
    } else if (ready && request.place.status === 'held' && request.place.untilMs <= now) {
      next.set(request.id, { ...request, place: { status: 'queued' } });
    }
  }
  return { requests: next, commands };
}

/** The connection is gone: subscriptions are asked anew on the next one, a fetch that was asked ends incomplete. */
export function requestsLost(requests: Requests): RequestStep {
  const next = new Map<string, Request>();
  const commands: RequestCommand[] = [];
  for (const request of requests.values()) {
    if (request.sort === 'fetch' && request.place.status === 'open') {
      commands.push({ type: 'finish', id: request.id, complete: false });
    } else {
      next.set(request.id, { ...request, place: { status: 'queued' }, authRetried: false, refusals: 0 });
    }
  }
  return { requests: next, commands };
}

/** AUTH succeeded: what waited for it is asked, and subscriptions are asked anew as the one we now are. */
export function requestsAuthenticated(requests: Requests): Requests {
  return mapped(requests, (request) => {
    const anew = request.sort === 'subscription' && request.place.status === 'open';
    return anew || request.place.status === 'parked' ? { ...request, place: { status: 'queued' } } : request;
  });
}

/** A rate-limited NOTICE names no request (Buzz): whatever has no EOSE yet may have been thrown away, so ask again. */
export function requestsUnanswered(requests: Requests): Requests {
  return mapped(requests, (request) =>
    request.place.status === 'open' && !request.place.eose ? { ...request, place: { status: 'queued' } } : request);
}

/** The end of the connection: every fetch settles. */
export function requestsClosed(requests: Requests): readonly RequestCommand[] {
  return [...requests.values()].flatMap(({ id, sort }) => (sort === 'fetch' ? [{ type: 'finish', id, complete: false }] : []));
}

/** When `requestsTick` next has something to do; held requests count only while the connection is ready. */
export function requestsDueMs(requests: Requests, ready: boolean): Milliseconds | undefined {
  let earliest: Milliseconds | undefined;
  for (const { deadlineMs, place } of requests.values()) {
    for (const at of [deadlineMs, ready && place.status === 'held' ? place.untilMs : undefined]) {
      if (at !== undefined && (earliest === undefined || at < earliest)) earliest = at;
    }
  }
  return earliest;
}

export function someRequest(requests: Requests, status: 'queued' | 'parked'): boolean {
  return [...requests.values()].some((request) => request.place.status === status);
}

function afterRefusal(refusals: number, now: Milliseconds): Place {
  const delaySec = BACKOFF_SEC[Math.min(refusals, BACKOFF_SEC.length) - 1] ?? 1;
  return refusals > MAX_REFUSALS ? { status: 'refused' } : { status: 'held', untilMs: later(now, delaySec * 1000) };
}

function endOf(request: Request, complete: boolean): readonly RequestCommand[] {
  const finish: readonly RequestCommand[] =
    request.sort === 'fetch' ? [{ type: 'finish', id: request.id, complete }] : [];
  switch (request.place.status) {
    case 'open':
      return [{ type: 'send', text: closeText(request.id) }, ...finish];
    case 'queued':
    case 'held':
    case 'parked':
    case 'refused':
      return finish;
    default:
      return unreachable(request.place);
  }
}

function mapped(requests: Requests, change: (request: Request) => Request): Requests {
  return new Map([...requests].map(([id, request]) => [id, change(request)]));
}
