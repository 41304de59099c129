/**
 * NIP-BA's wire rules a second time, slow and plain, for the production reader to be compared with. It shares no code
 * with it. The rows of the specification's table stand here as text and are interpreted one by one.
 */
import { schnorr } from '@noble/curves/secp256k1.js';
import { checkStrict, Invalid, Lexeme, Pairs, parse } from './plain-json.ts';
import type { Plain } from './plain-json.ts';

export type RequestVerdict =
  | { readonly sort: 'uncorrelated' }
  | { readonly sort: 'refused'; readonly requestId: string; readonly code: string }
  | { readonly sort: 'accepted'; readonly requestId: string; readonly action: string; readonly args: Value };
export type ResultVerdict = { readonly sort: 'no verdict' } | { readonly sort: 'accepted'; readonly result: Value };
export type Value = string | boolean | number | bigint | readonly Value[] | { readonly [name: string]: Value };

const PUBLISHED = 'eventId:Hex, kind:u32, createdAt:u64';
const POST = 'channelId:Channel, content:content, mentions?:mentions';
const CHOICES = 'runtime?:scalar, provider?:scalar, model?:scalar, respondTo?:mode';
const ROWS: Readonly<Record<string, readonly [args: string, outcome: string]>> = {
  'channel.read': [
    'channelId:Channel, rootEventId?:Hex, mentionsOnly?:bool, cursor?:Cursor, limit?:limit',
    'messages:events, nextCursor?:Cursor',
  ],
  'message.post': [POST, PUBLISHED],
  'message.reply': [`${POST}, replyToEventId:Hex`, PUBLISHED],
  'reaction.add': ['channelId:Channel, targetEventId:Hex, reaction:reaction', PUBLISHED],
  'profile.set': ['displayName?:Name, about?:about, picture?:scalar', PUBLISHED],
  'storage.address': ['slug:Slug', 'authorPubkey:Pubkey, kind:u32, dTag:Hex'],
  'storage.get': ['slug:Slug', 'value?:string'],
  'storage.put': ['slug:Slug, value:value', PUBLISHED],
  'presence.set': ['status:presence', PUBLISHED],
  'typing.set': ['channelId:Channel', PUBLISHED],
  'observer.emit': ['frames:frames', 'accepted:u32'],
  'liveness.ping': ['channelId:Channel, turnId:scalar', PUBLISHED],
  'agents.create': [
    `channelId:Channel, displayName:Name, systemPrompt:prompt, ${CHOICES}`,
    'agentPubkey:Pubkey, displayName:Name, channelId:Channel',
  ],
  'agents.update': [
    `target:Target, displayName?:Name, systemPrompt?:prompt, ${CHOICES}`,
    'agentPubkey:Pubkey, displayName:Name, updatedFields:strings',
  ],
  'agents.delete': ['target:Target', 'agentPubkey:Pubkey, displayName:Name'],
};
const EVENT = 'id:hex64, pubkey:hex64, created_at:u64, kind:u32, tags:tags, content:string, sig:hex128';
const MUTABLE = ['displayName', 'systemPrompt', 'runtime', 'provider', 'model', 'respondTo'];

/** Told the name of the rule that a body was found to break. */
export type Broken = (rule: string) => void;

export function checkRequest(body: Uint8Array, maxBytes: number, broken: Broken = () => undefined): RequestVerdict {
  const top = body.length > maxBytes ? undefined : parse(body);
  if (!(top instanceof Pairs)) return { sort: 'uncorrelated' };
  const requestId = top.get('requestId');
  if (top.count('requestId') !== 1 || typeof requestId !== 'string' || !isVisible(requestId, 128)) {
    return { sort: 'uncorrelated' };
  }
  const refused = (code: string): RequestVerdict => ({ sort: 'refused', requestId, code });
  const version = soleU16(top, 'protocolVersion');
  if (version === undefined) return refused('invalid_request');
  if (version !== 1) return refused('unsupported_protocol_version');
  const action = top.get('action');
  if (typeof action !== 'string' || top.count('action') !== 1) return refused('invalid_request');
  const row = Object.hasOwn(ROWS, action) ? ROWS[action] : undefined;
  if (row === undefined) return refused('unknown_action');
  const actionVersion = soleU16(top, 'actionVersion');
  if (actionVersion === undefined) return refused('invalid_request');
  if (actionVersion !== 1) return refused('unsupported_action_version');
  try {
    checkStrict(top, 1);
    if (top.list.length !== 6) throw new Invalid('six members');
    if (top.get('type') !== 'broker_request') throw new Invalid('request type');
    const args = readRow(top.get('args'), row[0], true);
    checkArgs(action, args);
    return { sort: 'accepted', requestId, action, args };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    broken(error.rule);
    return refused('invalid_request');
  }
}

