/**
 * One valid request and one matching outcome for each action, as plain JSON data, and the means to turn data into
 * bodies. The keys are the public keys of the secrets 1 and 2.
 */
import type { ActionName } from '../../../src/broker/wire/index.ts';

export const KEY_ONE = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
export const KEY_TWO = 'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';
/** 64 hex characters, but no point has this x coordinate. */
export const NO_POINT = 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff';
export const EVENT_ID = '0123456789abcdef'.repeat(4);
export const OTHER_ID = 'fedcba9876543210'.repeat(4);
export const CHANNEL = '0b5a8c1e-93d2-4f67-8a10-5e6f7a8b9c0d';
export const OTHER_CHANNEL = '11111111-2222-3333-4444-555555555555';

export const EVENT = {
  id: EVENT_ID,
  pubkey: KEY_ONE,
  created_at: 1_760_000_000,
  kind: 9,
  tags: [['h', CHANNEL], ['e', OTHER_ID, '', 'reply'], ['p', KEY_TWO], []],
  content: 'hello 🐝',
  sig: '0123456789abcdef'.repeat(8),
};

function published(kind: number): Sample['outcome'] {
  return { eventId: EVENT_ID, kind, createdAt: 1_760_000_000 };
}

const AGENT = { agentPubkey: KEY_TWO, displayName: 'Worker' };
const PATCH = {
  displayName: 'Worker',
  systemPrompt: 'Be brief.',
  runtime: 'goose',
  provider: 'local',
  model: 'small',
  respondTo: 'owner-only',
};

export interface Sample {
  readonly args: Readonly<Record<string, unknown>>;
  readonly outcome: Readonly<Record<string, unknown>>;
}

export const SAMPLES: Readonly<Record<ActionName, Sample>> = {
  'channel.read': {
    args: { channelId: CHANNEL, rootEventId: EVENT_ID, mentionsOnly: true, cursor: 'c:1', limit: 3 },
    outcome: { messages: [EVENT, EVENT], nextCursor: 'c:2' },
  },
  'message.post': { args: { channelId: CHANNEL, content: ' hi ', mentions: [KEY_ONE, KEY_TWO] }, outcome: published(9) },
  'message.reply': {
    args: { channelId: CHANNEL, content: 'hi', mentions: [KEY_ONE], replyToEventId: EVENT_ID },
    outcome: published(9),
  },
  'reaction.add': { args: { channelId: CHANNEL, targetEventId: EVENT_ID, reaction: '🐝' }, outcome: published(7) },
  'profile.set': {
    args: { displayName: 'Bee', about: 'Busy.', picture: 'https://b.example/p.png' },
    outcome: published(0),
  },
  'storage.address': { args: { slug: 'mem/a' }, outcome: { authorPubkey: KEY_ONE, kind: 30_174, dTag: OTHER_ID } },
  'storage.get': { args: { slug: 'core' }, outcome: { value: '' } },
  'storage.put': { args: { slug: 'mem/a/b-c_d', value: '\n v "\\/\u0001' }, outcome: published(30_174) },
  'presence.set': { args: { status: 'away' }, outcome: published(20_001) },
  'typing.set': { args: { channelId: CHANNEL }, outcome: published(20_002) },
  'observer.emit': {
    args: { frames: [{ kind: 'acp_read', payload: '{"a":1}' }, { kind: 'b', payload: ' x' }] },
    outcome: { accepted: 2 },
  },
  'liveness.ping': { args: { channelId: CHANNEL, turnId: 'turn-1' }, outcome: published(24_200) },
  'agents.create': { args: { channelId: CHANNEL, ...PATCH }, outcome: { ...AGENT, channelId: CHANNEL } },
  'agents.update': {
    args: { target: { pubkey: KEY_TWO }, ...PATCH },
    outcome: { ...AGENT, updatedFields: ['displayName', 'runtime', 'systemPrompt'] },
  },
  'agents.delete': { args: { target: { name: 'Worker' } }, outcome: AGENT },
};

/** The members of any value; none when it is no object. */
export function membersOf(value: unknown): readonly [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries<unknown>({ ...value }) : [];
}

/** A request body as data. */
export function requestOf(action: string, args: unknown): Readonly<Record<string, unknown>> {
  return { type: 'broker_request', protocolVersion: 1, requestId: 'r-1', actionVersion: 1, action, args };
}

/** A successful result body as data. */
export function successOf(action: string, outcome: unknown): Readonly<Record<string, unknown>> {
  return { type: 'broker_result', protocolVersion: 1, requestId: 'r-1', status: 'succeeded', action, outcome };
}

/** A failed or indeterminate result body as data. */
export function errorOf(status: string, code: string): Readonly<Record<string, unknown>> {
  return { type: 'broker_result', protocolVersion: 1, requestId: 'r-1', status, error: { code, message: 'why' } };
}

/** UTF-8 bytes of a text, or of data as JSON. */
export function bytesOf(body: unknown): Uint8Array {
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}
