/** Faults planted into the production reducer, each in one step of it: what the walks must find. */
import { step } from '../../../src/broker/journal/machine.ts';
import type { RecordCommand, RecordState } from '../../../src/broker/journal/machine.ts';
import { failed } from '../../../src/broker/journal/verdict.ts';
import type { Verdict } from '../../../src/broker/journal/verdict.ts';
import type { Step } from './world.ts';

const NO = failed('action_failed', 'planted');

export const FAULTS: Readonly<Record<string, Step>> = {
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
