/**
 * The relay connection as a reducer: pure, no clock, chance, socket or key. Deadlines are state
 * (`connection.ts`). Publications and requests (`outbox.ts`, `requests.ts`) are kept in every status but `closed`.
 *
 *                    idle     waiting     connecting   greeting        authenticating   ready             closed
 * start              connect  -           -            -               -                -                 -
 * opened             -        -           greeting     -               -                -                 -
 * lost               -        -           waiting      waiting         waiting          waiting           -
 * AUTH challenge     -        -           -            authenticating  the newer one    authenticating    -
 * signed             -        -           -            -               send it          -                 -
 * OK of our AUTH     -        -           -            -               ready | waiting  -                 -
 * OK CLOSED EOSE     -        -           -            taken           taken            taken             -
 * event, NOTICE      -        -           -            taken           taken            taken             -
 * pong               -        -           -            alive           alive            alive             -
 * paused, resumed    -        -           -            noted           noted            noted             -
 * publish, fetch     kept     kept        kept         kept            kept             sent              settled
 * (un)subscribe      kept     kept        kept         kept            kept             sent              -
 * tick               timeouts connect     waiting      ready | dead    waiting | dead   resend|ping|dead  -
 * close              closed   closed      closed       closed          closed           closed            -
 */
import { excerpt, later, unreachable } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';
import { alive, lineOf, newLine, withLine } from './connection.ts';
import type { Command, Input, Line, Link, State, Step } from './connection.ts';
import {
  AUTH_TIMEOUT_MS, BACKOFF_JITTER, BACKOFF_SEC, CONNECT_TIMEOUT_MS, GREETING_MS, PING_EVERY_MS, PONG_TIMEOUT_MS,
  REQUEST_PACE_MS, STABLE_MS,
} from './limits.ts';
import { reasonWord, retryAt } from './messages.ts';
import type { Control } from './messages.ts';
import * as outbox from './outbox.ts';
import * as requests from './requests.ts';

export function step(state: State, input: Input, now: Milliseconds): Step {
  const next = taken(state, input, now);
  // An event or a pong queues nothing to send, and events come by the thousand.
  return input.type === 'event' || input.type === 'pong' ? next : flushed(next, now);
}

function taken(state: State, input: Input, now: Milliseconds): Step {
  const { link } = state;
  if (link.status === 'closed') return { state, commands: afterClose(input) };
  switch (input.type) {
    case 'start':
      return link.status === 'idle' ? connected(state, now) : stay(state);
    case 'opened':
      return link.status === 'connecting'
        ? stay({ ...state, link: { status: 'greeting', deadlineMs: later(now, GREETING_MS), line: newLine(now) } })
        : stay(state);
    case 'lost':
      return link.status === 'connecting' || lineOf(link) !== undefined
        ? lost(state, input.reason, input.chance, now)
        : stay(state);
    case 'message':
      return lineOf(link) === undefined ? stay(state) : heard(alive(state), input.message, input.chance, now);
    case 'event':
      return lineOf(link) === undefined
        ? stay(state)
        : { state: alive(state), commands: requests.received(state.requests, input.id, input.event) };
    case 'signed':
      return link.status === 'authenticating' && link.authId === undefined
        ? { state: { ...state, link: { ...link, authId: input.eventId } }, commands: [{ type: 'send', text: input.text }] }
        : stay(state);
    case 'pong':
      return stay(alive(state));
    case 'paused':
      return stay(withLine(state, (line) => ({ ...line, pingDueMs: undefined, pongDueMs: undefined })));
    case 'resumed':
      return stay(withLine(state, (line) => ({ ...line, pingDueMs: later(now, PING_EVERY_MS) })));
    case 'publish':
      return fromOutbox(state, outbox.admit(state.outbox, input.publication));
    case 'fetch':
      return stay({ ...state, requests: requests.ask(state.requests, input.id, input.deadlineMs) });
    case 'subscribe':
      return stay({ ...state, requests: requests.ask(state.requests, input.id) });
    case 'unsubscribe':
      return fromRequests(state, requests.drop(state.requests, input.id));
    case 'tick':
      return ticked(state, input.chance, now);
    case 'close':
      return {
        state: { ...state, link: { status: 'closed' }, outbox: new Map(), requests: new Map() },
        commands: [...outbox.outboxClosed(state.outbox), ...requests.requestsClosed(state.requests), { type: 'hang-up' }],
      };
    default:
      return unreachable(input);
  }
}

