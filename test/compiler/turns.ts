/** Turns for the tests: small ones to build on, and arbitrary hostile ones. */
import type { TriggeredEvent, TurnEvent, TurnInput } from '../../compiler/index.ts';

export const CHANNEL_ID = '0b9c1f5e-6a53-4d0e-9a57-3f1f0f8f2c11';
export const MORGAN = 'aa'.repeat(32);
export const SAM = 'bb'.repeat(32);
export const SKEP = 'cc'.repeat(32);
export const ROOT = 'd0'.repeat(32);
export const PARENT = 'd1'.repeat(32);

/** An event id that reads as its number. */
export function idOf(number: number): string {
  return number.toString(16).padStart(64, '0');
}

export function eventOf(change: Partial<TurnEvent> = {}): TurnEvent {
  return {
    id: idOf(1),
    pubkey: MORGAN,
    created_at: 1_700_000_000,
    kind: 9,
    tags: [],
    content: 'Fix the deployment failure.',
    sig: 'ab'.repeat(64),
    ...change,
  };
}

export function triggeredOf(change: Partial<TurnEvent> = {}, rule = '@mention'): TriggeredEvent {
  return { event: eventOf(change), rule };
}

/** A turn of one top-level mention; `change` replaces whole members. */
export function turnOf(change: Partial<TurnInput> = {}): TurnInput {
  return { v: 1, channelId: CHANNEL_ID, events: [triggeredOf()], standingRole: 'sent', ...change };
}

/** The events of a turn whose last one has `tags`. */
export function tagged(...tags: readonly (readonly string[])[]): readonly TriggeredEvent[] {
  return [triggeredOf({ tags })];
}

/** The same value with every object's members in another order. */
export function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reordered(member)]),
  );
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
