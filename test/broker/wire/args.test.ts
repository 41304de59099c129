/** Every rule and every limit of the arguments: what is accepted and how it comes out, and one past it. */
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../../src/broker/wire/index.ts';
import type { ActionName } from '../../../src/broker/wire/index.ts';
import { bytesOf, CHANNEL, EVENT_ID, KEY_ONE, KEY_TWO, membersOf, NO_POINT, requestOf, SAMPLES } from './samples.ts';

/** The normalised arguments of a request, or the member its refusal names. */
function argsOf(action: ActionName, args: unknown): unknown {
  const reading = readRequest(bytesOf(requestOf(action, args)));
  if (reading.ok) return reading.request.args;
  expect(reading).toMatchObject({ requestId: 'r-1', code: 'invalid_request' });
  return reading.detail.split(':')[0];
}

/** What becomes of the sample of `action` when `member` is `value`: its canonical value, or `refused`. */
function put(action: ActionName, member: string, value: unknown): unknown {
  const result = argsOf(action, { ...SAMPLES[action].args, [member]: value });
  if (typeof result !== 'string') return membersOf(result).find(([name]) => name === member)?.[1];
  expect(result.startsWith('args')).toBe(true);
  return 'refused';
}

/** Every member of every action that is a text of at most so many scalars, trimmed. */
const BOUNDED: readonly (readonly [ActionName, string, number])[] = [
  ['reaction.add', 'reaction', 66],
  ['profile.set', 'displayName', 120],
  ['profile.set', 'about', 2_000],
  ['profile.set', 'picture', 300],
  ['liveness.ping', 'turnId', 300],
  ['agents.create', 'displayName', 120],
  ['agents.create', 'systemPrompt', 20_000],
  ['agents.create', 'runtime', 300],
  ['agents.create', 'provider', 300],
  ['agents.create', 'model', 300],
  ['agents.update', 'displayName', 120],
  ['agents.update', 'systemPrompt', 20_000],
  ['agents.update', 'runtime', 300],
  ['agents.update', 'provider', 300],
  ['agents.update', 'model', 300],
];

describe.each(BOUNDED)('%s %s', (action, member, max) => {
  it(`is trimmed, not blank, and at most ${max} scalars`, () => {
    expect(put(action, member, '\u0085\u3000 a b\n')).toBe('a b');
    expect(put(action, member, '\ufeff')).toBe('\ufeff');
    expect(put(action, member, 'e\u0301')).toBe('e\u0301');
    for (const fill of ['x', '🐝']) {
      expect(put(action, member, fill.repeat(max))).toBe(fill.repeat(max));
      expect(put(action, member, ` ${fill.repeat(max)} `)).toBe(fill.repeat(max));
      expect(put(action, member, fill.repeat(max + 1))).toBe('refused');
    }
    for (const bad of ['', ' ', '\u2028\u00a0', 1, true, null, [], {}, ['a']]) {
      expect(put(action, member, bad)).toBe('refused');
    }
  });
});

const CHANNELS: readonly ActionName[] = [
  'channel.read', 'message.post', 'message.reply', 'reaction.add', 'typing.set', 'liveness.ping', 'agents.create',
];

describe.each(CHANNELS)('%s channelId', (action) => {
  it('is a UUID in any of four forms, lowercase hyphenated out', () => {
    const upper = CHANNEL.toUpperCase();
    const forms = [CHANNEL, upper, CHANNEL.replaceAll('-', ''), upper.replaceAll('-', '')];
    const framed = [`{${CHANNEL}}`, `{${upper}}`, `urn:uuid:${CHANNEL}`, `urn:uuid:${upper}`, ` ${CHANNEL}\t`];
    for (const form of [...forms, ...framed]) {
      expect(put(action, 'channelId', form)).toBe(CHANNEL);
    }
    const bare = CHANNEL.replaceAll('-', '');
    const bad = [
      '', CHANNEL.slice(1), `${CHANNEL}0`, `{${bare}}`, `urn:uuid:${bare}`, `urn:uuid:{${CHANNEL}}`, `{${CHANNEL}`,
      `${CHANNEL}}`, `URN:UUID:${CHANNEL}`, `uuid:${CHANNEL}`, CHANNEL.replace('-', ''), CHANNEL.replace('0', 'g'),
      `{ ${CHANNEL} }`, `${CHANNEL}\n${CHANNEL}`, `\ufeff${CHANNEL}`, 7, null, [CHANNEL],
    ];
    for (const form of bad) expect(put(action, 'channelId', form)).toBe('refused');
  });

  it('is required', () => {
    expect(argsOf(action, { ...SAMPLES[action].args, channelId: undefined })).toBe('args.channelId');
  });
});

