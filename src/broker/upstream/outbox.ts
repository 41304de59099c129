/**
 * Publications under way, as a part of the connection machine. Decides what is sent when and what its end is. The very
 * same text is sent again after a lost connection or a late AUTH, never a new event; the caller alone signs.
 *
 * An entry is queued (send when possible), held (the relay said rate-limited), parked (waits for AUTH) or sent (waits
 * for its OK). `rejected` is said only of a no to the event itself, when every send was answered: after a send whose
 * answer was lost, a later no proves nothing about the earlier one. "Not now" is no verdict: whoever runs out of time
 * over it has an unknown outcome, and may send the same event later.
 */
import { excerpt, later, unreachable } from '../../model/index.ts';
import type { EventId, Milliseconds } from '../../model/index.ts';
import {
  EPHEMERAL_ANSWER_MS, MAX_OUTBOX, MAX_OUTBOX_CHARACTERS, MAX_OUTBOX_EPHEMERAL, RESEND_AFTER_MS,
} from './limits.ts';
import { reasonWord, retryAt } from './messages.ts';

type Place =
  | { readonly status: 'queued' }
  | { readonly status: 'held'; readonly untilMs: Milliseconds }
  | { readonly status: 'parked' }
  | { readonly status: 'sent'; readonly againMs: Milliseconds | undefined };

/** One publication. `text` is the whole EVENT message. */
export interface Publication {
  /** Tells two publications of one event apart. */
  readonly ticket: number;
  readonly eventId: EventId;
  readonly text: string;
  readonly ephemeral: boolean;
  readonly deadlineMs: Milliseconds;
}

interface Entry extends Publication {
  readonly place: Place;
  readonly sends: number;
  /** Already sent twice on this connection. */
  readonly repeated: boolean;
  readonly authRetried: boolean;
  /** An earlier send was followed by another one, or ended with its connection, before an answer. */
  readonly answerLost: boolean;
  /** The last `not now` of the relay. */
  readonly answer: string | undefined;
}

/** By ticket, oldest first. */
export type Outbox = ReadonlyMap<number, Entry>;

export type Settlement =
  | { readonly status: 'accepted' }
  | { readonly status: 'rejected' | 'unknown'; readonly reason: string }
  | { readonly status: 'dropped'; readonly reason: string };

export type OutboxCommand =
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'settle'; readonly ticket: number; readonly settlement: Settlement };

export interface OutboxStep {
  readonly outbox: Outbox;
  readonly commands: readonly OutboxCommand[];
}

/** Takes a publication in. At a limit the oldest ephemeral one goes first; without one to drop, the new one goes. */
export function admit(outbox: Outbox, publication: Publication): OutboxStep {
  const next = new Map(outbox);
  const commands: OutboxCommand[] = [];
  next.set(publication.ticket, {
    ...publication,
    place: { status: 'queued' },
    sends: 0,
    repeated: false,
    authRetried: false,
    answerLost: false,
    answer: undefined,
  });
  for (let limit = limitReached(next); limit !== undefined; limit = limitReached(next)) {
    const oldest = [...next.values()].find((entry) => entry.ephemeral)?.ticket ?? publication.ticket;
    next.delete(oldest);
    commands.push({ type: 'settle', ticket: oldest, settlement: { status: 'dropped', reason: limit } });
  }
  return { outbox: next, commands };
}

/** The relay's OK for an event. One that nothing waits for is no news. */
export function answered(
  outbox: Outbox,
  ok: { readonly eventId: EventId; readonly accepted: boolean; readonly reason: string },
  authenticated: boolean,
  now: Milliseconds,
): OutboxStep {
  const next = new Map(outbox);
  const commands: OutboxCommand[] = [];
  for (const entry of outbox.values()) {
    if (entry.eventId !== ok.eventId || entry.place.status !== 'sent') continue;
    const verdict = judge(entry, ok, authenticated, now);
    if ('settlement' in verdict) {
      next.delete(entry.ticket);
      commands.push({ type: 'settle', ticket: entry.ticket, settlement: verdict.settlement });
    } else {
      next.set(entry.ticket, verdict.entry);
    }
  }
  return { outbox: next, commands };
}

/** Sends what is queued: messages before ephemeral events, each in the order it came. */
export function sendQueued(outbox: Outbox, now: Milliseconds): OutboxStep {
  const queued = [...outbox.values()].filter((entry) => entry.place.status === 'queued');
  if (queued.length === 0) return { outbox, commands: [] };
  const next = new Map(outbox);
  const ordered = [...queued.filter((entry) => !entry.ephemeral), ...queued.filter((entry) => entry.ephemeral)];
  for (const entry of ordered) {
    const answerByMs = later(now, EPHEMERAL_ANSWER_MS);
    next.set(entry.ticket, {
      ...entry,
      sends: entry.sends + 1,
      place: { status: 'sent', againMs: entry.repeated ? undefined : later(now, RESEND_AFTER_MS) },
      deadlineMs: entry.ephemeral && answerByMs < entry.deadlineMs ? answerByMs : entry.deadlineMs,
    });
  }
  return { outbox: next, commands: ordered.map(({ text }) => ({ type: 'send', text })) };
}

