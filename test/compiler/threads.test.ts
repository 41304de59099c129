import { describe, expect, test } from 'vitest';
import { mentionsOf, threadOf } from '../../compiler/threads.ts';
import { eventOf, MORGAN, PARENT, ROOT } from './turns.ts';

const root = ['e', ROOT, '', 'root'];
const reply = ['e', PARENT, '', 'reply'];
const OTHER = 'd2'.repeat(32);

describe('the thread of an event', () => {
  test.each([
    ['no e tag', [['p', MORGAN]], undefined],
    ['root and reply', [root, reply], { root: ROOT, parent: PARENT }],
    ['reply before root', [reply, root], { root: ROOT, parent: PARENT }],
    ['a lone reply', [reply], { root: PARENT, parent: PARENT }],
    ['a lone root', [root], undefined],
    ['the last root wins', [['e', OTHER, '', 'root'], root, reply], { root: ROOT, parent: PARENT }],
    ['the last reply wins', [root, ['e', OTHER, '', 'reply'], reply], { root: ROOT, parent: PARENT }],
    [
      'a last one that does not count does not win',
      [root, reply, ['e', 'zz', '', 'reply']],
      { root: ROOT, parent: PARENT },
    ],
    ['upper case ids are lowered', [['e', ROOT.toUpperCase(), '', 'reply']], { root: ROOT, parent: ROOT }],
    ['five elements', [['e', ROOT, '', 'reply', MORGAN]], { root: ROOT, parent: ROOT }],
    ['three elements', [['e', ROOT, '']], undefined],
    ['two elements', [['e', ROOT]], undefined],
    ['an unmarked fourth element', [['e', ROOT, '', '']], undefined],
    ['another marker', [['e', ROOT, '', 'mention']], undefined],
    ['a marker in upper case', [['e', ROOT, '', 'REPLY']], undefined],
    ['63 characters', [['e', ROOT.slice(1), '', 'reply']], undefined],
    ['65 characters', [['e', `${ROOT}0`, '', 'reply']], undefined],
    ['a line break after 64 characters', [['e', `${ROOT}\n`, '', 'reply']], undefined],
    ['not hex', [['e', 'g'.repeat(64), '', 'reply']], undefined],
    [
      'another tag',
      [
        ['E', ROOT, '', 'reply'],
        ['q', ROOT, '', 'reply'],
      ],
      undefined,
    ],
    ['an empty tag', [[]], undefined],
  ])('%s', (_, tags, expected) => {
    expect(threadOf(eventOf({ tags }))).toEqual(expected);
  });
});

test('mentions are the second element of every p tag that has one, in order, as written', () => {
  const tags = [['p', 'B'], ['p'], ['h', 'x'], ['p', 'a', 'relay'], ['P', 'c'], ['p', ''], ['p', 'B'], []];
  expect(mentionsOf(eventOf({ tags }))).toEqual(['B', 'a', '', 'B']);
});
