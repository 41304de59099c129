/**
 * One journal record's life (NIP-BA "Execution and retries"), as a reducer: claim durable before execution, the signed
 * event durable before its publication, the result durable before its delivery. Pure.
 *
 * A status in -ing waits for one answer. An input that is not named for a status changes nothing there: it is stale.
 *
 * | status     | input → next                                                                                |
 * |------------|---------------------------------------------------------------------------------------------|
 * | fresh      | submit → claiming                                                                           |
 * | claiming   | stored → claimed, or publishing when the claim carried its event; not_stored, refused →     |
 * |            | ended; taken → what `recover` does to the record that was found                             |
 * | claimed    | decided → finishing; planned → signing; recover → finishing, failed: nothing was done       |
 * | signing    | stored → publishing; not_stored → finishing, failed: nothing was sent; fenced → ended       |
 * | publishing | accepted → finishing; unanswered → doubtful; rejected → finishing, failed, if this is the   |
 * |            | only send, else doubtful; withdrawn → finishing, failed, before the first send              |
 * | doubtful   | recover → looking                                                                           |
 * | looking    | found → finishing; absent → publishing again while young, later finishing, given up;        |
 * |            | unreadable → doubtful; what was lost stays lost, unless found                               |
 * | finishing  | stored → done, or lost when given up; not_stored, fenced → doubtful, or claimed without an  |
 * |            | event: nothing is told                                                                      |
 * | done       | recover → the stored verdict, replayed                                                      |
 * | lost       | recover → looking: never sent again, and yet it may be seen                                 |
 * | discarded  | recover → outcome_unknown: the tombstone knows that it ran, not how it ended                |
 * | ended      | nothing: this submission has its answer; the record, if there is one, is not its own        |
 */
import { millisecondsOf, unreachable } from '../../model/index.ts';
import type { Milliseconds } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { failed, indeterminate, published, turnedDown } from './verdict.ts';
import type { Evidence, Verdict } from './verdict.ts';

export type RecordState =
  | { readonly status: 'fresh' }
  | { readonly status: 'claiming'; readonly evidence?: Evidence }
  | { readonly status: 'claimed' }
  | { readonly status: 'signing'; readonly evidence: Evidence }
  /** `doubt`: an earlier send of this event may have been accepted. */
  | { readonly status: 'publishing'; readonly evidence: Evidence; readonly doubt: boolean }
  | { readonly status: 'doubtful'; readonly evidence: Evidence }
  /** `lost`: given up before, so that whatever the clock says now, it is not sent. */
  | { readonly status: 'looking'; readonly evidence: Evidence; readonly lost: boolean }
  | { readonly status: 'finishing'; readonly verdict: Verdict; readonly evidence?: Evidence }
  | { readonly status: 'done'; readonly verdict: Verdict; readonly evidence?: Evidence }
  /** Given up: not on a relay that could be read, and too old to be sent. Counts as not published. */
  | { readonly status: 'lost'; readonly evidence: Evidence }
  | { readonly status: 'discarded' }
  | { readonly status: 'ended'; readonly evidence?: Evidence };

export type RecordInput =
  /** A new operation; one that is planned already claims and leaves its evidence in one commit. */
  | { readonly type: 'submit'; readonly evidence?: Evidence }
  /** Nobody executes this record any more: say how it ended, from evidence. */
  | { readonly type: 'recover' }
  /** The key was claimed before, with the same bytes: this is what the record says. */
  | { readonly type: 'taken'; readonly record: RecordState }
  /** The key is claimed and this submission may not touch it. */
  | { readonly type: 'refused'; readonly verdict: Verdict }
  | { readonly type: 'stored' }
  | { readonly type: 'not_stored' }
  /** Another run of the broker owns the record now. */
  | { readonly type: 'fenced' }
  /** The action ended without any effect on the outside. */
  | { readonly type: 'decided'; readonly verdict: Verdict }
  | { readonly type: 'planned'; readonly evidence: Evidence }
  /** The permission was gone at the effect's edge. */
  | { readonly type: 'withdrawn'; readonly verdict: Verdict }
  | { readonly type: 'accepted' }
  | { readonly type: 'rejected'; readonly reason: string }
  | { readonly type: 'unanswered'; readonly reason: string }
  | { readonly type: 'found' }
  | { readonly type: 'absent' }
  | { readonly type: 'unreadable' };

