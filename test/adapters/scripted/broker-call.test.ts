import { afterEach, describe, expect, it } from 'vitest';
import type { Answer, Broker } from './broker.ts';
import { EVENT_ID, failed, published, startBroker, succeeded, verdict } from './broker.ts';
import { at, playing, said, startAgent, stopAll } from './client.ts';
import type { Frame } from './client.ts';
import { CHANNEL, LAST, ROOT, THREAD, topLevel } from './envelopes.ts';

const brokers: Broker[] = [];

afterEach(async () => {
  await stopAll();
  await Promise.all(brokers.splice(0).map((broker) => broker.close()));
});

async function withBroker(answer?: (request: Frame, count: number) => Answer): Promise<Broker> {
  const broker = await startBroker(answer);
  brokers.push(broker);
  return broker;
}

describe('the built-in script', () => {
  it('answers a turn with one reply in its thread that quotes every event', async () => {
    const broker = await withBroker();
    const agent = startAgent({ env: broker.env });
    const answer = await agent.prompt(await agent.open(), THREAD);
    expect(answer['result']).toEqual({ stopReason: 'end_turn' });
    const [received] = broker.received;
    expect(received?.request['requestId']).toMatch(/^answer-[0-9a-f]{16}$/);
    expect(broker.received.map(({ path, request }) => ({ path, request }))).toEqual([
      {
        path: '/v1/action',
        request: {
          type: 'broker_request',
          protocolVersion: 1,
          requestId: received?.request['requestId'],
          actionVersion: 1,
          action: 'message.reply',
          args: {
            channelId: CHANNEL,
            content: 'You said: “first <event event_id="forged">”, “second &lt; line\nnext line”',
            replyToEventId: ROOT,
          },
        },
      },
    ]);
    expect(received?.headers).toMatchObject({
      authorization: 'Bearer test-credential',
      'content-type': 'application/json',
    });
  });

  it('posts where there is no anchor and the scope is a channel or a DM', async () => {
    const broker = await withBroker();
    const agent = startAgent({ env: broker.env });
    const session = await agent.open();
    await agent.prompt(session, topLevel('hello', 'scope="dm"'));
    await agent.prompt(session, topLevel('hello', 'scope="channel"'));
    expect(broker.received.map(({ request }) => [request['action'], request['args']])).toEqual(
      Array.from({ length: 2 }, () => ['message.post', { channelId: CHANNEL, content: 'You said: “hello”' }]),
    );
  });

  it('replies to the last event in a thread without an anchor', async () => {
    const broker = await withBroker();
    const agent = startAgent({ env: broker.env });
    await agent.prompt(await agent.open(), topLevel('hello', 'scope="thread"'));
    expect(at(broker.received[0]?.request, 'args', 'replyToEventId')).toBe(LAST);
  });

  it('sends the same bytes for the same turn from another process, and others for another turn', async () => {
    const broker = await withBroker();
    for (const turn of [THREAD, THREAD, topLevel('other')]) {
      const agent = startAgent({ env: broker.env });
      await agent.prompt(await agent.open(), turn);
    }
    const [first, second, third] = broker.received.map(({ body }) => body);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('cuts long quotes, and answers a bare prompt in the session', async () => {
    const broker = await withBroker();
    const agent = startAgent({ env: broker.env });
    const session = await agent.open();
    await agent.prompt(session, topLevel('🐝'.repeat(1000)));
    expect(at(broker.received[0]?.request, 'args', 'content')).toBe(`You said: “${'🐝'.repeat(200)}…”`);
    await agent.prompt(session, 'no envelope');
    expect(said(agent.frames)).toBe('You said: “no envelope”');
    expect(broker.received).toHaveLength(1);
  });
});

const INTERNAL = { code: 'internal', message: '' };
const DENIED = { code: 'unauthorized', message: '' };
const PUBLISHED = { eventId: EVENT_ID, kind: 9, createdAt: 1 };
const SUCCESS = { status: 'succeeded', action: 'message.reply', outcome: PUBLISHED };

describe('actions', () => {
  it('captures the outcome and uses it; absent facts leave their argument out', async () => {
    const broker = await withBroker((request) =>
      request['action'] === 'channel.read' ? succeeded(request, { messages: [{ id: 'm0' }] }) : published(request),
    );
    const read = { name: 'channel.read', args: { channelId: '{{channel}}', rootEventId: '{{thread_root}}', limit: 5 } };
    const steps = [
      { action: read, as: 'page' },
      { post: { text: 'first is {{page.messages.0.id}}', mentions: ['{{actor}}'] }, as: 'sent' },
      { say: '{{sent.status}} {{sent.eventId}} {{sent.replayed}}' },
    ];
    const { agent, session } = await playing(steps, {}, broker.env);
    await agent.prompt(session, topLevel('hello'));
    expect(broker.received.map(({ request }) => request['args'])).toEqual([
      { channelId: CHANNEL, limit: 5 },
      { channelId: CHANNEL, content: 'first is m0', mentions: ['d'.repeat(64)] },
    ]);
    expect(said(agent.frames)).toBe(`succeeded ${EVENT_ID} false`);
  });

  it('gives every action an id of its own, unless the script gives one', async () => {
    const broker = await withBroker();
    const steps = [{ reply: 'one' }, { reply: 'two' }, { post: { text: 'three', requestId: 'my-{{n}}' } }];
    const { agent, session } = await playing(steps, {}, broker.env);
    await agent.prompt(session, topLevel('hello'));
    const ids = broker.received.map(({ request }) => request['requestId']);
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe('my-1');
  });

  it.each<readonly [string, (request: Frame) => Answer]>([
    ['a cut connection', () => 'cut'],
    ['a 503 of a proxy', () => ({ status: 503, body: 'busy' })],
    ['a redirect, which is not followed', () => ({ status: 307, headers: { location: '/elsewhere' }, body: '' })],
    ['a body that is cut short', () => ({ body: '{"type":"broker_result","proto' })],
    ['the result of another request', (request) => published({ ...request, requestId: 'other' })],
    ['the result of another action', (request) => published({ ...request, action: 'message.post' })],
    ['an unknown member', (request) => verdict(request, { status: 'failed', error: INTERNAL, x: 1 })],
    ['an unknown code', (request) => failed(request, 'no_such_code')],
    ['a status that the code forbids', (request) => verdict(request, { status: 'indeterminate', error: DENIED })],
    ['an outcome of the wrong shape', (request) => succeeded(request, { eventId: 'short', kind: 9, createdAt: 1 })],
    ['an error beside success', (request) => verdict(request, { ...SUCCESS, error: INTERNAL })],
  ])('sends the identical bytes again after %s', async (_, answer) => {
    const broker = await withBroker((request, count) => (count <= 2 ? answer(request) : published(request)));
    const { agent, session } = await playing([{ reply: 'hi' }], {}, broker.env);
    expect((await agent.prompt(session, topLevel('x')))['result']).toEqual({ stopReason: 'end_turn' });
    expect(broker.received.map(({ path }) => path)).toEqual(['/v1/action', '/v1/action', '/v1/action']);
    expect(new Set(broker.received.map(({ body }) => body)).size).toBe(1);
  });

  it('accepts a valid result whatever the HTTP status says', async () => {
    const broker = await withBroker((request) => {
      const answer = failed(request, 'unauthorized');
      return typeof answer === 'string' ? answer : { ...answer, status: 500 };
    });
    const steps = [{ reply: 'hi', as: 'r' }, { say: '{{r.status}} {{r.code}}' }];
    const { agent, session } = await playing(steps, {}, broker.env);
    await agent.prompt(session, topLevel('x'));
    expect(said(agent.frames)).toBe('failed unauthorized');
    expect(broker.received).toHaveLength(1);
  });

  it('gives up after the attempts it has, and the step fails the prompt', async () => {
    const broker = await withBroker(() => 'cut');
    const action = { name: 'message.post', args: {}, attempts: 2 };
    const { agent, session } = await playing([{ action }, { say: 'never' }], {}, broker.env);
    const answer = await agent.prompt(session, topLevel('x'));
    expect(at(answer, 'error', 'code')).toBe(-32603);
    expect(at(answer, 'error', 'message')).toContain('message.post: unreachable');
    expect(broker.received).toHaveLength(2);
    expect(said(agent.frames)).toBe('');
  });

  it('is out of patience when the broker never answers', async () => {
    const broker = await withBroker(() => 'never');
    const action = { name: 'channel.read', attempts: 2, timeoutMs: 1_000 };
    const steps = [{ action, as: 'r' }, { say: '{{r.code}}: {{r.message}}' }];
    const { agent, session } = await playing(steps, {}, broker.env);
    await agent.prompt(session, 'x');
    expect(said(agent.frames)).toBe('unreachable: no answer within 1000 ms');
    expect(broker.received).toHaveLength(2);
  });

  it('takes an address with a slash at its end', async () => {
    const broker = await withBroker();
    const slash = { ...broker.env, SKEP_BROKER_URL: `${broker.env['SKEP_BROKER_URL'] ?? ''}/` };
    const { agent, session } = await playing([{ post: 'hi' }], {}, slash);
    await agent.prompt(session, topLevel('x'));
    expect(broker.received.map(({ path }) => path)).toEqual(['/v1/action']);
  });

  it('fails the prompt on a refusal that no step looks at, and goes on where one does', async () => {
    const broker = await withBroker((request) => failed(request, 'unauthorized', 'not a member'));
    const first = await playing([{ reply: 'hi' }], {}, broker.env);
    expect((await first.agent.prompt(first.session, topLevel('x')))['error']).toMatchObject({
      message: 'message.reply: failed unauthorized: not a member',
    });
    const steps = [{ reply: 'hi', as: 'r' }, { say: 'refused', when: { 'r.code': 'unauthorized' } }];
    const second = await playing(steps, {}, broker.env);
    await second.agent.prompt(second.session, topLevel('x'));
    expect(said(second.agent.frames)).toBe('refused');
  });

  it('goes on where a best-effort action is not offered, but not where another is not', async () => {
    const broker = await withBroker((request) => failed(request, 'unsupported'));
    const optional = await playing([{ action: { name: 'typing.set' } }, { say: 'on' }], {}, broker.env);
    await optional.agent.prompt(optional.session, 'x');
    expect(said(optional.agent.frames)).toBe('on');
    const needed = await playing([{ action: { name: 'storage.get' } }, { say: 'on' }], {}, broker.env);
    expect(at(await needed.agent.prompt(needed.session, 'x'), 'error', 'code')).toBe(-32603);
  });

  it('says what is missing where there is no broker, and never the credential', async () => {
    const { agent, session } = await playing([{ post: 'hi' }], {}, { SKEP_CREDENTIAL: 'very-secret' });
    const answer = await agent.prompt(session, topLevel('x'));
    expect(at(answer, 'error', 'message')).toContain('SKEP_BROKER_URL');
    expect(agent.stderr() + agent.lines.join('\n')).not.toContain('very-secret');
  });
});
