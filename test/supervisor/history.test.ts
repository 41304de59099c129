import { describe, expect, it } from 'vitest';
import { pendingContent } from '../../src/cards/index.ts';
import { seconds } from '../../src/model/index.ts';
import { fetchHistory, HISTORY_MESSAGES } from '../../src/supervisor/history.ts';
import { fakeLink } from './fake-link.ts';
import { agent, channel, inThread, message, otherChannel } from './people.ts';

const root = message({ at: 1, content: 'root' });
const place = { channelId: channel, scope: 'thread', root: root.id, without: new Set<never>() } as const;
const replies = Array.from({ length: 20 }, (_, n) => message({ at: 2 + n, tags: inThread(root.id), content: `reply ${n}` }));

describe('fetchHistory', () => {
  it('is the root and its replies, oldest first', async () => {
    const history = await fetchHistory(fakeLink([root, ...replies.slice(0, 2)]), place);
    expect(history).toMatchObject({ scope: 'thread', total: 3, truncated: false });
    expect(history?.messages.map((one) => one.content)).toEqual(['root', 'reply 0', 'reply 1']);
  });

  it('shows the last twelve of more, and says so', async () => {
    const history = await fetchHistory(fakeLink([root, ...replies]), place);
    expect(history).toMatchObject({ total: 21, truncated: true });
    expect(history?.messages).toHaveLength(HISTORY_MESSAGES);
    expect(history?.messages.at(-1)?.content).toBe('reply 19');
  });

  it('leaves out the turn itself, other threads that only point here, and other channels', async () => {
    const pointing = message({ at: 3, tags: [['h', channel], ['e', root.id, '', 'mention'], ['p', agent.pubkey]], content: 'pointing' });
    const elsewhere = message({ at: 3, tags: [['h', otherChannel], ['e', root.id, '', 'reply']], content: 'elsewhere' });
    const [own, other] = replies;
    if (own === undefined || other === undefined) throw new Error('no replies');
    const history = await fetchHistory(fakeLink([root, own, other, pointing, elsewhere]), { ...place, without: new Set([own.id]) });
    expect(history?.messages.map((one) => one.content)).toEqual(['root', 'reply 1']);
  });

  it('leaves out notices and permission cards', async () => {
    const tags = inThread(root.id);
    const notice = message({ at: 3, tags: [...tags, ['skep', 'notice']], content: 'notice' });
    const card = message({
      at: 4, tags, content: pendingContent({
        requestNonce: 'n', sessionId: null, turnId: null, expiresAt: seconds(1), description: null,
        options: [{ optionId: 'yes', label: '' }, { optionId: 'no', label: '' }],
      }),
    });
    const history = await fetchHistory(fakeLink([root, ...replies.slice(0, 1), notice, card]), place);
    expect(history?.messages.map((one) => one.content)).toEqual(['root', 'reply 0']);
  });

  it('is the whole channel in a direct message', async () => {
    const history = await fetchHistory(fakeLink([root, ...replies.slice(0, 1)]), { channelId: channel, scope: 'dm', without: new Set() });
    expect(history).toMatchObject({ scope: 'dm', total: 2 });
  });

  it('is not known when the relay did not answer', async () => {
    const link = fakeLink([root]);
    link.answers = false;
    expect(await fetchHistory(link, place)).toBeUndefined();
  });
});
