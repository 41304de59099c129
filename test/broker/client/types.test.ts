/** A wrong call does not compile, and the right outcome comes with its action. Checked by the compiler. */
import { expect, it } from 'vitest';
import type { BrokerClient } from '../../../src/broker/client/index.ts';

export async function wrongCalls(client: BrokerClient): Promise<void> {
  // @ts-expect-error no such action
  await client.call('message.sign', {});
  // @ts-expect-error content is missing
  await client.call('message.post', { channelId: 'x' });
  // @ts-expect-error a member of another action
  await client.call('message.post', { channelId: 'x', content: 'y', replyToEventId: 'z' });
  // @ts-expect-error no selector
  await client.call('agents.delete', { target: {} });
  // @ts-expect-error not a status
  await client.call('presence.set', { status: 'busy' });
  // @ts-expect-error text where a number belongs
  await client.call('channel.read', { channelId: 'x', limit: '5' });
  const posted = await client.call('message.post', { channelId: 'x', content: 'y' });
  // @ts-expect-error no outcome before the status was looked at
  posted.outcome satisfies object;
  if (posted.status === 'succeeded') {
    posted.outcome.createdAt satisfies bigint;
    // @ts-expect-error the outcome of another action
    posted.outcome.messages satisfies object;
  }
}

it('is checked by the compiler', () => {
  expect(wrongCalls).toBeTypeOf('function');
});