export type RecordCommand =
  | { readonly type: 'store_claim'; readonly evidence?: Evidence }
  | { readonly type: 'execute' }
  | { readonly type: 'store_evidence'; readonly evidence: Evidence }
  /** `first`: ask once more whether the session may; nothing has been sent yet. */
  | { readonly type: 'publish'; readonly event: VerifiedEvent; readonly first: boolean }
  | { readonly type: 'look_up'; readonly event: VerifiedEvent }
  | { readonly type: 'store_result'; readonly verdict: Verdict }
  | { readonly type: 'deliver'; readonly verdict: Verdict; readonly replayed: boolean };

export interface RecordStep {
  readonly state: RecordState;
  readonly commands: readonly RecordCommand[];
}

/** An event older than this is not sent again: relays refuse old stamps, and a late answer helps nobody. */
export const RESEND_WINDOW_MS = 600_000;
/** An event older than this that a readable relay does not have is given up: its last send had a minute to arrive. */
export const GIVE_UP_AFTER_MS = RESEND_WINDOW_MS + 60_000;

const UNSTORED = 'the journal could not store the request; nothing was done';
const INTERRUPTED = 'the broker stopped before the action had any effect';
const UNTOLD = 'the result could not be stored; retry the identical request later';
const UNANSWERED = 'the relay gave no verdict on the event';
const LOST = `${UNANSWERED}: the event is not on the relay and too old to be sent again`;
const FENCED = 'another broker has taken the record over';
const FORGOTTEN = 'the action was executed; its result is no longer kept';

export function step(state: RecordState, input: RecordInput, now: Milliseconds): RecordStep {
  switch (state.status) {
    case 'fresh':
      return input.type === 'submit' ? claim(input.evidence) : stay(state);
    case 'claiming':
      return claiming(state, input, now);
    case 'claimed':
      if (input.type === 'decided') return finish(input.verdict);
      if (input.type === 'planned') return sign(input.evidence);
      // NIP-BA 5 and 6: every effect follows durable evidence, and there is none. That is the proof.
      return input.type === 'recover' ? finish(failed('internal', INTERRUPTED)) : stay(state);
    case 'signing':
      if (input.type === 'stored') return publish(state.evidence, false);
      if (input.type === 'not_stored') return finish(failed('internal', UNSTORED));
      return input.type === 'fenced' ? end(indeterminate('outcome_unknown', FENCED), state.evidence) : stay(state);
    case 'publishing':
      return publishing(state, input);
    case 'doubtful':
      return input.type === 'recover' ? lookUp(state.evidence, false) : stay(state);
    case 'looking':
      return looking(state, input, now);
    case 'finishing':
      if (input.type === 'stored') return { state: atRest(state.verdict, state.evidence), ...deliver(state.verdict) };
      return input.type === 'not_stored' || input.type === 'fenced' ? untold(state.evidence) : stay(state);
    case 'done':
      return input.type === 'recover' ? { state, ...deliver(state.verdict, true) } : stay(state);
    case 'lost':
      return input.type === 'recover' ? lookUp(state.evidence, true) : stay(state);
    case 'discarded':
      return input.type === 'recover'
        ? { state, ...deliver(indeterminate('outcome_unknown', FORGOTTEN)) }
        : stay(state);
    case 'ended':
      return stay(state);
    default:
      return unreachable(state);
  }
}

type In<Status extends RecordState['status']> = Extract<RecordState, { readonly status: Status }>;

function claim(evidence: Evidence | undefined): RecordStep {
  const carried = evidence === undefined ? {} : { evidence };
  return { state: { status: 'claiming', ...carried }, commands: [{ type: 'store_claim', ...carried }] };
}

function claiming(state: In<'claiming'>, input: RecordInput, now: Milliseconds): RecordStep {
  switch (input.type) {
    case 'stored':
      if (state.evidence !== undefined) return publish(state.evidence, false);
      return { state: { status: 'claimed' }, commands: [{ type: 'execute' }] };
    case 'taken':
      return step(input.record, { type: 'recover' }, now);
    case 'refused':
      return end(input.verdict, state.evidence);
    case 'not_stored':
      // A commit that failed may yet be on disk. A bare claim is then no effect; one with its event will be sent.
      if (state.evidence !== undefined) return end(indeterminate('internal', UNTOLD), state.evidence);
      return end(failed('internal', UNSTORED));
    default:
      return stay(state);
  }
}

