/**
 * Permission requests as challenge, card and end tell them, in whatever order they come and however often. What has ended
 * stays ended: neither a repeated card nor a late challenge opens it again. Only a card makes a request decidable.
 *
 * Everything is kept by agent and nonce, and agent is who signed: nobody speaks for another agent's request (NIP-AO
 * "Sentinel authenticity").
 */
import { milliseconds, millisecondsOf, seconds, secondsOf } from '../../model/index.ts';
import type { Milliseconds, Pubkey } from '../../model/index.ts';
import type { CardSighting, EditSighting } from './sightings.ts';
import { membersOf, textOf } from './telemetry.ts';
import type { Authorization, Members, Telemetry } from './telemetry.ts';
import { bounded, placeOf } from './turns.ts';
import { agrees, keyOf, MAX_PERMISSIONS } from './view.ts';
import type { Challenge, Note, Permission, PermissionEnd, Step, View } from './view.ts';

/** NIP-AO "Best-effort delivery": no request waits longer, whatever its card says. */
const MAX_WAIT_SEC = 300;
/** Seconds before the end at which the owner is told again. */
const COUNTDOWN_SEC = [240, 180, 120, 60, 30, 10] as const;

/** A frame with an authorization envelope. */
export function authorized(view: View, agent: Pubkey, event: Telemetry, authorization: Authorization): Step {
  const { requestNonce: nonce, reason } = authorization;
  const known = view.permissions.get(keyOf(agent, nonce));
  switch (event.kind) {
    case 'acp_read': {
      if (!authorization.actionable && known === undefined) {
        return { view, notes: [{ ...placeOf(agent, event), type: 'permission_unasked', nonce, reason: reason ?? null }] };
      }
      if (known?.challenge !== undefined || known?.status === 'resolved') return { view, notes: [] };
      const challenge = challengeIn(event, authorization);
      const next: Permission = { ...(known ?? asked(agent, nonce, event)), challenge };
      const spoilt = known?.card !== undefined && !agrees(next);
      return { view: kept(view, next), notes: spoilt ? [pendingNote(next, event.at)] : [] };
    }
    case 'acp_write': {
      const chosen = reason === 'applied' ? chosenIn(event.payload) : null;
      return ended(view, known ?? asked(agent, nonce, event), { outcome: reason ?? 'answered', chosenOptionId: chosen }, event.at);
    }
    case 'permission_terminal':
      return ended(view, known ?? asked(agent, nonce, event), { outcome: 'uncertain', chosenOptionId: null }, event.at);
    default:
      return { view, notes: [] };
  }
}

export function carded(view: View, sighting: CardSighting, now: Milliseconds): Step {
  const { agent, card, channelId, createdAt } = sighting;
  const known = view.permissions.get(keyOf(agent, card.requestNonce));
  if (known?.status === 'resolved') return { view, notes: [] };
  if (known?.card !== undefined) return known.card.eventId === sighting.eventId ? { view, notes: [] } : disputed(view, known);
  const end = Math.min(card.expiresAt, createdAt + MAX_WAIT_SEC, secondsOf(now) + MAX_WAIT_SEC);
  const deadline = millisecondsOf(seconds(end));
  const next: Permission = {
    agent, nonce: card.requestNonce, channelId, turnId: card.turnId, card: sighting, deadline,
    status: deadline > now ? 'pending' : 'expired',
    ...(known?.challenge === undefined ? {} : { challenge: known.challenge }),
    toldLeftSec: Math.ceil((deadline - now) / 1_000),
  };
  return { view: kept(view, next), notes: next.status === 'pending' ? [pendingNote(next, millisecondsOf(createdAt))] : [] };
}

/**
 * A supervisor posts one card for a request. An agent that can write messages may have written the other, with the options
 * in another order, and a relay hands over the newest first: neither is decided.
 */
function disputed(view: View, known: Permission): Step {
  if (known.disputed === true) return { view, notes: [] };
  const next: Permission = { ...known, disputed: true };
  return { view: kept(view, next), notes: next.status === 'pending' ? [pendingNote(next, millisecondsOf(known.card?.createdAt ?? seconds(0)))] : [] };
}

