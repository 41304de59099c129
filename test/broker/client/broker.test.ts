/** The client against the real host and journal: verdicts, replays, lost credentials, verified pages. */
import { describe, expect, it } from 'vitest';
import { bench } from '../harness.ts';
import type { Bench } from '../harness.ts';
import { AGENT, CHANNEL, OWNER, STRANGER } from '../people.ts';
import { clientOf, endpoint, verdict } from './endpoint.ts';

const POST = { channelId: CHANNEL, content: 'hello' } as const;

function credentialOf({ link }: Bench): { readonly endpoint: string; readonly credential: string; readonly sessionId: string } {
  const { endpoint, token, sessionId } = link.openSession();
  return { endpoint, credential: token, sessionId };
}

describe('with the real broker', () => {
  it('posts once, and tells the same again for the same id', async () => {
    const one = await bench();
    const { endpoint: url, credential } = credentialOf(one);
    const client = clientOf(url, { credential });
    const first = await client.call('message.post', POST, { requestId: 'once' });
    const again = await client.call('message.post', POST, { requestId: 'once' });
    expect(first).toMatchObject({ status: 'succeeded', replayed: false, outcome: { kind: 9 } });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await client.call('message.post', { ...POST, content: 'other' }, { requestId: 'once' })).toMatchObject({
      status: 'failed', error: { code: 'request_id_conflict' },
    });
  });

  it('is told when its credential is gone, and keeps what it did not know', async () => {
    const one = await bench();
    const { endpoint: url, credential, sessionId } = credentialOf(one);
    const client = clientOf(url, { credential });
    expect(await client.call('message.post', POST)).toMatchObject({ status: 'succeeded' });
    one.link.closeSession(sessionId);
    const refused = { status: 'failed', error: { code: 'unauthenticated' } };
    expect(await client.call('message.post', POST)).toMatchObject({ ...refused, uncertain: false });
    expect(await client.call('message.post', POST, { sentBefore: true })).toMatchObject({ ...refused, uncertain: true });
  });
});

describe('a page', () => {
  it('holds the messages that are what they say; the others are counted', async () => {
    const good = OWNER.sign({ tags: [['h', CHANNEL]], content: 'mine' });
    const bad = [
      { ...good, content: 'not mine' },
      { ...good, pubkey: STRANGER.pubkey },
      { ...good, sig: good.sig.replace(/^../, '00') },
      { ...good, kind: 4_000_000_000 },
    ];
    const messages = [good, ...bad, AGENT.sign({ tags: [['h', CHANNEL]] })];
    const { url } = await endpoint(
      verdict({ status: 'succeeded', action: 'channel.read', outcome: { messages, nextCursor: 'n' } }),
    );
    const result = await clientOf(url).call('channel.read', { channelId: CHANNEL });
    if (result.status !== 'succeeded') return expect.fail(result.status);
    expect(result.outcome.messages.map(({ pubkey, content }) => [pubkey, content])).toEqual([
      [OWNER.pubkey, 'mine'], [AGENT.pubkey, 'hello'],
    ]);
    expect(result.outcome).toMatchObject({ unverified: 4, nextCursor: 'n' });
  });

  it('that holds a message of another channel is no verdict', async () => {
    const messages = [OWNER.sign({ tags: [['h', 'elsewhere']] })];
    const { url } = await endpoint(verdict({ status: 'succeeded', action: 'channel.read', outcome: { messages } }));
    const client = clientOf(url, { limits: { maxAttempts: 1 } });
    expect(await client.call('channel.read', { channelId: CHANNEL })).toMatchObject({
      status: 'transport', reason: 'invalid_result', detail: expect.stringContaining('outcome.messages[0]'),
    });
  });
});
