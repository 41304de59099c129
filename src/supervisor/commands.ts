/**
 * What an owner's command in chat comes to. Pure. A command is good for five minutes, as a control frame is (NIP-AO), and
 * `!shutdown` only for the run it was sent in: what a relay hands over late is consumed, without effect, and said so.
 */
import type { CommandReport } from '../broker/index.ts';
import { millisecondsOf, unreachable } from '../model/index.ts';
import type { Milliseconds } from '../model/index.ts';
import type { OwnerCommand } from './gate.ts';
import type { Entry } from './inbox/entry.ts';

const FRESH_MS = 300_000;

export type CommandStatus = 'sent' | 'no_active_turn' | 'rotated' | 'stopping' | 'stale';

export function isStale(command: OwnerCommand, entry: Entry, now: Milliseconds, startedAtMs: Milliseconds): boolean {
  const sentAtMs = millisecondsOf(entry.event.created_at);
  if (Math.abs(now - sentAtMs) > FRESH_MS) return true;
  // Stamps are whole seconds: one of the second we started in is not before the start.
  return command === '!shutdown' && sentAtMs + 1_000 <= startedAtMs;
}

/** `turns`: how many were under way in the channel and are cancelled. */
export function statusOf(command: OwnerCommand, turns: number): CommandStatus {
  switch (command) {
    case '!cancel':
      return turns > 0 ? 'sent' : 'no_active_turn';
    case '!rotate':
      return 'rotated';
    case '!shutdown':
      return 'stopping';
    default:
      return unreachable(command);
  }
}

/** The system message (kind 40099) in the channel. */
export function reportOf(command: OwnerCommand, { eventId, channelId }: Entry, status: CommandStatus): CommandReport {
  return { commandId: eventId, channelId, content: JSON.stringify({ type: 'owner_command', command, status }) };
}
