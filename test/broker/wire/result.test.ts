import { describe, expect, it } from 'vitest';
import {
  ACTION_NAMES,
  ERROR_CODES,
  fromWireEvent,
  parseResult,
  readResult,
  toWireEvent,
  writeResult,
  writeUntypedRequest,
} from '../../../src/broker/wire/index.ts';
import type { ActionName, BrokerRequest, BrokerResult } from '../../../src/broker/wire/index.ts';
import { eventId } from '../../../src/model/index.ts';
import {
  bytesOf,
  CHANNEL,
  errorOf,
  EVENT,
  EVENT_ID,
  KEY_ONE,
  KEY_TWO,
  NO_POINT,
  OTHER_CHANNEL,
  OTHER_ID,
  SAMPLES,
  successOf,
} from './samples.ts';

function request(action: ActionName, args: unknown = SAMPLES[action].args): BrokerRequest {
  const writing = writeUntypedRequest({ requestId: 'r-1', action, args });
  return writing.ok ? writing.request : expect.fail(writing.detail);
}

/** `accepted`, or the member that makes a body no verdict on the sample request of `action`. */
function verdict(body: unknown, action: ActionName = 'message.post', args?: unknown): string {
  const reading = readResult(bytesOf(body), request(action, args));
  if (reading.ok) return 'accepted';
  expect(reading.code).toBe('transport_failure');
  return reading.detail.split(':')[0] ?? '';
}

/** The verdict on the sample outcome of `action` with some members changed. */
function outcome(action: ActionName, change: object, args?: unknown): string {
  return verdict(successOf(action, { ...SAMPLES[action].outcome, ...change }), action, args);
}

const POSTED = successOf('message.post', SAMPLES['message.post'].outcome);
const TEXT = JSON.stringify(POSTED);

function failedBy(error: unknown): object {
  return { ...errorOf('failed', 'internal'), error };
}

describe('readResult: every action', () => {
  it.each(ACTION_NAMES)('%s: its outcome is read whole, and refused when anything is missing or added', (action) => {
    const sample = SAMPLES[action].outcome;
    const reading = readResult(bytesOf(successOf(action, sample)), request(action));
    expect(reading).toMatchObject({ ok: true, result: { requestId: 'r-1', status: 'succeeded', action } });
    expect(outcome(action, { extra: 1 })).toBe('outcome.extra');
    for (const name of Object.keys(sample)) {
      const optional = ['nextCursor', 'value'].includes(name);
      expect(outcome(action, { [name]: undefined })).toBe(optional ? 'accepted' : `outcome.${name}`);
      expect(outcome(action, { [name]: null })).toBe(`outcome.${name}`);
      expect(outcome(action, { [name]: true })).toBe(`outcome.${name}`);
    }
    for (const other of ACTION_NAMES.filter((name) => name !== action)) {
      expect(verdict(successOf(other, SAMPLES[other].outcome), action)).toBe('action');
    }
  });
});

