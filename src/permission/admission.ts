/**
 * Whether a permission request is put to the owner, or answered at once and with what. Pure: the preflight of every
 * policy, what `ask` needs beside it, and the downgrade to `reject` wherever something of it is missing or unclear.
 *
 * The order is Buzz's. All is decided before the challenge is emitted, so that a request has one nonce and one challenge:
 * also where its card cannot be built. NIP-AO "D7-final admission", "D5 two-action contract", "D6 frozen sentinel".
 */
import type { PermissionAnswer } from '../acp/permission-ports.ts';
import { buildCard } from '../cards/index.ts';
import type { CardFacts } from '../cards/index.ts';
import { later, seconds } from '../model/index.ts';
import type { Milliseconds, Pubkey } from '../model/index.ts';
import { bindingOf, soonest } from './entry.ts';
import type { Ask, Binding, Entry, Requested, TurnFacts } from './entry.ts';
import { CANCELLED, decidePermission, denial, preflight } from './policy.ts';
import type { PermissionOption, PolicyReason } from './policy.ts';

/** NIP-AO "Best-effort delivery": min(300 s, remaining hard deadline). */
const MAX_ASK_MS = 300_000;
/** Requests of one process that wait or are being answered; Buzz's bound. */
export const MAX_LIVE = 8;
/**
 * Bytes of the challenge frame. NIP-AO allows 65,535; what is longer than this some NIP-44 readers refuse, so it is not
 * sent, and an owner who cannot see the request cannot be asked.
 */
export const MAX_CHALLENGE_BYTES = 65_408;
/** Of the challenge's reason, in UTF-16 units; it names fields of the request. */
const MAX_REASON_LENGTH = 200;
const WIDEST = { actionable: false, reason: '"'.repeat(MAX_REASON_LENGTH), expiresAt: seconds(9_999_999_999) };

export type Admission =
  | { readonly how: 'ask'; readonly ask: Ask }
  /** `challenge` is what the owner reads as the reason of the challenge. */
  | {
      readonly how: 'answer';
      readonly answer: PermissionAnswer;
      readonly reason: PolicyReason | 'cancelled';
      readonly challenge: string;
    };

/** What is true of the process while the request comes. */
export interface Surroundings {
  readonly binding: Binding;
  readonly owner?: Pubkey;
  readonly entries: readonly Entry[];
  readonly draining: boolean;
}

/** Every request gets an answer, whatever it holds. */
export function admit(input: Requested, around: Surroundings, now: Milliseconds): Admission {
  const { request: { params }, policy, turn } = input;
  // What was asked of a turn that is being cancelled is answered as if it had waited (NIP-AO, reason "cancelled").
  if (turn?.cancelling === true) return { how: 'answer', answer: CANCELLED, reason: 'cancelled', challenge: 'the turn is being cancelled' };
  const checked = preflight(params);
  if (!checked.ok) return deny(params, checked.detail);
  const crowded = preflightAsk(input, around);
  if (crowded !== undefined) return deny(params, crowded);
  if (input.frameBytes({ requestNonce: input.nonce, ...WIDEST }) > MAX_CHALLENGE_BYTES) {
    return deny(params, 'the request does not fit into a frame for the owner');
  }
  if (policy !== 'ask') {
    const { answer, reason, detail } = decidePermission(policy, params);
    return { how: 'answer', answer, reason, challenge: shortReason(detail ?? 'policy=allow') };
  }
  const ask = askOf(input, around, checked.options, now);
  return typeof ask === 'string' ? deny(params, ask) : { how: 'ask', ask };
}

/** Denials under every policy say `rejected` (NIP-AO "Synchronous policy outcomes"). */
function deny(params: Readonly<Record<string, unknown>>, why: string): Admission {
  return { how: 'answer', answer: denial(params['options']), reason: 'rejected', challenge: shortReason(why) };
}

function preflightAsk({ policy, request }: Requested, { entries }: Surroundings): string | undefined {
  if (policy !== 'ask') return undefined;
  // By their JSON text: 1 and "1" are two ids.
  const id = JSON.stringify(request.id);
  if (entries.some((entry) => JSON.stringify(bindingOf(entry).id) === id)) return 'a request with this id is live';
  if (entries.length >= MAX_LIVE) return `${MAX_LIVE} requests are live`;
  if (entries.some(({ status }) => status === 'publishing')) return 'another card waits for its relay';
  return undefined;
}

/** The request as the owner is asked it; a text is why the owner is not. */
function askOf(input: Requested, around: Surroundings, options: readonly PermissionOption[], now: Milliseconds): Ask | string {
  const { turn, observerActive, relayReady, request, askMs } = input;
  const { binding, owner, draining } = around;
  if (draining) return 'ask: nobody waits for the owner any more';
  if (turn === undefined) return 'ask: not in a turn';
  // NIP-AO D7: "Heartbeat turns and turns without a resolved owner always downgrade to reject."
  if (turn.heartbeat) return 'ask: a heartbeat turn';
  if (owner === undefined) return 'ask: no owner is known';
  if (!observerActive) return 'ask: no observer';
  if (!relayReady || turn.channelId === undefined) return 'ask: nowhere to show a card';
  // NIP-AO D7: the author of the turn's first event is the owner.
  if (turn.initiator !== owner) return 'ask: the turn was not begun by the owner';
  const deadline = soonest(later(now, Math.min(askMs, MAX_ASK_MS)), turn.hardDeadline);
  if (deadline <= now) return 'ask: no time is left in the turn';
  const card = cardOf(input, options, turn, { deadline, now });
  if (typeof card === 'string') return card;
  return {
    binding: { ...binding, turnId: turn.turnId, channelId: turn.channelId }, owner, card, deadline,
    hardDeadline: turn.hardDeadline, denial: denial(request.params['options']),
    ...(turn.trigger === undefined ? {} : { trigger: turn.trigger }),
  };
}

/** NIP-AO D5: exactly one allow_once and one reject_once; whatever else the agent offers is never forwarded. */
function cardOf(
  { request, nonce, at }: Requested,
  options: readonly PermissionOption[],
  { turnId }: TurnFacts,
  { deadline, now }: { readonly deadline: Milliseconds; readonly now: Milliseconds },
): CardFacts | string {
  const [allow, ...alsoAllow] = options.filter(({ kind }) => kind === 'allow_once');
  const [reject, ...alsoReject] = options.filter(({ kind }) => kind === 'reject_once');
  if (allow === undefined || reject === undefined || alsoAllow.length > 0 || alsoReject.length > 0) {
    return 'ask: expected exactly one allow_once and one reject_once';
  }
  // Down: the owner is never told of more time than there is.
  const expiresAt = seconds(at + Math.floor((deadline - now) / 1000));
  const built = buildCard({ requestNonce: nonce, sessionId: request.sessionId, turnId, expiresAt, allow, reject, params: request.params });
  return built.ok ? built.card : `ask: ${built.detail}`;
}

function shortReason(text: string): string {
  return text.slice(0, MAX_REASON_LENGTH).toWellFormed();
}
