/**
 * Every state that the production reducer can reach in the world of `world.ts`, and faults planted into it that the
 * walk must find: a walk that finds nothing proves nothing unless it can.
 */
import { describe, expect, it } from 'vitest';
import { step } from '../../../src/broker/journal/machine.ts';
import type { RecordCommand, RecordState } from '../../../src/broker/journal/machine.ts';
import { failed } from '../../../src/broker/journal/verdict.ts';
import type { Verdict } from '../../../src/broker/journal/verdict.ts';
import { attaching, evidence } from './events.ts';
import { walk } from './world.ts';
import type { Step } from './world.ts';

/** What a first, and wrongly a second, execution would sign. */
const WORDS = ['hello', 'hello again', 'and again'];
const EVENTS = WORDS.map((word) => evidence(word));

describe('a record in every world', () => {
  it.each([
    ['an action of an agent', false, 3_000, EVENTS],
    ['an action that attaches an agent', false, 3_000, WORDS.map(attaching)],
    ['a message of our own', true, 1_000, EVENTS],
  ])('%s: nothing twice, nothing told too early, nothing denied', (_, ownMessage, atLeast, events) => {
    const { worlds, wrong } = walk(step, events, ownMessage);
    expect(wrong).toBeUndefined();
    expect(worlds).toBeGreaterThan(atLeast);
  });
});

const NO = failed('action_failed', 'planted');

const FAULTS: Readonly<Record<string, Step>> = {
  'publishes before the evidence is durable': (state, input, now) =>
    state.status === 'claimed' && input.type === 'planned'
      ? {
          state: { status: 'publishing', evidence: input.evidence, doubt: false },
          commands: [{ type: 'publish', event: input.evidence.event, first: true }],
        }
      : step(state, input, now),
  'executes a recovered claim again': (state, input, now) => {
    const found = input.type === 'taken' ? input.record : state;
    const recovers = input.type === 'taken' || input.type === 'recover';
    return recovers && found.status === 'claimed'
      ? { state: found, commands: [{ type: 'execute' }] }
      : step(state, input, now);
  },
  'executes again where an event was signed': (state, input, now) => {
    const found = input.type === 'taken' ? input.record : state;
    return input.type === 'taken' && found.status === 'doubtful'
      ? { state: { status: 'claimed' }, commands: [{ type: 'execute' }] }
      : step(state, input, now);
  },
  'takes a lost answer for a no': (state, input, now) =>
    state.status === 'publishing' && input.type === 'unanswered' ? finish(state, NO) : step(state, input, now),
  'takes a no to the second send for a no to the first': (state, input, now) =>
    state.status === 'publishing' && state.doubt && input.type === 'rejected'
      ? finish(state, NO)
      : step(state, input, now),
  'takes absence for failure': (state, input, now) =>
    state.status === 'looking' && input.type === 'absent' ? finish(state, NO) : step(state, input, now),
  'sends what was given up': (state, input, now) =>
    step(state.status === 'looking' ? { ...state, lost: false } : state, input, now),
  'takes every rejection for success': (state, input, now) =>
    state.status === 'publishing' && input.type === 'rejected'
      ? step(state, { type: 'accepted' }, now)
      : step(state, input, now),
  'tells a result before it is durable': (state, input, now) => {
    const taken = step(state, input, now);
    return {
      ...taken,
      commands: taken.commands.map((command) => (command.type === 'store_result' ? tell(command.verdict) : command)),
    };
  },
  'tells a result that was not stored': (state, input, now) =>
    state.status === 'finishing' && input.type === 'not_stored'
      ? { state, commands: [tell(state.verdict)] }
      : step(state, input, now),
  'denies an own message whose claim may be on disk': (state, input, now) =>
    state.status === 'claiming' && input.type === 'not_stored'
      ? { state: { status: 'ended' }, commands: [tell(NO)] }
      : step(state, input, now),
  'forgets to answer': (state, input, now) =>
    state.status === 'looking' && input.type === 'unreadable' ? { state, commands: [] } : step(state, input, now),
};

describe('a planted fault is found', () => {
  it.each(Object.entries(FAULTS))('%s', (name, faulty) => {
    const found = [walk(faulty, EVENTS, false), walk(faulty, EVENTS, true)].flatMap(({ wrong }) => wrong ?? []);
    expect(found, name).not.toEqual([]);
  });
});

function finish(
  state: Extract<RecordState, { readonly status: 'publishing' | 'looking' }>,
  verdict: Verdict,
): ReturnType<Step> {
  return {
    state: { status: 'finishing', verdict, evidence: state.evidence },
    commands: [{ type: 'store_result', verdict }],
  };
}

function tell(verdict: Verdict): RecordCommand {
  return { type: 'deliver', verdict, replayed: false };
}
