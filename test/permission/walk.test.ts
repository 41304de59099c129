/**
 * Every state that the production reducer can reach with two requests in the worlds of `world.ts`, and faults planted
 * into it that the walk must find: a walk that finds nothing proves nothing unless it can.
 */
import { describe, expect, it } from 'vitest';
import { milliseconds } from '../../src/model/index.ts';
import type { Ask, Entry, PermissionCommand, PermissionInput, Requested } from '../../src/permission/entry.ts';
import { bindingOf } from '../../src/permission/entry.ts';
import { stepPermission } from '../../src/permission/machine.ts';
import type { PermissionState, PermissionStep } from '../../src/permission/machine.ts';
import { agent, asking, channel, owner, START, STAMP, stranger } from './asks.ts';
import { earlier, walk } from './world.ts';
import type { Cast, Step } from './world.ts';

const second = { nonce: 'nonce-2', id: 8 } as const;
const elsewhere = { sessionId: 'session-2', turn: { turnId: 'turn-2' } } as const;

/** The small ones first: most faults show there. */
const CASTS: Readonly<Record<string, Cast>> = {
  'one in a heartbeat, one rejected': [asking({ turn: { heartbeat: true } }), asking({ ...second, policy: 'reject' })],
  'one request': [asking()],
  'one that is allowed, one that is asked': [asking({ policy: 'allow' }), asking({ ...second, id: '7' })],
  'one id twice, in a turn that soon ends': [7, 7].map((id, n) => asking({ id, nonce: `nonce-${n + 1}`, turn: { hardDeadline: milliseconds(START + 8_000) } })),
  'one under another\'s turn': [asking(), asking({ ...second, ...elsewhere, turn: { turnId: 'turn-2', initiator: stranger } })],
  'two in one turn': [asking(), asking(second)],
  'two in two sessions': [asking(), asking({ ...second, ...elsewhere })],
};

describe('permission in every world', () => {
  it.each(Object.entries(CASTS))('%s: each rule holds in every state', (name, cast) => {
    const { states, transitions, wrong } = walk(stepPermission, cast);
    process.stdout.write(`permission, ${name}: ${states} states, ${transitions} transitions\n`);
    expect(wrong).toBeUndefined();
    expect(states).toBeGreaterThan(cast.length === 1 ? 50 : 100);
  }, 120_000);
});

/** The step with its commands changed. */
function commanding(change: (commands: readonly PermissionCommand[], input: PermissionInput) => readonly PermissionCommand[]): Step {
  return (state, input, now) => {
    const step = stepPermission(state, input, now);
    return { state: step.state, commands: change(step.commands, input) };
  };
}

/** The step with its input changed. */
function hearing(change: (input: PermissionInput, state: PermissionState) => PermissionInput): Step {
  return (state, input, now) => stepPermission(state, change(input, state), now);
}

function dropping(type: PermissionCommand['type']): Step {
  return commanding((commands) => commands.filter((command) => command.type !== type));
}

/** The step with what it makes of one kind of input changed. */
function after(type: PermissionInput['type'], change: (step: PermissionStep, before: PermissionState, input: PermissionInput) => PermissionStep): Step {
  return (state, input, now) => {
    const step = stepPermission(state, input, now);
    return input.type === type ? change(step, state, input) : step;
  };
}

function requesting(change: (request: Requested) => Requested): Step {
  return hearing((input) => (input.type === 'requested' ? change(input) : input));
}

function deciding(change: Partial<Extract<PermissionInput, { type: 'decided' }>>): Step {
  return hearing((input) => (input.type === 'decided' ? { ...input, ...change } : input));
}

const askOf = (entry: Entry): Ask | undefined => (entry.status === 'writing' ? entry.edit?.ask : entry.ask);
const allowing = (command: PermissionCommand): PermissionCommand =>
  (command.type === 'write_answer' ? { ...command, answer: { outcome: 'selected', optionId: 'yes' } } : command);

