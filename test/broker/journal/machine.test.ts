/** The table of `journal/machine.ts`, complete: every status × input has its line or changes nothing. */
import { describe, expect, it } from 'vitest';
import { GIVE_UP_AFTER_MS, RESEND_WINDOW_MS, step } from '../../../src/broker/journal/machine.ts';
import type { RecordCommand, RecordInput, RecordState } from '../../../src/broker/journal/machine.ts';
import { failed, indeterminate, published } from '../../../src/broker/journal/verdict.ts';
import type { Verdict } from '../../../src/broker/journal/verdict.ts';
import { later, milliseconds } from '../../../src/model/index.ts';
import { START_MS } from '../clock.ts';
import { START_SEC } from '../people.ts';
import { evidence } from './events.ts';

const NOW = milliseconds(START_MS);
const ONE = evidence();
const EPHEMERAL = evidence('typing', START_SEC, 20_002);
const NO: Verdict = failed('action_failed', 'no');
const LOST: Verdict = indeterminate('outcome_unknown', 'lost');
const YES: Verdict = published(ONE);

const STATES = {
  fresh: { status: 'fresh' },
  claiming: { status: 'claiming' },
  'claiming with its event': { status: 'claiming', evidence: ONE },
  claimed: { status: 'claimed' },
  signing: { status: 'signing', evidence: ONE },
  publishing: { status: 'publishing', evidence: ONE, doubt: false },
  'publishing again': { status: 'publishing', evidence: ONE, doubt: true },
  doubtful: { status: 'doubtful', evidence: ONE },
  looking: { status: 'looking', evidence: ONE, lost: false },
  'looking for a signal': { status: 'looking', evidence: EPHEMERAL, lost: false },
  'looking for what was lost': { status: 'looking', evidence: ONE, lost: true },
  finishing: { status: 'finishing', verdict: YES, evidence: ONE },
  'finishing without an event': { status: 'finishing', verdict: NO },
  'finishing, given up': { status: 'finishing', verdict: LOST, evidence: ONE },
  done: { status: 'done', verdict: YES, evidence: ONE },
  lost: { status: 'lost', evidence: ONE },
  discarded: { status: 'discarded' },
  ended: { status: 'ended' },
} as const satisfies Record<string, RecordState>;

const INPUTS = {
  submit: { type: 'submit' },
  'submit with its event': { type: 'submit', evidence: ONE },
  recover: { type: 'recover' },
  'taken, done': { type: 'taken', record: STATES.done },
  refused: { type: 'refused', verdict: NO },
  stored: { type: 'stored' },
  not_stored: { type: 'not_stored' },
  fenced: { type: 'fenced' },
  decided: { type: 'decided', verdict: NO },
  planned: { type: 'planned', evidence: ONE },
  withdrawn: { type: 'withdrawn', verdict: NO },
  accepted: { type: 'accepted' },
  rejected: { type: 'rejected', reason: 'invalid: no' },
  duplicate: { type: 'rejected', reason: 'duplicate: have it' },
  unanswered: { type: 'unanswered', reason: 'cut' },
  found: { type: 'found' },
  absent: { type: 'absent' },
  unreadable: { type: 'unreadable' },
} as const satisfies Record<string, RecordInput>;

/** The next status and what is commanded, for every cell that is not "stays". */
const TABLE: { readonly [Name in keyof typeof STATES]: Partial<Record<keyof typeof INPUTS, string>> } = {
  fresh: { submit: 'claiming store_claim', 'submit with its event': 'claiming store_claim' },
  claiming: {
    stored: 'claimed execute',
    not_stored: 'ended failed/internal',
    refused: 'ended failed/action_failed',
    'taken, done': 'done succeeded again',
  },
  'claiming with its event': {
    stored: 'publishing publish first',
    not_stored: 'ended indeterminate/internal',
    refused: 'ended failed/action_failed',
    'taken, done': 'done succeeded again',
  },
  claimed: {
    decided: 'finishing store failed/action_failed',
    planned: 'signing store_evidence',
    recover: 'finishing store failed/internal',
  },
  signing: {
    stored: 'publishing publish first',
    not_stored: 'finishing store failed/internal',
    fenced: 'ended indeterminate/outcome_unknown',
  },
  publishing: {
    accepted: 'finishing store succeeded',
    duplicate: 'finishing store succeeded',
    rejected: 'finishing store failed/action_failed',
    unanswered: 'doubtful indeterminate/outcome_unknown',
    withdrawn: 'finishing store failed/action_failed',
  },
  'publishing again': {
    accepted: 'finishing store succeeded',
    duplicate: 'finishing store succeeded',
    rejected: 'doubtful indeterminate/outcome_unknown',
    unanswered: 'doubtful indeterminate/outcome_unknown',
  },
  doubtful: { recover: 'looking look_up' },
  looking: {
    found: 'finishing store succeeded',
    absent: 'publishing publish again',
    unreadable: 'doubtful indeterminate/outcome_unknown',
  },
  'looking for a signal': {
    found: 'finishing store succeeded',
    absent: 'doubtful indeterminate/outcome_unknown',
    unreadable: 'doubtful indeterminate/outcome_unknown',
  },
  'looking for what was lost': {
    found: 'finishing store succeeded',
    absent: 'lost indeterminate/outcome_unknown',
    unreadable: 'lost indeterminate/outcome_unknown',
  },
  'finishing, given up': {
    stored: 'lost indeterminate/outcome_unknown',
    not_stored: 'doubtful indeterminate/internal',
    fenced: 'doubtful indeterminate/internal',
  },
  finishing: {
    stored: 'done succeeded',
    not_stored: 'doubtful indeterminate/internal',
    fenced: 'doubtful indeterminate/internal',
  },
  'finishing without an event': {
    stored: 'done failed/action_failed',
    not_stored: 'claimed indeterminate/internal',
    fenced: 'claimed indeterminate/internal',
  },
  done: { recover: 'done succeeded again' },
  lost: { recover: 'looking look_up' },
  discarded: { recover: 'discarded indeterminate/outcome_unknown' },
  ended: {},
};

