/**
 * Deleting every version of a subject: one request a version, until the relay lists none. Pure. NIP-AP "Deletion:
 * kind:44300": retried until complete, and not told as done before.
 *
 *   status \ input | listed, some           | listed, none | list_failed | answered yes         | answered no | due
 *   listing        | deleting the first     | done         | waiting     | -                    | -           | -
 *   deleting       | -                      | -            | -           | the next, or listing | waiting     | -
 *   waiting        | -                      | -            | -           | -                    | -           | listing
 *   done           | -                      | -            | -           | -                    | -           | -
 *
 * `-` changes nothing. A list of nothing but versions whose deletion was accepted before is no progress: waiting.
 */
import { later, unreachable } from '../model/index.ts';
import type { EventId, Milliseconds } from '../model/index.ts';

export type DeletionState = { readonly accepted: ReadonlySet<EventId>; readonly failures: number } & (
  | { readonly status: 'listing' | 'done' }
  | { readonly status: 'deleting'; readonly first: EventId; readonly rest: readonly EventId[] }
  | { readonly status: 'waiting'; readonly dueAt: Milliseconds }
);

export type DeletionInput =
  | { readonly type: 'listed'; readonly ids: readonly EventId[] }
  | { readonly type: 'list_failed' }
  | { readonly type: 'answered'; readonly isAccepted: boolean }
  | { readonly type: 'due' };

export type DeletionCommand =
  | { readonly type: 'list' }
  | { readonly type: 'delete'; readonly id: EventId };

export interface DeletionStep {
  readonly state: DeletionState;
  readonly commands: readonly DeletionCommand[];
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Begins, or begins again after a crash: what is left is what the relay lists. */
export function beginDeletion(): DeletionStep {
  return { state: { status: 'listing', accepted: new Set(), failures: 0 }, commands: [{ type: 'list' }] };
}

export function stepDeletion(state: DeletionState, input: DeletionInput, now: Milliseconds): DeletionStep {
  switch (state.status) {
    case 'listing':
      if (input.type === 'list_failed') return pauseAfter(state, now);
      return input.type === 'listed' ? listed(state, input.ids, now) : { state, commands: [] };
    case 'deleting':
      return input.type === 'answered' ? answered(state, input.isAccepted, now) : { state, commands: [] };
    case 'waiting':
      return input.type === 'due' && now >= state.dueAt ? list(state) : { state, commands: [] };
    case 'done':
      return { state, commands: [] };
    default:
      return unreachable(state);
  }
}

function listed(state: DeletionState, ids: readonly EventId[], now: Milliseconds): DeletionStep {
  const { accepted, failures } = state;
  const [first, ...rest] = ids;
  if (first === undefined) return { state: { status: 'done', accepted, failures }, commands: [] };
  // Forgotten, so that after the pause each of them is asked for once more.
  if (ids.every((id) => accepted.has(id))) return pauseAfter({ ...state, accepted: new Set() }, now);
  return { state: { status: 'deleting', accepted, failures, first, rest }, commands: [{ type: 'delete', id: first }] };
}

function answered(state: Extract<DeletionState, { readonly status: 'deleting' }>, isAccepted: boolean, now: Milliseconds): DeletionStep {
  if (!isAccepted) return pauseAfter(state, now);
  const accepted = new Set([...state.accepted, state.first]);
  const [first, ...rest] = state.rest;
  if (first === undefined) return list({ ...state, accepted });
  return { state: { status: 'deleting', accepted, failures: 0, first, rest }, commands: [{ type: 'delete', id: first }] };
}

function list({ accepted, failures }: Pick<DeletionState, 'accepted' | 'failures'>): DeletionStep {
  return { state: { status: 'listing', accepted, failures }, commands: [{ type: 'list' }] };
}

function pauseAfter({ accepted, failures }: Pick<DeletionState, 'accepted' | 'failures'>, now: Milliseconds): DeletionStep {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS);
  return { state: { status: 'waiting', accepted, failures: failures + 1, dueAt: later(now, pauseMs) }, commands: [] };
}
