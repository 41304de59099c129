/**
 * What an owner's desk tells, as lines for people and for scripts. Everything that an agent wrote is escaped first: it
 * must not be able to move a cursor, colour a line, or turn text round on the owner's screen. Pure.
 */
import { excerpt, shortId } from '../model/index.ts';
import type { ChannelId, Pubkey } from '../model/index.ts';
import type { Permission } from '../owner/index.ts';
import { safe } from './print.ts';

/** What JSON would pass on as it is and a terminal may obey or hide: C1 controls, bidi and zero-width characters. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** One line of JSON: what it says is what was told, to the character, and no terminal obeys any of it. */
export function jsonLine(value: object): string {
  return JSON.stringify(value).replace(UNSAFE, (scalar) =>
    Array.from({ length: scalar.length }, (_, index) => `\\u${scalar.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''));
}

/** A request that waits, in two lines. The first option allows, whatever it is called. */
export function permissionLines(permission: Permission, nameOf: (agent: Pubkey) => string, nowMs: number): readonly string[] {
  const { nonce, agent, card, deadline = 0, channelId } = permission;
  const [allow, reject] = card?.card.options ?? [];
  const left = Math.max(0, Math.ceil((deadline - nowMs) / 1_000));
  return [
    `${shortNonce(nonce)}  ${safe(nameOf(agent))} in ${placeText(channelId)}, ${left} s left: ${excerpt(card?.card.description ?? 'it does not say what for', 400)}`,
    `          approve: "${safe(allow?.label ?? '')}", deny: "${safe(reject?.label ?? '')}"`,
  ];
}

export function permissionJson(permission: Permission, nameOf: (agent: Pubkey) => string): object {
  const { nonce, agent, card, deadline, channelId, turnId } = permission;
  return {
    nonce, agent, name: nameOf(agent), channelId, turnId, sessionId: card?.card.sessionId ?? null, cardId: card?.eventId ?? null,
    description: card?.card.description ?? null, options: card?.card.options ?? null,
    deadline: deadline === undefined ? null : isoOf(deadline),
  };
}

/** Null for a stamp that no calendar has: it is the agent's word. */
export function isoOf(at: number): string | null {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : null;
}

/** Enough to tell requests apart, and to name one. */
export function shortNonce(nonce: string): string {
  return safe(Array.from(nonce).slice(0, 8).join(''));
}

export function placeText(channelId: ChannelId | null): string {
  return channelId === null ? 'no channel' : shortId(channelId);
}
