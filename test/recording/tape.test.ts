/**
 * The tape, held against the replay: whatever the gate and the inbox are made to do, an episode that was recorded of it
 * replays as it happened. The gate, the machine and its rows are the production ones.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { milliseconds } from '../../src/model/index.ts';
import { readFixture } from '../../src/replay/index.ts';
import type { StreamFixture, StreamSettings } from '../../src/replay/index.ts';
import { checkEpisode } from '../../src/recording/checked.ts';
import { MAX_LENGTH_MS, MAX_STEPS } from '../../src/recording/episode.ts';
import type { Episode } from '../../src/recording/episode.ts';
import { KnownSecrets } from '../../src/recording/secrets.ts';
import { AgentTape } from '../../src/recording/tape.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import { acceptedInput, consider, Inbox } from '../../src/supervisor/index.ts';
import type { Ending, InboxCommand, InboxInput } from '../../src/supervisor/index.ts';
import { HandClock } from '../supervisor/hand-clock.ts';
import { agent, channel, friend, message, otherChannel, owner, sibling } from '../supervisor/people.ts';

const SETTINGS: StreamSettings = {
  agent: agent.pubkey, owner: owner.pubkey, respondTo: 'allowlist', allowlist: [friend.pubkey], subscribe: 'mentions',
  session: 'thread', gatherMs: 200, midTurn: 'steer',
};
const SECRECY = { known: new KnownSecrets(), people: new Set([agent.pubkey, owner.pubkey]) };
const PEOPLE = [owner, friend, sibling, agent];
const CHANNELS = [channel, otherChannel];

const ENDINGS: readonly Ending[] = [
  { how: 'done', outcome: 'end_turn' },
  { how: 'again', reason: 'the agent process ended', interrupted: true, cause: 'failure' },
  { how: 'again', reason: 'cut short by a stop', interrupted: true, cause: 'stop' },
  { how: 'dead', reason: 'not finished after 5 s' },
];

type Act =
  | { readonly do: 'say'; readonly by: number; readonly channel: number; readonly thread: number; readonly mention: boolean }
  | { readonly do: 'repeat'; readonly nth: number }
  | { readonly do: 'take' }
  | { readonly do: 'finish'; readonly nth: number; readonly ending: number; readonly jitter: number }
  /** What the turn under way says to the message that waits for it. */
  | { readonly do: 'steer'; readonly answer: 'injected' | 'refused' | 'unanswered' | 'passed' }
  | { readonly do: 'leave'; readonly channel: number }
  | { readonly do: 'wait'; readonly ms: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('say' as const), by: fc.nat(3), channel: fc.nat(1), thread: fc.nat(2), mention: fc.nat(4).map((n) => n > 0) }) },
  // By one person in one thread, so that some come while a turn of it is under way.
  { weight: 3, arbitrary: fc.constant({ do: 'say' as const, by: 0, channel: 0, thread: 0, mention: true }) },
  fc.record({ do: fc.constant('repeat' as const), nth: fc.nat(8) }),
  { weight: 4, arbitrary: fc.constant({ do: 'take' as const }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('finish' as const), nth: fc.nat(3), ending: fc.nat(3), jitter: fc.constantFrom(0, 0.25, 0.999) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('steer' as const), answer: fc.constantFrom('injected' as const, 'refused' as const, 'unanswered' as const, 'passed' as const) }) },
  fc.record({ do: fc.constant('leave' as const), channel: fc.nat(1) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 150, 250, 6_000, 400_000) }) },
);

/** The production gate and inbox, with a tape on them. */
class Desk {
  readonly episodes: Episode[] = [];
  readonly clock = new HandClock();
  readonly tape = new AgentTape({ turn: () => undefined, operatorTurn: () => undefined, episode: (episode) => { this.episodes.push(episode); } });
  readonly #store = openSqlite(':memory:', SUPERVISOR_SCHEMA);
  readonly #inbox: Inbox;
  readonly #said = CHANNELS.map(() => [message()]);
  readonly #heard: { readonly event: ReturnType<typeof message>; readonly channel: number }[] = [];
  readonly #running: string[] = [];
  readonly #offers: Extract<InboxCommand, { readonly type: 'offer' }>[] = [];
  #turns = 0;

  constructor() {
    const link = { pubkey: agent.pubkey, publishedIn: async () => ({ events: [], undecided: false }) };
    this.#inbox = new Inbox({ settings: { gatherMs: 200 }, store: this.#store, link, clock: this.clock, onMoved: this.tape.moved });
  }