describe('readResult: the envelope', () => {
  it.each([
    ['another request id', { ...POSTED, requestId: 'r-2' }, 'requestId'],
    ['another case of it', { ...POSTED, requestId: 'R-1' }, 'requestId'],
    ['no request id', { ...POSTED, requestId: undefined }, 'requestId'],
    ['another type', { ...POSTED, type: 'broker_request' }, 'type'],
    ['another version', { ...POSTED, protocolVersion: 2 }, 'protocolVersion'],
    ['version 1.0', TEXT.replace('"protocolVersion":1', '"protocolVersion":1.0'), 'protocolVersion'],
    ['no version', { ...POSTED, protocolVersion: undefined }, 'protocolVersion'],
    ['another status', { ...POSTED, status: 'ok' }, 'status'],
    ['no status', { ...POSTED, status: undefined }, 'status'],
    ['a status with a space', { ...POSTED, status: 'succeeded ' }, 'status'],
    ['success with an error', { ...POSTED, error: { code: 'internal', message: '' } }, 'error'],
    ['success without its action', { ...POSTED, action: undefined }, 'action'],
    ['an unknown action', { ...POSTED, action: 'sign' }, 'action'],
    ['success without outcome', { ...POSTED, outcome: undefined }, 'outcome'],
    ['an unknown member', { ...POSTED, host: 'h' }, 'host'],
    ['replayed as text', { ...POSTED, replayed: 'true' }, 'replayed'],
    ['replayed null', { ...POSTED, replayed: null }, 'replayed'],
    ['a repeated member', TEXT.replace('"status"', '"status":"failed","status"'), 'status'],
    ['a repeated member of the outcome', TEXT.replace('"kind":9', '"kind":9,"kind":9'), 'outcome.kind'],
    ['failed with an outcome', { ...errorOf('failed', 'internal'), outcome: {} }, 'outcome'],
    ['failed with an action', { ...errorOf('failed', 'internal'), action: 'message.post' }, 'action'],
    ['failed without an error', failedBy(undefined), 'error'],
    ['an error with a third member', failedBy({ code: 'internal', message: '', x: 1 }), 'error.x'],
    ['an error without message', failedBy({ code: 'internal' }), 'error.message'],
    ['an error whose message is null', failedBy({ code: 'internal', message: null }), 'error.message'],
    ['a message with an unpaired surrogate', failedBy({ code: 'internal', message: '\ud800' }), 'error.message'],
    ['a body cut short', TEXT.slice(0, -2), 'body'],
    ['a page of HTML', '<html>401</html>', 'body'],
    ['nothing', '', 'body'],
    ['an array', `[${TEXT}]`, 'body'],
  ])('%s is a transport failure', (_name, body, member) => {
    expect(verdict(body)).toBe(member);
  });

  it('takes replayed true and false, and any spacing', () => {
    for (const replayed of [true, false]) expect(verdict({ ...POSTED, replayed })).toBe('accepted');
    expect(verdict(JSON.stringify(POSTED, undefined, 2))).toBe('accepted');
    expect(verdict({ ...errorOf('failed', 'unauthorized'), replayed: true })).toBe('accepted');
  });

  it('takes exactly the pairs of status and code that the table permits', () => {
    const all = [...ERROR_CODES.failed, ...ERROR_CODES.indeterminate, 'unknown', ''];
    const accepted = (status: string): string[] => all.filter((code) => verdict(errorOf(status, code)) === 'accepted');
    expect([...new Set(accepted('failed'))].sort()).toEqual([
      'action_failed', 'internal', 'invalid_request', 'request_id_conflict', 'unauthenticated', 'unauthorized',
      'unknown_action', 'unsupported', 'unsupported_action_version', 'unsupported_protocol_version',
    ]);
    expect([...new Set(accepted('indeterminate'))].sort()).toEqual(['internal', 'outcome_unknown']);
    expect(accepted('succeeded')).toEqual([]);
  });

  it('takes an error whatever the action was, and past the size limit nothing', () => {
    for (const action of ACTION_NAMES) expect(verdict(errorOf('failed', 'unsupported'), action)).toBe('accepted');
    const bytes = bytesOf(TEXT);
    const limits = { maxBytes: bytes.length, maxDepth: 8 };
    expect(readResult(bytes, request('message.post'), limits).ok).toBe(true);
    expect(readResult(bytes, request('message.post'), { ...limits, maxBytes: bytes.length - 1 }).ok).toBe(false);
  });
});

