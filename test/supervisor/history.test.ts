import { describe, expect, it } from 'vitest';
import { pendingContent } from '../../src/cards/index.ts';
import { seconds } from '../../src/model/index.ts';
import type { History } from '../../compiler/index.ts';
import type { EventId } from '../../src/model/index.ts';
import { fetchHistory, HISTORY_MESSAGES } from '../../src/supervisor/history.ts';
import type { HistoryPlace } from '../../src/supervisor/history.ts';
import type { FakeLink } from './fake-link.ts';
import { fakeLink } from './fake-link.ts';
import { agent, channel, inThread, message, otherChannel } from './people.ts';

const root = message({ at: 1, content: 'root' });
const place = { channelId: channel, scope: 'thread', root: root.id, without: () => new Set<never>(), delivered: new Set<EventId>() } as const;
const replies = Array.from({ length: 20 }, (_, n) => message({ at: 2 + n, tags: inThread(root.id), content: `reply ${n}` }));

async function historyOf(link: FakeLink, at: HistoryPlace): Promise<History | undefined> {
  const found = await fetchHistory(link, at);
  return found.is === 'new' ? found.history : undefined;
}

describe('fetchHistory', () => {
  it('is the root and its replies, oldest first', async () => {
    const history = await historyOf(fakeLink([root, ...replies.slice(0, 2)]), place);
    expect(history).toMatchObject({ scope: 'thread', total: 3, truncated: false });
    expect(history?.messages.map((one) => one.content)).toEqual(['root', 'reply 0', 'reply 1']);
  });

  it('shows the last twelve of more, and says so', async () => {
    const history = await historyOf(fakeLink([root, ...replies]), place);
    expect(history).toMatchObject({ total: 21, truncated: true });
    expect(history?.messages).toHaveLength(HISTORY_MESSAGES);
    expect(history?.messages.at(-1)?.content).toBe('reply 19');
  });

  it('leaves out the turn itself, other threads that only point here, and other channels', async () => {
    const pointing = message({ at: 3, tags: [['h', channel], ['e', root.id, '', 'mention'], ['p', agent.pubkey]], content: 'pointing' });
    const elsewhere = message({ at: 3, tags: [['h', otherChannel], ['e', root.id, '', 'reply']], content: 'elsewhere' });
    const [own, other] = replies;
    if (own === undefined || other === undefined) throw new Error('no replies');
    const history = await historyOf(fakeLink([root, own, other, pointing, elsewhere]), { ...place, without: () => new Set([own.id]) });
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
    const history = await historyOf(fakeLink([root, ...replies.slice(0, 1), notice, card]), place);
    expect(history?.messages.map((one) => one.content)).toEqual(['root', 'reply 0']);
  });

  it('is the whole channel in a direct message', async () => {
    const history = await historyOf(fakeLink([root, ...replies.slice(0, 1)]), { channelId: channel, scope: 'dm', without: () => new Set(), delivered: new Set() });
    expect(history).toMatchObject({ scope: 'dm', total: 2 });
  });

  it('is not known when the relay did not answer', async () => {
    const link = fakeLink([root]);
    link.answers = false;
    expect(await fetchHistory(link, place)).toEqual({ is: 'unknown' });
  });

  it('is what the session has not read', async () => {
    const [first, second, third] = replies;
    if (first === undefined || second === undefined || third === undefined) throw new Error('no replies');
    const link = fakeLink([root, first, second, third]);
    const history = await historyOf(link, { ...place, delivered: new Set([root.id, second.id]) });
    expect(history).toMatchObject({ total: 2, truncated: false });
    // One that came late stands where it belongs.
    expect(history?.messages.map((one) => one.content)).toEqual(['reply 0', 'reply 2']);
    expect(await fetchHistory(link, { ...place, delivered: new Set([root.id, first.id, second.id, third.id]) })).toEqual({ is: 'delivered' });
  });

  it('does not show later what was too old to be shown at first, and says that it is there', async () => {
    const read = new Set([...replies.slice(8).map(({ id }) => id)]);
    const fresh = message({ at: 100, tags: inThread(root.id), content: 'fresh' });
    const history = await historyOf(fakeLink([root, ...replies, fresh]), { ...place, delivered: read });
    expect(history?.messages.map((one) => one.content)).toEqual(['fresh']);
    expect(history).toMatchObject({ total: 10, truncated: true });
    expect(await fetchHistory(fakeLink([root, ...replies]), { ...place, delivered: read })).toEqual({ is: 'delivered' });
  });

  it('is all of it in a thread that the session has read nothing of', async () => {
    const elsewhere = message();
    expect(await historyOf(fakeLink([root]), { ...place, delivered: new Set([elsewhere.id]) })).toMatchObject({ total: 1, truncated: false });
  });

  it('is empty in a conversation that has only begun', async () => {
    expect(await fetchHistory(fakeLink([]), place)).toEqual({ is: 'new', history: { scope: 'thread', messages: [], total: 0, truncated: false } });
  });
});