  async act(one: Act): Promise<void> {
    switch (one.do) {
      case 'say': {
        const root = this.#said[one.channel]?.[one.thread];
        const tags = [
          ['h', CHANNELS[one.channel] ?? ''], ...(root === undefined ? [] : [['e', root.id, '', 'reply']]),
          ...(one.mention ? [['p', agent.pubkey]] : []),
        ];
        const event = message({ by: PEOPLE[one.by] ?? owner, tags });
        this.#said[one.channel]?.push(event);
        return this.#hear(event, one.channel);
      }
      case 'repeat': {
        const again = this.#heard[one.nth];
        return again === undefined ? undefined : this.#hear(again.event, again.channel);
      }
      case 'take':
        return this.#advance({ type: 'take', turnId: `t${this.#turns + 1}` });
      case 'finish': {
        const [turnId] = this.#running.splice(one.nth % Math.max(1, this.#running.length), 1);
        const ending = ENDINGS[one.ending] ?? ENDINGS[0];
        return turnId === undefined || ending === undefined ? undefined : this.#advance({ type: 'finished', turnId, ending, jitter: one.jitter });
      }
      case 'steer': {
        const [offer] = this.#offers.splice(0, 1);
        if (offer === undefined) return;
        const { turnId, entry: { eventId } } = offer;
        await this.#advance({ type: 'steering', turnId, eventId, published: 0 });
        return this.#advance({ type: 'steered', turnId, eventId, answer: one.answer });
      }
      case 'leave':
        return this.#advance({ type: 'left', channelId: CHANNELS[one.channel] ?? channel });
      case 'wait':
        this.clock.push(one.ms);
    }
  }

  async close(): Promise<void> {
    this.tape.close();
    await this.#store.close();
  }

  async #hear(event: ReturnType<typeof message>, at: number): Promise<void> {
    this.#heard.push({ event, channel: at });
    const channelId = CHANNELS[at] ?? channel;
    const considered = await consider(event, channelId, {
      profiles: async (pubkeys) => ({
        facts: new Map(pubkeys.map((key) => [key, key === sibling.pubkey ? { isAgent: true, owner: owner.pubkey, displayName: 'Nobody\'s business' } : { isAgent: false }])),
        answered: true,
      }),
      channel: async () => ({ facts: { name: 'garden', type: at === 0 ? 'stream' : 'dm' }, answered: true }),
    }, {
      gate: { ...SETTINGS, allowlist: new Set(SETTINGS.allowlist), ancestors: new Set() }, session: 'thread', store: this.#store,
      link: { pubkey: agent.pubkey }, clock: this.clock,
    });
    this.tape.arrived({ event, channelId, considered, atMs: this.clock.now() });
    if (considered.is === 'new') await this.#advance(acceptedInput(considered, 'steer', owner.pubkey));
  }

  async #advance(input: InboxInput): Promise<void> {
    const commands: readonly InboxCommand[] = await this.#inbox.advance([input]);
    for (const command of commands) {
      if (command.type === 'offer') this.#offers.push(command);
      if (command.type !== 'dispatch') continue;
      this.#turns += 1;
      this.#running.push(command.batch.turnId);
    }
  }
}

async function fixtureOf(episode: Episode): Promise<StreamFixture> {
  const checked = await checkEpisode(episode, SETTINGS, SECRECY);
  if (checked.is !== 'fixture') throw new Error(JSON.stringify(checked));
  const read = readFixture(checked.text);
  if (!read.ok || read.value.is !== 'stream') throw new Error('not a stream');
  return read.value.stream;
}