describe.each([
  ['channel.read', 'rootEventId'],
  ['message.reply', 'replyToEventId'],
  ['reaction.add', 'targetEventId'],
] as const)('%s %s', (action, member) => {
  it('is 64 hex characters, lowercase out; no curve is asked', () => {
    const forms = [EVENT_ID, EVENT_ID.toUpperCase(), ` ${EVENT_ID} `];
    for (const text of forms) expect(put(action, member, text)).toBe(EVENT_ID);
    expect(put(action, member, NO_POINT)).toBe(NO_POINT);
    const bad = ['', EVENT_ID.slice(1), `${EVENT_ID}0`, EVENT_ID.replace('a', 'g'), `0x${EVENT_ID.slice(2)}`, 1];
    for (const text of bad) expect(put(action, member, text)).toBe('refused');
  });
});

describe('channel.read', () => {
  it('limit is an integer 1 to 500 in integer syntax', () => {
    const withLimit = (lexeme: string): unknown => {
      const whole = JSON.stringify(requestOf('channel.read', { channelId: CHANNEL, limit: 0 }));
      const body = whole.replace('"limit":0', `"limit":${lexeme}`);
      const reading = readRequest(bytesOf(body));
      return reading.ok && reading.request.action === 'channel.read' ? reading.request.args.limit : 'refused';
    };
    expect(withLimit('1')).toBe(1);
    expect(withLimit('500')).toBe(500);
    const bad = [
      '0', '501', '-1', '-0', '1.0', '1e0', '1E2', '01', '100.5', '4294967297', '9'.repeat(5_000), '1e999', '"1"',
      'true', 'null', '[1]',
    ];
    for (const lexeme of bad) expect(withLimit(lexeme)).toBe('refused');
  });

  it('cursor is 1 to 256 visible bytes, verbatim', () => {
    for (const text of ['!', '~'.repeat(256), '{"A"}']) expect(put('channel.read', 'cursor', text)).toBe(text);
    for (const bad of ['', 'a'.repeat(257), ' a', 'a ', 'a b', 'é', '\u007f', 1]) {
      expect(put('channel.read', 'cursor', bad)).toBe('refused');
    }
  });

  it('mentionsOnly is a boolean, false accepted', () => {
    expect(put('channel.read', 'mentionsOnly', false)).toBe(false);
    expect(put('channel.read', 'mentionsOnly', true)).toBe(true);
    for (const bad of [0, 1, 'true', null]) expect(put('channel.read', 'mentionsOnly', bad)).toBe('refused');
  });

  it('needs the channel alone', () => {
    expect(argsOf('channel.read', { channelId: CHANNEL })).toEqual({ channelId: CHANNEL });
  });
});

describe.each(['message.post', 'message.reply'] as const)('%s', (action) => {
  it('content keeps every byte, is not blank and at most 65,536 bytes', () => {
    const full = ['x'.repeat(65_536), 'é'.repeat(32_768), '"'.repeat(65_536), '\u0001'.repeat(65_536)];
    for (const text of [' \n hi \u0085', '\ufeff', '\u0000', ...full]) expect(put(action, 'content', text)).toBe(text);
    const over = ['x'.repeat(65_537), 'é'.repeat(32_768) + 'x', '🐝'.repeat(16_385)];
    for (const bad of ['', ' \n', '\u3000', ...over, 5, null]) expect(put(action, 'content', bad)).toBe('refused');
  });

  it('mentions are 1 to 50 pubkeys on the curve; an empty list is omitted, not sent', () => {
    expect(put(action, 'mentions', [KEY_ONE.toUpperCase(), ` ${KEY_TWO}`])).toEqual([KEY_ONE, KEY_TWO]);
    expect(put(action, 'mentions', Array.from({ length: 50 }, () => KEY_ONE))).toHaveLength(50);
    const npub = 'npub10xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqpkge6d';
    const tooMany = Array.from({ length: 51 }, () => KEY_ONE);
    const bad = [[], tooMany, [NO_POINT], [npub], [KEY_ONE, ''], [[KEY_ONE]], KEY_ONE, null, {}];
    for (const value of bad) expect(put(action, 'mentions', value)).toBe('refused');
    expect(argsOf(action, { ...SAMPLES[action].args, mentions: undefined })).not.toHaveProperty('mentions');
  });
});

