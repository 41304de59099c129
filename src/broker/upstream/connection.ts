/**
 * What a relay connection is, what can happen to it and what it may ask for: the words of `machine.ts`, which decides.
 * Pure. Deadlines are part of the state; `nextWakeMs` is the earliest one.
 */
import { later } from '../../model/index.ts';
import type { EventId, Milliseconds } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { PING_EVERY_MS } from './limits.ts';
import type { Control } from './messages.ts';
import { hasQueued, outboxDueMs } from './outbox.ts';
import type { Outbox, OutboxCommand, Publication } from './outbox.ts';
import { requestsDueMs, someRequest } from './requests.ts';
import type { RequestCommand, Requests } from './requests.ts';

/** What is true of one living connection. */
export interface Line {
  readonly readyAtMs: Milliseconds | undefined;
  readonly authenticated: boolean;
  /** Undefined while the socket is not read: then silence is ours. */
  readonly pingDueMs: Milliseconds | undefined;
  readonly pongDueMs: Milliseconds | undefined;
  /** Something waits for AUTH and no challenge has come. */
  readonly challengeDueMs: Milliseconds | undefined;
  /** The relay said rate-limited: nothing is sent before. */
  readonly heldUntilMs: Milliseconds | undefined;
  /** Undefined until the relay has said rate-limited on this connection; from then on REQs keep a pace. */
  readonly nextRequestMs: Milliseconds | undefined;
  /** When the relay last said rate-limited, to whatever. */
  readonly limitedAtMs: Milliseconds | undefined;
}

export type Link =
  | { readonly status: 'idle' }
  | { readonly status: 'waiting'; readonly untilMs: Milliseconds }
  | { readonly status: 'connecting'; readonly deadlineMs: Milliseconds }
  | { readonly status: 'greeting'; readonly deadlineMs: Milliseconds; readonly line: Line }
  | {
    readonly status: 'authenticating'; readonly deadlineMs: Milliseconds; readonly challenge: string;
    /** Our AUTH event, once it is signed. */
    readonly authId: EventId | undefined; readonly line: Line;
  }
  | { readonly status: 'ready'; readonly line: Line }
  | { readonly status: 'closed' };

export interface State {
  readonly link: Link;
  /** Consecutive attempts that did not become ready. */
  readonly attempts: number;
  /** Index of the next wait; reset by a connection that stood. */
  readonly backoff: number;
  readonly lastError: string | undefined;
  readonly outbox: Outbox;
  readonly requests: Requests;
}

/** `chance` is a number in [0, 1): the jitter of the wait, should this input lead to one. */
export type Input =
  | { readonly type: 'start' }
  | { readonly type: 'opened' }
  | { readonly type: 'lost'; readonly reason: string; readonly chance: number }
  | { readonly type: 'message'; readonly message: Control; readonly chance: number }
  | { readonly type: 'event'; readonly id: string; readonly event: VerifiedEvent }
  | { readonly type: 'signed'; readonly eventId: EventId; readonly text: string }
  | { readonly type: 'pong' }
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' }
  | { readonly type: 'publish'; readonly publication: Publication }
  | { readonly type: 'fetch'; readonly id: string; readonly deadlineMs: Milliseconds }
  | { readonly type: 'subscribe'; readonly id: string }
  | { readonly type: 'unsubscribe'; readonly id: string }
  | { readonly type: 'tick'; readonly chance: number }
  | { readonly type: 'close' };

export type Command =
  | OutboxCommand
  | RequestCommand
  | { readonly type: 'connect' }
  /** Destroys the socket; whatever it still says is no input. */
  | { readonly type: 'disconnect' }
  | { readonly type: 'hang-up' }
  | { readonly type: 'sign'; readonly challenge: string }
  | { readonly type: 'ping' };

export interface Step {
  readonly state: State;
  readonly commands: readonly Command[];
}

export const INITIAL: State = {
  link: { status: 'idle' }, attempts: 0, backoff: 0, lastError: undefined, outbox: new Map(), requests: new Map(),
};

/** The earliest moment a `tick` changes something. */
export function nextWakeMs(state: State): Milliseconds | undefined {
  const { link } = state;
  if (link.status === 'closed') return undefined;
  const ready = link.status === 'ready';
  const line = lineOf(link);
  const due = [
    outboxDueMs(state.outbox, ready),
    requestsDueMs(state.requests, ready),
    link.status === 'waiting' ? link.untilMs : undefined,
    'deadlineMs' in link ? link.deadlineMs : undefined,
    line?.pingDueMs, line?.pongDueMs, line?.challengeDueMs,
    ready ? flushDueMs(state, link.line) : undefined,
  ];
  return due.reduce((earliest, at) => (at !== undefined && (earliest === undefined || at < earliest) ? at : earliest));
}

export function newLine(now: Milliseconds): Line {
  return {
    readyAtMs: undefined, authenticated: false, pingDueMs: later(now, PING_EVERY_MS), pongDueMs: undefined,
    challengeDueMs: undefined, heldUntilMs: undefined, nextRequestMs: undefined, limitedAtMs: undefined,
  };
}

/** Any word of the relay is a sign of life. */
export function alive(state: State): State {
  return lineOf(state.link)?.pongDueMs === undefined ? state : withLine(state, (line) => ({ ...line, pongDueMs: undefined }));
}

export function withLine(state: State, change: (line: Line) => Line): State {
  const { link } = state;
  return 'line' in link ? { ...state, link: { ...link, line: change(link.line) } } : state;
}

export function lineOf(link: Link): Line | undefined {
  return 'line' in link ? link.line : undefined;
}

/** When what is queued may go out: a pause of the relay's holds everything, a pace holds REQs. */
function flushDueMs(state: State, line: Line): Milliseconds | undefined {
  if (hasQueued(state.outbox)) return line.heldUntilMs;
  return someRequest(state.requests, 'queued') ? latest(line.heldUntilMs, line.nextRequestMs) : undefined;
}

function latest(one: Milliseconds | undefined, other: Milliseconds | undefined): Milliseconds | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}
