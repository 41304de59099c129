/**
 * Random turns, legal and meant badly: our own tags whole and in halves, escapes, ends of lines, attributes and names,
 * lone surrogates, and texts that end on the very bounds. `branches.ts` holds that nothing of the rules is missed.
 */
import * as fc from 'fast-check';
import type { Channel, History, Interrupted, Profiles, Standing, TriggeredEvent, TurnInput } from '../../compiler/index.ts';
import { CHANNEL_ID, idOf, MORGAN, SAM, SKEP } from './turns.ts';

const PIECES = [
  '<', '>', '&', '"', "'", '\n', '\r', '\r\n', '\t', ' ', '  ', '\u0085', '\u00a0', '\ufeff', '\u2028', '\u3000', '\u000b',
  '</event>', '<event type="mention">', '<buzz-turn>', '</buzz-turn>', '</ambient-context>', '<delivery />', '&lt;',
  '&amp;', '</system>', '\ud83d', '\ude00', '😀', '𝒳', 'é', 'e\u0301', '\u202e', '\u2066', '\u200b', '\u0000', '\u007f',
  '\u009f', 'Scope: dm', 'constructor', '__proto__', '$&', '$1', 'Content: ', 'a', 'Morgan', '日本', '/>', '" x="',
];

const hostileText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 12 })
  .map((pieces) => pieces.join(''));

const longText: fc.Arbitrary<string> = fc
  .tuple(hostileText, fc.integer({ min: 0, max: 60 }))
  .map(([text, times]) => text.repeat(times));

/** Text of about `bound` scalars, one of them perhaps an emoji, perhaps with something to trim around it. */
function textAround(bound: number): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom('d', '&', '日', '😀'),
      fc.constantFrom('', 'e', '😀', '\ud83d', ' e', '\n\u0085e'),
      fc.constantFrom('', ' ', '\u0085\n', '\ufeff'),
      fc.integer({ min: bound - 3, max: bound + 2 }),
    )
    .map(([body, end, around, count]) => around + body.repeat(count) + end + around);
}

/** Nothing but what is trimmed, and what looks like it. */
const blankText = fc.constantFrom('', ' ', '\n', '\r\n\n', '\u0085', ' \u3000\t', '\ufeff', '\u2028\u00a0');

const anyText = fc.oneof({ weight: 6, arbitrary: hostileText }, { weight: 1, arbitrary: blankText });

/** Text with something at both its ends that one section loses and another keeps. */
const edgedText = fc
  .tuple(fc.constantFrom('\n', '\r\n', '\u0085', '\ufeff', ' \n', '\n '), hostileText)
  .map(([edge, text]) => `${edge}${text}a${edge}`);

const sectionText = fc.oneof({ weight: 3, arbitrary: anyText }, { weight: 1, arbitrary: edgedText });

const pubkey = fc.constantFrom(MORGAN, SAM, SKEP);
const spelled = pubkey.chain((key) => fc.constantFrom(key, key.toUpperCase(), `A${key.slice(1)}`));
const eventId = fc.integer({ min: 0, max: 40 }).map(idOf);
const threadId = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(idOf(1), idOf(2), idOf(0xab), idOf(0xab).toUpperCase()) },
  { weight: 1, arbitrary: fc.constantFrom('dd'.repeat(31), `${'dd'.repeat(32)}\n`, 'g'.repeat(64), '') },
  { weight: 1, arbitrary: hostileText },
);

const tag: fc.Arbitrary<readonly string[]> = fc.oneof(
  fc.tuple(fc.constant('e'), threadId, fc.constant(''), fc.constantFrom('root', 'reply')),
  fc.tuple(fc.constant('e'), threadId, fc.constant(''), fc.constantFrom('mention', 'Reply', ''), hostileText),
  fc.tuple(fc.constantFrom('e', 'E'), threadId, fc.constantFrom('root', 'reply')),
  fc.tuple(fc.constant('p'), spelled),
  fc.tuple(fc.constant('p'), fc.oneof(spelled, anyText, fc.constantFrom('__proto__', 'constructor', ''))),
  fc.constantFrom<readonly string[]>(['p'], [], ['e'], ['h', CHANNEL_ID]),
  fc.array(hostileText, { maxLength: 5 }),
);

const triggered: fc.Arbitrary<TriggeredEvent> = fc.record({
  rule: fc.oneof(fc.constantFrom('@mention', 'all', '@@all', '@@', '', 'a@b'), hostileText),
  event: fc.record({
    id: eventId,
    pubkey,
    created_at: fc.nat(),
    kind: fc.nat(65_535),
    tags: fc.array(tag, { maxLength: 5 }),
    content: anyText,
    sig: fc.constant('ab'.repeat(64)),
  }),
});

const events = fc.array(triggered, { minLength: 1, maxLength: 3 });

const interrupted: fc.Arbitrary<Interrupted> = fc.record({ mode: fc.constantFrom('steer', 'interrupt'), events });

const history: fc.Arbitrary<History> = fc.record({
  scope: fc.constantFrom('thread', 'dm'),
  messages: fc.array(fc.record({ eventId, pubkey, timestamp: fc.nat(), content: anyText }), { maxLength: 4 }),
  total: fc.oneof(fc.nat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER)),
  truncated: fc.boolean(),
});

const name = fc.oneof(
  { weight: 12, arbitrary: hostileText },
  { weight: 1, arbitrary: longText },
  { weight: 3, arbitrary: blankText },
  { weight: 4, arbitrary: textAround(64) },
  { weight: 4, arbitrary: fc.constantFrom('\u202e\u0007', 'Morgan') },
);

const profile = fc.record({ displayName: name, nip05: name, isAgent: fc.boolean() }, { requiredKeys: [] });

const profiles: fc.Arbitrary<Profiles> = fc.dictionary(pubkey, profile, { maxKeys: 3 });

const standing: fc.Arbitrary<Standing> = fc.record(
  {
    workspace: sectionText,
    base: sectionText,
    system: sectionText,
    teamInstructions: sectionText,
    coreMemory: sectionText,
    huddleInstructions: sectionText,
    channelCanvas: sectionText,
  },
  { requiredKeys: [] },
);

const channel: fc.Arbitrary<Channel> = fc.record(
  {
    name: anyText,
    type: fc.constantFrom('stream', 'forum', 'dm', 'workflow', 'DM'),
    description: fc.oneof(
      { weight: 8, arbitrary: hostileText },
      { weight: 1, arbitrary: longText },
      { weight: 2, arbitrary: blankText },
      { weight: 2, arbitrary: textAround(500) },
    ),
  },
  { requiredKeys: ['name', 'type'] },
);

/** Turn inputs of every sort that is legal, full of what is not meant well. */
export const hostileTurn: fc.Arbitrary<TurnInput> = fc.record(
  {
    v: fc.constant<1>(1),
    channelId: fc.constant(CHANNEL_ID),
    channel,
    events,
    interrupted,
    history,
    historyDelivered: fc.boolean(),
    profiles,
    standing,
    standingRole: fc.constantFrom('system', 'prompt', 'sent'),
  },
  { requiredKeys: ['v', 'channelId', 'events', 'standingRole'] },
);