export function checkResult(
  body: Uint8Array,
  request: { readonly requestId: string; readonly action: string; readonly args: Value },
  broken: Broken = () => undefined,
): ResultVerdict {
  try {
    const top = parse(body);
    if (!(top instanceof Pairs)) throw new Invalid('a JSON object');
    checkStrict(top, 1);
    return { sort: 'accepted', result: readVerdict(top, request) };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    broken(error.rule);
    return { sort: 'no verdict' };
  }
}

function readVerdict(top: Pairs, request: { requestId: string; action: string; args: Value }): Value {
  const status = top.get('status');
  const names = status === 'succeeded' ? ['action', 'outcome'] : ['error'];
  const expected = ['type', 'protocolVersion', 'requestId', 'status', ...names, 'replayed'];
  for (const [name] of top.list) if (!expected.includes(name)) throw new Invalid('a stranger');
  for (const name of expected) if (name !== 'replayed' && top.count(name) !== 1) throw new Invalid('a member missing');
  if (top.get('type') !== 'broker_result') throw new Invalid('result type');
  if (soleU16(top, 'protocolVersion') !== 1) throw new Invalid('result version');
  if (top.get('requestId') !== request.requestId) throw new Invalid('request id echo');
  const replayed = top.get('replayed');
  if (replayed !== undefined && typeof replayed !== 'boolean') throw new Invalid('replayed');
  const common = { requestId: request.requestId, ...(replayed === undefined ? {} : { replayed }) };
  if (status !== 'succeeded') {
    return { ...common, status: textOf(status), error: readError(top.get('error'), status) };
  }
  const row = ROWS[request.action];
  if (row === undefined || top.get('action') !== request.action) throw new Invalid('action echo');
  const outcome = readRow(top.get('outcome'), row[1], false);
  checkOutcome(request.action, request.args, outcome);
  return { ...common, status, action: request.action, outcome };
}

function readError(error: Plain | undefined, status: Plain | undefined): Value {
  if (!(error instanceof Pairs) || error.list.length !== 2) throw new Invalid('error shape');
  const [code, message] = [error.get('code'), error.get('message')];
  const failed =
    'invalid_request unsupported_protocol_version unknown_action unsupported_action_version unsupported ' +
    'unauthenticated unauthorized request_id_conflict action_failed internal';
  const allowed = status === 'failed' ? failed : status === 'indeterminate' ? 'outcome_unknown internal' : '';
  if (typeof code !== 'string' || typeof message !== 'string') throw new Invalid('error members');
  if (allowed === '') throw new Invalid('status');
  if (code === '' || !allowed.split(' ').includes(code)) throw new Invalid('status and code');
  return { code, message };
}

/** The members of one row, in the row's own notation: `name:type` or `name?:type`. */
function readRow(found: Plain | undefined, row: string, trims: boolean): { readonly [name: string]: Value } {
  if (!(found instanceof Pairs)) throw new Invalid('an object');
  const result: Record<string, Value> = {};
  let used = 0;
  for (const column of row.split(', ')) {
    const [name = '', type = ''] = column.split(':');
    const bare = name.replace('?', '');
    const value = found.get(bare);
    if (value === undefined && name === bare) throw new Invalid('a column missing');
    if (value === undefined) continue;
    used += 1;
    result[bare] = readType(value, type, trims);
  }
  if (used !== found.list.length) throw new Invalid('a strange column');
  return result;
}

function readType(value: Plain, type: string, trims: boolean): Value {
  switch (type) {
    case 'bool':
      if (typeof value !== 'boolean') throw new Invalid('bool');
      return value;
    case 'u32':
      return Number(readInteger(value, type, 0n, 2n ** 32n - 1n));
    case 'u64':
      return readInteger(value, type, 0n, 2n ** 64n - 1n);
    case 'limit':
      return Number(readInteger(value, type, 1n, 500n));
    case 'mentions':
      return readList(value, type, 1, 50).map((each) => readType(each, 'Pubkey', trims));
    case 'strings':
      return readList(value, type, 0, Infinity).map((each) => readType(each, 'string', false));
    case 'tags':
      return readList(value, type, 0, Infinity).map((each) => readType(each, 'strings', false));
    case 'events':
      return readList(value, type, 0, Infinity).map((each) => readRow(each, EVENT, false));
    case 'frames':
      return readList(value, type, 1, 256).map((each) => readRow(each, 'kind:scalar, payload:payload', true));
    case 'Target': {
      const target = readRow(value, 'pubkey?:Pubkey, name?:Name', true);
      if (Object.keys(target).length !== 1) throw new Invalid('one selector');
      return target;
    }
    default:
      if (typeof value !== 'string') throw new Invalid('a text');
      return readText(value, type, trims);
  }
}

