/** The broker as the supervisor holds it: skep's own messages, what a turn has published, its start after a crash. */
import { describe, expect, it } from 'vitest';
import type { OwnMessage, TurnBinding } from '../../src/broker/index.ts';
import { seconds } from '../../src/model/index.ts';
import type { Tag } from '../../src/nostr/index.ts';
import { sql } from '../../src/store/index.ts';
import { bench, end, identity, post, requestBytes, told } from './harness.ts';
import type { Bench } from './harness.ts';
import { mortal } from './fake-store.ts';
import { AGENT, CHANNEL, ELSEWHERE, SIBLING, STRANGER } from './people.ts';
import { openStore, storeFile } from './temp-store.ts';

const H: Tag = ['h', CHANNEL];
const ROOT = STRANGER.sign({ tags: [H], content: 'root' });
const NESTED = STRANGER.sign({ tags: [H, ['e', ROOT.id, '', 'reply']], content: 'nested' });

function own(changes: Partial<OwnMessage> = {}): OwnMessage {
  return { operationId: 'o-1', channelId: CHANNEL, content: 'an answer', kind: 'answer', turnId: 't-1', ...changes };
}

function turn(turnId: string): TurnBinding {
  return { turnId, channelId: CHANNEL };
}

describe('what skep says itself', () => {
  it('hangs in the thread of the message answered, without mentions', async () => {
    const { link, relay } = await bench();
    const outcome = await link.say(own({ replyTo: { root: ROOT.id, parent: NESTED.id } }));
    const [sent] = relay.sent;
    expect(outcome).toEqual({ status: 'accepted', eventId: sent?.id });
    expect(sent?.tags).toEqual([H, ['e', ROOT.id, '', 'root'], ['e', NESTED.id, '', 'reply']]);
  });

  it('as a notice is marked as one', async () => {
    const { link, relay } = await bench();
    await link.say(own({ kind: 'notice', replyTo: { root: ROOT.id, parent: ROOT.id } }));
    expect(relay.sent[0]?.tags).toEqual([H, ['e', ROOT.id, '', 'reply'], ['skep', 'notice']]);
  });

  it('is said once, however often it is asked for', async () => {
    const { link, relay } = await bench();
    const outcomes = await Promise.all([link.say(own()), link.say(own())]);
    outcomes.push(await link.say(own()));
    expect(new Set(outcomes.map(({ status, eventId: id }) => `${status} ${id}`)).size).toBe(1);
    expect(relay.sent).toHaveLength(1);
    expect(await link.say(own({ content: 'other words' }))).toMatchObject({ status: 'rejected' });
    expect(relay.sent).toHaveLength(1);
  });

  it('is told apart from what an agent asks for under the same id', async () => {
    const { broker, link, relay } = await bench();
    await link.say(own({ operationId: 'r-1' }));
    expect(told(await post(broker.endpoint, link.openSession().token, requestBytes('r-1')))).toBe('succeeded');
    expect(relay.sent).toHaveLength(2);
  });

  it('needs nothing of the relay but its word on the event, and is pursued without that', async () => {
    const { link, relay, clock } = await bench();
    relay.readable = false;
    relay.answers.push('lose');
    const message = own({ replyTo: { root: ROOT.id, parent: NESTED.id } });
    expect(await link.say(message)).toMatchObject({ status: 'unknown', eventId: relay.sent[0]?.id });
    expect(relay.asked).toEqual([]);
    relay.readable = true;
    await clock.armed(5_000);
    clock.push(5_000);
    await relay.sends(2);
    expect(await link.say(message)).toEqual({ status: 'accepted', eventId: relay.sent[0]?.id });
    expect(relay.sent[1]).toEqual(relay.sent[0]);
    expect(relay.sent).toHaveLength(2);
  });

  it.each([
    ['accept', 'accepted'],
    ['accept silently', 'unknown'],
    [{ reject: 'restricted: no' }, 'rejected'],
  ] as const)('the relay: %j → %s', async (answer, status) => {
    const { link, relay } = await bench();
    relay.answers.push(answer);
    expect(await link.say(own())).toMatchObject({ status, eventId: relay.sent[0]?.id });
  });
});