describe('readResult: what an outcome must have in common with its request', () => {
  const page = (count: number): object => ({ messages: Array.from({ length: count }, () => EVENT) });
  const asking = (limit?: number): object => ({ channelId: CHANNEL, ...(limit === undefined ? {} : { limit }) });

  it('a page fits the limit, which is 100 when omitted', () => {
    for (const [limit, effective] of [[1, 1], [500, 500], [undefined, 100]] as const) {
      expect(outcome('channel.read', page(0), asking(limit))).toBe('accepted');
      expect(outcome('channel.read', page(effective), asking(limit))).toBe('accepted');
      expect(outcome('channel.read', page(effective + 1), asking(limit))).toBe('outcome.messages');
    }
  });

  it('no more frames are accepted than were submitted', () => {
    for (const accepted of [0, 1, 2]) expect(outcome('observer.emit', { accepted })).toBe('accepted');
    expect(outcome('observer.emit', { accepted: 3 })).toBe('outcome.accepted');
    expect(outcome('observer.emit', { accepted: -1 })).toBe('outcome.accepted');
  });

  it('a created agent is in the requested channel, compared as a parsed value', () => {
    expect(outcome('agents.create', { channelId: `{${CHANNEL.toUpperCase()}}` })).toBe('accepted');
    expect(outcome('agents.create', { channelId: OTHER_CHANNEL })).toBe('outcome.channelId');
    expect(outcome('agents.create', { displayName: 'Renamed' })).toBe('accepted');
  });

  it('an updated or deleted agent is the one selected by pubkey; a name proves nothing', () => {
    for (const action of ['agents.update', 'agents.delete'] as const) {
      const by = (target: object): object => ({ ...SAMPLES['agents.update'].args, target });
      const args = (target: object): object => (action === 'agents.update' ? by(target) : { target });
      expect(outcome(action, { agentPubkey: KEY_TWO.toUpperCase() }, args({ pubkey: KEY_TWO }))).toBe('accepted');
      expect(outcome(action, { agentPubkey: KEY_ONE }, args({ pubkey: KEY_TWO }))).toBe('outcome.agentPubkey');
      expect(outcome(action, { agentPubkey: KEY_ONE }, args({ name: 'Worker' }))).toBe('accepted');
      expect(outcome(action, { agentPubkey: NO_POINT }, args({ name: 'Worker' }))).toBe('outcome.agentPubkey');
    }
  });

  it('updatedFields are supplied ones, sorted, each once', () => {
    const args = { target: { name: 'n' }, model: 'm', displayName: 'd', respondTo: 'anyone' };
    const fields = (...updatedFields: string[]): string => outcome('agents.update', { updatedFields }, args);
    expect(fields()).toBe('accepted');
    expect(fields('model')).toBe('accepted');
    expect(fields('displayName', 'model', 'respondTo')).toBe('accepted');
    expect(fields('model', 'displayName')).toBe('outcome.updatedFields');
    expect(fields('model', 'model')).toBe('outcome.updatedFields');
    expect(fields('displayName', 'runtime')).toBe('outcome.updatedFields');
    expect(fields('target')).toBe('outcome.updatedFields[0]');
  });

  it('an event that was published is of the kind of its action, and a memory address of the kind of memory', () => {
    const kinds = {
      'message.post': 9, 'message.reply': 9, 'reaction.add': 7, 'profile.set': 0, 'storage.put': 30_174,
      'storage.address': 30_174, 'presence.set': 20_001, 'typing.set': 20_002, 'liveness.ping': 24_200,
    } as const;
    for (const action of ACTION_NAMES.filter((name) => 'kind' in SAMPLES[name].outcome)) {
      const own = Object.entries(kinds).find(([name]) => name === action)?.[1];
      expect(outcome(action, { kind: own })).toBe('accepted');
      for (const kind of [1, 9, 30_174, 20_001].filter((each) => each !== own)) {
        expect(outcome(action, { kind })).toBe('outcome.kind');
      }
    }
    expect(Object.keys(kinds).length).toBe(9);
  });

  it('messages are in the channel, the thread and the mentions that were asked for, by their tags', () => {
    const read = (asked: object, ...tags: readonly string[][]): string =>
      outcome('channel.read', { messages: [EVENT, { ...EVENT, id: OTHER_ID, tags }] }, { channelId: CHANNEL, ...asked });
    const here = ['h', CHANNEL];
    const stray = 'outcome.messages[1]';
    expect(read({}, here)).toBe('accepted');
    expect(read({})).toBe(stray);
    expect(read({}, ['h', OTHER_CHANNEL])).toBe(stray);
    expect(read({}, ['h', CHANNEL.toUpperCase()])).toBe(stray);
    expect(read({}, ['p', CHANNEL])).toBe(stray);

    const thread = { rootEventId: EVENT_ID };
    expect(read(thread, here)).toBe(stray);
    expect(read(thread, here, ['e', EVENT_ID, '', 'reply'])).toBe('accepted');
    expect(read(thread, here, ['e', EVENT_ID.toUpperCase(), '', 'root'], ['e', OTHER_ID, '', 'reply'])).toBe('accepted');
    // A nested parent is no root, and an unmarked link is no thread.
    expect(read(thread, here, ['e', OTHER_ID, '', 'root'], ['e', EVENT_ID, '', 'reply'])).toBe(stray);
    expect(read(thread, here, ['e', EVENT_ID])).toBe(stray);
    expect(read(thread, here, ['e', EVENT_ID, '', 'mention'])).toBe(stray);
    // The last of a marker counts, and one whose id is none does not.
    expect(read(thread, here, ['e', EVENT_ID, '', 'root'], ['e', OTHER_ID, '', 'root'])).toBe(stray);
    expect(read(thread, here, ['e', EVENT_ID, '', 'root'], ['e', 'x', '', 'root'])).toBe('accepted');

    expect(read({ mentionsOnly: true }, here)).toBe(stray);
    expect(read({ mentionsOnly: true }, here, ['p'])).toBe(stray);
    expect(read({ mentionsOnly: true }, here, ['p', KEY_ONE])).toBe('accepted');
    expect(read({ mentionsOnly: false }, here)).toBe('accepted');
  });

  it('a stored value fits its record, and may be empty or blank', () => {
    for (const value of ['', ' ', 'x'.repeat(65_535 - 28)]) expect(outcome('storage.get', { value })).toBe('accepted');
    expect(outcome('storage.get', { value: 'x'.repeat(65_536 - 28) })).toBe('outcome.value');
  });
});