describe('message.reply and reaction.add', () => {
  it('need what they answer', () => {
    expect(argsOf('message.reply', SAMPLES['message.post'].args)).toBe('args.replyToEventId');
    expect(argsOf('message.post', SAMPLES['message.reply'].args)).toBe('args.replyToEventId');
    expect(argsOf('reaction.add', { channelId: CHANNEL, reaction: '+' })).toBe('args.targetEventId');
  });
});

describe.each(['storage.address', 'storage.get', 'storage.put'] as const)('%s slug', (action) => {
  it('is core or a mem/ path of at most 255 bytes', () => {
    const part = 'a'.repeat(64);
    const longest = `mem/${part}/${part}/${part}/${'a'.repeat(56)}`;
    expect(longest).toHaveLength(255);
    for (const slug of ['core', 'mem/a', 'mem/0', 'mem/a_-9/b', `mem/${part}`, longest]) {
      expect(put(action, 'slug', slug)).toBe(slug);
      expect(put(action, 'slug', `\n${slug} `)).toBe(slug);
    }
    const bad = [
      '', 'Core', 'core/a', 'mem', 'mem/', 'mem/-a', 'mem/_a', 'mem/A', 'mem/a/', 'mem//a', 'mem/a//b', `mem/${part}a`,
      `${longest}a`, 'mem/é', 'mem/a b', '/mem/a', 'xmem/a', 'core\ncore', 'mem/a\u0000',
    ];
    for (const slug of bad) expect(put(action, 'slug', slug)).toBe('refused');
  });
});

describe('storage.put value', () => {
  it('keeps every byte and is not blank', () => {
    expect(put('storage.put', 'value', ' v\n')).toBe(' v\n');
    for (const bad of ['', '\t', 1, null]) expect(put('storage.put', 'value', bad)).toBe('refused');
  });

  it.each([
    // {"slug":"core","profile":""} is 28 bytes, {"slug":"mem/a","value":""} is 27.
    ['core', 'x', 65_535 - 28],
    ['mem/a', 'x', 65_535 - 27],
    ['mem/a', '/', 65_535 - 27],
    ['mem/a', '\u007f', 65_535 - 27],
    ['mem/a', 'é', (65_535 - 27) / 2],
    ['mem/a', '🐝', (65_535 - 27) / 4],
    ['mem/a', '"', (65_535 - 27) / 2],
    ['mem/a', '\n', (65_535 - 27) / 2],
    ['mem/a', '\u0001', Math.floor((65_535 - 27) / 6)],
  ])('the compact record of %s, filled with %j, ends at 65,535 bytes', (slug, fill, count) => {
    const read = (value: string): unknown => argsOf('storage.put', { slug, value });
    // One visible character, so that no filling is blank.
    const fits = `x${fill.repeat(Math.floor(count) - 1)}`;
    const spare = Math.floor(count) === count ? fill : fill.repeat(2);
    expect(read(fits)).toMatchObject({ value: fits });
    expect(read(`${fits}${spare}`)).toBe('args');
  });
});

describe('presence.set and respondTo', () => {
  it('take their words exactly', () => {
    for (const word of ['online', 'away', 'offline']) expect(put('presence.set', 'status', word)).toBe(word);
    const bad = ['', 'Online', ' online', 'busy', 1, null];
    for (const word of bad) expect(put('presence.set', 'status', word)).toBe('refused');
    for (const action of ['agents.create', 'agents.update'] as const) {
      for (const word of ['owner-only', 'anyone']) expect(put(action, 'respondTo', word)).toBe(word);
      const others = ['nobody', 'owner_only', 'anyone ', true];
      for (const word of others) expect(put(action, 'respondTo', word)).toBe('refused');
    }
  });
});

