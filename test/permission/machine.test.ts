import { describe, expect, it } from 'vitest';
import { milliseconds, seconds } from '../../src/model/index.ts';
import { MAX_CHALLENGE_BYTES } from '../../src/permission/admission.ts';
import { sameText } from '../../src/permission/decision.ts';
import type { PermissionCommand, PermissionInput } from '../../src/permission/entry.ts';
import { openPermissions, permissionDeadline, stepPermission } from '../../src/permission/machine.ts';
import type { PermissionState } from '../../src/permission/machine.ts';
import {
  agent, asking, channel, commandsText, deciding, entriesText, OPTIONS, otherChannel, owner, STAMP, START, stranger, trigger, turn,
} from './asks.ts';
import type { Asking } from './asks.ts';

const EMPTY = openPermissions({ agent, owner });
const at = (ms: number) => milliseconds(START + ms);

interface After {
  readonly state: PermissionState;
  readonly commands: readonly PermissionCommand[];
}

/** The state after some inputs at the start, and all that was commanded. */
function after(inputs: readonly PermissionInput[], from: PermissionState = EMPTY, ms = 0): After {
  return inputs.reduce<After>(
    ({ state, commands }, input) => {
      const step = stepPermission(state, input, at(ms));
      return { state: step.state, commands: [...commands, ...step.commands] };
    },
    { state: from, commands: [] },
  );
}

const ok = { type: 'card_ok', nonce: 'nonce-1' } as const;
const cancelled = { type: 'cancelled', turnId: 'turn-1' } as const;
const written = { type: 'written', nonce: 'nonce-1' } as const;
const failed = { type: 'write_failed', nonce: 'nonce-1' } as const;

const STATES = {
  none: EMPTY,
  publishing: after([asking()]).state,
  decidedEarly: after([asking(), deciding()]).state,
  pending: after([asking(), ok]).state,
  writing: after([asking(), ok, deciding()]).state,
  writingCancelled: after([asking(), ok, cancelled]).state,
  writingAtOnce: after([asking({ policy: 'reject' })]).state,
  draining: after([{ type: 'drained' }]).state,
  closed: after([asking(), ok, deciding(), failed]).state,
} as const;

const INPUTS = {
  requested: asking({ nonce: 'nonce-2', id: 8 }),
  card_ok: ok,
  card_refused: { type: 'card_refused', nonce: 'nonce-1' },
  card_unanswered: { type: 'card_unanswered', nonce: 'nonce-1' },
  decided: deciding({ optionId: 'no' }),
  notOffered: deciding({ optionId: 'always' }),
  strange: deciding({ sender: stranger }),
  expired: { type: 'expired' },
  overdue: { type: 'expired' },
  cancelled,
  otherTurn: { type: 'cancelled', turnId: 'turn-9' },
  written,
  write_failed: failed,
  process_ended: { type: 'process_ended' },
  drained: { type: 'drained' },
} as const satisfies Readonly<Record<string, PermissionInput>>;

type Row = Readonly<Record<keyof typeof INPUTS, string>>;

/** What a state that nothing concerns makes of each input. */
const DEAF = {
  card_ok: '-', card_refused: '-', card_unanswered: '-', decided: '- : result(no_active_turn)', notOffered: '- : result(no_active_turn)',
  strange: '-', expired: '-', overdue: '-', cancelled: '-', otherTurn: '-', written: '-', write_failed: '-',
} as const;
const LOST = 'closed : terminal(uncertain) edit(cancelled)';