describe('readResult: members of outcomes', () => {
  it('identities are hex of either case, names are not blank and at most 120 scalars; nothing is trimmed', () => {
    expect(outcome('message.post', { eventId: EVENT_ID.toUpperCase() })).toBe('accepted');
    expect(outcome('message.post', { eventId: ` ${EVENT_ID}` })).toBe('outcome.eventId');
    expect(outcome('storage.address', { authorPubkey: NO_POINT })).toBe('outcome.authorPubkey');
    expect(outcome('storage.address', { dTag: NO_POINT })).toBe('accepted');
    expect(outcome('agents.delete', { displayName: '🐝'.repeat(120) })).toBe('accepted');
    for (const displayName of ['', ' ', 'x'.repeat(121)]) {
      expect(outcome('agents.delete', { displayName })).toBe('outcome.displayName');
    }
    expect(outcome('channel.read', { nextCursor: 'a'.repeat(257) })).toBe('outcome.nextCursor');
  });

  it('kinds fit u32 and times u64, exactly', () => {
    const published = (name: string, lexeme: string): unknown => {
      const text = TEXT.replace(new RegExp(`"${name}":\\d+`), `"${name}":${lexeme}`);
      const reading = parseResult(bytesOf(text));
      return reading.ok && 'outcome' in reading.result ? Object.entries(reading.result.outcome) : 'refused';
    };
    expect(published('kind', '4294967295')).toContainEqual(['kind', 4_294_967_295]);
    expect(published('kind', '4294967296')).toBe('refused');
    expect(published('createdAt', '9007199254740993')).toContainEqual(['createdAt', 9_007_199_254_740_993n]);
    expect(published('createdAt', '18446744073709551615')).toContainEqual(['createdAt', 18_446_744_073_709_551_615n]);
    for (const lexeme of ['18446744073709551616', '-1', '-0', '1.0', '1e9', '"1"', 'true', '9'.repeat(9_999)]) {
      expect(published('createdAt', lexeme)).toBe('refused');
    }
  });

  it('events have exactly seven members of exact types, verbatim', () => {
    const one = (change: object): string => outcome('channel.read', { messages: [{ ...EVENT, ...change }] });
    expect(one({})).toBe('accepted');
    for (const name of Object.keys(EVENT)) expect(one({ [name]: undefined })).toBe(`outcome.messages[0].${name}`);
    expect(one({ relay: 'r' })).toBe('outcome.messages[0].relay');
    for (const tags of [[], [[]], [['']], [['a', 'b', 'c']]]) {
      expect(one({ tags: [...EVENT.tags, ...tags] })).toBe('accepted');
    }
    for (const tags of [{}, ['a'], [[1]], [['a', null]], 'a']) {
      expect(one({ tags })).toMatch(/^outcome.messages\[0\].tags/);
    }
    const wrong = {
      id: EVENT_ID.toUpperCase(), pubkey: `${KEY_ONE}0`, created_at: '1', kind: 1.5, content: 5,
      sig: EVENT.sig.toUpperCase(),
    };
    expect(one({ sig: 'a'.repeat(127) })).toBe('outcome.messages[0].sig');
    for (const [name, value] of Object.entries(wrong)) {
      expect(one({ [name]: value })).toBe(`outcome.messages[0].${name}`);
    }
    const reading = readResult(bytesOf(successOf('channel.read', { messages: [EVENT] })), request('channel.read'));
    const expected = { ...EVENT, created_at: BigInt(EVENT.created_at) };
    expect(reading).toMatchObject({ ok: true, result: { outcome: { messages: [expected] } } });
  });
});

