/** Inputs and states of the connection machine, for its tests. */
import { INITIAL } from '../../../src/broker/upstream/connection.ts';
import type { Command, Input, Link, State } from '../../../src/broker/upstream/connection.ts';
import { step } from '../../../src/broker/upstream/machine.ts';
import { eventId, later, milliseconds } from '../../../src/model/index.ts';
import type { Milliseconds } from '../../../src/model/index.ts';
import { mention } from './events.ts';

export const T0 = milliseconds(1_000_000);
export const AUTH_ID = eventId('aa'.repeat(32));
export const ID = eventId('bb'.repeat(32));
export const EVENT = mention('11111111-1111-4111-8111-111111111111', 'hi', 1_800_000_000);

export type Status = Link['status'];

export const lost: Input = { type: 'lost', reason: 'reset', chance: 0.5 };
export const tick: Input = { type: 'tick', chance: 0.5 };
export const signed: Input = { type: 'signed', eventId: AUTH_ID, text: 'AUTH' };
export const challenge = (text = 'c'): Input => ({ type: 'message', message: { type: 'auth', challenge: text }, chance: 0.5 });
export const ok = (id: typeof ID, accepted: boolean, reason = ''): Input =>
  ({ type: 'message', message: { type: 'ok', eventId: id, accepted, reason }, chance: 0.5 });
export const closed = (id: string, reason: string): Input => ({ type: 'message', message: { type: 'closed', id, reason }, chance: 0.5 });
export const eose = (id: string): Input => ({ type: 'message', message: { type: 'eose', id }, chance: 0.5 });
export const notice = (text: string): Input => ({ type: 'message', message: { type: 'notice', text }, chance: 0.5 });
export const publish = (ticket = 1, options: { readonly ephemeral?: boolean; readonly id?: typeof ID; readonly forMs?: number } = {}): Input => ({
  type: 'publish',
  publication: {
    ticket, eventId: options.id ?? ID, text: `EVENT ${ticket}`, ephemeral: options.ephemeral ?? false,
    deadlineMs: later(T0, options.forMs ?? 600_000),
  },
});
export const fetch = (id = 'fetch-1', forMs = 600_000): Input => ({ type: 'fetch', id, deadlineMs: later(T0, forMs) });
export const subscribe = (id = 's'): Input => ({ type: 'subscribe', id });

/** Runs inputs at one moment. */
export function run(state: State, inputs: readonly Input[], now: Milliseconds = T0): { readonly state: State; readonly commands: readonly Command[] } {
  let current = state;
  const commands: Command[] = [];
  for (const input of inputs) {
    const next = step(current, input, now);
    current = next.state;
    commands.push(...next.commands);
  }
  return { state: current, commands };
}

export const PATHS: Readonly<Record<Status, readonly Input[]>> = {
  idle: [],
  waiting: [{ type: 'start' }, lost],
  connecting: [{ type: 'start' }],
  greeting: [{ type: 'start' }, { type: 'opened' }],
  authenticating: [{ type: 'start' }, { type: 'opened' }, challenge(), signed],
  ready: [{ type: 'start' }, { type: 'opened' }, challenge(), signed, ok(AUTH_ID, true)],
  closed: [{ type: 'start' }, { type: 'close' }],
};
export const at = (status: Status): State => run(INITIAL, PATHS[status]).state;
/** Ready without AUTH. */
export const open = run(run(INITIAL, PATHS.greeting).state, [tick], later(T0, 250)).state;
export const STATUSES = Object.keys(PATHS) as readonly Status[];