const TABLE: Readonly<Record<keyof typeof STATES, Row>> = {
  none: { ...DEAF, requested: 'publishing : challenge publish suspend', process_ended: 'closed : ', drained: 'draining : ' },
  publishing: {
    ...DEAF,
    requested: 'publishing writing(rejected) : challenge(no) write(no)',
    card_ok: 'pending : ',
    card_refused: 'writing(timed_out) : write(no) resume',
    card_unanswered: 'writing(timed_out+edit) : write(no) resume',
    decided: 'publishing(no) : result(sent)',
    notOffered: '- : result(sent)',
    overdue: 'writing(timed_out+edit) : write(no) resume',
    cancelled: 'writing(cancelled+edit) : write(cancelled) resume',
    process_ended: `${LOST} resume`,
    drained: 'draining writing(cancelled+edit) : write(cancelled) resume',
  },
  decidedEarly: {
    ...DEAF,
    requested: 'publishing(yes) writing(rejected) : challenge(no) write(no)',
    card_ok: 'writing(applied+edit) : write(yes) resume',
    card_refused: 'writing(timed_out) : write(no) resume',
    card_unanswered: 'writing(timed_out+edit) : write(no) resume',
    decided: '- : result(sent)',
    notOffered: '- : result(sent)',
    overdue: 'writing(timed_out+edit) : write(no) resume',
    cancelled: 'writing(cancelled+edit) : write(cancelled) resume',
    process_ended: `${LOST} resume`,
    drained: 'draining writing(cancelled+edit) : write(cancelled) resume',
  },
  pending: {
    ...DEAF,
    requested: 'pending publishing : challenge publish',
    decided: 'writing(applied+edit) : result(sent) write(no) resume',
    notOffered: '- : result(sent)',
    overdue: 'writing(timed_out+edit) : write(no) resume',
    cancelled: 'writing(cancelled+edit) : write(cancelled) resume',
    process_ended: `${LOST} resume`,
    drained: 'draining writing(cancelled+edit) : write(cancelled) resume',
  },
  writing: {
    ...DEAF,
    requested: 'writing(applied+edit) publishing : challenge publish suspend',
    card_refused: 'writing(applied) : ',
    overdue: `${LOST} poison`,
    cancelled: `${LOST} poison`,
    written: ' : answer(applied) edit(applied)',
    write_failed: `${LOST} poison`,
    process_ended: LOST,
    drained: 'draining writing(applied+edit) : ',
  },
  writingCancelled: {
    ...DEAF,
    requested: 'writing(cancelled+edit) publishing : challenge publish suspend',
    card_refused: 'writing(cancelled) : ',
    overdue: `${LOST} poison`,
    written: ' : answer(cancelled) edit(cancelled)',
    write_failed: `${LOST} poison`,
    process_ended: LOST,
    drained: 'draining writing(cancelled+edit) : ',
  },
  writingAtOnce: {
    ...DEAF,
    requested: 'writing(rejected) publishing : challenge publish suspend',
    overdue: 'closed : terminal(uncertain) poison',
    cancelled: 'closed : terminal(uncertain) poison',
    written: ' : answer(rejected)',
    write_failed: 'closed : terminal(uncertain) poison',
    process_ended: 'closed : terminal(uncertain)',
    drained: 'draining writing(rejected) : ',
  },
  draining: { ...DEAF, requested: 'draining writing(rejected) : challenge(no) write(no)', process_ended: 'closed : ', drained: '-' },
  closed: { ...DEAF, requested: '- : challenge(no) terminal(uncertain)', process_ended: '-', drained: '-' },
};

describe('every state and every input', () => {
  const cells = Object.entries(STATES).flatMap(([name, state]) =>
    Object.entries(INPUTS).map(([key, input]) => ({ name, state, key, input })));

  it.each(cells)('$name, $key', ({ name, state, key, input }) => {
    const step = stepPermission(state, input, at(key === 'overdue' ? 400_000 : 0));
    const [from, to] = [entriesText(state), entriesText(step.state)];
    const commands = commandsText(step.commands);
    const expected = Object.entries(TABLE).find(([row]) => row === name)?.[1];
    const found = from === to ? `-${commands === '' ? '' : ` : ${commands}`}` : `${to} : ${commands}`;
    expect(found).toBe(Object.entries(expected ?? {}).find(([column]) => column === key)?.[1]);
  });
});