export function edited(view: View, { agent, card, channelId, createdAt }: EditSighting): Step {
  const { requestNonce: nonce, outcome, chosenOptionId, originalEventId } = card;
  const known = view.permissions.get(keyOf(agent, nonce));
  if (known?.card !== undefined && known.card.eventId !== originalEventId) return { view, notes: [] };
  const request = known ?? { agent, nonce, channelId, turnId: card.turnId, status: 'asked' };
  return ended(view, request, { outcome, chosenOptionId, originalEventId }, millisecondsOf(createdAt));
}

/** Tells what is about to end, and ends what was not decided in time. */
export function countDown(view: View, now: Milliseconds): Step {
  const notes: Note[] = [];
  let next = view;
  for (const permission of view.permissions.values()) {
    const { status, deadline } = permission;
    if (status !== 'pending' || deadline === undefined) continue;
    const leftSec = Math.ceil((deadline - now) / 1_000);
    if (leftSec <= 0) {
      next = kept(next, { ...permission, status: 'expired' });
      notes.push({ ...place(permission, now), type: 'permission_ended', nonce: permission.nonce, outcome: 'expired', chosenOptionId: null, permission });
    } else if (nextMark(permission) >= leftSec) {
      next = kept(next, { ...permission, toldLeftSec: leftSec });
      if (agrees(permission)) notes.push({ ...place(permission, now), type: 'permission_waits', permission, leftSec });
    }
  }
  return { view: next, notes };
}

/** When `countDown` next has something to do with it. */
export function countDownDueMs(permission: Permission): Milliseconds | undefined {
  const { status, deadline } = permission;
  if (status !== 'pending' || deadline === undefined) return undefined;
  return milliseconds(deadline - nextMark(permission) * 1_000);
}

function nextMark({ toldLeftSec = MAX_WAIT_SEC }: Permission): number {
  return COUNTDOWN_SEC.find((mark) => mark < toldLeftSec) ?? 0;
}

function ended(view: View, permission: Permission, end: PermissionEnd, at: Milliseconds): Step {
  const before = permission.end;
  // The frame and the edit tell the same end; the one that knows the option completes the other.
  const repeated = before !== undefined;
  const whole = before === undefined ? end : { ...before, chosenOptionId: before.chosenOptionId ?? end.chosenOptionId };
  const next: Permission = { ...permission, status: 'resolved', end: whole };
  if (repeated) return { view: kept(view, next), notes: [] };
  const { outcome, chosenOptionId } = end;
  return {
    view: kept(view, next),
    notes: [{ ...place(permission, at), type: 'permission_ended', nonce: permission.nonce, outcome, chosenOptionId, permission: next }],
  };
}

function asked(agent: Pubkey, nonce: string, { channelId, turnId }: Telemetry): Permission {
  return { agent, nonce, channelId, turnId, status: 'asked' };
}

function challengeIn({ payload, channelId }: Telemetry, { actionable }: Authorization): Challenge {
  const options = membersOf(payload['params'])?.['options'];
  const listed: readonly unknown[] = Array.isArray(options) ? options : [];
  return {
    channelId, actionable,
    options: listed.flatMap((one) => {
      const [optionId, kind] = [textOf(membersOf(one)?.['optionId']), textOf(membersOf(one)?.['kind'])];
      return optionId === undefined || kind === undefined ? [] : [{ optionId, kind }];
    }),
  };
}

function chosenIn(payload: Members): string | null {
  const outcome = membersOf(membersOf(payload['result'])?.['outcome']);
  return outcome?.['outcome'] === 'selected' ? (textOf(outcome['optionId']) ?? null) : null;
}

function pendingNote(permission: Permission, at: Milliseconds): Note {
  return { ...place(permission, at), type: 'permission_pending', permission, matches: agrees(permission) };
}

function place({ agent, channelId, turnId, card }: Permission, at: Milliseconds): ReturnType<typeof placeOf> {
  return { at, agent, channelId, sessionId: card?.card.sessionId ?? null, turnId };
}

function kept(view: View, permission: Permission): View {
  const permissions = new Map(view.permissions).set(keyOf(permission.agent, permission.nonce), permission);
  return { ...view, permissions: bounded(permissions, MAX_PERMISSIONS, ({ status }) => status === 'resolved' || status === 'expired') };
}