describe('what a turn has published', () => {
  it("is the agent's messages of that turn, by the binding of its session", async () => {
    const { broker, link, relay } = await bench();
    const { sessionId, token } = link.openSession();
    const said = (requestId: string): Promise<unknown> =>
      post(broker.endpoint, token, requestBytes(requestId, 'message.post', { channelId: CHANNEL, content: requestId }));
    await said('before');
    link.bindTurn(sessionId, { turnId: 't-1', channelId: CHANNEL });
    await said('one');
    await said('two');
    await link.say(own({ kind: 'notice' }));
    link.bindTurn(sessionId, { turnId: 't-2', channelId: CHANNEL });
    await said('three');
    link.bindTurn(sessionId, undefined);
    await said('after');
    const contents = (ids: readonly string[]): unknown =>
      ids.map((id) => relay.sent.find((event) => event.id === id)?.content);
    expect(contents((await link.publishedIn(turn('t-1'))).events)).toEqual(['one', 'two']);
    expect(contents((await link.publishedIn(turn('t-2'))).events)).toEqual(['three']);
    expect(await link.publishedIn(turn('t-3'))).toEqual({ events: [], undecided: false });
  });

  it('counts what the relay has, although it did not say so', async () => {
    const { broker, link, relay } = await bench();
    const { sessionId, token } = link.openSession();
    link.bindTurn(sessionId, { turnId: 't-1', channelId: CHANNEL });
    relay.answers.push('accept silently');
    expect(told(await post(broker.endpoint, token, requestBytes('r-1')))).toBe('indeterminate/outcome_unknown');
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [relay.sent[0]?.id], undecided: false });
    expect(relay.sent).toHaveLength(1);
  });

  it("is told apart from skep's notice that it has ended without an answer, which may be on its way too", async () => {
    const { link, relay } = await bench();
    relay.answers.push('accept silently');
    relay.readable = false;
    await link.say(own({ kind: 'notice' }));
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [], undecided: true });
    relay.readable = true;
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [], noticed: true, undecided: false });
    expect(relay.sent).toHaveLength(1);
  });

  it('is undecided while a signed message may be on a relay that cannot be read', async () => {
    const { broker, link, relay } = await bench();
    const { sessionId, token } = link.openSession();
    link.bindTurn(sessionId, { turnId: 't-1', channelId: CHANNEL });
    relay.answers.push('accept silently');
    relay.readable = false;
    await post(broker.endpoint, token, requestBytes('r-1'));
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [], undecided: true });
    relay.readable = true;
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [relay.sent[0]?.id], undecided: false });
  });
});

describe('a turn is not decided', () => {
  const ELEVEN_MINUTES_MS = 660_000;

  it('by the age of a message that cannot be looked for, but by its absence', async () => {
    const { broker, link, relay, clock } = await bench();
    const { sessionId, token } = link.openSession();
    link.bindTurn(sessionId, turn('t-1'));
    relay.answers.push('accept silently', 'lose');
    await post(broker.endpoint, token, requestBytes('r-1'));
    link.bindTurn(sessionId, turn('t-2'));
    await post(broker.endpoint, token, requestBytes('r-2', 'message.post', { channelId: CHANNEL, content: 'lost' }));
    relay.readable = false;
    clock.push(ELEVEN_MINUTES_MS);
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [], undecided: true });
    expect(await link.publishedIn(turn('t-2'))).toEqual({ events: [], undecided: true });
    relay.readable = true;
    expect(await link.publishedIn(turn('t-2'))).toEqual({ events: [], undecided: false });
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [relay.sent[0]?.id], undecided: false });
    expect(relay.sent).toHaveLength(2);
  });

  it('while an answer in it waits for the relay to be read', async () => {
    const { broker, link, relay, clock } = await bench();
    const { sessionId, token } = link.openSession();
    link.bindTurn(sessionId, turn('t-1'));
    relay.keep(ROOT);
    let release = (): void => {};
    relay.gate = new Promise((resolve) => { release = resolve; });
    const args = { channelId: CHANNEL, content: 'x', replyToEventId: ROOT.id };
    const answered = post(broker.endpoint, token, requestBytes('r-1', 'message.reply', args));
    await relay.questions(1);
    const asked = link.publishedIn(turn('t-1'));
    clock.push(5_000);
    expect(await asked).toEqual({ events: [], undecided: true });
    release();
    expect(told(await answered)).toBe('succeeded');
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [relay.sent[0]?.id], undecided: false });
  });

  it('by what was said elsewhere', async () => {
    const { broker, link, relay } = await bench();
    const { sessionId, token } = link.openSession();
    link.bindTurn(sessionId, turn('t-1'));
    const elsewhere = requestBytes('r-1', 'message.post', { channelId: ELSEWHERE, content: 'by the way' });
    await post(broker.endpoint, token, elsewhere);
    relay.answers.push('accept silently');
    relay.readable = false;
    await post(broker.endpoint, token, requestBytes('r-2', 'message.post', { channelId: ELSEWHERE, content: 'more' }));
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [], undecided: false });
    await link.say(own());
    expect(await link.publishedIn(turn('t-1'))).toEqual({ events: [relay.sent[2]?.id], undecided: false });
  });
});

describe('a record in doubt', () => {
  it('is pursued: five seconds later, then at longer and longer intervals', async () => {
    const { broker, link, relay, clock } = await bench();
    relay.answers.push('lose');
    await post(broker.endpoint, link.openSession().token, requestBytes('r-1'));
    relay.readable = false;
    const asked = relay.asked.length;
    for (const [index, waitMs] of [5_000, 10_000, 20_000].entries()) {
      await clock.armed(waitMs);
      clock.push(waitMs - 1);
      expect(relay.asked.length).toBe(asked + index);
      clock.push(1);
      await relay.questions(asked + index + 1);
    }
    relay.readable = true;
    await clock.armed(40_000);
    clock.push(40_000);
    await relay.sends(2);
    expect(await link.publishedIn(turn('t'))).toEqual({ events: [], undecided: false });
    expect(new Set(relay.sent.map(({ id }) => id)).size).toBe(1);
    expect(clock.alarms).toBe(0);
  });
});