describe('what is put to the owner', () => {
  const onlyCommands = (more: Asking, from: PermissionState = EMPTY) => commandsText(after([asking(more)], from).commands);
  const REFUSED = 'challenge(no) write(no)';
  const options = (...list: readonly unknown[]) => ({ params: { options: list } });
  const [always, yes, no] = OPTIONS;

  it.each<[string, Asking]>([
    ['outside of a turn', { turn: null }],
    ['in a heartbeat', { turn: { heartbeat: true } }],
    ['without an observer', { observerActive: false }],
    ['without a relay', { relayReady: false }],
    ['in a turn that another person began', { turn: { initiator: stranger } }],
    ['in a turn that is at its end', { turn: { hardDeadline: at(0) } }],
    ['two allow_once', options(yes, { ...yes, optionId: 'yes-2' }, no)],
    ['two reject_once', options(yes, no, { ...no, optionId: 'no-2' })],
    ['no allow_once', options(always, no)],
    ['more than sixteen options', options(...Array.from({ length: 15 }, (_, n) => ({ ...always, optionId: `a${n}` })), yes, no)],
    ['the same id twice', options(yes, no, { ...always, optionId: 'yes' })],
    ['an option without a name', options(yes, no, { ...always, name: '' })],
    ['a session id of 201 bytes', { sessionId: 's'.repeat(201) }],
    ['an option id of 201 bytes', options({ ...yes, optionId: 'y'.repeat(201) }, no)],
    ['a frame that is too long', { frameBytes: () => MAX_CHALLENGE_BYTES + 1 }],
  ])('not %s', (_, more) => {
    expect(onlyCommands(more)).toBe(REFUSED);
  });

  it('not where no owner is known', () => {
    expect(onlyCommands({}, openPermissions({ agent }))).toBe(REFUSED);
  });

  it('not where no turn event tells who began', () => {
    const { initiator, ...unknown } = turn;
    expect(initiator).toBe(owner);
    expect(commandsText(after([{ ...asking(), turn: unknown }]).commands)).toBe(REFUSED);
  });

  it('sixteen options and a frame of the largest size are asked', () => {
    expect(onlyCommands(options(...Array.from({ length: 14 }, (_, n) => ({ ...always, optionId: `a${n}` })), yes, no))).toBe('challenge publish suspend');
    expect(onlyCommands({ frameBytes: () => MAX_CHALLENGE_BYTES })).toBe('challenge publish suspend');
  });

  it('a request without a reject option is answered cancelled', () => {
    expect(onlyCommands(options(always, yes))).toBe('challenge(no) write(cancelled)');
    expect(onlyCommands({ params: {} })).toBe('challenge(no) write(cancelled)');
  });

  it('a request of a turn that is being cancelled is answered cancelled, whatever the policy', () => {
    for (const policy of ['ask', 'allow', 'reject'] as const) {
      const { state, commands } = after([asking({ policy, turn: { cancelling: true } }), cancelled, written]);
      expect(commandsText(commands)).toBe('challenge(no) write(cancelled) answer(cancelled)');
      expect(state.entries).toEqual([]);
    }
  });

  it('policies that need no owner answer at once, and say so after the write', () => {
    const path = (policy: 'allow' | 'reject', params: Readonly<Record<string, unknown>>) => commandsText(after([asking({ policy, params, turn: null }), written]).commands);
    expect(path('allow', { options: OPTIONS })).toBe('challenge(no) write(yes) answer(allowed)');
    expect(path('allow', { options: [always, no] })).toBe('challenge(no) write(no) answer(allow_failed_closed)');
    expect(path('reject', { options: OPTIONS })).toBe('challenge(no) write(no) answer(rejected)');
  });

  it('eight at once, and no ninth', () => {
    const eight = Array.from({ length: 8 }, (_, n) => [asking({ id: n, nonce: `n${n}` }), { type: 'card_ok', nonce: `n${n}` } as const]).flat();
    const full = after(eight);
    expect(entriesText(full.state)).toBe(Array(8).fill('pending').join(' '));
    expect(onlyCommands({ id: 9, nonce: 'n9' }, full.state)).toBe(REFUSED);
  });

  it('7 and "7" are two requests, 7 twice is not', () => {
    const { state } = after([asking({ id: 7 }), ok]);
    expect(onlyCommands({ id: '7', nonce: 'nonce-2' }, state)).toBe('challenge publish');
    expect(onlyCommands({ id: 7, nonce: 'nonce-2' }, state)).toBe(REFUSED);
  });

  it.each([7, '7', 0, ''])('answers under the very id %j', (id) => {
    const { commands } = after([asking({ id }), ok, deciding(), written]);
    const ids = commands.flatMap((command) => ('binding' in command ? [command.binding.id] : []));
    expect(ids).toEqual([id, id, id]);
  });

  it('a nonce that is live is a bug', () => {
    expect(() => after([asking(), asking({ id: 8 })])).toThrow('nonce');
  });
});

