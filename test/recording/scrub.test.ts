/**
 * Scrubbing: nothing of the original is left, all that decides something is, and the result replays. Held over every
 * fixture of the repository and over hostile turns.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileTurn } from '../../compiler/index.ts';
import type { TriggeredEvent, TurnInput } from '../../compiler/index.ts';
import { seconds } from '../../src/model/index.ts';
import { signEvent, toNpub } from '../../src/nostr/index.ts';
import { fixtureFiles, fixtureText, readFixture, replayStream } from '../../src/replay/index.ts';
import type { Fixture } from '../../src/replay/index.ts';
import { scrubFixtures } from '../../src/recording/scrub/scrub.ts';
import { hostileTurn } from '../compiler/hostile.ts';
import { runs } from '../setup/runs.ts';
import { agent, channel, friend, inThread, message, owner } from '../supervisor/people.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));

async function scrubbed(fixtures: readonly Fixture[]): Promise<readonly Fixture[]> {
  const result = await scrubFixtures(fixtures);
  if (!result.ok) throw new Error(`${result.index}: ${result.detail}`);
  expect(result.fixtures).toHaveLength(fixtures.length);
  return result.fixtures;
}

async function scrubbedTurn(input: TurnInput): Promise<TurnInput> {
  const [one] = await scrubbed([turn(input)]);
  return one?.is === 'turn' ? one.turn.input : expect.fail('no turn');
}

function turn(input: TurnInput): Fixture {
  return { is: 'turn', turn: { provenance: 'a test', input, output: compileTurn(input) } };
}

/** Read back strictly, events verified, and the same as recorded. */
async function expectGreen(fixture: Fixture): Promise<void> {
  const read = readFixture(fixtureText(fixture));
  if (!read.ok) throw new Error(`${read.path}: ${read.expected}`);
  if (read.value.is === 'turn') expect(compileTurn(read.value.turn.input)).toEqual(read.value.turn.output);
  else if (read.value.is === 'stream') expect(await replayStream(read.value.stream)).toEqual(read.value.stream.expected);
}

/** Every text that a person, a relay or an operator wrote; not rules, types, or the words of a shape. */
function textsOf(value: unknown, member = ''): readonly string[] {
  if (typeof value === 'string') return ['rule', 'type', 'mode', 'scope', 'standingRole'].includes(member) ? [] : [value];
  if (Array.isArray(value)) {
    // A tag: its name and marker decide what it is.
    if (member === 'tag') return value.flatMap((part: unknown, at) => (at === 0 || (value[0] === 'e' && at === 3) ? [] : textsOf(part)));
    return value.flatMap((one: unknown) => textsOf(one, member === 'tags' ? 'tag' : ''));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(/^[0-9a-f]{64}$/.test(name) ? [name] : []), ...textsOf(inner, name)]);
}

const HEX = /[0-9a-f]{16,}/gi;

/** Words of four letters and more, hex that could be a key or an id, whole. */
function tellingIn(value: unknown): ReadonlySet<string> {
  const texts = textsOf(value);
  return new Set(texts.flatMap((text) => [
    ...(text.match(HEX) ?? []).filter((hex) => hex.length >= 64), ...(text.replace(HEX, ' ').match(/\p{L}{4,}/gu) ?? []),
  ].map((one) => one.toLowerCase())));
}

function leftOf(original: TurnInput, after: TurnInput): readonly string[] {
  const before = tellingIn(original);
  return [...tellingIn(after)].filter((one) => before.has(one));
}

/** The same turn with events that are what they say: a key for each author, and ids that are hashes. */
function signed(input: TurnInput): TurnInput {
  const sign = ({ event, rule }: TriggeredEvent): TriggeredEvent => ({
    rule,
    event: signEvent({ ...event, created_at: seconds(event.created_at) }, createHash('sha256').update(event.pubkey).digest(), new Uint8Array(32)),
  });
  return {
    ...input, events: input.events.map(sign),
    ...(input.interrupted && { interrupted: { ...input.interrupted, events: input.interrupted.events.map(sign) } }),
  };
}

/** What of a text the compiler's rules can see: its scalars by class, not which they are. */
function shapeOf(text: string): string {
  const plain = text.replace(/(?<![0-9a-z])[0-9a-f]{64}(?![0-9a-z])/gi, '<id>');
  return Array.from(plain, (scalar) => {
    if (/^\p{L}$/u.test(scalar)) return `L${Buffer.byteLength(scalar)}`;
    if (/^\p{N}$/u.test(scalar)) return `N${Buffer.byteLength(scalar)}`;
    return /^[\p{S}\p{Co}\u{e0000}-\u{e01ef}]$/u.test(scalar) && Buffer.byteLength(scalar) > 2 ? 'S' : scalar;
  }).join('');
}