describe('an episode', () => {
  it('replays as it happened, whatever happens', async () => {
    const seen = new Set<string>();
    let episodes = 0;
    await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 40 }), async (acts) => {
      const desk = new Desk();
      for (const one of acts) await desk.act(one);
      await desk.close();
      for (const episode of desk.episodes) {
        episodes += 1;
        const { expected = [], steps } = await fixtureOf(episode);
        expect(JSON.stringify(steps)).not.toContain('business');
        for (const { saw } of expected) seen.add(saw);
      }
    }), { numRuns: 150 });
    // A control: all there is to see was seen.
    expect([...seen].sort()).toEqual(['again', 'cut_short', 'dead', 'done', 'given', 'interrupt', 'known', 'offer', 'queued', 'refused', 'turn']);
    expect(episodes).toBeGreaterThan(50);
  }, 60_000);

  it('begins with an empty inbox and ends with one', async () => {
    const desk = new Desk();
    const say: Act = { do: 'say', by: 0, channel: 0, thread: 0, mention: true };
    for (const one of [say, { do: 'wait', ms: 250 }, { do: 'take' }, { do: 'finish', nth: 0, ending: 0, jitter: 0 }, say] as const) await desk.act(one);
    expect(desk.episodes).toHaveLength(1);
    await desk.close();
    expect(desk.episodes).toHaveLength(2);
    const [first, second] = await Promise.all(desk.episodes.map(fixtureOf));
    expect(first?.expected?.map(({ saw }) => saw)).toEqual(['queued', 'turn', 'done']);
    expect(second?.expected?.map(({ saw, atMs }) => [saw, atMs])).toEqual([['queued', 0]]);
  });

  it('is written where the agent would not have a message for its turn under way', async () => {
    const desk = new Desk();
    const say: Act = { do: 'say', by: 0, channel: 0, thread: 0, mention: true };
    for (const one of [say, { do: 'wait', ms: 250 }, { do: 'take' }, say, { do: 'steer', answer: 'passed' }] as const) await desk.act(one);
    await desk.close();
    const [stream] = await Promise.all(desk.episodes.map(fixtureOf));
    expect(stream?.expected?.at(-1)).toMatchObject({ saw: 'again', atMs: 250, notBeforeMs: 0, outcome: 'not taken by the turn under way' });
  });

  it('waits for an empty inbox where the last run left something', async () => {
    const desk = new Desk();
    desk.tape.moved({ input: { type: 'restored', queued: [], stranded: [], answered: new Set() }, atMs: desk.clock.now(), commands: [], isEmpty: false });
    await desk.act({ do: 'say', by: 0, channel: 0, thread: 0, mention: true });
    await desk.close();
    expect(desk.episodes).toEqual([]);
  });

  it.each([
    ['steps', (desk: Desk) => desk.act({ do: 'wait', ms: 0 }), MAX_STEPS],
    ['time', (desk: Desk) => desk.act({ do: 'wait', ms: MAX_LENGTH_MS / 3 }), 5],
  ])('that is too long in %s is written as far as it goes, and the rest is left out', async (_, between, most) => {
    const desk = new Desk();
    for (let n = 0; desk.episodes.length === 0 && n < MAX_STEPS + 1; n += 1) {
      await desk.act({ do: 'say', by: 0, channel: 0, thread: 0, mention: true });
      await between(desk);
    }
    await desk.act({ do: 'say', by: 0, channel: 0, thread: 0, mention: true });
    await desk.close();
    expect(desk.episodes).toHaveLength(1);
    const [stream] = await Promise.all(desk.episodes.map(fixtureOf));
    expect(stream?.steps.length).toBeLessThanOrEqual(most);
  }, 60_000);

  it('is not written where the clock was set back', async () => {
    const desk = new Desk();
    await desk.act({ do: 'say', by: 0, channel: 0, thread: 0, mention: true });
    await desk.act({ do: 'wait', ms: 250 });
    await desk.act({ do: 'take' });
    await desk.act({ do: 'wait', ms: -1_000 });
    await desk.act({ do: 'finish', nth: 0, ending: 0, jitter: 0 });
    await desk.close();
    expect(await Promise.all(desk.episodes.map((one) => checkEpisode(one, SETTINGS, SECRECY)))).toEqual([{ is: 'untimed' }]);
  });

  it('that is not what its replay shows is not written, and says where', async () => {
    const desk = new Desk();
    await desk.act({ do: 'say', by: 0, channel: 0, thread: 0, mention: true });
    await desk.close();
    const [episode] = desk.episodes;
    const other: StreamSettings = { ...SETTINGS, session: 'channel' };
    expect(episode && await checkEpisode(episode, other, SECRECY)).toEqual({ is: 'different', kind: 'stream', path: 'expected[0].lane' });
  });

  it.each([[15, 15], [25, 20]])('has the refused of the minute before it, in order, at most 20: of %i it has %i', async (refused, kept) => {
    const desk = new Desk();
    const stranger: Act = { do: 'say', by: 3, channel: 0, thread: 0, mention: true };
    await desk.act(stranger);
    await desk.act({ do: 'wait', ms: 61_000 });
    for (let n = 0; n < refused; n += 1) await desk.act(stranger);
    await desk.act({ do: 'say', by: 0, channel: 0, thread: 0, mention: true });
    await desk.close();
    const [stream] = await Promise.all(desk.episodes.map(fixtureOf));
    expect(stream?.expected?.map(({ saw }) => saw)).toEqual([...Array.from({ length: kept }, () => 'refused'), 'queued']);
    expect(milliseconds(stream?.steps[0]?.atMs ?? -1)).toBe(0);
  });
});