describe('the challenge and the card', () => {
  it('say until when, in the time of stamps, and never later than the deadline', () => {
    const { commands, state } = after([asking({ turn: { hardDeadline: at(59_999) } })]);
    expect(commands[0]).toMatchObject({ authorization: { requestNonce: 'nonce-1', actionable: true, expiresAt: STAMP + 59 } });
    expect(commands[1]).toMatchObject({ type: 'publish_card', publishBy: at(10_000), ask: { trigger, card: { expiresAt: STAMP + 59, turnId: 'turn-1' } } });
    expect(permissionDeadline(after([ok], state).state)).toBe(at(59_999));
  });

  it('have 300 seconds at most, and the card ten for its OK', () => {
    const asked = after([asking()]).state;
    expect(permissionDeadline(asked)).toBe(at(10_000));
    expect(permissionDeadline(after([ok], asked).state)).toBe(at(300_000));
    expect(permissionDeadline(EMPTY)).toBeUndefined();
  });

  it.each([[5_000, 5_000], [400_000, 300_000]])('with %i ms set have %i', (askMs, ms) => {
    const asked = after([asking({ askMs })]).state;
    expect(permissionDeadline(after([ok], asked).state)).toBe(at(ms));
  });

  it('a no of the policy has no time and a reason', () => {
    const [challenge] = after([asking({ policy: 'reject' })]).commands;
    expect(challenge).toMatchObject({ authorization: { requestNonce: 'nonce-1', actionable: false, reason: 'policy=reject' } });
    expect(challenge).not.toHaveProperty('authorization.expiresAt');
  });

  it('an answer is bounded by thirty seconds, and by the end of the turn', () => {
    expect(permissionDeadline(after([asking(), ok, deciding()]).state)).toBe(at(30_000));
    expect(permissionDeadline(after([asking({ turn: { hardDeadline: at(12_000) } }), ok, deciding()]).state)).toBe(at(12_000));
  });
});