function publishing(state: In<'publishing'>, input: RecordInput): RecordStep {
  const { evidence, doubt } = state;
  switch (input.type) {
    case 'accepted':
      return finish(published(evidence), evidence);
    case 'rejected':
      // NIP-01: `duplicate:` says that the relay has it, whatever the flag beside it.
      if (input.reason.startsWith('duplicate:')) return finish(published(evidence), evidence);
      // NIP-BA 6: a no to a second send does not prove that the first was not taken.
      return doubt ? unresolved(evidence, input.reason) : finish(turnedDown(input.reason), evidence);
    case 'unanswered':
      return unresolved(evidence, input.reason);
    case 'withdrawn':
      return doubt ? stay(state) : finish(input.verdict, evidence);
    default:
      return stay(state);
  }
}

function looking(state: In<'looking'>, input: RecordInput, now: Milliseconds): RecordStep {
  const { evidence, lost } = state;
  switch (input.type) {
    case 'found':
      return finish(published(evidence), evidence);
    case 'absent':
      if (lost) return stillLost(evidence);
      if (mayResend(evidence.event, now)) return publish(evidence, true);
      return ageMs(evidence.event, now) < GIVE_UP_AFTER_MS
        ? unresolved(evidence, 'the event is not on the relay')
        : finish(indeterminate('outcome_unknown', LOST), evidence);
    case 'unreadable':
      return lost ? stillLost(evidence) : unresolved(evidence, 'the relay could not be read');
    default:
      return stay(state);
  }
}

/**
 * What a stored result makes of a record. Of an event without a verdict there is one reason to store a result: it was
 * given up (NIP-BA 6 leaves the outcome indeterminate, whatever is seen later).
 */
export function atRest(verdict: Verdict, evidence: Evidence | undefined): In<'done' | 'lost'> {
  if (evidence === undefined) return { status: 'done', verdict };
  return verdict.status === 'indeterminate' ? { status: 'lost', evidence } : { status: 'done', verdict, evidence };
}

/**
 * Whether an event that a relay does not have is sent again. Ephemeral events (NIP-01: 20000 to 29999) are never
 * stored, so their absence says nothing; a signal is not renewed.
 */
function mayResend(event: VerifiedEvent, now: Milliseconds): boolean {
  const ephemeral = event.kind >= 20_000 && event.kind < 30_000;
  return !ephemeral && ageMs(event, now) < RESEND_WINDOW_MS;
}

function ageMs(event: VerifiedEvent, now: Milliseconds): number {
  return now - millisecondsOf(event.created_at);
}

function sign(evidence: Evidence): RecordStep {
  return { state: { status: 'signing', evidence }, commands: [{ type: 'store_evidence', evidence }] };
}

function lookUp(evidence: Evidence, lost: boolean): RecordStep {
  return { state: { status: 'looking', evidence, lost }, commands: [{ type: 'look_up', event: evidence.event }] };
}

function publish(evidence: Evidence, doubt: boolean): RecordStep {
  return {
    state: { status: 'publishing', evidence, doubt },
    commands: [{ type: 'publish', event: evidence.event, first: !doubt }],
  };
}

function finish(verdict: Verdict, evidence?: Evidence): RecordStep {
  const carried = evidence === undefined ? {} : { evidence };
  return { state: { status: 'finishing', verdict, ...carried }, commands: [{ type: 'store_result', verdict }] };
}

/** The answer is not final: the record stays open, and evidence may still resolve it (NIP-BA 6). */
function unresolved(evidence: Evidence, reason: string): RecordStep {
  const verdict = indeterminate('outcome_unknown', `${UNANSWERED}: ${reason}`);
  return { state: { status: 'doubtful', evidence }, ...deliver(verdict) };
}

function stillLost(evidence: Evidence): RecordStep {
  return { state: { status: 'lost', evidence }, ...deliver(indeterminate('outcome_unknown', LOST)) };
}

/** NIP-BA 6: no result is delivered that is not durable. What the disk holds decides, when somebody asks again. */
function untold(evidence: Evidence | undefined): RecordStep {
  const state: RecordState = evidence === undefined ? { status: 'claimed' } : { status: 'doubtful', evidence };
  return { state, ...deliver(indeterminate('internal', UNTOLD)) };
}

function end(verdict: Verdict, evidence?: Evidence): RecordStep {
  return { state: { status: 'ended', ...(evidence === undefined ? {} : { evidence }) }, ...deliver(verdict) };
}

function deliver(verdict: Verdict, replayed = false): { readonly commands: readonly RecordCommand[] } {
  return { commands: [{ type: 'deliver', verdict, replayed }] };
}

function stay(state: RecordState): RecordStep {
  return { state, commands: [] };
}