/** The relay speaks. Every status that has a line takes it; an AUTH is answered at once (NIP-42). */
function heard(state: State, message: Control, chance: number, now: Milliseconds): Step {
  const line = lineOf(state.link);
  if (line === undefined) return stay(state);
  const { link } = state;
  switch (message.type) {
    case 'auth': {
      if (link.status === 'authenticating' && link.challenge === message.challenge) return stay(state);
      const { challenge } = message;
      const asked = { challenge, deadlineMs: later(now, AUTH_TIMEOUT_MS), line: { ...line, challengeDueMs: undefined } };
      return {
        state: { ...state, link: { status: 'authenticating', authId: undefined, ...asked } },
        commands: [{ type: 'sign', challenge }],
      };
    }
    case 'ok': {
      if (link.status === 'authenticating' && link.authId === message.eventId) {
        return message.accepted ? authenticated(state, line, now) : broken(state, `AUTH: ${message.reason}`, chance, now);
      }
      const isLimited = !message.accepted && reasonWord(message.reason) === 'rate-limited';
      const noted = isLimited ? withLine(state, (one) => ({ ...one, limitedAtMs: now })) : state;
      return fromOutbox(noted, outbox.answered(noted.outbox, message, line.authenticated, now));
    }
    case 'closed': {
      const limited = reasonWord(message.reason) === 'rate-limited' ? rateLimited(state, message.reason, now) : state;
      const next = requests.refused(limited.requests, message, line.authenticated, now);
      if (next.requests === limited.requests) return stay(limited);
      return fromRequests({ ...limited, lastError: excerpt(`${message.id}: ${message.reason}`, 200) }, next);
    }
    case 'eose':
      return fromRequests(state, requests.storedEnded(state.requests, message.id));
    case 'notice': {
      if (reasonWord(message.text) !== 'rate-limited') return stay(state);
      const limited = rateLimited(state, message.text, now);
      return stay({ ...limited, requests: requests.requestsUnanswered(limited.requests) });
    }
    default:
      return unreachable(message);
  }
}

/** Every deadline that has passed. Publications and fetches end in any status; the rest is the connection's. */
function ticked(before: State, chance: number, now: Milliseconds): Step {
  const ready = before.link.status === 'ready';
  const publications = outbox.outboxTick(before.outbox, ready, now);
  const asked = requests.requestsTick(before.requests, ready, now);
  const state = { ...before, outbox: publications.outbox, requests: asked.requests };
  const { link } = state;
  const line = lineOf(link);
  const rest = ((): Step => {
    if (link.status === 'waiting') return link.untilMs <= now ? connected(state, now) : stay(state);
    if (link.status === 'connecting') {
      return link.deadlineMs <= now ? broken(state, 'connecting took too long', chance, now) : stay(state);
    }
    if (line === undefined) return stay(state);
    if (passed(line.pongDueMs, now)) return broken(state, 'no sign of life after a ping', chance, now);
    if (passed(line.challengeDueMs, now)) return broken(state, 'AUTH is required but no challenge came', chance, now);
    if (link.status === 'authenticating' && link.deadlineMs <= now) {
      return broken(state, 'AUTH was not answered in time', chance, now);
    }
    // A relay without NIP-42 says nothing; we go on as nobody.
    const next = link.status === 'greeting' && link.deadlineMs <= now ? readied(state, line, now) : state;
    return passed(line.pingDueMs, now) ? pinged(next, now) : stay(next);
  })();
  return { state: rest.state, commands: [...publications.commands, ...asked.commands, ...rest.commands] };
}

/** Sends what may be sent, requests first so that we hear what our own events lead to. */
function flushed({ state, commands }: Step, now: Milliseconds): Step {
  const { link } = state;
  if (link.status !== 'ready') return { state, commands };
  const line = expectChallenge(state, link.line, now);
  if (line.heldUntilMs !== undefined && line.heldUntilMs > now) {
    return { state: { ...state, link: { ...link, line } }, commands };
  }
  const most = line.nextRequestMs === undefined ? Infinity : line.nextRequestMs <= now ? 1 : 0;
  const asked = requests.askQueued(state.requests, most, now);
  const sent = outbox.sendQueued(state.outbox, now);
  const paced = most === 1 && asked.commands.length > 0;
  const next: Line = { ...line, heldUntilMs: undefined, nextRequestMs: paced ? later(now, REQUEST_PACE_MS) : line.nextRequestMs };
  return {
    state: { ...state, link: { ...link, line: next }, requests: asked.requests, outbox: sent.outbox },
    commands: [...commands, ...asked.commands, ...sent.commands],
  };
}

