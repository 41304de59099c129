/** A traversal of a channel over a restart of the broker: the cursor goes on, and no message is told twice or not at all. */
import { expect, it } from 'vitest';
import { openBox } from './box.ts';
import { told } from './harness.ts';
import { CHANNEL } from './people.ts';

it('goes on where it was after a restart', async () => {
  const box = await openBox();
  const posted: unknown[] = [];
  for (const content of ['a', 'b', 'c']) {
    const answer = await box.act(`post-${content}`, 'message.post', { channelId: CHANNEL, content });
    expect(told(answer)).toBe('succeeded');
    posted.push(answer.result.outcome?.['eventId']);
  }
  const read: unknown[] = [];
  for (let cursor: unknown, page = 0; page === 0 || cursor !== undefined; page += 1) {
    const answer = await box.act(`read-${page}`, 'channel.read', { channelId: CHANNEL, limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    expect(told(answer), `page ${page}`).toBe('succeeded');
    read.push(...idsIn(answer.result.outcome?.['messages']));
    cursor = answer.result.outcome?.['nextCursor'];
    await box.restart();
  }
  expect(read.toSorted()).toEqual(posted.toSorted());
});

function idsIn(messages: unknown): readonly string[] {
  return Array.isArray(messages) ? messages.map(({ id }: { readonly id: string }) => id) : expect.fail('no messages');
}