describe('who decides', () => {
  const PENDING = STATES.pending;

  it.each([
    ['a stranger', { sender: stranger }], ['the agent itself', { sender: agent }],
    ['the owner through another agent', { agent: stranger }],
    ['the owner 301 seconds ago', { createdAt: seconds(STAMP - 301) }], ['the owner in 301 seconds', { createdAt: seconds(STAMP + 301) }],
  ])('not %s, who is told nothing', (_, more) => {
    const step = stepPermission(PENDING, deciding(more), at(1));
    expect(step).toEqual({ state: PENDING, commands: [] });
  });

  it.each([
    ['another nonce', { nonce: 'nonce-2' }], ['a beginning of the nonce', { nonce: 'nonce' }], ['no nonce', { nonce: '' }],
    ['another channel', { channelId: otherChannel }],
  ])('not the owner with %s', (_, more) => {
    const step = stepPermission(PENDING, deciding(more), at(1));
    expect(step.state).toEqual(PENDING);
    expect(commandsText(step.commands)).toBe('result(no_active_turn)');
  });

  it.each([-300, 300])('the owner %i seconds off does', (off) => {
    const step = stepPermission(PENDING, deciding({ createdAt: seconds(STAMP + off) }), at(1));
    expect(commandsText(step.commands)).toBe('result(sent) write(yes) resume');
    expect(step.commands[0]).toEqual({ type: 'control_result', channelId: channel, nonce: 'nonce-1', optionId: 'yes', status: 'sent' });
  });

  it('not the owner at the very deadline, though no timer has rung', () => {
    const late = stepPermission(PENDING, deciding(), at(300_000));
    expect(commandsText(late.commands)).toBe('write(no) result(no_active_turn) resume');
    expect(commandsText(stepPermission(PENDING, deciding(), at(299_999)).commands)).toBe('result(sent) write(yes) resume');
  });

  it('an OK that comes too late makes no early decision good', () => {
    expect(commandsText(stepPermission(STATES.decidedEarly, ok, at(10_000)).commands)).toBe('write(no) resume');
  });

  it('compares whole texts', () => {
    expect(['nonce', 'nonce-1', 'nonce-2', '', 'nonce-1nonce-1'].map((given) => sameText('nonce-1', given))).toEqual([false, true, false, false, false]);
    expect(sameText('', '')).toBe(true);
    expect(sameText('', '\0')).toBe(false);
  });
});

describe('several requests', () => {
  const second = asking({ nonce: 'nonce-2', id: 8 });
  const elsewhere = asking({ nonce: 'nonce-2', id: 8, sessionId: 'session-2', turn: { turnId: 'turn-2' } });

  it('a cancel in the middle of one answer drains what waits, then ends the process; nothing is written after that', () => {
    const { state } = after([asking(), ok, second, { type: 'card_ok', nonce: 'nonce-2' }, deciding()]);
    const torn = stepPermission(state, cancelled, at(1));
    expect(commandsText(torn.commands)).toBe('write(cancelled) terminal(uncertain) edit(cancelled) poison resume');
    const drained = stepPermission(torn.state, { type: 'written', nonce: 'nonce-2' }, at(2));
    expect(commandsText(drained.commands)).toBe('answer(cancelled) edit(cancelled)');
    expect(stepPermission(drained.state, written, at(3)).commands).toEqual([]);
  });

  it('a cancel of one turn leaves the other alone', () => {
    const { state } = after([asking(), ok, elsewhere, { type: 'card_ok', nonce: 'nonce-2' }]);
    const step = stepPermission(state, cancelled, at(1));
    expect(entriesText(step.state)).toBe('writing(cancelled+edit) pending');
    expect(step.commands.at(-1)).toEqual({ type: 'resume_idle', sessionId: 'session-1' });
  });

  it('a failed write ends what waits without a write', () => {
    const { state } = after([asking(), ok, elsewhere, { type: 'card_ok', nonce: 'nonce-2' }, deciding()]);
    expect(commandsText(stepPermission(state, failed, at(1)).commands))
      .toBe('terminal(uncertain) edit(cancelled) terminal(uncertain) edit(cancelled) poison resume');
  });

  it('the idle timer of a session stands still until its last request is decided', () => {
    const { state } = after([asking(), ok, second, { type: 'card_ok', nonce: 'nonce-2' }]);
    const one = stepPermission(state, deciding(), at(1));
    expect(commandsText(one.commands)).toBe('result(sent) write(yes)');
    expect(commandsText(stepPermission(one.state, deciding({ nonce: 'nonce-2' }), at(2)).commands)).toBe('result(sent) write(yes) resume');
  });
});