function connected(state: State, now: Milliseconds): Step {
  const link: Link = { status: 'connecting', deadlineMs: later(now, CONNECT_TIMEOUT_MS) };
  return { state: { ...state, link }, commands: [{ type: 'connect' }] };
}

function readied(state: State, line: Line, now: Milliseconds): State {
  return { ...state, attempts: 0, link: { status: 'ready', line: { ...line, readyAtMs: line.readyAtMs ?? now } } };
}

function authenticated(state: State, line: Line, now: Milliseconds): Step {
  return stay({
    ...readied(state, { ...line, authenticated: true, challengeDueMs: undefined }, now),
    outbox: outbox.outboxAuthenticated(state.outbox),
    requests: requests.requestsAuthenticated(state.requests),
  });
}

/** We end the connection ourselves. */
function broken(state: State, reason: string, chance: number, now: Milliseconds): Step {
  const { state: next, commands } = lost(state, reason, chance, now);
  return { state: next, commands: [{ type: 'disconnect' }, ...commands] };
}

function lost(state: State, reason: string, chance: number, now: Milliseconds): Step {
  const readyAtMs = lineOf(state.link)?.readyAtMs;
  const stood = readyAtMs !== undefined && now - readyAtMs >= STABLE_MS;
  const backoff = stood ? 0 : state.backoff;
  const delaySec = BACKOFF_SEC[Math.min(backoff, BACKOFF_SEC.length - 1)] ?? 1;
  const delayMs = delaySec * 1000 * (1 - BACKOFF_JITTER + 2 * BACKOFF_JITTER * chance);
  const asked = requests.requestsLost(state.requests);
  return {
    state: {
      link: { status: 'waiting', untilMs: later(now, Math.round(delayMs)) },
      attempts: state.attempts + 1,
      backoff: backoff + 1,
      lastError: excerpt(reason, 200),
      outbox: outbox.outboxLost(state.outbox),
      requests: asked.requests,
    },
    commands: asked.commands,
  };
}

function pinged(state: State, now: Milliseconds): Step {
  const next = withLine(state, (line) => ({
    ...line, pingDueMs: later(now, PING_EVERY_MS), pongDueMs: later(now, PONG_TIMEOUT_MS),
  }));
  return { state: next, commands: [{ type: 'ping' }] };
}

function rateLimited(state: State, reason: string, now: Milliseconds): State {
  const untilMs = retryAt(reason, now);
  return withLine({ ...state, lastError: excerpt(reason, 200) }, (line) => ({
    ...line,
    heldUntilMs: line.heldUntilMs !== undefined && line.heldUntilMs > untilMs ? line.heldUntilMs : untilMs,
    nextRequestMs: line.nextRequestMs ?? untilMs,
    limitedAtMs: now,
  }));
}

/** `auth-required:` came before the challenge: it has to follow, or the connection is of no use. */
function expectChallenge(state: State, line: Line, now: Milliseconds): Line {
  const parked = outbox.isParked(state.outbox) || requests.someRequest(state.requests, 'parked');
  return { ...line, challengeDueMs: parked ? line.challengeDueMs ?? later(now, AUTH_TIMEOUT_MS) : undefined };
}

function passed(atMs: Milliseconds | undefined, now: Milliseconds): boolean {
  return atMs !== undefined && atMs <= now;
}

function afterClose(input: Input): readonly Command[] {
  if (input.type === 'fetch') return [{ type: 'finish', id: input.id, complete: false }];
  if (input.type !== 'publish') return [];
  const settlement = { status: 'unknown', reason: 'the connection is closed; it was never sent' } as const;
  return [{ type: 'settle', ticket: input.publication.ticket, settlement }];
}

function fromOutbox(state: State, next: outbox.OutboxStep): Step {
  return { state: { ...state, outbox: next.outbox }, commands: next.commands };
}

function fromRequests(state: State, next: requests.RequestStep): Step {
  return { state: { ...state, requests: next.requests }, commands: next.commands };
}

function stay(state: State): Step {
  return { state, commands: [] };
}
