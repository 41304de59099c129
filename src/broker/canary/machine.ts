/**
 * Whether every subscription of a connection still delivers: each is sounded in its turn by an event of our own that it asks
 * for, one at a time, and must hand it back. Pure; deadlines are state, and `canaryDueMs` is the earliest.
 *
 *   input \ subscription | unproven or hearing            | sounded                             | deaf
 *   opened (anew)        | to be sounded soon             | the sounding is dropped             | to be sounded soon
 *   gone                 | forgotten                      | forgotten                           | forgotten
 *   line up              | to be sounded soon             | to be sounded soon                  | to be sounded soon
 *   line down            | -                              | the sounding is dropped             | -
 *   echo                 | heard                          | heard                               | recovered, and opened anew: what
 *                        |                                |                                     |   was lost meanwhile is asked for
 *   answered: no         | -                              | refused: nothing is known of it     | -
 *   tick, due            | sounded                        | no echo: deaf, and opened anew      | sounded again
 *
 * A second time without an echo ends the connection, at most once an interval: what is wrong may be all of it. From then on
 * it is opened anew at each interval, for as long as it is deaf. While the relay counts what we send, nothing is sounded; while
 * we ourselves do not read, silence says nothing.
 */
import { later, unreachable } from '../../model/index.ts';
import type { ChannelId, Milliseconds } from '../../model/index.ts';

/** From the relay's answer, or where there is none from the sending, until a subscription that does not echo is deaf. */
export const ECHO_MS = 10_000;
/** After it was opened, so that the relay has it. */
export const SETTLE_MS = 5_000;
/** Between two soundings: at most twenty a minute, however many channels there are. */
export const PACE_MS = 3_000;
/** After `rate-limited:`. */
export const LIMITED_MS = 60_000;

interface Sub {
  /** Absent: of no channel. */
  readonly channelId?: ChannelId;
  readonly nextMs: Milliseconds;
  readonly heardMs?: Milliseconds;
  /** Since the sounding that had no echo, and how many had none in a row. */
  readonly deaf?: { readonly sinceMs: Milliseconds; readonly times: number };
  readonly refusal?: string;
}

interface Sounding {
  readonly id: string;
  readonly token: number;
  readonly sentMs: Milliseconds;
  readonly dueMs: Milliseconds;
}

export interface CanaryState {
  readonly everyMs: number;
  readonly isUp: boolean;
  readonly subs: ReadonlyMap<string, Sub>;
  readonly sounding?: Sounding;
  readonly notBeforeMs: Milliseconds;
  readonly endedLineMs?: Milliseconds;
  readonly tokens: number;
  /** How often one fell deaf, and how often one was heard again. */
  readonly deafened: number;
  readonly recovered: number;
}

export type CanaryInput =
  | { readonly type: 'opened'; readonly id: string; readonly channelId?: ChannelId }
  | { readonly type: 'gone'; readonly id: string }
  | { readonly type: 'line'; readonly isUp: boolean }
  | { readonly type: 'echo'; readonly id: string }
  | { readonly type: 'answered'; readonly token: number; readonly verdict: 'accepted' | 'rejected' | 'unknown'; readonly reason?: string }
  /** `isReading`: the socket is read; `isLimited`: the relay has said rate-limited of late. */
  | { readonly type: 'tick'; readonly isReading: boolean; readonly isLimited: boolean };

export type CanaryCommand =
  | { readonly type: 'sound'; readonly token: number; readonly channelId?: ChannelId }
  | { readonly type: 'reopen'; readonly id: string }
  | { readonly type: 'end_line' }
  /** To be told once each. */
  | { readonly type: 'deaf'; readonly id: string }
  | { readonly type: 'recovered'; readonly id: string; readonly deafMs: number };

export interface CanaryStep {
  readonly state: CanaryState;
  readonly commands: readonly CanaryCommand[];
}

export function newCanary(everyMs: number, now: Milliseconds): CanaryState {
  return { everyMs, isUp: false, subs: new Map(), notBeforeMs: now, tokens: 0, deafened: 0, recovered: 0 };
}

export function stepCanary(state: CanaryState, input: CanaryInput, now: Milliseconds): CanaryStep {
  switch (input.type) {
    case 'opened': {
      const { id, channelId } = input;
      const known = state.subs.get(id);
      const sub: Sub = { ...known, ...(channelId !== undefined && { channelId }), nextMs: later(now, SETTLE_MS) };
      return stay(withSub(withoutSounding(state, id), id, sub));
    }
    case 'gone': {
      const subs = new Map(state.subs);
      subs.delete(input.id);
      return stay({ ...withoutSounding(state, input.id), subs });
    }
    case 'line': {
      const { isUp } = input;
      const subs = isUp ? new Map([...state.subs].map(([id, sub]) => [id, { ...sub, nextMs: later(now, SETTLE_MS) }])) : state.subs;
      return stay({ ...withoutSounding(state), isUp, subs });
    }
    case 'echo':
      return heard(state, input.id, now);
    case 'answered':
      return stay(answered(state, input, now));
    case 'tick':
      return tick(state, input, now);
    default:
      return unreachable(input);
  }
}