const FAULTS: Readonly<Record<string, Step>> = {
  'takes any option that the agent offered': hearing((input) => (input.type === 'decided' && input.optionId === 'always' ? { ...input, optionId: 'yes' } : input)),
  'takes a stranger\'s decision': deciding({ sender: owner }),
  'takes a decision for another agent': deciding({ agent }),
  'takes an old decision': deciding({ createdAt: STAMP }),
  'takes a decision of another channel': deciding({ channelId: channel }),
  'takes any nonce': hearing((input, { entries: [first] }) => (input.type === 'decided' && first !== undefined ? { ...input, nonce: bindingOf(first).nonce } : input)),
  'takes a decision after the deadline': (state, input, now) => stepPermission(state, input, input.type === 'decided' ? earlier(now, 1_000_000) : now),
  'takes an OK after its time': (state, input, now) => stepPermission(state, input, input.type === 'card_ok' ? earlier(now, 1_000_000) : now),
  'takes the last early decision, not the first': (state, input, now) => {
    const open = state.entries.map((entry): Entry => (entry.status === 'publishing' ? { status: entry.status, ask: entry.ask, publishBy: entry.publishBy } : entry));
    return stepPermission(input.type === 'decided' ? { ...state, entries: open } : state, input, now);
  },
  'forgets an early decision': after('decided', (step, before) => (before.entries.some(({ status }) => status === 'publishing') ? { ...step, state: before } : step)),
  'applies a decision before the card is there': (state, input, now) => {
    const there = state.entries.map((entry): Entry => (entry.status === 'publishing' ? { status: 'pending', ask: entry.ask } : entry));
    return stepPermission(input.type === 'decided' ? { ...state, entries: there } : state, input, now);
  },
  'takes a refusal of the relay for an OK': hearing((input) => (input.type === 'card_refused' ? { ...input, type: 'card_ok' } : input)),
  'takes silence of the relay for an OK': hearing((input) => (input.type === 'card_unanswered' ? { ...input, type: 'card_ok' } : input)),
  'keeps the nonce after a decision': after('decided', (step, before) => ({ ...step, state: before })),
  'keeps the entry after its write': after('written', (step, before) => ({ ...step, state: before })),
  'says acp_write before the write': commanding((commands) => commands.flatMap((command): readonly PermissionCommand[] => (
    command.type === 'write_answer' ? [command, { type: 'emit_answer', binding: command.binding, authorization: { requestNonce: command.binding.nonce, actionable: false, reason: 'applied' } }] : [command]
  ))),
  'says acp_write of a write that failed': hearing((input) => (input.type === 'write_failed' ? { ...input, type: 'written' } : input)),
  'says nothing of a confirmed write': dropping('emit_answer'),
  'says applied of a denial': commanding((commands) => commands.map((command) => (
    command.type === 'emit_answer' ? { ...command, authorization: { ...command.authorization, reason: 'applied' } } : command
  ))),
  'allows at the deadline': commanding((commands, input) => (input.type === 'expired' ? commands.map(allowing) : commands)),
  'allows on a cancel': commanding((commands, input) => (input.type === 'cancelled' ? commands.map(allowing) : commands)),
  'ignores a cancel': after('cancelled', (_, before) => ({ state: before, commands: [] })),
  'does not poison on a cancel in the middle of a write': (state, input, now) => {
    const isWriting = state.entries.some(({ status }) => status === 'writing');
    return input.type === 'cancelled' && isWriting ? { state, commands: [] } : stepPermission(state, input, now);
  },
  'loses the poison': dropping('poison'),
  'poisons first and drains then': after('cancelled', (step) => ({
    ...step, commands: [...step.commands].sort((a, b) => Number(b.type === 'poison') - Number(a.type === 'poison')),
  })),
  'goes on after the poison': after('write_failed', (step, before) => ({ ...step, state: { ...step.state, status: before.status } })),
  'writes again what failed': after('write_failed', (step, before, input) => {
    const failed = before.entries.find((entry) => input.type === 'write_failed' && bindingOf(entry).nonce === input.nonce);
    if (failed?.status !== 'writing') return step;
    return { state: before, commands: [{ type: 'write_answer', binding: failed.binding, answer: { outcome: 'cancelled' }, writeBy: failed.writeBy }] };
  }),
  'waits for ever for a write': after('expired', (step, before) => (
    before.entries.some(({ status }) => status === 'writing') ? { state: before, commands: [] } : step
  )),
  'forgets the terminal': dropping('emit_terminal'),
  'outlives its process': after('process_ended', (step, before) => ({ ...step, state: { ...step.state, entries: before.entries } })),
  'leaves a card open': dropping('resolve_card'),
  'leaves a card open that no relay has answered for': (state, input, now) => stepPermission(state, input.type === 'card_unanswered' ? { ...input, type: 'card_refused' } : input, now),
  'edits a card that was refused': (state, input, now) => stepPermission(state, input.type === 'card_refused' ? { ...input, type: 'card_unanswered' } : input, now),
  'edits a card before its request has ended': after('decided', (step) => ({
    ...step,
    commands: [...step.commands, ...step.state.entries.flatMap((entry): readonly PermissionCommand[] => {
      const ask = askOf(entry);
      return entry.status === 'writing' && entry.reason === 'applied' && ask !== undefined ? [{ type: 'resolve_card', ask, resolution: { outcome: 'cancelled', chosenOptionId: null } }] : [];
    })],
  })),
  'says on the card what was not chosen': commanding((commands) => commands.map((command) => (
    command.type === 'resolve_card' && command.resolution.outcome === 'applied' ? { ...command, resolution: { outcome: 'applied', chosenOptionId: 'yes' } } : command
  ))),
  'does not stop the idle timer': dropping('suspend_idle'),
  'does not let the idle timer go on': dropping('resume_idle'),
  'stops the idle timer of another session': commanding((commands) => commands.map((command) => (
    command.type === 'suspend_idle' || command.type === 'resume_idle' ? { ...command, sessionId: 'session-9' } : command
  ))),
  'asks in a turn of somebody else': requesting((request) => (request.turn === undefined ? request : { ...request, turn: { ...request.turn, initiator: owner } })),
  'asks in a heartbeat': requesting((request) => (request.turn === undefined ? request : { ...request, turn: { ...request.turn, heartbeat: false } })),
  'asks in a turn that is being cancelled': requesting((request) => (request.turn === undefined ? request : { ...request, turn: { ...request.turn, cancelling: false } })),
  'asks while it drains': after('drained', (step, before) => ({ ...step, state: { ...step.state, status: before.status } })),
  'shows a second card while the first waits': (state, input, now) => {
    if (input.type !== 'requested') return stepPermission(state, input, now);
    const alone = stepPermission({ ...state, entries: [] }, input, now);
    return { state: { ...alone.state, entries: [...state.entries, ...alone.state.entries] }, commands: alone.commands };
  },
  'asks beyond the end of the turn': requesting((request) => (request.turn === undefined ? request : { ...request, turn: { ...request.turn, hardDeadline: milliseconds(START + 9_000_000) } })),
  'challenges twice': commanding((commands) => commands.flatMap((command): readonly PermissionCommand[] => (command.type === 'emit_challenge' ? [command, command] : [command]))),
  'does not challenge what it answers at once': commanding((commands) => commands.filter((command) => command.type !== 'emit_challenge' || command.authorization.actionable)),
  'answers under an id of another type': commanding((commands) => commands.map((command) => (
    command.type === 'write_answer' ? { ...command, binding: { ...command.binding, id: String(command.binding.id) } } : command
  ))),
  'forgets a request': after('requested', (step, before) => ({ ...step, state: before })),
  'answers a stranger': (state, input, now) => {
    const step = stepPermission(state, input, now);
    if (input.type !== 'decided' || input.sender === owner) return step;
    return { ...step, commands: [{ type: 'control_result', channelId: input.channelId, nonce: input.nonce, optionId: input.optionId, status: 'no_active_turn' }] };
  },
  'says sent of a decision that came too late': commanding((commands) => commands.map((command) => (command.type === 'control_result' ? { ...command, status: 'sent' } : command))),
  'allows for good under the allow policy': commanding((commands) => commands.map((command) => (
    command.type === 'write_answer' && command.answer.outcome === 'selected' && command.answer.optionId === 'yes' ? { ...command, answer: { outcome: 'selected', optionId: 'always' } } : command
  ))),
};

describe('a planted fault is found', () => {
  it.each(Object.entries(FAULTS))('%s', (name, faulty) => {
    expect(Object.values(CASTS).some((cast) => walk(faulty, cast).wrong !== undefined), name).toBe(true);
  }, 120_000);

  it('there are enough of them', () => {
    expect(Object.keys(FAULTS).length).toBeGreaterThanOrEqual(18);
  });
});
