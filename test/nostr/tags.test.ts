import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { threadOf as threadInCompiler } from '../../compiler/threads.ts';
import { eventId } from '../../src/model/index.ts';
import { channelOf, destinationOf, mentions, mentionsOf, replyTags, threadOf } from '../../src/nostr/index.ts';
import type { Tag } from '../../src/nostr/index.ts';

const A = eventId('a1'.repeat(32));
const B = eventId('b2'.repeat(32));

describe('threadOf', () => {
  const table: readonly (readonly [string, readonly Tag[], object])[] = [
    ['no e tag', [['h', 'x']], { at: 'top' }],
    ['a lone reply', [['e', A, '', 'reply']], { at: 'thread', root: A, parent: A }],
    ['root and reply', [['e', A, '', 'root'], ['e', B, '', 'reply']], { at: 'thread', root: A, parent: B }],
    ['a lone root', [['e', A, '', 'root']], { at: 'top' }],
    ['an unmarked tag', [['e', A]], { at: 'top' }],
    ['three elements', [['e', A, 'reply']], { at: 'top' }],
    ['an author after the marker', [['e', A, '', 'reply', 'c3'.repeat(32)]], { at: 'thread', root: A, parent: A }],
    ['upper case', [['e', A.toUpperCase(), '', 'reply']], { at: 'thread', root: A, parent: A }],
    ['a short id', [['e', 'a1', '', 'reply']], { at: 'top' }],
    ['the last of two', [['e', A, '', 'reply'], ['e', B, '', 'reply']], { at: 'thread', root: B, parent: B }],
    ['a bad one after a good one', [['e', A, '', 'reply'], ['e', 'no', '', 'reply']], { at: 'thread', root: A, parent: A }],
  ];

  it.each(table)('%s', (_, tags, place) => {
    expect(threadOf(tags)).toEqual(place);
  });

  it('reads any tags as the compiler does', () => {
    const element = fc.constantFrom('e', 'p', A, B, A.toUpperCase(), 'a1', '', 'root', 'reply', 'mention');
    const tags = fc.array(fc.oneof(
      fc.array(element, { maxLength: 5 }),
      fc.tuple(fc.constant('e'), element, element, fc.constantFrom('root', 'reply', 'mention')),
    ));
    fc.assert(fc.property(tags, (tags) => {
      const ours = threadOf(tags);
      const theirs = threadInCompiler({ id: A, pubkey: A, created_at: 0, kind: 9, content: '', sig: '', tags });
      expect(ours.at === 'thread' ? { root: ours.root, parent: ours.parent } : undefined).toEqual(theirs);
    }), { numRuns: 2_000 });
  });

  it('reads back what replyTags writes', () => {
    expect(threadOf(replyTags(A, B))).toEqual({ at: 'thread', root: A, parent: B });
    expect(replyTags(A, A)).toEqual([['e', A, '', 'reply']]);
    expect(threadOf(replyTags(A, A))).toEqual({ at: 'thread', root: A, parent: A });
  });
});

it('destinationOf is the root, or the event itself', () => {
  expect(destinationOf({ id: A, tags: [] })).toBe(A);
  expect(destinationOf({ id: A, tags: replyTags(B, B) })).toBe(B);
});

it('mentions are every p tag with a value, as written, and matched in either case', () => {
  const tags = [['p', A.toUpperCase()], ['p'], ['p', ''], ['e', B]];
  expect(mentionsOf(tags)).toEqual([A.toUpperCase(), '']);
  expect(mentions(tags, A)).toBe(true);
  expect(mentions(tags, B)).toBe(false);
});

it('a channel is the first h tag when it is a canonical UUID', () => {
  const uuid = '0f0e0d0c-0b0a-4908-8706-050403020100';
  expect(channelOf([['p', 'x'], ['h', uuid]])).toBe(uuid);
  expect(channelOf([['h', uuid.toUpperCase()]])).toBeUndefined();
  expect(channelOf([])).toBeUndefined();
});
