import { describe, expect, it } from 'vitest';
import { compileSteer } from '../../../compiler/index.ts';
import type { PromptOutcome, TurnOutput } from '../../../src/acp/index.ts';
import type { Ending } from '../../../src/supervisor/inbox/machine.ts';
import { settleGiven } from '../../../src/supervisor/steering/settle-given.ts';
import type { GivenMessage } from '../../../src/supervisor/steering/turn-steers.ts';
import { turnInput } from '../../../src/supervisor/turn-input.ts';
import { agent, channel, entryOf, inThread, message, sibling, someRoot } from '../people.ts';
import type { Person } from '../people.ts';

const DONE: Ending = { how: 'done', outcome: 'end_turn' };
const AGAIN: Ending = { how: 'again', reason: 'it broke', interrupted: true, cause: 'failure' };
const DEAD: Ending = { how: 'dead', reason: 'no' };

function seen(text: string): TurnOutput {
  return { text, textCut: false, thoughts: 0, toolCalls: 0, updates: 1 };
}

const ended = (text: string): PromptOutcome => ({ status: 'ended', stopReason: 'end_turn', seen: seen(text) });
const broken: PromptOutcome = { status: 'process_ended', end: { how: 'stopped' }, seen: seen('Well, and more') };

function given(state: 'taken' | 'unknown', published: number, by?: Person): GivenMessage {
  const entry = entryOf(message({ tags: inThread(someRoot), ...(by && { by }) }), 0);
  const profiles = new Map([by, agent].flatMap((one) => (by === undefined || one === undefined ? [] : [[one.pubkey, { isAgent: true }] as const])));
  const single = { turnId: 't', lane: channel, channelId: channel, entries: [entry] } as const;
  const input = turnInput(single, { channel: undefined, history: undefined, historyDelivered: true, profiles }, {}, 'sent');
  const steer = { entry, input, compiled: compileSteer(input), published };
  return state === 'taken' ? { ...steer, state, textFrom: 'Well,'.length } : { ...steer, state };
}

describe('a message that a turn was given', () => {
  const table: readonly (readonly [string, 'taken' | 'unknown', number, PromptOutcome, number, Ending, 'answered' | 'back' | 'spoken'])[] = [
    ['was answered by what was published since', 'taken', 1, ended('Well,'), 2, DONE, 'answered'],
    ['was not by what was published before', 'taken', 1, ended('Well,'), 1, DONE, 'back'],
    ['is answered by what was written since', 'taken', 1, ended('Well, that too'), 1, DONE, 'spoken'],
    ['also where nothing was published', 'taken', 0, ended('Well, that too'), 0, DONE, 'spoken'],
    ['is not by what was written before', 'taken', 0, ended('Well,'), 0, DONE, 'back'],
    ['nor by white space', 'taken', 0, ended('Well, \n'), 0, DONE, 'back'],
    ['comes back with its turn', 'taken', 0, broken, 0, AGAIN, 'answered'],
    ['is given up with its turn', 'taken', 0, ended(''), 0, DEAD, 'answered'],
    ['comes back from a turn that was answered and broke', 'taken', 1, broken, 1, DONE, 'back'],
    ['that the agent did not say it has, comes back', 'unknown', 0, ended('Well, that too'), 0, DONE, 'back'],
    ['and the first answer is the turn\'s', 'unknown', 0, ended('Well,'), 1, DONE, 'back'],
    ['and the second its own', 'unknown', 0, ended('Well,'), 2, DONE, 'answered'],
    ['and what was published before is none', 'unknown', 2, ended('Well,'), 2, DONE, 'back'],
    ['and comes back by itself also where its turn does', 'unknown', 0, broken, 0, AGAIN, 'back'],
  ];

  it.each(table)('%s', (_, state, before, outcome, published, ending, expected) => {
    const one = given(state, before);
    const { apart, speech } = settleGiven([one], { outcome, published, ending });
    expect(apart?.eventIds ?? []).toEqual(expected === 'back' ? [one.entry.eventId] : []);
    expect(speech?.entry).toBe(expected === 'spoken' ? one.entry : undefined);
  });

  it('comes back at once after an end, and late after a failure', () => {
    const cause = (outcome: PromptOutcome): unknown => settleGiven([given('unknown', 0)], { outcome, published: 0, ending: DONE }).apart?.ending;
    expect(cause(ended(''))).toMatchObject({ how: 'again', cause: 'stop' });
    expect(cause(broken)).toMatchObject({ how: 'again', cause: 'failure' });
  });

  it('has the whole text as its answer where nothing was published, and else what was written since the first that is open', () => {
    const [one, two] = [given('taken', 1), given('taken', 1)];
    const outcome = ended('Well, that too');
    expect(settleGiven([one], { outcome, published: 0, ending: DONE }).speech?.text).toBe('Well, that too');
    const settled = settleGiven([one, two], { outcome, published: 1, ending: DONE });
    expect(settled.speech).toMatchObject({ text: 'that too', entry: two.entry });
    expect(settled.apart).toBeUndefined();
  });

  it('of another agent is left alone', () => {
    expect(settleGiven([given('taken', 1, sibling)], { outcome: ended('Well, that too'), published: 1, ending: DONE })).toEqual({});
  });
});
