/**
 * While the provider of an agent's model takes no more requests: when the next one may be tried. Pure. It is the account
 * that is limited, and so every lane of the agent waits, and one turn alone tries it again.
 *
 * | status | limited                              | worked                            |
 * |--------|--------------------------------------|-----------------------------------|
 * | free   | held, told                           | -                                 |
 * | held   | held longer; later each time it tried | free, for a turn of after the hold |
 *
 * A turn that began before the hold was limited by what is known already: it makes the hold no longer but by what it was
 * told, and shows nothing when it works.
 */
import { later, unreachable } from '../model/index.ts';
import type { Milliseconds } from '../model/index.ts';

/** `times`: how often in a row a turn has met it. */
export type LimitState =
  | { readonly status: 'free' }
  | { readonly status: 'held'; readonly times: number; readonly until: Milliseconds };

export type LimitInput =
  /** A turn that began at `beganAt` was refused. `jitter` is in [0, 1). */
  | { readonly type: 'limited'; readonly beganAt: Milliseconds; readonly retryAfterMs?: number; readonly jitter: number }
  /** A turn that began at `beganAt` has ended by its own word. */
  | { readonly type: 'worked'; readonly beganAt: Milliseconds };

/** Minutes at first: providers count in minutes, and ask for no more than that where they ask for little. */
const FIRST_DELAY_MS = 60_000;
const MAX_DELAY_MS = 4 * 3_600_000;
/** What a provider asks for is heeded up to here: some say "in 6 days", and may be wrong. */
const MAX_ASKED_MS = 24 * 3_600_000;
const JITTER = 0.2;

/**
 * 1 min, doubled each time, at most 4 h, or what the provider asked for where that is more; at the first time what it asked
 * for in any case. Up to a fifth more by `jitter`, never less.
 */
export function limitDelayMs({ times, retryAfterMs, jitter }: { readonly times: number; readonly retryAfterMs?: number; readonly jitter: number }): number {
  const own = Math.min(FIRST_DELAY_MS * 2 ** Math.min(Math.max(times - 1, 0), 10), MAX_DELAY_MS);
  const asked = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, MAX_ASKED_MS);
  const delay = asked === undefined ? own : times <= 1 ? asked : Math.max(asked, own);
  return Math.round(delay * (1 + JITTER * jitter));
}

export function stepLimit(state: LimitState, input: LimitInput, now: Milliseconds): LimitState {
  switch (state.status) {
    case 'free':
      return input.type === 'worked' ? state : { status: 'held', times: 1, until: later(now, limitDelayMs({ ...input, times: 1 })) };
    case 'held': {
      const isTry = input.beganAt >= state.until;
      if (input.type === 'worked') return isTry ? { status: 'free' } : state;
      const times = isTry ? state.times + 1 : state.times;
      const until = later(now, limitDelayMs({ ...input, times }));
      return { status: 'held', times, until: until > state.until ? until : state.until };
    }
    default:
      return unreachable(state);
  }
}

/** Whether a turn may begin, when `flying` are under way: while it is held one at a time, and none before its time. */
export function mayBegin(state: LimitState, flying: number, now: Milliseconds): boolean {
  return state.status === 'free' || (now >= state.until && flying === 0);
}