function readText(raw: string, type: string, trims: boolean): string {
  const text = trims ? trim(raw) : raw;
  const least = (max: number): string => {
    if (trim(text) === '') throw new Invalid(`blank ${type}`);
    if (Array.from(text).length > max) throw new Invalid(`long ${type}`);
    return text;
  };
  const kept = (max: number): string => {
    if (trim(raw) === '') throw new Invalid(`blank ${type}`);
    if (Buffer.from(raw).length > max) throw new Invalid(`long ${type}`);
    return raw;
  };
  const match = (subject: string, pattern: RegExp): string => {
    if (!pattern.test(subject)) throw new Invalid(type);
    return subject;
  };
  switch (type) {
    case 'string':
      return raw;
    case 'Hex':
      return match(text, /^[0-9a-fA-F]{64}$/).toLowerCase();
    case 'hex64':
      return match(raw, /^[0-9a-f]{64}$/);
    case 'hex128':
      return match(raw, /^[0-9a-f]{128}$/);
    case 'Pubkey': {
      const hex = match(text, /^[0-9a-fA-F]{64}$/).toLowerCase();
      if (!isPoint(hex)) throw new Invalid('a point');
      return hex;
    }
    case 'Channel':
      return readChannel(text);
    case 'Cursor':
      if (!isVisible(raw, 256)) throw new Invalid('Cursor');
      return raw;
    case 'Slug':
      if (Buffer.from(text).length > 255) throw new Invalid('long Slug');
      return match(text, /^core$|^mem\/[a-z0-9][a-z0-9_-]{0,63}(\/[a-z0-9][a-z0-9_-]{0,63})*$/);
    case 'Name':
      return least(120);
    case 'scalar':
      return least(300);
    case 'about':
      return least(2_000);
    case 'prompt':
      return least(20_000);
    case 'reaction':
      return least(66);
    case 'content':
      return kept(65_536);
    case 'payload':
      return kept(65_535);
    case 'value':
      return kept(Infinity);
    case 'mode':
      return match(raw, /^(owner-only|anyone)$/);
    case 'presence':
      return match(raw, /^(online|away|offline)$/);
    default:
      throw new TypeError(`no such type: ${type}`);
  }
}

function readChannel(text: string): string {
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
  const plain = new RegExp(`^${uuid}$`, 'i');
  if (plain.test(text)) return text.toLowerCase();
  const braced = /^\{(.*)\}$/.exec(text)?.[1] ?? /^urn:uuid:(.*)$/.exec(text)?.[1] ?? '';
  if (plain.test(braced)) return braced.toLowerCase();
  if (!/^[0-9a-f]{32}$/i.test(text)) throw new Invalid('Channel');
  const parts = [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => text.slice(from, to));
  return parts.join('-').toLowerCase();
}

/** The rules of the prose that no single member can break. */
function checkArgs(action: string, args: { readonly [name: string]: Value }): void {
  if (action === 'profile.set' && Object.keys(args).length === 0) throw new Invalid('a profile field');
  if (action === 'agents.update' && !MUTABLE.some((name) => name in args)) throw new Invalid('a mutable field');
  if (action === 'storage.put' && !fitsRecord(textOf(args['slug']), textOf(args['value']))) throw new Invalid('record to put');
  if (action === 'observer.emit' && Array.isArray(args['frames'])) {
    const items: readonly Value[] = args['frames'];
    const written = items.map((each) => {
      return `{"kind":${compact(member(each, 'kind'))},"payload":${compact(member(each, 'payload'))}}`;
    });
    if (Buffer.from(`{"frames":[${written.join(',')}]}`).length > 65_535) throw new Invalid('frames to emit');
  }
}

function checkOutcome(action: string, args: Value, outcome: Value): void {
  const asked = (name: string): Value | undefined => member(args, name);
  const told = (name: string): Value | undefined => member(outcome, name);
  const length = (value: Value | undefined): number => (Array.isArray(value) ? value.length : 0);
  if (action === 'channel.read' && length(told('messages')) > Number(asked('limit') ?? 100)) throw new Invalid('page');
  if (action === 'channel.read') checkMessages(asked, told('messages'));
  if (Object.hasOwn(KINDS, action) && told('kind') !== KINDS[action]) throw new Invalid('kind');
  if (action === 'observer.emit' && Number(told('accepted')) > length(asked('frames'))) throw new Invalid('receipts');
  if (action === 'agents.create' && told('channelId') !== asked('channelId')) throw new Invalid('created channel');
  if (action === 'storage.get' && typeof told('value') === 'string') {
    if (!fitsRecord(textOf(asked('slug')), textOf(told('value')))) throw new Invalid('record got');
  }
  if (action === 'agents.update' || action === 'agents.delete') {
    const selector = asked('target');
    const wanted = selector === undefined ? undefined : member(selector, 'pubkey');
    if (wanted !== undefined && wanted !== told('agentPubkey')) throw new Invalid('selected agent');
  }
  const changed = told('updatedFields');
  if (action === 'agents.update' && Array.isArray(changed)) {
    const names: readonly Value[] = changed;
    if (JSON.stringify([...new Set(names.map(textOf))].sort()) !== JSON.stringify(names)) throw new Invalid('field order');
    const supplied = MUTABLE.filter((name) => asked(name) !== undefined);
    if (!names.every((name) => supplied.includes(textOf(name)))) throw new Invalid('supplied fields');
  }
}

