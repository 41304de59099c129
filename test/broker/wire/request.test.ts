import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, digestOf, readRequest, REQUEST_LIMITS } from '../../../src/broker/wire/index.ts';
import { bytesOf, requestOf, SAMPLES } from './samples.ts';

const VALID = requestOf('storage.get', { slug: 'core' });
const TEXT = JSON.stringify(VALID);

function read(body: unknown) {
  return readRequest(bytesOf(body));
}

/** What a body is answered with, as `requestId code`; `accepted` when it is a request. */
function answer(body: unknown): string {
  const reading = read(body);
  return reading.ok ? 'accepted' : `${reading.requestId ?? 'uncorrelated'} ${reading.code}`;
}

describe('readRequest: the fifteen actions', () => {
  it('are these, in this order', () => {
    expect(ACTION_NAMES.join(' ')).toBe(
      'channel.read message.post message.reply reaction.add profile.set storage.address storage.get storage.put ' +
        'presence.set typing.set observer.emit liveness.ping agents.create agents.update agents.delete',
    );
  });

  it.each(ACTION_NAMES)('%s is read whole', (action) => {
    const { args } = SAMPLES[action];
    const bytes = bytesOf(requestOf(action, args));
    const digest = createHash('sha256').update(bytes).digest('hex');
    expect(readRequest(bytes)).toEqual({ ok: true, request: { requestId: 'r-1', action, args }, digest });
  });

  it('reads the example of the specification, members in any order, any spacing', () => {
    const example =
      '{"type":"broker_request","protocolVersion":1,"requestId":"example-1","actionVersion":1,' +
      '"action":"storage.get","args":{"slug":"core"}}';
    expect(read(example)).toMatchObject({ ok: true, request: { requestId: 'example-1' } });
    const turned =
      ' { "args" : {"slug":" core\\n"} ,"action":"storage.get","requestId":"example-1",\r\n\t' +
      '"actionVersion":1,"protocolVersion":1,"type":"broker_request"} ';
    expect(read(turned)).toMatchObject({ ok: true, request: { requestId: 'example-1', args: { slug: 'core' } } });
  });

  it('takes the digest over the received bytes, not over what they mean', () => {
    const [plain, spaced] = [read(TEXT), read(`${TEXT} `)];
    if (!plain.ok || !spaced.ok) return expect.fail('refused');
    expect(plain.request).toEqual(spaced.request);
    expect(plain.digest).not.toBe(spaced.digest);
    expect(digestOf(bytesOf(`${TEXT} `))).toBe(spaced.digest);
  });
});

describe('readRequest: correlation', () => {
  it.each([
    ['one byte', '!'],
    ['128 bytes', '~'.repeat(128)],
    ['anything visible', '{"\\}'],
  ])('%s is a usable request id', (_name, requestId) => {
    expect(read({ ...VALID, requestId })).toMatchObject({ ok: true, request: { requestId } });
    expect(read({ requestId })).toMatchObject({ ok: false, requestId, code: 'invalid_request' });
  });

  it.each([
    ['no JSON', TEXT.slice(0, -1)],
    ['an array', `[${TEXT}]`],
    ['a string', JSON.stringify(TEXT)],
    ['null', 'null'],
    ['nothing', ''],
    ['no request id', { ...VALID, requestId: undefined }],
    ['an empty one', { ...VALID, requestId: '' }],
    ['129 bytes', { ...VALID, requestId: 'a'.repeat(129) }],
    ['a space in it', { ...VALID, requestId: 'a b' }],
    ['a space after it', { ...VALID, requestId: 'a ' }],
    ['a DEL in it', { ...VALID, requestId: 'a\u007f' }],
    ['a letter beyond ASCII', { ...VALID, requestId: 'é' }],
    ['an unpaired surrogate', { ...VALID, requestId: '\ud800' }],
    ['a number', { ...VALID, requestId: 1 }],
    ['null for it', { ...VALID, requestId: null }],
    ['two of them', TEXT.replace('"action"', '"requestId":"r-2","action"')],
    ['two equal ones', TEXT.replace('"action"', '"requestId":"r-1","action"')],
    ['one elsewhere', { ...VALID, requestId: undefined, args: { requestId: 'r-1' } }],
  ])('%s: no verdict is possible', (_name, body) => {
    expect(answer(body)).toBe('uncorrelated invalid_request');
  });

  it('a body past the size limit is not looked at', () => {
    const { maxBytes } = REQUEST_LIMITS;
    const padded = TEXT + ' '.repeat(maxBytes - TEXT.length);
    expect(answer(padded)).toBe('accepted');
    expect(answer(`${padded} `)).toBe('uncorrelated invalid_request');
  });
});

