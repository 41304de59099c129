/**
 * Every state that the production reducer can reach in the worlds of `world.ts`, and faults planted into it that the
 * walk must find: a walk that finds nothing proves nothing unless it can.
 */
import { describe, expect, it } from 'vitest';
import { milliseconds } from '../../../src/model/index.ts';
import { MAX_ATTEMPTS } from '../../../src/supervisor/inbox/entry.ts';
import type { Entry } from '../../../src/supervisor/inbox/entry.ts';
import { everyLane } from '../../../src/supervisor/inbox/lanes.ts';
import { stepInbox } from '../../../src/supervisor/inbox/machine.ts';
import type { InboxCommand, InboxInput, InboxStep } from '../../../src/supervisor/inbox/machine.ts';
import type { InboxState } from '../../../src/supervisor/inbox/state.ts';
import { entryOf, friend, inThread, message, otherChannel, owner, someRoot } from '../people.ts';
import type { Person } from '../people.ts';
import { walk, withChanged } from './world.ts';
import type { Cast, Step } from './world.ts';

/** In the thread of `someRoot`; a later one is stamped earlier, as authors' clocks are. */
function spoken(by: Person, index: number, more: Partial<Entry> = {}): Entry {
  return entryOf(message({ by, at: 1_700_000_000 - index, tags: inThread(someRoot) }), 0, more);
}

const there = { channelId: otherChannel, lane: otherChannel };
const tired = { attempts: MAX_ATTEMPTS - 1 };

const CASTS = {
  'two threads of one channel': { left: [], coming: [spoken(owner, 0, { lane: 'one' }), spoken(owner, 1, { lane: 'one' }), spoken(friend, 2, { lane: 'two' })] },
  'two authors in one lane, and another lane': { left: [], coming: [spoken(owner, 0), spoken(friend, 1), spoken(owner, 2, there)] },
  'two messages of one author, and another lane': { left: [], coming: [spoken(owner, 0), spoken(owner, 1), spoken(friend, 2, there)] },
  'a message that failed often, and two that come': { left: [spoken(owner, 0, tired)], coming: [spoken(owner, 1), spoken(friend, 2, there)] },
} as const satisfies Readonly<Record<string, Cast>>;

describe('the inbox in every world', () => {
  it.each(Object.entries(CASTS))('%s: nothing lost, nothing twice, in order, as the table says', (name, cast) => {
    const { states, transitions, wrong } = walk(stepInbox, cast);
    process.stdout.write(`inbox, ${name}: ${states} states, ${transitions} transitions\n`);
    expect(wrong).toBeUndefined();
    expect(states).toBeGreaterThan(1_000);
  });
});

/** The step with its commands changed. */
function commanding(change: (commands: readonly InboxCommand[], input: InboxInput) => readonly InboxCommand[]): Step {
  return (state, input, now) => {
    const { state: next, commands } = stepInbox(state, input, now);
    return { state: next, commands: change(commands, input) };
  };
}

function isSave(command: InboxCommand, ...changes: readonly string[]): boolean {
  return command.type === 'save' && changes.includes(command.save.change);
}

function lanesOf(state: InboxState, change: (lane: { readonly queue: readonly Entry[] }) => { readonly queue: readonly Entry[] }): InboxState {
  return withChanged(state, (lane) => ({ ...lane, ...change(lane) }));
}

/** Every entry, in the queues and in the saves. */
function entries({ state, commands }: InboxStep, change: (entry: Entry) => Entry): InboxStep {
  return {
    state: lanesOf(state, ({ queue }) => ({ queue: queue.map(change) })),
    commands: commands.map((command) => (
      command.type === 'save' && command.save.change === 'queued' ? { ...command, save: { ...command.save, entry: change(command.save.entry) } } : command
    )),
  };
}

