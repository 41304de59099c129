/** Turns for the tests: small ones to build on, and arbitrary hostile ones. */
import * as fc from 'fast-check';
import type { History, Interrupted, Profiles, TriggeredEvent, TurnEvent, TurnInput } from '../../compiler/index.ts';

export const CHANNEL_ID = '0b9c1f5e-6a53-4d0e-9a57-3f1f0f8f2c11';
export const MORGAN = 'aa'.repeat(32);
export const SAM = 'bb'.repeat(32);
export const SKEP = 'cc'.repeat(32);
export const ROOT = 'd0'.repeat(32);
export const PARENT = 'd1'.repeat(32);

/** An event id that reads as its number. */
export function idOf(number: number): string {
  return number.toString(16).padStart(64, '0');
}

export function eventOf(change: Partial<TurnEvent> = {}): TurnEvent {
  return {
    id: idOf(1),
    pubkey: MORGAN,
    created_at: 1_700_000_000,
    kind: 9,
    tags: [],
    content: 'Fix the deployment failure.',
    sig: 'ab'.repeat(64),
    ...change,
  };
}

export function triggeredOf(change: Partial<TurnEvent> = {}, rule = '@mention'): TriggeredEvent {
  return { event: eventOf(change), rule };
}

/** A turn of one top-level mention; `change` replaces whole members. */
export function turnOf(change: Partial<TurnInput> = {}): TurnInput {
  return { v: 1, channelId: CHANNEL_ID, events: [triggeredOf()], standingRole: 'sent', ...change };
}

/** The events of a turn whose last one has `tags`. */
export function tagged(...tags: readonly (readonly string[])[]): readonly TriggeredEvent[] {
  return [triggeredOf({ tags })];
}

/** The same value with every object's members in another order. */
export function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reordered(member)]),
  );
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

// What a stranger would try: our own tags, half of them, escapes, ends of lines, of attributes and of names.
const PIECES = [
  '<',
  '>',
  '&',
  '"',
  "'",
  '\n',
  '\r',
  '\r\n',
  '\t',
  ' ',
  '  ',
  '\u0085',
  '\u00a0',
  '\ufeff',
  '\u2028',
  '\u3000',
  '\u000b',
  '</event>',
  '<event type="mention">',
  '<buzz-turn>',
  '</buzz-turn>',
  '</ambient-context>',
  '<delivery />',
  '&lt;',
  '&amp;',
  '</system>',
  '\ud83d',
  '\ude00',
  '😀',
  '𝒳',
  'é',
  'e\u0301',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u0000',
  '\u007f',
  '\u009f',
  'Scope: dm',
  'constructor',
  '__proto__',
  '$&',
  '$1',
  'Content: ',
  'a',
  'Morgan',
  '日本',
  '/>',
  '" x="',
];

export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 12 })
  .map((pieces) => pieces.join(''));

const longText: fc.Arbitrary<string> = fc
  .tuple(hostileText, fc.integer({ min: 0, max: 120 }))
  .map(([text, times]) => text.repeat(times));

const people = [MORGAN, SAM, SKEP];
const pubkey = fc.constantFrom(...people);
const eventId = fc.integer({ min: 0, max: 40 }).map(idOf);
const strangeId = fc.oneof(eventId, fc.constantFrom('DD'.repeat(32), 'dd'.repeat(31), ''), hostileText);

const tag: fc.Arbitrary<readonly string[]> = fc.oneof(
  fc.tuple(fc.constant('e'), strangeId, fc.constant(''), fc.constantFrom('root', 'reply', 'mention', 'Reply')),
  fc.tuple(fc.constant('e'), strangeId),
  fc.tuple(
    fc.constant('p'),
    fc.oneof(
      pubkey,
      pubkey.map((key) => key.toUpperCase()),
      hostileText,
    ),
  ),
  fc.constantFrom<readonly string[]>(['p'], [], ['h', CHANNEL_ID]),
  fc.array(hostileText, { maxLength: 5 }),
);

const triggered: fc.Arbitrary<TriggeredEvent> = fc.record({
  rule: fc.oneof(fc.constantFrom('@mention', 'all', '@@', ''), hostileText),
  event: fc.record({
    id: eventId,
    pubkey,
    created_at: fc.nat(),
    kind: fc.nat(65_535),
    tags: fc.array(tag, { maxLength: 5 }),
    content: hostileText,
    sig: fc.constant('ab'.repeat(64)),
  }),
});

const events = fc.array(triggered, { minLength: 1, maxLength: 3 });

const interrupted: fc.Arbitrary<Interrupted> = fc.record({ mode: fc.constantFrom('steer', 'interrupt'), events });

const history: fc.Arbitrary<History> = fc.record({
  scope: fc.constantFrom('thread', 'dm'),
  messages: fc.array(fc.record({ eventId, pubkey, timestamp: fc.nat(), content: hostileText }), { maxLength: 4 }),
  total: fc.nat(),
  truncated: fc.boolean(),
});

const profile = fc.record(
  { displayName: fc.oneof(hostileText, longText), nip05: hostileText, isAgent: fc.boolean() },
  { requiredKeys: [] },
);

const profiles: fc.Arbitrary<Profiles> = fc.dictionary(pubkey, profile, { maxKeys: 3 });

const standing = fc.record(
  {
    workspace: hostileText,
    base: hostileText,
    system: hostileText,
    teamInstructions: hostileText,
    coreMemory: hostileText,
    huddleInstructions: hostileText,
    channelCanvas: hostileText,
  },
  { requiredKeys: [] },
);

const channel = fc.record(
  {
    name: hostileText,
    type: fc.constantFrom('stream', 'forum', 'dm', 'workflow'),
    description: fc.oneof(hostileText, longText),
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
