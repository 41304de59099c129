import { describe, expect, it } from 'vitest';
import {
  ACTION_NAMES,
  digestOf,
  readRequest,
  REQUEST_LIMITS,
  writeRequest,
  writeUntypedRequest,
} from '../../../src/broker/wire/index.ts';
import type { RequestDraft } from '../../../src/broker/wire/index.ts';
import { CHANNEL, EVENT_ID, KEY_ONE, requestOf, SAMPLES } from './samples.ts';

function written(draft: RequestDraft): string {
  const writing = writeRequest(draft);
  return writing.ok ? Buffer.from(writing.bytes).toString('utf8') : expect.fail(writing.detail);
}

/** The member an untyped draft is refused for. */
function refused(args: unknown, action = 'message.post'): string {
  const writing = writeUntypedRequest({ requestId: 'r-1', action, args });
  if (writing.ok) return 'accepted';
  expect(writing.code).toBe('invalid_request');
  return writing.detail.split(':')[0] ?? '';
}

describe('writeRequest', () => {
  it.each(ACTION_NAMES)('%s: what is written is read as the same request', (action) => {
    const writing = writeUntypedRequest({ requestId: 'r-1', action, args: SAMPLES[action].args });
    if (!writing.ok) return expect.fail(writing.detail);
    expect(Buffer.from(writing.bytes).toString('utf8')).toBe(JSON.stringify(requestOf(action, SAMPLES[action].args)));
    expect(readRequest(writing.bytes)).toEqual({ ok: true, request: writing.request, digest: writing.digest });
    expect(writing.digest).toBe(digestOf(writing.bytes));
  });

  it('normalises, orders the members and omits what says nothing', () => {
    const text = written({
      action: 'channel.read',
      requestId: 'r-1',
      args: { limit: 7, mentionsOnly: false, rootEventId: ` ${EVENT_ID.toUpperCase()} `, channelId: `{${CHANNEL}}` },
    });
    const args = { channelId: CHANNEL, rootEventId: EVENT_ID, limit: 7 };
    expect(text).toBe(JSON.stringify(requestOf('channel.read', args)));
    const mentioned = { channelId: CHANNEL, mentionsOnly: true };
    expect(written({ action: 'channel.read', requestId: 'r-1', args: mentioned })).toBe(
      JSON.stringify(requestOf('channel.read', mentioned)),
    );
  });

  it('keeps opaque text to the byte', () => {
    const content = ' \u0085\ufeff"\\/\u0001\u007f é 🐝\n';
    const draft: RequestDraft = { requestId: 'r-1', action: 'message.post', args: { channelId: CHANNEL, content } };
    expect(written(draft)).toContain('" \u0085\ufeff\\"\\\\/\\u0001\u007f é 🐝\\n"');
    expect(writeRequest(draft)).toMatchObject({ ok: true, request: { args: { content } } });
  });

  it('refuses what a host would refuse, and what JSON cannot carry', () => {
    const args = SAMPLES['message.post'].args;
    expect(refused({ ...args, content: 'x\ud800' })).toBe('args.content');
    expect(refused({ ...args, mentions: [] })).toBe('args.mentions');
    expect(refused({ ...args, mentions: [KEY_ONE, undefined] })).toBe('args.mentions[1]');
    expect(refused({ ...args, mentions: null })).toBe('args.mentions');
    expect(refused({ ...args, mentions: undefined })).toBe('accepted');
    expect(refused({ ...args, extra: 1 })).toBe('args.extra');
    expect(refused({ ...args, channelId: () => CHANNEL })).toBe('args.channelId');
    expect(refused({ ...args, channelId: Symbol('x') })).toBe('args.channelId');
    for (const value of [null, undefined, 'x', 5, [], () => args]) expect(refused(value)).toBe('args');
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(refused(cycle)).toMatch(/^args\.self/);
  });

  it('takes integers as numbers or bigints, and no other numbers', () => {
    const limit = (value: unknown): string => refused({ channelId: CHANNEL, limit: value }, 'channel.read');
    for (const good of [1, 500, 100n]) expect(limit(good)).toBe('accepted');
    const bad = [0, -0, 1.5, NaN, Infinity, -1, 501, 501n, -1n, 1e21, '1', true];
    for (const value of bad) expect(limit(value)).toBe('args.limit');
  });

  it('refuses a request id or an action that is none', () => {
    const draft = { requestId: 'r-1', action: 'storage.get', args: { slug: 'core' } };
    expect(writeUntypedRequest(draft).ok).toBe(true);
    for (const requestId of ['', ' ', 'a b', 'x'.repeat(129), 'é']) {
      expect(writeUntypedRequest({ ...draft, requestId })).toMatchObject({ ok: false, code: 'invalid_request' });
    }
    for (const action of ['', 'sign', 'publish', 'encrypt', 'decrypt', 'authenticate', 'storage.get ', '__proto__']) {
      expect(writeUntypedRequest({ ...draft, action })).toMatchObject({ ok: false, code: 'unknown_action' });
    }
  });

  it('the largest request fits the host\'s own limit, however it is escaped', () => {
    const mentions = Array.from({ length: 50 }, () => KEY_ONE);
    const args = { ...SAMPLES['message.reply'].args, content: '\u0001'.repeat(65_536), mentions };
    const writing = writeUntypedRequest({ requestId: 'r-1', action: 'message.reply', args });
    expect(writing.ok && writing.bytes.length).toBeGreaterThan(390_000);
    expect(writing.ok && readRequest(writing.bytes, REQUEST_LIMITS).ok).toBe(true);
  });
});
