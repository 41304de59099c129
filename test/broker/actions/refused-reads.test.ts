/** Actions that read before anything else, at a relay that will not answer: whose fault it is, and in whose words. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/broker/actions/index.ts';
import type { Decision } from '../../../src/broker/actions/index.ts';
import { eventId } from '../../../src/model/index.ts';
import { CHANNEL } from '../people.ts';
import { bench } from './harness.ts';

const EVENT = eventId('e'.repeat(64));

const READING = [
  { action: 'channel.read', args: { channelId: CHANNEL } },
  { action: 'message.reply', args: { channelId: CHANNEL, replyToEventId: EVENT, content: 'hello' } },
  { action: 'reaction.add', args: { channelId: CHANNEL, targetEventId: EVENT, reaction: '+' } },
  { action: 'profile.set', args: { about: 'x' } },
  { action: 'storage.get', args: { slug: 'core' } },
  { action: 'storage.put', args: { slug: 'core', value: 'x' } },
] as const;

async function at(refusal: string | undefined, request: (typeof READING)[number]): Promise<Decision> {
  const { relay, context } = bench();
  relay.readable = false;
  relay.refusal = refusal;
  return decide({ requestId: 'r', ...request }, context);
}

describe.each(READING.map((request) => [request.action, request] as const))('%s', (_, request) => {
  it.each(['restricted: not a channel member', 'blocked: you are banned'])('is not permitted where the relay says %s', async (refusal) => {
    expect(await at(refusal, request)).toEqual({ type: 'refuse', code: 'unauthorized', message: `the relay refused to answer: ${refusal}` });
  });

  it('has an internal failure where the relay has one, in its words', async () => {
    expect(await at('error: database', request)).toEqual({ type: 'refuse', code: 'internal', message: 'the relay refused to answer: error: database' });
  });

  it('has an internal failure where the relay is silent, and says that', async () => {
    expect(await at(undefined, request)).toMatchObject({ type: 'refuse', code: 'internal', message: expect.stringMatching(/did not answer in time|could not be read/) });
  });
});
