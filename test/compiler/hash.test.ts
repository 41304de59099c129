/** What the hash of a manifest says: another text for the agent is another hash, and what it cannot see is none. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileTurn } from '../../compiler/index.ts';
import type { Standing, TriggeredEvent, TurnEvent, TurnInput } from '../../compiler/index.ts';
import { trim } from '../../compiler/text.ts';
import { wellFormedTurn } from '../../compiler/well-formed.ts';
import { hostileTurn } from './hostile.ts';
import { idOf, MORGAN, SAM, triggeredOf, turnOf } from './turns.ts';

/** NIP-01: the id is the hash of what was signed, so that another content cannot have the same id. */
function signedAnew(event: TurnEvent): TurnEvent {
  const { pubkey, created_at, kind, tags, content } = event;
  const serialized = JSON.stringify([0, pubkey, created_at, kind, tags, content]);
  return { ...event, id: createHash('sha256').update(serialized).digest('hex') };
}

/** `input` with every event's id made true. */
function withTrueIds(input: TurnInput): TurnInput {
  const anew = (entry: TriggeredEvent): TriggeredEvent => ({ ...entry, event: signedAnew(entry.event) });
  const { interrupted } = input;
  return {
    ...input,
    events: input.events.map(anew),
    ...(interrupted && { interrupted: { ...interrupted, events: interrupted.events.map(anew) } }),
  };
}

/** All that the agent reads of `input`, but `workspace`, which is no layer, and white space around `system`. */
function readBy(input: TurnInput): string {
  const standing = { ...input.standing, workspace: '', system: trim(input.standing?.system ?? '') };
  return compileTurn({ ...input, standing, standingRole: 'prompt' }).blocks.join('\n');
}

const hashOf = (input: TurnInput): string => compileTurn(input).manifest.hash;

type Change = (text: string) => string;
type Place = (input: TurnInput, change: Change) => TurnInput;

const eventsOf = (entries: readonly TriggeredEvent[], change: Change): readonly TriggeredEvent[] =>
  entries.map((entry, index) => (index > 0 ? entry : { ...entry, event: { ...entry.event, content: change(entry.event.content) } }));
const section = (name: keyof Standing): Place => (input, change) => ({
  ...input,
  standing: { ...input.standing, [name]: change(input.standing?.[name] ?? '') },
});

// Everything that somebody wrote, signed or configured.
const PLACES: Readonly<Record<string, Place>> = {
  'a message': (input, change) => ({ ...input, events: eventsOf(input.events, change) }),
  'a mention': (input, change) => ({
    ...input,
    events: input.events.map(({ event, rule }) => ({ rule, event: { ...event, tags: [...event.tags, ['p', change('x')]] } })),
  }),
  'an interrupted message': ({ interrupted = { mode: 'steer', events: [triggeredOf()] }, ...rest }, change) => ({
    ...rest,
    interrupted: { ...interrupted, events: eventsOf(interrupted.events, change) },
  }),
  'an earlier message': ({ history, ...rest }, change) => ({
    ...rest,
    history: {
      ...(history ?? { scope: 'thread', total: 1, truncated: false }),
      messages: [{ eventId: idOf(1), pubkey: SAM, timestamp: 1, content: change(history?.messages[0]?.content ?? '') }],
    },
  }),
  'a channel name': ({ channel, ...rest }, change) => ({
    ...rest,
    channel: { ...(channel ?? { type: 'stream' }), name: change(channel?.name ?? '') },
  }),
  'a description': ({ channel, ...rest }, change) => ({
    ...rest,
    channel: { ...(channel ?? { name: 'x', type: 'stream' }), description: change(channel?.description ?? '') },
  }),
  'base': section('base'),
  'system': section('system'),
  'team instructions': section('teamInstructions'),
  'core memory': section('coreMemory'),
  'huddle instructions': section('huddleInstructions'),
  'channel canvas': section('channelCanvas'),
};

const LETTERS = ['a', 'b', '<', '&', '"', "'", '\n', ' ', '\u0085', '\ufeff', '😀', 'é', '\u0301', '\u202e', '\ufffd'] as const;

