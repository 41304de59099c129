/** Requests, decisions and short names of what came of them, for the tests of the permission machine. */
import { channelId, eventId, milliseconds, pubkey, seconds } from '../../src/model/index.ts';
import type { Decided, PermissionCommand, Requested, TurnFacts } from '../../src/permission/entry.ts';
import type { PermissionState } from '../../src/permission/machine.ts';

export const agent = pubkey('a'.repeat(64));
export const owner = pubkey('b'.repeat(64));
export const stranger = pubkey('c'.repeat(64));
export const channel = channelId('00000000-0000-4000-8000-000000000001');
export const otherChannel = channelId('00000000-0000-4000-8000-000000000002');
export const trigger = eventId('d'.repeat(64));

/** The clock of deadlines and that of stamps have nothing to do with each other. */
export const START = milliseconds(50_000);
export const STAMP = seconds(1_700_000_000);

export const OPTIONS = [
  { optionId: 'always', kind: 'allow_always', name: 'Always' },
  { optionId: 'yes', kind: 'allow_once', name: 'Allow once' },
  { optionId: 'no', kind: 'reject_once', name: 'Deny' },
] as const;

export const turn: TurnFacts = {
  turnId: 'turn-1', channelId: channel, initiator: owner, trigger, heartbeat: false, cancelling: false, hardDeadline: milliseconds(START + 7_200_000),
};

export interface Asking extends Partial<Omit<Requested, 'type' | 'request' | 'turn'>> {
  readonly id?: string | number;
  readonly sessionId?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Over `turn`; null for what is asked outside of one. */
  readonly turn?: Partial<TurnFacts> | null;
}

export function asking({ id = 7, sessionId = 'session-1', params, turn: facts, ...more }: Asking = {}): Requested {
  const request = { id, sessionId, params: params ?? { sessionId, title: 'Run a command', options: OPTIONS } };
  const inTurn = facts === null ? {} : { turn: { ...turn, ...facts } };
  return {
    type: 'requested', request, nonce: 'nonce-1', policy: 'ask', askMs: 300_000, observerActive: true, relayReady: true, at: STAMP,
    frameBytes: () => 1_000, ...inTurn, ...more,
  };
}

export function deciding(more: Partial<Decided> = {}): Decided {
  return {
    type: 'decided', nonce: 'nonce-1', optionId: 'yes', channelId: channel, sender: owner, agent, createdAt: STAMP, receivedAt: STAMP, ...more,
  };
}

/** One word for each entry: its status, and what it holds. */
export function entriesText({ status, entries }: PermissionState): string {
  const words = entries.map((entry) => {
    switch (entry.status) {
      case 'publishing':
        return entry.early === undefined ? 'publishing' : `publishing(${entry.early})`;
      case 'pending':
        return 'pending';
      case 'writing':
        return `writing(${entry.reason}${entry.edit === undefined ? '' : '+edit'})`;
      default:
        throw new TypeError('unreachable');
    }
  });
  return [...(status === 'open' ? [] : [status]), ...words].join(' ');
}

/** One word for each command, with what decides. */
export function commandsText(commands: readonly PermissionCommand[]): string {
  return commands.map(commandText).join(' ');
}

function commandText(command: PermissionCommand): string {
  switch (command.type) {
    case 'emit_challenge':
      return command.authorization.actionable ? 'challenge' : 'challenge(no)';
    case 'publish_card':
      return 'publish';
    case 'write_answer':
      return `write(${command.answer.outcome === 'selected' ? command.answer.optionId : 'cancelled'})`;
    case 'emit_answer':
      return `answer(${command.authorization.reason ?? ''})`;
    case 'emit_terminal':
      return `terminal(${command.authorization.reason ?? ''})`;
    case 'resolve_card':
      return `edit(${command.resolution.outcome})`;
    case 'poison':
      return 'poison';
    case 'suspend_idle':
      return 'suspend';
    case 'resume_idle':
      return 'resume';
    case 'control_result':
      return `result(${command.status})`;
    default:
      throw new TypeError('unreachable');
  }
}
