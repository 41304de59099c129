/** `reaction.add`, `presence.set` and `typing.set`: what is sent, what never is, and what a reader outside sees. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/broker/actions/index.ts';
import type { Decision } from '../../../src/broker/actions/index.ts';
import { eventId } from '../../../src/model/index.ts';
import type { EventId } from '../../../src/model/index.ts';
import type { Tag, VerifiedEvent } from '../../../src/nostr/index.ts';
import { openBox } from '../box.ts';
import { bench as openBench, post, requestBytes, told } from '../harness.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER, STRANGER } from '../people.ts';
import { bench } from './harness.ts';
import type { Bench } from './harness.ts';

const H: Tag = ['h', CHANNEL];

describe('reaction.add', () => {
  const target = STRANGER.sign({ tags: [H], content: 'well done' });

  it('is a kind 7 with the target alone', async () => {
    const made = bench();
    made.relay.keep(target);
    expect(await react(made, target.id, ':ship_it:')).toEqual({
      type: 'publish',
      action: 'reaction.add',
      draft: { kind: 7, content: ':ship_it:', tags: [['e', target.id]] },
    });
  });

  const elsewhere = STRANGER.sign({ tags: [['h', ELSEWHERE]] });
  const nowhere = STRANGER.sign({ tags: [] });
  const both = STRANGER.sign({ tags: [H, ['h', ELSEWHERE]] });
  const MISSING: readonly (readonly [string, EventId, readonly VerifiedEvent[]])[] = [
    ['that does not exist', eventId('e'.repeat(64)), []],
    ['of another channel', elsewhere.id, [elsewhere]],
    ['without a channel', nowhere.id, [nowhere]],
    ['of two channels', both.id, [both]],
  ];

  it.each(MISSING)('to a target %s fails before anything is signed', async (_, id, kept) => {
    const made = bench();
    made.relay.keep(...kept);
    expect(await react(made, id)).toMatchObject({ type: 'refuse', code: 'action_failed' });
  });

  it('is not sent on the word of a relay that answers with another event', async () => {
    const made = bench();
    const lying = { ...made.context, fetch: () => Promise.resolve({ events: [target], complete: true }) };
    expect(await react({ ...made, context: lying }, eventId('e'.repeat(64)))).toMatchObject({ code: 'action_failed' });
  });

  it('is an internal failure when the relay does not answer', async () => {
    const made = bench();
    made.relay.keep(target);
    made.relay.readable = false;
    expect(await react(made, target.id)).toMatchObject({ type: 'refuse', code: 'internal' });
  });

  function react({ context }: Bench, targetEventId: EventId, reaction = '+'): Promise<Decision<'reaction.add'>> {
    const args = { channelId: CHANNEL, targetEventId, reaction };
    return decide({ action: 'reaction.add', requestId: 'r', args }, context);
  }
});

describe('on the relay in the box', () => {
  it('a reaction, a presence and a typing signal reach a reader; a replay sends nothing', async () => {
    const box = await openBox();
    const owner = await box.outside(OWNER);
    const now = Math.floor(Date.now() / 1000);
    const message = OWNER.sign({ tags: [H], content: 'look', createdAtSec: now });
    const hidden = OWNER.sign({ tags: [['h', ELSEWHERE]], content: 'not for you', createdAtSec: now });
    for (const event of [message, hidden]) expect(await owner.publish(event)).toEqual([true, '']);
    await owner.stored('live', { kinds: [7, 20_001, 20_002], authors: [AGENT.pubkey] });

    const requests: readonly (readonly [string, unknown, Readonly<Record<string, unknown>>])[] = [
      ['reaction.add', { channelId: CHANNEL, targetEventId: message.id, reaction: ' 👀 ' },
        { kind: 7, content: '👀', tags: [['e', message.id]] }],
      ['presence.set', { status: 'away' }, { kind: 20_001, content: 'away', tags: [] }],
      ['typing.set', { channelId: CHANNEL }, { kind: 20_002, content: '', tags: [H] }],
    ];
    for (const [action, args, event] of requests) {
      const first = await box.act(action, action, args);
      expect(told(first)).toBe('succeeded');
      const seen = await owner.nextEvent('live');
      expect(seen).toMatchObject({ ...event, pubkey: AGENT.pubkey, id: first.result.outcome?.['eventId'] });
    }
    await box.restart();
    for (const [action, args] of requests) expect(told(await box.act(action, action, args))).toBe('succeeded, replayed');
    // The control of "nothing": a new signal comes, and no other before it.
    expect(told(await box.act('again', 'presence.set', { status: 'online' }))).toBe('succeeded');
    expect(await owner.nextEvent('live')).toMatchObject({ content: 'online' });
    expect(owner.received('live')).toEqual([]);
    expect(told(await box.act('r', 'reaction.add', { channelId: CHANNEL, targetEventId: hidden.id, reaction: '+' })))
      .toBe('failed/action_failed');
    expect(told(await box.act('t', 'typing.set', { channelId: ELSEWHERE }))).toBe('failed/unauthorized');
  });
});

describe('a signal', () => {
  it('without an answer is indeterminate, and is never renewed', async () => {
    const { broker, link, relay } = await openBench();
    const { token } = link.openSession();
    relay.answers.push('lose');
    const bytes = requestBytes('p', 'presence.set', { status: 'online' });
    expect(told(await post(broker.endpoint, token, bytes))).toBe('indeterminate/outcome_unknown');
    expect(told(await post(broker.endpoint, token, bytes))).toBe('indeterminate/outcome_unknown');
    expect(relay.sent).toHaveLength(1);
  });

  it('whose permission is withdrawn while its target is read is not sent', async () => {
    const { broker, link, relay } = await openBench();
    const target = STRANGER.sign({ tags: [H] });
    relay.keep(target);
    const { token, sessionId } = link.openSession();
    let open = (): void => undefined;
    relay.gate = new Promise((resolve) => {
      open = resolve;
    });
    const asked = relay.asked.length;
    const args = { channelId: CHANNEL, targetEventId: target.id, reaction: '+' };
    const answer = post(broker.endpoint, token, requestBytes('r', 'reaction.add', args));
    await relay.questions(asked + 1);
    link.closeSession(sessionId);
    open();
    expect(told(await answer)).toBe('failed/unauthenticated');
    expect(relay.sent).toEqual([]);
  });
});