describe('a start after a crash', () => {
  async function crashed(
    write: number,
  ): Promise<{ readonly before: Bench; readonly after: Bench; readonly retry: () => Promise<string> }> {
    const open = storeFile();
    const dying = mortal(open(), { write, when: 'after' });
    const before = await bench({ store: dying });
    const body = requestBytes('r-1');
    void post(before.broker.endpoint, before.link.openSession().token, body).catch(() => undefined);
    await dying.died;
    await end(before.broker, before.clock);
    const after = await bench({ store: open(), relay: before.relay, clock: before.clock });
    return {
      before,
      after,
      retry: async () => told(await post(after.broker.endpoint, after.link.openSession().token, body)),
    };
  }

  // Writes of a first start: the namespace, the adoption. Then claim, evidence, result.
  it('finishes what was claimed and not signed as having done nothing', async () => {
    const { after, retry } = await crashed(3);
    expect(await retry()).toBe('failed/internal, replayed');
    expect(after.relay.sent).toEqual([]);
  });

  it('sends what was signed and perhaps not sent', async () => {
    const { after, retry } = await crashed(4);
    await after.relay.sends(1);
    expect(await retry()).toMatch(/^succeeded/);
    expect(after.relay.sent).toHaveLength(1);
  });

  it('knows what was done', async () => {
    const { after, retry } = await crashed(5);
    expect(await retry()).toBe('succeeded, replayed');
    expect(after.relay.sent).toHaveLength(1);
  });
});

describe('the link', () => {
  it('says who it is, and what its connection is', async () => {
    const { broker, link } = await bench();
    expect(link.pubkey).toBe(AGENT.pubkey);
    expect(link.status()).toEqual({
      agent: AGENT.pubkey,
      url: 'wss://relay.example',
      phase: 'ready',
      attempts: 0,
      channels: [],
    });
    expect(() => broker.link(SIBLING.pubkey)).toThrow('no agent');
  });

  it('feeds the consumer', async () => {
    const { link, relay } = await bench({ identities: [identity(AGENT, { channels: [CHANNEL], subscribe: 'all' })] });
    const items: unknown[] = [];
    link.follow((item) => {
      items.push(item);
      return Promise.resolve();
    });
    const { onEvent } = await relay.subscribedTo(ROOT);
    await onEvent(ROOT, false);
    expect(items).toContainEqual({ type: 'event', channelId: CHANNEL, event: ROOT });
    expect(link.status().channels).toEqual([CHANNEL]);
  });

  it('is closed twice as once', async () => {
    const { broker, clock, relay } = await bench();
    await Promise.all([end(broker, clock), end(broker, clock)]);
    expect(relay.closed).toBe(true);
    expect(clock.alarms).toBe(0);
  });
});

describe('a forced end', () => {
  it('waits for no request under way, though the clock stands still', async () => {
    const { broker, link, relay } = await bench();
    relay.answers.push('hold');
    const cut = expect(post(broker.endpoint, link.openSession().token, requestBytes('r-1'))).rejects.toThrow();
    await relay.sends(1);
    const closing = broker.close(60_000);
    broker.force();
    await Promise.all([closing, cut]);
    expect(relay.closed).toBe(true);
  });

  it('waits for no word of the relay on what is on its way, though the clock stands still', async () => {
    const { broker, link, relay, clock } = await bench();
    relay.answers.push('accept', 'hold', 'hold', 'hold');
    const options = [{ optionId: 'yes', label: 'Allow' }, { optionId: 'no', label: 'Deny' }] as const;
    const card = { requestNonce: 'n', sessionId: 's', turnId: 't', expiresAt: seconds(1_800_000_000), description: 'Run a command', options };
    await link.cards.post({ card, channelId: CHANNEL }, 9_000);
    link.presence('online');
    link.cards.resolve('n', { outcome: 'cancelled', chosenOptionId: null });
    await relay.sends(3);
    const closing = broker.close(60_000);
    // Its goodbye.
    await relay.sends(4);
    broker.force();
    await closing;
    expect(relay.closed).toBe(true);
    await expect.poll(() => clock.alarms).toBe(0);
  });
});

describe('a configuration that cannot be', () => {
  it.each([
    ['a relay that is none', { relayUrl: 'https://relay.example' }],
    ['a key of somebody else', { identities: [identity(AGENT, { secretKey: SIBLING.secretKey })] }],
    ['one key twice', { identities: [identity(), identity(AGENT, { name: 'twin' })] }],
  ])('%s is refused before anything is opened', async (_, options) => {
    const store = openStore();
    await expect(bench({ ...options, store })).rejects.toMatchObject({ code: 'config' });
    expect(await store.read(sql('SELECT * FROM journal'))).toEqual([]);
  });
});
