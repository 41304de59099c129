/** `message.post` and `message.reply`. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/broker/actions/index.ts';
import type { Decision } from '../../../src/broker/actions/index.ts';
import type { EventId } from '../../../src/model/index.ts';
import { eventId } from '../../../src/model/index.ts';
import type { Tag, VerifiedEvent } from '../../../src/nostr/index.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER, STRANGER } from '../people.ts';
import { bench } from './harness.ts';
import type { Bench } from './harness.ts';

const H: Tag = ['h', CHANNEL];

describe('message.post', () => {
  it('is a kind 9 with h and one lowercase p for each mention', async () => {
    const args = { channelId: CHANNEL, content: ' as it is\n', mentions: [OWNER.pubkey, STRANGER.pubkey, OWNER.pubkey] };
    expect(await decide({ action: 'message.post', requestId: 'r', args }, bench().context)).toEqual({
      type: 'publish',
      action: 'message.post',
      draft: { kind: 9, content: ' as it is\n', tags: [H, ['p', OWNER.pubkey], ['p', STRANGER.pubkey]] },
    });
  });
});

describe('a permission card', () => {
  const options = ['no', 'yes'];
  const card = JSON.stringify({
    v: 1, state: 'pending', requestNonce: 'n', sessionId: 's', turnId: 't', expiresAt: 1, optionIds: options, labels: { no: 'Allow', yes: 'Deny' }, description: null,
  });

  it.each([['whole', card], ['after white space', `\n ${card}`], ['in white space that only some trim', `\u{feff}\u{a0}${card}\u{2003}`], ['of a form that another reader may still take', card.replace('"sessionId":"s",', '')]])(
    'is not an agent\'s to write: %s', async (_, content) => {
      const made = bench();
      const args = { channelId: CHANNEL, content, mentions: [OWNER.pubkey] };
      expect(await decide({ action: 'message.post', requestId: 'r', args }, made.context)).toMatchObject({ type: 'refuse', code: 'action_failed' });
      const parent = STRANGER.sign({ tags: [H], content: 'root' });
      made.relay.keep(parent);
      expect(await decide({ action: 'message.reply', requestId: 'r', args: { ...args, replyToEventId: parent.id } }, made.context))
        .toMatchObject({ type: 'refuse', code: 'action_failed' });
    },
  );

  it.each([['quoted', `the card was ${card}`], ['other JSON', '{"v":2}'], ['broken JSON', '{"v":1,']])('may be spoken of: %s', async (_, content) => {
    const args = { channelId: CHANNEL, content };
    expect(await decide({ action: 'message.post', requestId: 'r', args }, bench().context)).toMatchObject({ type: 'publish', draft: { content } });
  });
});

describe('message.reply', () => {
  const root = STRANGER.sign({ tags: [H], content: 'root' });
  const reply = STRANGER.sign({ tags: [H, ['e', root.id, '', 'reply']], content: 'reply' });
  const nested = STRANGER.sign({
    tags: [H, ['e', root.id, '', 'root'], ['e', reply.id, '', 'reply']],
    content: 'nested',
  });
  const marked = STRANGER.sign({ tags: [H, ['e', root.id, '', 'root']], content: 'a lone root is no reply' });

  it.each([
    ['a root', root, [['e', root.id, '', 'reply']]],
    [
      'an answer',
      reply,
      [
        ['e', root.id, '', 'root'],
        ['e', reply.id, '', 'reply'],
      ],
    ],
    [
      'an answer to an answer',
      nested,
      [
        ['e', root.id, '', 'root'],
        ['e', nested.id, '', 'reply'],
      ],
    ],
    ['a message with a lone root marker', marked, [['e', marked.id, '', 'reply']]],
  ])('to %s names the true root and the parent', async (_, parent, tags) => {
    const made = bench();
    made.relay.keep(root, reply, nested, marked);
    expect(await replyTo(made, parent.id)).toEqual({
      type: 'publish',
      action: 'message.reply',
      draft: { kind: 9, content: 'hello', tags: [H, ...tags, ['p', OWNER.pubkey]] },
    });
  });

  const foreignRoot = STRANGER.sign({ tags: [['h', ELSEWHERE]], content: 'root elsewhere' });
  const UNREADABLE: readonly (readonly [string, EventId, readonly VerifiedEvent[]])[] = [
    ['that does not exist', eventId('e'.repeat(64)), []],
    ['of another channel', foreignRoot.id, [foreignRoot]],
    ['without a channel', STRANGER.sign({ tags: [] }).id, [STRANGER.sign({ tags: [] })]],
    [
      'of two channels',
      STRANGER.sign({ tags: [H, ['h', ELSEWHERE]] }).id,
      [STRANGER.sign({ tags: [H, ['h', ELSEWHERE]] })],
    ],
    ['whose root is gone', reply.id, [reply]],
    ...[STRANGER.sign({ tags: [H, ['e', foreignRoot.id, '', 'reply']], content: 'forged' })].map(
      (forged) => ['whose root is elsewhere', forged.id, [forged, foreignRoot]] as const,
    ),
    ...[
      ['that names an answer as its root', [H, ['e', reply.id, '', 'root'], ['e', nested.id, '', 'reply']]],
      ['that answers an answer as if that were a root', [H, ['e', reply.id, '', 'reply']]],
    ].map(([name, tags]) => {
      const astray = STRANGER.sign({ tags: tags as readonly Tag[], content: 'astray' });
      return [name as string, astray.id, [astray, root, reply, nested]] as const;
    }),
  ];

  it.each(UNREADABLE)('to a parent %s fails before anything is signed', async (_, parent, kept) => {
    const made = bench();
    made.relay.keep(...kept);
    expect(await replyTo(made, parent)).toMatchObject({ type: 'refuse', code: 'action_failed' });
  });

  it('is an internal failure when the relay does not answer', async () => {
    const made = bench();
    made.relay.keep(root);
    made.relay.readable = false;
    expect(await replyTo(made, root.id)).toMatchObject({ type: 'refuse', code: 'internal' });
    made.relay.readable = true;
    expect(await replyTo(made, root.id)).toMatchObject({ type: 'publish' });
  });

  it('may mention anybody, even itself', async () => {
    const made = bench();
    made.relay.keep(root);
    expect(await replyTo(made, root.id, [AGENT.pubkey])).toMatchObject({
      draft: { tags: [H, ['e', root.id, '', 'reply'], ['p', AGENT.pubkey]] },
    });
  });

  function replyTo(
    { context }: Bench,
    replyToEventId: EventId,
    mentions = [OWNER.pubkey],
  ): Promise<Decision<'message.reply'>> {
    const args = { channelId: CHANNEL, content: 'hello', mentions, replyToEventId };
    return decide({ action: 'message.reply', requestId: 'r', args }, context);
  }
});