describe('writeResult', () => {
  it.each(ACTION_NAMES)('%s: what is written is read back, in one order of members', (action) => {
    const parsed = parseResult(bytesOf(successOf(action, SAMPLES[action].outcome)));
    const result = parsed.ok ? parsed.result : expect.fail(parsed.detail);
    const text = writeResult(result);
    expect(text).toBe(JSON.stringify(successOf(action, SAMPLES[action].outcome)));
    expect(parseResult(Buffer.from(text))).toEqual({ ok: true, result });
  });

  it('writes members in order whatever order they come in, and no strangers', () => {
    const outcome = { secret: 's', createdAt: 1n, kind: 9, eventId: eventId(EVENT_ID) };
    const disordered = { outcome, action: 'message.post', status: 'succeeded', requestId: 'r-1', stranger: 1 } as const;
    const text = writeResult(disordered);
    expect(text).toBe(JSON.stringify(successOf('message.post', { eventId: EVENT_ID, kind: 9, createdAt: 1 })));
  });

  it('says replayed only when true, before what the verdict is', () => {
    const failed = { requestId: 'r-1', status: 'failed', error: { code: 'unauthorized', message: 'why' } } as const;
    const write = (result: BrokerResult): string => writeResult(result);
    expect(write(failed)).toBe(JSON.stringify(errorOf('failed', 'unauthorized')));
    expect(write({ ...failed, replayed: false })).toBe(write(failed));
    expect(write({ ...failed, replayed: true })).toContain('"status":"failed","replayed":true,"error"');
  });

  it('keeps u64 exact and throws for what the wire cannot carry', () => {
    const write = (createdAt: bigint, kind = 9): string => {
      const outcome = { eventId: eventId(EVENT_ID), kind, createdAt };
      const result: BrokerResult = { requestId: 'r', status: 'succeeded', action: 'typing.set', outcome };
      return writeResult(result);
    };
    expect(write(18_446_744_073_709_551_615n)).toContain('"createdAt":18446744073709551615}');
    expect(() => write(18_446_744_073_709_551_616n)).toThrow(RangeError);
    expect(() => write(-1n)).toThrow(RangeError);
    expect(() => write(1n, 1.5)).toThrow(RangeError);
    expect(() => write(1n, 4_294_967_296)).toThrow(RangeError);
    const error = { code: 'internal', message: '\ud800' } as const;
    expect(() => writeResult({ requestId: 'r', status: 'failed', error })).toThrow(TypeError);
  });
});

describe('events on the wire', () => {
  it('go there and back unchanged, and beyond our numbers they are not verifiable', () => {
    const there = parseResult(bytesOf(successOf('channel.read', { messages: [EVENT] })));
    const result = there.ok ? there.result : expect.fail(there.detail);
    if (result.status !== 'succeeded' || result.action !== 'channel.read') return expect.fail('no page');
    const [event] = result.outcome.messages;
    if (event === undefined) return expect.fail('no event');
    const back = fromWireEvent(event);
    expect(back).toEqual(EVENT);
    expect(back && toWireEvent(back)).toEqual(event);
    expect(fromWireEvent({ ...event, created_at: 2n ** 53n })).toBeUndefined();
    expect(fromWireEvent({ ...event, kind: 65_536 })).toBeUndefined();
  });
});
