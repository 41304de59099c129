/**
 * What the owner orders, from the words to what came of it: a decision on a card that waits, a turn to be cancelled, a
 * model to be switched to. Each sends one control frame and waits for its answer, in bounded time.
 *
 * A decision names a request by the beginning of its nonce; the option is the card's by its position (NIP-AO D5), never
 * by its label. What is not exactly one request that waits is decided by nobody.
 */
import { refuse } from '../model/index.ts';
import type { ChannelId, Pubkey, Refusal } from '../model/index.ts';
import { answers } from './control.ts';
import type { Control } from './control.ts';
import type { Desk } from './desk.ts';
import { AFTER_SENT_MS } from './limits.ts';
import { decidable } from './view/index.ts';
import type { Note, Permission, View } from './view/index.ts';

/** Fewer would soon name another request than the one that was looked at. */
export const MIN_PREFIX_CHARACTERS = 4;

/** `nothing`: there was nothing to act on, or no longer. `unanswered`: it was sent, and nobody said what came of it. */
export type OrderRefusal = Refusal<'nothing' | 'unanswered'>;

export interface Decided {
  readonly ok: true;
  readonly permission: Permission;
  readonly optionId: string;
  /** How the request ended; `sent` where only its arrival is known. */
  readonly outcome: string;
}

export async function decide(
  desk: Desk, { prefix, choice, waitMs }: { readonly prefix: string; readonly choice: 'approve' | 'deny'; readonly waitMs: number },
): Promise<Decided | OrderRefusal> {
  const found = decidable(desk.view()).filter(({ nonce }) => nonce.startsWith(prefix));
  const [request] = found;
  if (request === undefined) return refuse('nothing', whyNone(desk.view(), prefix));
  if (found.length > 1) return refuse('nothing', `${found.length} requests begin with ${prefix}: use more of the nonce`);
  const { agent, nonce, card } = request;
  const { optionId } = card.card.options[choice === 'approve' ? 0 : 1];
  const control = { type: 'permission_decision', channelId: card.channelId, requestNonce: nonce, optionId } as const;
  const before = new Set(desk.notes());
  await desk.send(agent, control);
  const endOf = (view: View): Permission | undefined => {
    const now = permissionIn(view, agent, nonce);
    return now?.status === 'resolved' ? now : undefined;
  };
  const first = await desk.until((view) => endOf(view) ?? statusIn(desk, before, agent, control), waitMs);
  if (typeof first === 'string' && first !== 'sent') return refuse('nothing', `the agent says ${first}: the request does not wait any more`);
  const ended = first === 'sent' ? await desk.until(endOf, AFTER_SENT_MS) : first;
  if (ended === undefined) {
    if (first === 'sent') return { ok: true, permission: request, optionId, outcome: 'sent' };
    return refuse('unanswered', 'the agent did not answer in time; the decision may still arrive');
  }
  const { outcome = '', chosenOptionId = null } = typeof ended === 'string' ? {} : (ended.end ?? {});
  if (outcome !== 'applied') return refuse('nothing', `the request ended as ${outcome} before the decision was applied`);
  // Somebody else at the owner's key may have been first; an end that names no option does not say so.
  if (chosenOptionId !== null && chosenOptionId !== optionId) return refuse('nothing', 'the request was decided the other way before');
  return { ok: true, permission: request, optionId, outcome };
}

/** The status that answers a cancel or a switch of model. */
export async function order(
  desk: Desk, agent: Pubkey, control: Extract<Control, { type: 'cancel_turn' | 'switch_model' }>, waitMs: number,
): Promise<{ readonly ok: true; readonly status: string } | OrderRefusal> {
  const before = new Set(desk.notes());
  await desk.send(agent, control);
  const status = await desk.until(() => statusIn(desk, before, agent, control), waitMs);
  if (status === undefined) return refuse('unanswered', 'the agent did not answer in time; it may still do what it was told');
  return ['sent', 'switched'].includes(status) ? { ok: true, status } : refuse('nothing', MEANINGS[status] ?? `the agent says ${status}`);
}

/** NIP-AO "control_result Telemetry". */
const MEANINGS: Readonly<Record<string, string>> = {
  no_active_turn: 'no_active_turn: the agent has nothing there that this could be done to',
  turn_ending: 'turn_ending: the turn was about to end, and ends with the model it had',
  unsupported_model: 'unsupported_model: the agent does not offer this model; skep doctor <agent> lists what it offers',
};

/** What was told before answers another order: of the turns of a channel nothing else tells them apart. */
function statusIn(desk: Desk, before: ReadonlySet<Note>, agent: Pubkey, control: Control): string | undefined {
  for (const note of desk.notes()) {
    if (note.type !== 'control_result' || before.has(note) || note.agent !== agent || !answers(control, note.payload)) continue;
    if (!isOfChannel(note.channelId, control.channelId)) continue;
    const { status } = note.payload;
    return typeof status === 'string' ? status : 'answered without a status';
  }
  return undefined;
}

function isOfChannel(found: ChannelId | null, wanted: ChannelId): boolean {
  return found === null || found === wanted;
}

function permissionIn(view: View, agent: Pubkey, nonce: string): Permission | undefined {
  return [...view.permissions.values()].find((one) => one.agent === agent && one.nonce === nonce);
}

function whyNone(view: View, prefix: string): string {
  const known = [...view.permissions.values()].find(({ nonce }) => nonce.startsWith(prefix));
  switch (known?.status) {
    case undefined:
    case 'asked':
      return 'no permission request waits under that nonce; skep owner pending lists what waits';
    case 'expired':
      return 'the request has expired: nobody decided in time';
    case 'resolved':
      return `the request has ended: ${known.end?.outcome ?? 'resolved'}`;
    default:
      return 'the card and what the agent reported do not agree: it cannot be decided here';
  }
}