/** The kind of the event each action ends in, by its section of the specification. */
const KINDS: Readonly<Record<string, number>> = {
  'message.post': 9, 'message.reply': 9, 'reaction.add': 7, 'profile.set': 0, 'storage.put': 30_174,
  'storage.address': 30_174, 'presence.set': 20_001, 'typing.set': 20_002, 'liveness.ping': 24_200,
};

/** Every message by its tags: the channel, then the thread, then that somebody is mentioned. */
function checkMessages(asked: (name: string) => Value | undefined, messages: Value | undefined): void {
  for (const message of Array.isArray(messages) ? (messages as readonly Value[]) : []) {
    const tags = (member(message, 'tags') ?? []) as readonly (readonly string[])[];
    const values = (name: string): readonly unknown[] => tags.filter(([first]) => first === name).map((tag) => tag[1]);
    if (!values('h').includes(asked('channelId'))) throw new Invalid('channel of a message');
    const root = asked('rootEventId');
    if (root !== undefined && member(message, 'id') !== root) {
      const links = tags.filter(([name, id = '']) => name === 'e' && /^[0-9a-f]{64}$/i.test(id));
      const marked = links.findLast((tag) => tag[3] === 'root') ?? links.findLast((tag) => tag[3] === 'reply');
      if (marked?.[1]?.toLowerCase() !== root) throw new Invalid('thread of a message');
    }
    const mentioned = values('p').some((pubkey) => pubkey !== undefined);
    if (asked('mentionsOnly') === true && !mentioned) throw new Invalid('mention in a message');
  }
}

function member(value: Value, name: string): Value | undefined {
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function fitsRecord(slug: string, value: string): boolean {
  const member = slug === 'core' ? 'profile' : 'value';
  return Buffer.from(`{"slug":"${slug}","${member}":${compact(value)}}`).length <= 65_535;
}

/** NIP-BA "Memory": the compact encoding, character by character. */
function compact(text: Value | undefined): string {
  const short: Readonly<Record<string, string>> = {
    '"': '\\"', '\\': '\\\\', '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r',
  };
  const written = Array.from(textOf(text)).map((scalar) => {
    const code = scalar.codePointAt(0) ?? 0;
    return short[scalar] ?? (code <= 0x1f ? `\\u00${code.toString(16).padStart(2, '0')}` : scalar);
  });
  return `"${written.join('')}"`;
}

function readInteger(value: Plain, type: string, min: bigint, max: bigint): bigint {
  if (!(value instanceof Lexeme) || !/^[0-9]+$/.test(value.text)) throw new Invalid(`syntax of ${type}`);
  const digits = value.text.length > 30 ? max + 1n : BigInt(value.text);
  if (digits < min || digits > max) throw new Invalid(`range of ${type}`);
  return digits;
}

function readList(value: Plain, type: string, min: number, max: number): readonly Plain[] {
  if (!Array.isArray(value)) throw new Invalid(`array of ${type}`);
  const items: readonly Plain[] = value;
  if (items.length < min || items.length > max) throw new Invalid(`count of ${type}`);
  return items;
}

function soleU16(top: Pairs, name: string): number | undefined {
  const value = top.get(name);
  if (top.count(name) !== 1 || !(value instanceof Lexeme)) return undefined;
  return /^[0-9]{1,5}$/.test(value.text) && Number(value.text) <= 65_535 ? Number(value.text) : undefined;
}

function isVisible(text: string, max: number): boolean {
  return new RegExp(`^[!-~]{1,${max}}$`).test(text);
}

function trim(text: string): string {
  const scalars = Array.from(text);
  const keeps = (scalar: string): boolean => !/^\p{White_Space}$/u.test(scalar);
  const first = scalars.findIndex(keeps);
  return first === -1 ? '' : scalars.slice(first, scalars.findLastIndex(keeps) + 1).join('');
}

const points = new Map<string, boolean>();
function isPoint(hex: string): boolean {
  const known = points.get(hex);
  if (known !== undefined) return known;
  let valid = true;
  try {
    schnorr.utils.lift_x(BigInt(`0x${hex}`));
  } catch {
    valid = false;
  }
  points.set(hex, valid);
  return valid;
}