describe('readRequest: the envelope', () => {
  it.each([
    ['another protocol version', { ...VALID, protocolVersion: 2 }, 'unsupported_protocol_version'],
    ['protocol version 0', { ...VALID, protocolVersion: 0 }, 'unsupported_protocol_version'],
    ['protocol version 65535', { ...VALID, protocolVersion: 65_535 }, 'unsupported_protocol_version'],
    ['a version past u16', { ...VALID, protocolVersion: 65_536 }, 'invalid_request'],
    ['a version as text', { ...VALID, protocolVersion: '1' }, 'invalid_request'],
    ['a version as a boolean', { ...VALID, protocolVersion: true }, 'invalid_request'],
    ['no protocol version', { ...VALID, protocolVersion: undefined }, 'invalid_request'],
    ['version 1.0', TEXT.replace('n":1', 'n":1.0'), 'invalid_request'],
    ['version 1e0', TEXT.replace('n":1', 'n":1e0'), 'invalid_request'],
    ['version -0', TEXT.replace('n":1', 'n":-0'), 'invalid_request'],
    ['two versions', TEXT.replace('"action"', '"protocolVersion":2,"action"'), 'invalid_request'],
    ['an unknown action', { ...VALID, action: 'storage.delete' }, 'unknown_action'],
    ['sign', { ...VALID, action: 'sign' }, 'unknown_action'],
    ['publish', { ...VALID, action: 'publish' }, 'unknown_action'],
    ['encrypt', { ...VALID, action: 'encrypt' }, 'unknown_action'],
    ['decrypt', { ...VALID, action: 'decrypt' }, 'unknown_action'],
    ['authenticate', { ...VALID, action: 'authenticate' }, 'unknown_action'],
    ['an action with a space', { ...VALID, action: 'storage.get ' }, 'unknown_action'],
    ['an action in capitals', { ...VALID, action: 'Storage.get' }, 'unknown_action'],
    ['a name of Object.prototype', { ...VALID, action: 'constructor' }, 'unknown_action'],
    ['an empty action', { ...VALID, action: '' }, 'unknown_action'],
    ['an action that is no string', { ...VALID, action: 1 }, 'invalid_request'],
    ['no action', { ...VALID, action: undefined }, 'invalid_request'],
    ['two actions', TEXT.replace('"args"', '"action":"sign","args"'), 'invalid_request'],
    ['another action version', { ...VALID, actionVersion: 2 }, 'unsupported_action_version'],
    ['no action version', { ...VALID, actionVersion: undefined }, 'invalid_request'],
    ['an action version past u16', { ...VALID, actionVersion: 65_536 }, 'invalid_request'],
    ['another type', { ...VALID, type: 'broker_result' }, 'invalid_request'],
    ['a type with a space', { ...VALID, type: 'broker_request ' }, 'invalid_request'],
    ['no type', { ...VALID, type: undefined }, 'invalid_request'],
    ['no args', { ...VALID, args: undefined }, 'invalid_request'],
    ['args as an array', { ...VALID, args: [] }, 'invalid_request'],
    ['args as a string', { ...VALID, args: '{"slug":"core"}' }, 'invalid_request'],
    ['args null', { ...VALID, args: null }, 'invalid_request'],
    ['a seventh member', { ...VALID, scope: 'all' }, 'invalid_request'],
    ['a member of Object.prototype', TEXT.replace('{', '{"__proto__":{},'), 'invalid_request'],
    ['a repeated args', TEXT.replace('"args"', '"args":{"slug":"core"},"args"'), 'invalid_request'],
    ['a repeated member in args', TEXT.replace('"slug"', '"slug":"core","slug"'), 'invalid_request'],
    ['an unknown member in args', { ...VALID, args: { slug: 'core', x: 1 } }, 'invalid_request'],
    ['an unpaired surrogate', requestOf('presence.set', { status: '\ud800' }), 'invalid_request'],
    ['one in an opaque text', requestOf('storage.put', { slug: 'core', value: 'x\udc00' }), 'invalid_request'],
    ['nesting without end', TEXT.replace('"core"', '['.repeat(50) + ']'.repeat(50)), 'invalid_request'],
  ])('%s', (_name, body, code) => {
    expect(answer(body)).toBe(`r-1 ${code}`);
  });

  it('answers the protocol version before the action, the action before its version, that before the rest', () => {
    const bad = { ...VALID, protocolVersion: 7, action: 'x', actionVersion: 7, args: null, extra: null };
    expect(answer(bad)).toBe('r-1 unsupported_protocol_version');
    expect(answer({ ...bad, protocolVersion: 1 })).toBe('r-1 unknown_action');
    expect(answer({ ...bad, protocolVersion: 1, action: 'storage.get' })).toBe('r-1 unsupported_action_version');
    expect(answer({ ...VALID, args: null, extra: null })).toBe('r-1 invalid_request');
  });

  it('an error never repeats what may be a secret', () => {
    const nsec = 'nsec1' + 'q'.repeat(58);
    const key = '0123456789abcdef'.repeat(4);
    const bodies = [
      { ...VALID, action: nsec },
      { ...VALID, action: key },
      { ...VALID, args: { slug: nsec } },
      { ...VALID, args: { slug: 'core', [nsec]: 1 } },
      { ...VALID, args: { slug: 'core', [key]: 1 } },
      { ...VALID, args: { [key]: null } },
      requestOf('agents.delete', { target: { pubkey: nsec } }),
      requestOf('message.post', { channelId: key, content: '' }),
    ];
    for (const body of bodies) {
      const reading = read(body);
      expect(reading.ok).toBe(false);
      expect(JSON.stringify(reading)).not.toMatch(/qqqq|abcdef/);
    }
  });
});