describe('another text is another hash', () => {
  test.each(Object.entries(PLACES))('of %s', (_, place) => {
    let differed = 0;
    const one = fc.constantFrom(...LETTERS);
    fc.assert(
      fc.property(hostileTurn, fc.nat(40), one, one, (input, at, before, after) => {
        const written = (letter: string): TurnInput =>
          withTrueIds(place(input, (text) => text.slice(0, at) + letter + text.slice(at)));
        const [first, second] = [written(before), written(after)];
        const isSeen = readBy(first) !== readBy(second);
        if (isSeen) differed += 1;
        // The other way round is no rule: a layer may have another version and look the same (`base` as given).
        if (isSeen) expect(hashOf(first)).not.toBe(hashOf(second));
        if (before === after) expect(hashOf(first)).toBe(hashOf(second));
      }),
      { numRuns: 300 },
    );
    expect(differed).toBeGreaterThan(50);
  });

  test.each<[string, TurnInput]>([
    ['history delivered', turnOf({ historyDelivered: true })],
    ['another sender', turnOf({ events: [triggeredOf({ pubkey: SAM })] })],
    ['in a thread', turnOf({ events: [triggeredOf({ tags: [['e', idOf(7), '', 'reply']] })] })],
    ['in a DM', turnOf({ channel: { name: '', type: 'dm' } })],
    ['among agents', turnOf({ profiles: { [MORGAN]: { isAgent: true } } })],
    ['an interrupt', turnOf({ interrupted: { mode: 'interrupt', events: [triggeredOf()] } })],
    ['a steer', turnOf({ interrupted: { mode: 'steer', events: [triggeredOf()] } })],
    ['another channel', turnOf({ channelId: turnOf().channelId.replace('0b', '0c') })],
  ])('%s', (_, input) => {
    expect(hashOf(withTrueIds(input))).not.toBe(hashOf(withTrueIds(turnOf())));
  });
});

describe('what nobody can see is the same hash and the same bytes', () => {
  const same = (input: TurnInput, other: TurnInput): void => {
    expect(compileTurn(other)).toEqual(compileTurn(input));
  };

  test('a signature', () => {
    fc.assert(
      fc.property(hostileTurn, (input) => {
        const events = input.events.map(({ event, rule }) => ({ rule, event: { ...event, sig: 'cd'.repeat(64) } }));
        same(input, { ...input, events });
      }),
    );
  });

  test('the profile of a stranger', () => {
    fc.assert(
      fc.property(hostileTurn, fc.string(), fc.boolean(), (input, displayName, isAgent) => {
        same(input, { ...input, profiles: { ...input.profiles, [idOf(0xdead)]: { displayName, isAgent } } });
      }),
    );
  });

  test('where the standing text goes', () => {
    fc.assert(
      fc.property(hostileTurn, (input) => {
        const roles = (['system', 'prompt', 'sent'] as const).map((standingRole) => compileTurn({ ...input, standingRole }));
        expect(new Set(roles.map(({ manifest }) => JSON.stringify(manifest))).size).toBe(1);
        expect(new Set(roles.map(({ envelope }) => envelope)).size).toBe(1);
      }),
    );
  });

  // The page says so: these decorate, and count in the estimated tokens alone.
  test('the workspace, and of one event the name of its author and the rule', () => {
    const input = turnOf({ profiles: { [MORGAN]: { displayName: 'Morgan' } }, standing: { workspace: 'here' } });
    expect(hashOf({ ...input, standing: { workspace: 'there' } })).toBe(hashOf(input));
    expect(hashOf({ ...input, profiles: { [MORGAN]: { displayName: 'Norgan' } } })).toBe(hashOf(input));
    expect(hashOf({ ...input, events: [triggeredOf({}, '@nemtion')] })).toBe(hashOf(input));
    const events = [triggeredOf(), triggeredOf({ id: idOf(2) })];
    expect(hashOf({ ...input, events, profiles: { [MORGAN]: { displayName: 'Norgan' } } })).not.toBe(hashOf({ ...input, events }));
  });
});

test('what is well-formed stays as it is, and twice is once', () => {
  fc.assert(
    fc.property(hostileTurn, (input) => {
      const once = wellFormedTurn(input);
      expect(wellFormedTurn(once)).toEqual(once);
      expect(compileTurn(once)).toEqual(compileTurn(input));
      expect(JSON.stringify(once)).not.toMatch(/\\ud[89a-f]/);
    }),
    { numRuns: 500 },
  );
});