/** Ends what is over time; `ready` also queues what may be sent again. */
export function outboxTick(outbox: Outbox, ready: boolean, now: Milliseconds): OutboxStep {
  const next = new Map(outbox);
  const commands: OutboxCommand[] = [];
  for (const entry of outbox.values()) {
    const againMs = dueMs(entry.place);
    if (entry.deadlineMs <= now) {
      next.delete(entry.ticket);
      commands.push({ type: 'settle', ticket: entry.ticket, settlement: undecided(entry, 'the time ran out') });
    } else if (ready && againMs !== undefined && againMs <= now) {
      const unanswered = entry.place.status === 'sent';
      next.set(entry.ticket, {
        ...entry, place: { status: 'queued' }, repeated: unanswered, answerLost: entry.answerLost || unanswered,
      });
    }
  }
  return { outbox: next, commands };
}

/** The connection is gone: what was sent is sent again on the next one. */
export function outboxLost(outbox: Outbox): Outbox {
  return mapped(outbox, (entry) => ({
    ...entry,
    place: entry.place.status === 'held' ? entry.place : { status: 'queued' },
    repeated: false,
    authRetried: false,
    answerLost: entry.answerLost || entry.place.status === 'sent',
  }));
}

/** AUTH succeeded: what waited for it, and what was sent before it without an answer, is sent (again). */
export function outboxAuthenticated(outbox: Outbox): Outbox {
  return mapped(outbox, (entry) => {
    const unanswered = entry.place.status === 'sent';
    if (!unanswered && entry.place.status !== 'parked') return entry;
    return { ...entry, place: { status: 'queued' }, answerLost: entry.answerLost || unanswered };
  });
}

/** The end of the connection: everything that waits settles. */
export function outboxClosed(outbox: Outbox): readonly OutboxCommand[] {
  return [...outbox.values()].map((entry) =>
    ({ type: 'settle', ticket: entry.ticket, settlement: undecided(entry, 'the connection was closed') }));
}

/** When `outboxTick` next has something to do; held and sent entries count only while the connection is ready. */
export function outboxDueMs(outbox: Outbox, ready: boolean): Milliseconds | undefined {
  let earliest: Milliseconds | undefined;
  for (const entry of outbox.values()) {
    for (const at of [entry.deadlineMs, ready ? dueMs(entry.place) : undefined]) {
      if (at !== undefined && (earliest === undefined || at < earliest)) earliest = at;
    }
  }
  return earliest;
}

export function isParked(outbox: Outbox): boolean {
  return [...outbox.values()].some((entry) => entry.place.status === 'parked');
}

export function hasQueued(outbox: Outbox): boolean {
  return [...outbox.values()].some((entry) => entry.place.status === 'queued');
}

function judge(
  entry: Entry, ok: { readonly accepted: boolean; readonly reason: string }, authenticated: boolean, now: Milliseconds,
): { readonly settlement: Settlement } | { readonly entry: Entry } {
  const word = reasonWord(ok.reason);
  // NIP-01: `duplicate:` means that the relay has it, whatever the flag says.
  if (ok.accepted || word === 'duplicate') return { settlement: { status: 'accepted' } };
  const answer = excerpt(ok.reason, 200);
  if (word === 'auth-required' && !entry.authRetried) {
    const place: Place = { status: authenticated ? 'queued' : 'parked' };
    return { entry: { ...entry, place, authRetried: true, answer } };
  }
  if (word === 'rate-limited') {
    return { entry: { ...entry, place: { status: 'held', untilMs: retryAt(ok.reason, now) }, answer } };
  }
  if (entry.answerLost) return { settlement: undecided({ ...entry, answer }, 'an earlier send was not answered') };
  return { settlement: { status: 'rejected', reason: answer } };
}

function undecided({ sends, answer }: Entry, why: string): Settlement {
  const found = sends === 0 ? 'it was never sent' : answer === undefined ? undefined : `the last answer: ${answer}`;
  return { status: 'unknown', reason: found === undefined ? why : `${why}; ${found}` };
}

function dueMs(place: Place): Milliseconds | undefined {
  switch (place.status) {
    case 'held':
      return place.untilMs;
    case 'sent':
      return place.againMs;
    case 'queued':
    case 'parked':
      return undefined;
    default:
      return unreachable(place);
  }
}

function limitReached(outbox: Outbox): string | undefined {
  let ephemeral = 0;
  let characters = 0;
  for (const entry of outbox.values()) {
    ephemeral += entry.ephemeral ? 1 : 0;
    characters += entry.text.length;
  }
  if (outbox.size > MAX_OUTBOX) return `more than ${MAX_OUTBOX} events wait`;
  if (ephemeral > MAX_OUTBOX_EPHEMERAL) return `more than ${MAX_OUTBOX_EPHEMERAL} ephemeral events wait`;
  if (characters > MAX_OUTBOX_CHARACTERS) return `more than ${MAX_OUTBOX_CHARACTERS} characters wait`;
  return undefined;
}

function mapped(outbox: Outbox, change: (entry: Entry) => Entry): Outbox {
  return new Map([...outbox].map(([ticket, entry]) => [ticket, change(entry)]));
}