const CELLS = keys(STATES).flatMap((state) => keys(INPUTS).map((input) => ({ state, input })));

describe('one record', () => {
  it.each(CELLS)('$state: $input', ({ state, input }) => {
    const before: RecordState = STATES[state];
    const { state: after, commands } = step(before, INPUTS[input], NOW);
    const expected = TABLE[state][input];
    if (expected === undefined) {
      expect(commands).toEqual([]);
      expect(after).toBe(before);
    } else {
      expect([after.status, ...commands.map(told)].join(' ')).toBe(expected);
    }
  });

  it('sends again until the event is ten minutes old, and gives it up when it is eleven', () => {
    const at = (ms: number, answer: RecordInput = INPUTS.absent): string => {
      const { state, commands } = step(STATES.looking, answer, later(NOW, ms));
      return [state.status, ...commands.map(told)].join(' ');
    };
    expect(at(RESEND_WINDOW_MS - 1)).toBe('publishing publish again');
    expect(at(RESEND_WINDOW_MS)).toBe('doubtful indeterminate/outcome_unknown');
    expect(at(GIVE_UP_AFTER_MS - 1)).toBe('doubtful indeterminate/outcome_unknown');
    expect(at(GIVE_UP_AFTER_MS)).toBe('finishing store indeterminate/outcome_unknown');
    expect(at(GIVE_UP_AFTER_MS, INPUTS.unreadable)).toBe('doubtful indeterminate/outcome_unknown');
  });

  it('says unauthorized when the relay does not let the agent, action_failed when it does not take the event', () => {
    const code = (reason: string): unknown => {
      const { state } = step(STATES.publishing, { type: 'rejected', reason }, NOW);
      return state.status === 'finishing' && state.verdict.status === 'failed'
        ? state.verdict.error.code
        : state.status;
    };
    expect(code('restricted: not a channel member')).toBe('unauthorized');
    expect(code('blocked: you are banned')).toBe('unauthorized');
    expect(code('invalid: too long')).toBe('action_failed');
    expect(code('error: no room')).toBe('action_failed');
  });

  it('keeps a secret of the relay out of what it tells', () => {
    const { state } = step(STATES.publishing, { type: 'rejected', reason: 'error: Bearer marked-secret' }, NOW);
    expect(
      JSON.stringify(state, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain('marked-secret');
  });

  it('tells a tombstone from an outcome', () => {
    expect(step(STATES.discarded, INPUTS.recover, NOW).commands).toEqual([
      {
        type: 'deliver',
        replayed: false,
        verdict: indeterminate('outcome_unknown', 'the action was executed; its result is no longer kept'),
      },
    ]);
  });
});

function told(command: RecordCommand): string {
  switch (command.type) {
    case 'deliver':
      return `${verdictName(command.verdict)}${command.replayed ? ' again' : ''}`;
    case 'store_result':
      return `store ${verdictName(command.verdict)}`;
    case 'publish':
      return `publish ${command.first ? 'first' : 'again'}`;
    case 'store_claim':
    case 'execute':
    case 'store_evidence':
    case 'look_up':
      return command.type;
    default:
      throw new TypeError('unreachable');
  }
}

function verdictName(verdict: Verdict): string {
  return verdict.status === 'succeeded' ? verdict.status : `${verdict.status}/${verdict.error.code}`;
}

function keys<Table extends object>(table: Table): readonly (keyof Table)[] {
  return Object.keys(table) as (keyof Table)[]; // the keys of a literal are its names
}