/** When a `tick` may change something. */
export function canaryDueMs({ isUp, sounding, subs, notBeforeMs }: CanaryState): Milliseconds | undefined {
  if (!isUp) return undefined;
  if (sounding !== undefined) return sounding.dueMs;
  const next = nextSub(subs)?.[1].nextMs;
  return next === undefined || next > notBeforeMs ? next : notBeforeMs;
}

function tick(state: CanaryState, { isReading, isLimited }: Extract<CanaryInput, { type: 'tick' }>, now: Milliseconds): CanaryStep {
  const { isUp, sounding, notBeforeMs } = state;
  if (!isUp) return stay(state);
  if (sounding !== undefined) {
    if (now < sounding.dueMs) return stay(state);
    if (isLimited) return stay({ ...withoutSounding(state), notBeforeMs: later(now, LIMITED_MS) });
    return isReading ? unheard(state, sounding, now) : stay({ ...state, sounding: { ...sounding, dueMs: later(now, ECHO_MS) } });
  }
  const [id, sub] = nextSub(state.subs) ?? [];
  if (id === undefined || sub === undefined || sub.nextMs > now || now < notBeforeMs) return stay(state);
  if (isLimited) return stay({ ...state, notBeforeMs: later(now, LIMITED_MS) });
  const token = state.tokens + 1;
  const { channelId } = sub;
  return {
    state: { ...state, tokens: token, notBeforeMs: later(now, PACE_MS), sounding: { id, token, sentMs: now, dueMs: later(now, ECHO_MS) } },
    commands: [{ type: 'sound', token, ...(channelId !== undefined && { channelId }) }],
  };
}

function unheard(state: CanaryState, { id, sentMs }: Sounding, now: Milliseconds): CanaryStep {
  const next = withoutSounding(state, id);
  const sub = state.subs.get(id);
  if (sub === undefined) return stay(next);
  const times = (sub.deaf?.times ?? 0) + 1;
  const deaf = { sinceMs: sub.deaf?.sinceMs ?? sentMs, times };
  // Once more soon after it was opened anew, then at the interval.
  const after = withSub(next, id, { ...sub, deaf, nextMs: later(now, times === 1 ? SETTLE_MS : state.everyMs) });
  const told: readonly CanaryCommand[] = times === 1 ? [{ type: 'deaf', id }] : [];
  const counted = { ...after, deafened: state.deafened + told.length };
  const { endedLineMs } = state;
  if (times === 2 && (endedLineMs === undefined || now - endedLineMs >= state.everyMs)) {
    return { state: { ...counted, endedLineMs: now }, commands: [{ type: 'end_line' }] };
  }
  return { state: counted, commands: [...told, { type: 'reopen', id }] };
}

function heard(state: CanaryState, id: string, now: Milliseconds): CanaryStep {
  const sub = state.subs.get(id);
  if (sub === undefined) return stay(state);
  const { channelId, deaf } = sub;
  const next = withSub(withoutSounding(state, id), id, {
    ...(channelId !== undefined && { channelId }), heardMs: now, nextMs: later(now, state.everyMs),
  });
  if (deaf === undefined) return stay(next);
  return { state: { ...next, recovered: state.recovered + 1 }, commands: [{ type: 'recovered', id, deafMs: now - deaf.sinceMs }, { type: 'reopen', id }] };
}

/** A no is no proof of anything, but that this relay cannot be asked so. */
function answered(state: CanaryState, { token, verdict, reason = '' }: Extract<CanaryInput, { type: 'answered' }>, now: Milliseconds): CanaryState {
  const { sounding } = state;
  if (sounding?.token !== token) return state;
  const { id } = sounding;
  const sub = state.subs.get(id);
  switch (verdict) {
    case 'accepted':
      return { ...state, sounding: { ...sounding, dueMs: later(now, ECHO_MS) } };
    case 'unknown':
      return state;
    case 'rejected':
      return sub === undefined ? state : withSub(withoutSounding(state, id), id, { ...sub, refusal: reason, nextMs: later(now, state.everyMs) });
    default:
      return unreachable(verdict);
  }
}

/** The one that has waited longest. */
function nextSub(subs: ReadonlyMap<string, Sub>): readonly [string, Sub] | undefined {
  return [...subs].reduce<readonly [string, Sub] | undefined>((best, one) => (best !== undefined && best[1].nextMs <= one[1].nextMs ? best : one), undefined);
}

function withSub(state: CanaryState, id: string, sub: Sub): CanaryState {
  return { ...state, subs: new Map(state.subs).set(id, sub) };
}

/** Without the sounding under way, where it is that of `id` or none is named. */
function withoutSounding(state: CanaryState, id?: string): CanaryState {
  const { sounding, ...rest } = state;
  return sounding === undefined || (id !== undefined && sounding.id !== id) ? state : rest;
}

function stay(state: CanaryState): CanaryStep {
  return { state, commands: [] };
}
