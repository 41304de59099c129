/** Session credentials: what they are, what is kept of them, and their end. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openSessions } from '../../src/broker/sessions.ts';
import { systemClock, systemRandom } from '../../src/system/index.ts';
import { RELAY_URL } from './fake-relay.ts';
import { bench, post, requestBytes } from './harness.ts';
import { AGENT, CHANNEL, OWNER } from './people.ts';

const PRINCIPAL = { principal: AGENT.pubkey, community: RELAY_URL, owner: OWNER.pubkey };

describe('a credential', () => {
  it('is 32 random bytes, bound to principal, community and owner', () => {
    const sessions = openSessions({ random: systemRandom, clock: systemClock });
    const { session, token } = sessions.open(PRINCIPAL);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(sessions.find(token)).toBe(session);
    expect(session).toMatchObject(PRINCIPAL);
    expect(sessions.open(PRINCIPAL).token).not.toBe(token);
  });

  it('is found as it stands and no other way', () => {
    const sessions = openSessions({ random: systemRandom, clock: systemClock });
    const { session, token } = sessions.open(PRINCIPAL);
    for (const other of ['', ` ${token}`, `${token}=`, token.toLowerCase(), token.slice(0, -1), session.sessionId]) {
      expect(sessions.find(other)).toBeUndefined();
    }
  });

  it('is not kept: not in the sessions, not in a session', () => {
    const sessions = openSessions({ random: systemRandom, clock: systemClock });
    const { session, token } = sessions.open(PRINCIPAL);
    const shown = [
      inspect(sessions, { depth: 9, showHidden: true }),
      inspect(session, { depth: 9 }),
      JSON.stringify(session),
    ];
    for (const text of shown) expect(text).not.toContain(token);
    expect(token).not.toContain(session.sessionId);
  });

  it('ends with its session, at once, and no other does', () => {
    const sessions = openSessions({ random: systemRandom, clock: systemClock });
    const [one, two] = [sessions.open(PRINCIPAL), sessions.open(PRINCIPAL)];
    const held = sessions.find(one.token);
    sessions.close(one.session.sessionId);
    expect([held?.live(), sessions.find(one.token)]).toEqual([false, undefined]);
    expect(sessions.find(two.token)?.live()).toBe(true);
    sessions.closeAll();
    expect([two.session.live(), sessions.find(two.token)]).toEqual([false, undefined]);
  });
});

it('knows the turn in flight, and forgets it with the session', () => {
  const sessions = openSessions({ random: systemRandom, clock: systemClock });
  const { session } = sessions.open(PRINCIPAL);
  const turn = { turnId: 't-1', channelId: CHANNEL };
  sessions.bindTurn(session.sessionId, turn);
  expect(session.turn()).toBe(turn);
  sessions.bindTurn(session.sessionId, undefined);
  expect(session.turn()).toBeUndefined();
  sessions.bindTurn(session.sessionId, turn);
  sessions.close(session.sessionId);
  sessions.bindTurn(session.sessionId, turn);
  expect(session.turn()).toBeUndefined();
});

it('counts under a session what may have left something behind, from its beginning on, and what only reads or tells of the moment not', async () => {
  const { broker, link } = await bench();
  const [one, other] = [link.openSession(), link.openSession()];
  const traced = async (requestId: string, action: string, args: object): Promise<number> => {
    await post(broker.endpoint, one.token, requestBytes(requestId, action, args));
    return link.traces(one.sessionId);
  };
  expect(await traced('r-1', 'channel.read', { channelId: CHANNEL })).toBe(0);
  expect(await traced('r-2', 'typing.set', { channelId: CHANNEL })).toBe(0);
  expect(await traced('r-3', 'message.post', { channelId: CHANNEL, content: 'hello' })).toBe(1);
  expect(await traced('r-4', 'storage.get', { slug: 'mem/x' })).toBe(1);
  expect(await traced('r-5', 'message.post', { channelId: CHANNEL, content: 'again' })).toBe(2);
  expect(link.traces(other.sessionId)).toBe(0);
  link.closeSession(one.sessionId);
  expect(link.traces(one.sessionId)).toBe(0);
});