describe('observer.emit frames', () => {
  const frames = (count: number, frame: unknown): unknown => Array.from({ length: count }, () => frame);

  it('are 1 to 256, kind trimmed, payload kept', () => {
    expect(put('observer.emit', 'frames', [{ kind: ' k ', payload: ' p ' }])).toEqual([{ kind: 'k', payload: ' p ' }]);
    expect(put('observer.emit', 'frames', frames(256, { kind: 'k', payload: 'p' }))).toHaveLength(256);
    expect(put('observer.emit', 'frames', frames(257, { kind: 'k', payload: 'p' }))).toBe('refused');
    expect(put('observer.emit', 'frames', [{ kind: 'k'.repeat(300), payload: 'p' }])).toHaveLength(1);
    const bad = [
      { kind: 'k'.repeat(301), payload: 'p' }, { kind: '', payload: 'p' }, { kind: 'k', payload: '' },
      { kind: 'k', payload: ' ' }, { kind: 'k' }, { payload: 'p' }, { kind: 'k', payload: {} }, 'k',
      { kind: 'k', payload: 'p', seq: 1 }, { kind: 1, payload: 'p' },
    ];
    for (const frame of bad) expect(put('observer.emit', 'frames', [frame])).toBe('refused');
    for (const value of [[], {}, null, 'p']) expect(put('observer.emit', 'frames', value)).toBe('refused');
  });

  it.each([
    // {"frames":[{"kind":"k","payload":""}]} is 38 bytes, each further frame adds 1 + 25.
    ['one frame', ['x'.repeat(65_535 - 38)]],
    ['two frames', ['x', 'x'.repeat(65_535 - 38 - 27)]],
    ['a frame of escapes', [`x${'"'.repeat((65_535 - 39) / 2)}`]],
    ['a frame of non-ASCII', [`x${'🐝'.repeat((65_535 - 39) / 4)}`]],
  ])('the compact whole ends at 65,535 bytes: %s', (_name, payloads) => {
    const made = (extra: string): unknown => payloads.map((payload) => ({ kind: ' k ', payload: payload + extra }));
    expect(put('observer.emit', 'frames', made(''))).toHaveLength(payloads.length);
    expect(put('observer.emit', 'frames', made('x'))).toBe('refused');
  });
});

describe('at least one field', () => {
  it('of a profile', () => {
    expect(argsOf('profile.set', {})).toBe('args');
    for (const name of ['displayName', 'about', 'picture']) {
      expect(argsOf('profile.set', { [name]: 'x' })).toEqual({ [name]: 'x' });
    }
  });

  it('of an update', () => {
    const target = { name: 'n' };
    expect(argsOf('agents.update', { target })).toBe('args');
    const texts = ['displayName', 'systemPrompt', 'runtime', 'provider', 'model'];
    for (const name of texts) expect(argsOf('agents.update', { target, [name]: 'x' })).toEqual({ target, [name]: 'x' });
    expect(argsOf('agents.update', { target, respondTo: 'anyone' })).toEqual({ target, respondTo: 'anyone' });
  });
});

describe.each(['agents.update', 'agents.delete'] as const)('%s target', (action) => {
  it('is exactly one of a pubkey and a name', () => {
    expect(put(action, 'target', { pubkey: ` ${KEY_ONE.toUpperCase()}` })).toEqual({ pubkey: KEY_ONE });
    expect(put(action, 'target', { name: ' n ' })).toEqual({ name: 'n' });
    expect(put(action, 'target', { name: 'n'.repeat(120) })).toEqual({ name: 'n'.repeat(120) });
    const bad = [
      {}, { pubkey: KEY_ONE, name: 'n' }, { pubkey: NO_POINT }, { name: '' }, { name: 'n'.repeat(121) }, { id: 'n' },
      { pubkey: null }, { name: 'n', pubkey: null }, KEY_ONE, [KEY_ONE], null,
    ];
    for (const target of bad) expect(put(action, 'target', target)).toBe('refused');
    expect(argsOf(action, { ...SAMPLES[action].args, target: undefined })).toBe('args.target');
  });
});

describe('agents.create', () => {
  it('needs channel, name and prompt, and nothing else', () => {
    const least = { channelId: CHANNEL, displayName: 'n', systemPrompt: 'p' };
    expect(argsOf('agents.create', least)).toEqual(least);
    for (const name of Object.keys(least)) {
      expect(argsOf('agents.create', { ...least, [name]: undefined })).toBe(`args.${name}`);
    }
    for (const name of ['owner', 'requester', 'relay', 'target', 'scope']) {
      expect(argsOf('agents.create', { ...least, [name]: 'x' })).toBe(`args.${name}`);
    }
  });
});