describe('every fixture of the repository, scrubbed', () => {
  const files = fixtureFiles([FIXTURES]).filter((file) => /\/(?:turns|streams)\//.test(file));
  const fixtures = files.map((file): Fixture => {
    const read = readFixture(readFileSync(file, 'utf8'));
    return read.ok ? read.value : expect.fail(file);
  });

  it('replays, one at a time and all together, and gives the same bytes again', async () => {
    expect(fixtures.length).toBeGreaterThan(100);
    const together = await scrubbed(fixtures);
    for (const one of together) await expectGreen(one);
    expect((await scrubbed(fixtures)).map(fixtureText)).toEqual(together.map(fixtureText));
    for (const one of fixtures.filter((_, index) => index % 10 === 0)) for (const alone of await scrubbed([one])) await expectGreen(alone);
  }, 120_000);

  it('has no word, key or id of the original', async () => {
    for (const one of fixtures) {
      if (one.is !== 'turn') continue;
      expect(leftOf(one.turn.input, await scrubbedTurn(one.turn.input)), one.turn.provenance).toEqual([]);
    }
  }, 120_000);

  it('keeps the layers of a turn, which are cut, and its lines', async () => {
    for (const one of fixtures) {
      if (one.is !== 'turn') continue;
      const before = compileTurn(one.turn.input);
      const after = compileTurn(await scrubbedTurn(one.turn.input));
      const layers = (all: typeof before): unknown => all.manifest.layers.map(({ layer, truncated, scope }) => [layer, truncated, scope]);
      expect(layers(after), one.turn.provenance).toEqual(layers(before));
      expect(after.blocks.map((block) => block.split('\n').length)).toEqual(before.blocks.map((block) => block.split('\n').length));
    }
  }, 120_000);
});

describe('hostile turns, scrubbed', () => {
  it('have nothing of the original left, replay, and keep their shape', async () => {
    await fc.assert(fc.asyncProperty(hostileTurn, async (hostile) => {
      const input = signed(hostile);
      const [one] = await scrubbed([turn(input)]);
      if (one?.is !== 'turn') return expect.fail('no turn');
      await expectGreen(one);
      const after = one.turn.input;
      expect(leftOf(input, after)).toEqual([]);
      expect(Object.keys(after)).toEqual(Object.keys(input));
      expect(after.events.map(({ event, rule }) => [shapeOf(event.content), event.kind, event.tags.length, rule]))
        .toEqual(input.events.map(({ event, rule }) => [shapeOf(event.content), event.kind, event.tags.length, rule]));
      expect(after.channel?.description === undefined ? undefined : shapeOf(after.channel.description))
        .toEqual(input.channel?.description === undefined ? undefined : shapeOf(input.channel.description));
      const [before, now] = [compileTurn(input), compileTurn(after)];
      expect(now.manifest.layers.map(({ layer, truncated }) => [layer, truncated])).toEqual(before.manifest.layers.map(({ layer, truncated }) => [layer, truncated]));
    }), { numRuns: runs(200) });
  }, 120_000);
});

describe('a scrubbing', () => {
  const root = message({ content: 'Where did the swarm go? Ask Beatrix.' });
  const answer = message({ by: friend, at: 1_700_000_060, content: `To the oak, says nostr:${toNpub(owner.pubkey)} (${root.id})`, tags: inThread(root.id) });
  const input: TurnInput = {
    v: 1, channelId: channel, channel: { name: 'Beekeepers', type: 'stream', description: 'Everything about hives.' },
    events: [{ event: answer, rule: '@mention' }],
    history: { scope: 'thread', messages: [{ eventId: root.id, pubkey: owner.pubkey, timestamp: root.created_at, content: root.content }], total: 1, truncated: false },
    profiles: { [owner.pubkey]: { displayName: 'Beatrix', nip05: 'beatrix@hive.example' }, [agent.pubkey]: { displayName: 'Buzzer', isAgent: true } },
    standing: { base: 'You are kind.', system: 'Speak of Beatrix with respect.' }, standingRole: 'system',
  };
  const rootTurn: TurnInput = { v: 1, channelId: channel, events: [{ event: root, rule: '@mention' }], standingRole: 'system' };

  it('lets names, ids and references agree', async () => {
    const [first, second] = (await scrubbed([turn(input), turn(rootTurn)])).map((one) => (one.is === 'turn' ? one.turn.input : expect.fail('')));
    const [event, rootEvent] = [first?.events[0]?.event, second?.events[0]?.event];
    expect(event?.tags[1]).toEqual(['e', rootEvent?.id, '', 'reply']);
    expect(first?.history?.messages[0]).toMatchObject({ eventId: rootEvent?.id, pubkey: rootEvent?.pubkey, content: rootEvent?.content, timestamp: 1_700_000_000 });
    expect(event?.created_at).toBe(1_700_000_060);
    expect(event?.content).toContain(rootEvent?.id);
    expect(event?.content).toMatch(new RegExp(`^\\p{Lu}\\p{L} \\p{L}{3} \\p{L}{3}, \\p{L}{4} \\p{L}{5}:npub1`, 'u'));
    expect(Object.values(first?.profiles ?? {})).toEqual([
      { displayName: 'Person 1', nip05: 'person2@invalid.org' }, { displayName: 'Person 3', isAgent: true },
    ]);
    expect(first?.channel?.name).toBe('Channel 1');
    expect(first?.channelId).toBe(second?.channelId);
    expect(first?.channelId).not.toBe(channel);
  });

  it('does not depend on what the fixtures came from', async () => {
    const other: Fixture = { is: 'turn', turn: { provenance: 'Beatrix sent it', input } };
    expect((await scrubbed([other])).map(fixtureText)).toEqual((await scrubbed([turn(input)])).map(fixtureText));
  });

  it('takes other stand-ins where a text has the usual ones', async () => {
    const after = await scrubbedTurn({ ...input, profiles: { [owner.pubkey]: { displayName: 'Person 7' } }, channel: { name: 'channel one', type: 'stream' } });
    expect(Object.values(after.profiles ?? {})).toEqual([{ displayName: 'Visitor 1' }]);
    expect(after.channel?.name).toBe('Room 1');
  });

  it('hides no word of the texts inside a stand-in', async () => {
    const [consonants, vowels] = [Array.from('bdfgklmnprst'), Array.from('aeiou')];
    const words = consonants.flatMap((one) => vowels.flatMap((two) => consonants.map((three) => `${one}${two}${three}o`)));
    const { standing } = await scrubbedTurn({ ...rootTurn, standing: { base: words.join(' '), system: 'q'.repeat(3_000) } });
    expect(standing?.system).toMatch(/^[a-z]{3000}$/);
    expect(words.filter((word) => standing?.system?.includes(word))).toEqual([]);
  });

  it('can be scrubbed again, and with what was not scrubbed before', async () => {
    const silent = message({ content: '' });
    const named = message({ content: `${'ab1'.repeat(30)} npub: ${toNpub(owner.pubkey)}`, tags: inThread(root.id) });
    const all = [turn(input), turn({ ...rootTurn, events: [silent, named].map((event) => ({ event, rule: 'all' })) })];
    const once = await scrubbed(all);
    const twice = await scrubbed([...once, ...all]);
    for (const one of twice) await expectGreen(one);
    const [first, second] = [once, twice].map((fixtures) => fixtures.slice(0, 2).map((one) => (one.is === 'turn' ? one.turn.input : expect.fail(''))));
    // The form of an npub stays; which one it is does not.
    first?.forEach((before, index) => {
      expect(leftOf(before, second?.[index] ?? expect.fail('')).filter((word) => word !== 'npub')).toEqual([]);
    });
    expect(twice.map(fixtureText)).toEqual((await scrubbed([...once, ...all])).map(fixtureText));
  });

  it('keeps two messages apart that differ only in what is replaced by the same', async () => {
    const [one, other] = [message({ content: '\ue001' }), message({ content: '\ue002' })];
    const { events } = await scrubbedTurn({ ...rootTurn, events: [one, other].map((event) => ({ event, rule: 'all' })) });
    expect(events.map(({ event }) => event.content)).toEqual(['\ue000', '\ue000']);
    expect(events[0]?.event.id).not.toBe(events[1]?.event.id);
  });

  it('refuses a stream that does not show what it says', async () => {
    const stream: Fixture = {
      is: 'stream',
      stream: {
        v: 1, provenance: 'a test',
        settings: { agent: agent.pubkey, owner: owner.pubkey, respondTo: 'owner-only', allowlist: [], subscribe: 'mentions', session: 'channel', gatherMs: 0 },
        steps: [{ atMs: 0, do: 'arrive', channelId: channel, event: root, author: { isAgent: false }, channelType: 'stream' }],
        expected: [],
      },
    };
    expect(await scrubFixtures([turn(input), stream])).toMatchObject({ ok: false, index: 1 });
  });
});