const FAULTS: Readonly<Record<string, Step>> = {
  'dispatches what it did not save': commanding((commands) => commands.filter((command) => !isSave(command, 'dispatched'))),
  'dispatches before it saves': commanding((commands, input) => (input.type === 'take' ? [...commands].reverse() : commands)),
  'does not say that a turn is done': commanding((commands) => commands.filter((command) => !isSave(command, 'done'))),
  'gives up without a dead row': commanding((commands, input) => commands.filter((command) => input.type !== 'finished' || !isSave(command, 'dead'))),
  'leaves without a dead row': commanding((commands, input) => commands.filter((command) => input.type !== 'left' || !isSave(command, 'dead'))),
  'lets a turn go on in a channel that was left': commanding((commands) => commands.filter((command) => command.type !== 'cut_short')),
  'accepts a message again that it has': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'accepted' ? { ...step, commands: [{ type: 'save', save: { change: 'insert', entry: input.entry } }] } : step;
  },
  'forgets what it accepted': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'accepted' ? { state, commands: step.commands } : step;
  },
  'puts what failed behind what waits': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'finished' ? { ...step, state: lanesOf(step.state, ({ queue }) => ({ queue: [...queue].reverse() })) } : step;
  },
  'hands out a second turn in a lane': (state, input, now) => {
    if (input.type !== 'take') return stepInbox(state, input, now);
    return stepInbox(withChanged(state, ({ queue }) => ({ queue })), input, now);
  },
  'keeps a turn that has ended': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'finished' ? { state, commands: step.commands } : step;
  },
  'takes the end of any turn for this one': (state, input, now) => {
    const [flying] = [...everyLane(state)].flatMap(({ inFlight }) => inFlight ?? []);
    return stepInbox(state, input.type === 'finished' && flying !== undefined ? { ...input, turnId: flying.turnId } : input, now);
  },
  'forgets that the channel was left': (state, input, now) => {
    return stepInbox(input.type === 'finished' ? withChanged(state, (lane) => ({ ...lane, decided: false })) : state, input, now);
  },
  'does not count a failure': (state, input, now) => {
    const step = stepInbox(state, input, now);
    const again = input.type === 'finished' && input.ending.how === 'again' && input.ending.cause === 'failure';
    return again ? entries(step, (entry) => ({ ...entry, attempts: 0 })) : step;
  },
  'counts a stop of ours as a failure': (state, input, now) => {
    const stop = input.type === 'finished' && input.ending.how === 'again' && input.ending.cause === 'stop';
    return stepInbox(state, stop ? { ...input, ending: { ...input.ending, cause: 'failure' } } : input, now);
  },
  'tries again at once': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'finished' ? entries(step, (entry) => ({ ...entry, notBeforeMs: now })) : step;
  },
  'forgets that a turn was cut short': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'finished' ? entries(step, (entry) => ({ ...entry, interrupted: false })) : step;
  },
  'hands out what is not ready': (state, input, now) => stepInbox(state, input, input.type === 'take' ? milliseconds(now + 1_000_000) : now),
  'mixes authors in a turn': (state, input, now) => {
    if (input.type !== 'take') return stepInbox(state, input, now);
    const blind = lanesOf(state, ({ queue }) => ({ queue: queue.map((entry) => ({ ...entry, author: owner.pubkey })) }));
    const { state: next, commands } = stepInbox(blind, input, now);
    return { state: next, commands: commands.map((command) => (command.type === 'dispatch' ? { ...command, batch: truthful(command.batch, state) } : command)) };
  },
  'asks again what was answered before the restart': (state, input, now) =>
    stepInbox(state, input.type === 'restored' ? { ...input, answered: new Set() } : input, now),
  'takes what was in flight for answered': (state, input, now) =>
    stepInbox(state, input.type === 'restored' ? { ...input, answered: new Set(input.stranded.map(({ turnId }) => turnId)) } : input, now),
  'cancels without a done row': commanding((commands, input) => commands.filter((command) => input.type !== 'cancelled' || !isSave(command, 'done'))),
  'lets a cancelled turn go on': commanding((commands, input) => commands.filter((command) => input.type !== 'cancelled' || command.type !== 'cut_short')),
  'cancels as if the channel were left': (state, input, now) =>
    stepInbox(state, input.type === 'cancelled' ? { type: 'left', channelId: input.channelId } : input, now),
  'cancels a turn of another channel': (state, input, now) => {
    const [flying] = [...everyLane(state)].flatMap(({ inFlight }) => inFlight ?? []);
    return stepInbox(state, input.type === 'cancelled' && flying !== undefined ? { ...input, channelId: flying.channelId } : input, now);
  },
  'cancels one turn of a channel where there are two': (state, input, now) => {
    const step = stepInbox(state, input, now);
    const [cut] = step.commands.filter((command) => command.type === 'cut_short');
    return input.type === 'cancelled' ? { ...step, commands: step.commands.filter((command) => command.type !== 'cut_short' || command === cut) } : step;
  },
  'prompts again what was cancelled': (state, input, now) => {
    const undecided = lanesOf(state, (lane) => ({ ...lane, decided: false }));
    return stepInbox(input.type === 'finished' ? undecided : state, input, now);
  },
  'takes a cancel for the end of the turn': (state, input, now) => {
    const step = stepInbox(state, input, now);
    return input.type === 'cancelled' ? { ...step, state: withChanged(step.state, ({ queue }) => ({ queue })) } : step;
  },
  'cancels what waits, too': (state, input, now) => {
    const step = stepInbox(state, input, now);
    if (input.type !== 'cancelled') return step;
    const waiting = [...everyLane(state)].flatMap(({ queue }) => queue).filter(({ channelId }) => channelId === input.channelId);
    return { ...step, commands: [...step.commands, ...waiting.map(({ eventId }): InboxCommand => ({ type: 'save', save: { change: 'done', eventId, outcome: '' } }))] };
  },
  'loses what was in flight': (state, input, now) =>
    stepInbox(state, input.type === 'restored' ? { ...input, stranded: [] } : input, now),
};

function truthful(batch: Extract<InboxCommand, { type: 'dispatch' }>['batch'], state: InboxState): typeof batch {
  const all = [...everyLane(state)].flatMap(({ queue }) => queue);
  const real = (entry: Entry): Entry => all.find(({ eventId }) => eventId === entry.eventId) ?? entry;
  const [first, ...rest] = batch.entries;
  return { ...batch, entries: [real(first), ...rest.map(real)] };
}

describe('a planted fault is found', () => {
  it.each(Object.entries(FAULTS))('%s', (name, faulty) => {
    expect(Object.values(CASTS).some((cast) => walk(faulty, cast).wrong !== undefined), name).toBe(true);
  });
});
