/**
 * Every state that the production reducer can reach in the world of `world.ts`, and faults planted into it that the
 * walk must find: a walk that finds nothing proves nothing unless it can.
 */
import { describe, expect, it } from 'vitest';
import { step } from '../../../src/broker/journal/machine.ts';
import { attaching, evidence } from './events.ts';
import { FAULTS } from './faults.ts';
import { walk } from './world.ts';

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

describe('a planted fault is found', () => {
  it.each(Object.entries(FAULTS))('%s', (name, faulty) => {
    const found = [walk(faulty, EVENTS, false), walk(faulty, EVENTS, true)].flatMap(({ wrong }) => wrong ?? []);
    expect(found, name).not.toEqual([]);
  });
});
