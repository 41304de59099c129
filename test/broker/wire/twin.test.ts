/**
 * The production reader and the plain checker agree on every verdict, every code and every normalised value, over
 * many damaged bodies. A disagreement prints the seed, the round and the body.
 */
import { describe, expect, it } from 'vitest';
import {
  ACTION_NAMES,
  readRequest,
  readResult,
  writeResult,
  writeUntypedRequest,
} from '../../../src/broker/wire/index.ts';
import type { ActionName, BrokerRequest } from '../../../src/broker/wire/index.ts';
import { runs, SEED } from '../../setup/runs.ts';
import { checkRequest, checkResult } from './plain-checker.ts';
import type { Value } from './plain-checker.ts';
import { Dice, mutatedBody } from './mutation.ts';
import {
  CHANNEL,
  errorOf,
  EVENT,
  EVENT_ID,
  KEY_ONE,
  membersOf,
  OTHER_CHANNEL,
  OTHER_ID,
  requestOf,
  SAMPLES,
  successOf,
} from './samples.ts';

/** Bodies of each sort, so twice as many in all. */
const ROUNDS = runs(20_000);
/** From here on the rarest rule is met, too. */
const RARE_ROUNDS = 100_000;

const MAX_BYTES = 200_000;

/** One text for equal values: member order does not count, bigint and number do. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => {
    if (typeof each === 'bigint') return `${each}n`;
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function agree(ours: unknown, theirs: unknown, round: number, body: Uint8Array): void {
  const [left, right] = [canonical(ours), canonical(theirs)];
  if (left === right) return;
  const text = Buffer.from(body).toString('utf8').slice(0, 2_000);
  expect.fail(`seed ${SEED} round ${round}\nreader: ${left}\nchecker: ${right}\nbody: ${text}`);
}

function readAsVerdict(body: Uint8Array): unknown {
  const reading = readRequest(body, { maxBytes: MAX_BYTES, maxDepth: 8 });
  if (reading.ok) return { sort: 'accepted', ...reading.request };
  if (reading.requestId === undefined) return { sort: 'uncorrelated' };
  return { sort: 'refused', requestId: reading.requestId, code: reading.code };
}

class Tally {
  readonly counts = new Map<string, number>();
  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
  /** The share of `name` among `all` rounds. */
  share(name: string): number {
    return (this.counts.get(name) ?? 0) / ROUNDS;
  }
}

/** Every rule by the name that the plain checker gives it; one that is never broken proves nothing. */
const ANY_BODY = [
  'Cursor', 'a column missing', 'a point', 'a strange column', 'a text', 'an object', 'blank Name', 'depth', 'long Name',
  'null', 'repeated name', 'surrogate', 'surrogate in a name', 'Channel', 'Hex', 'Pubkey', 'range of u32', 'syntax of u32',
];
const REQUEST_RULES = [
  'Slug', 'a mutable field', 'a profile field', 'array of frames', 'array of mentions', 'bool', 'count of frames',
  'count of mentions', 'frames to emit', 'long Slug', 'long about', 'long content', 'long payload', 'long prompt',
  'long reaction', 'long scalar', 'mode', 'one selector', 'presence', 'range of limit', 'record to put', 'request type',
  'six members', 'syntax of limit', 'blank about', 'blank content', 'blank payload', 'blank prompt', 'blank reaction',
  'blank scalar', 'blank value', ...ANY_BODY.filter((rule) => !rule.endsWith('u32')),
];
const RESULT_RULES = [
  'a JSON object', 'a member missing', 'a stranger', 'action echo', 'array of events', 'array of strings', 'array of tags',
  'channel of a message', 'created channel', 'error members', 'error shape', 'field order', 'hex128', 'hex64', 'kind',
  'mention in a message', 'page', 'range of u64', 'receipts', 'record got', 'replayed', 'request id echo', 'result type',
  'result version', 'selected agent', 'status', 'status and code', 'supplied fields', 'syntax of u64',
  'thread of a message', ...ANY_BODY,
];

/** Met once in tens of thousands of bodies: a long run has them. */
const RARE_RULES = [
  'blank value', 'long payload', 'a point', 'array of events', 'record got', 'a mutable field', 'a profile field',
  ...['about', 'prompt', 'reaction', 'Name'].map((name) => `blank ${name}`),
];

/** Those that no body has broken, though it was likely. */
function unbroken(rules: readonly string[], { counts }: Tally): readonly string[] {
  return rules.filter((rule) => !counts.has(rule) && (ROUNDS >= RARE_ROUNDS || !RARE_RULES.includes(rule)));
}

const ALL_DAMAGE = Object.entries({ bytes: 7, place: 12, stray: 7, text: 9 })
  .flatMap(([what, count]) => Array.from({ length: count }, (_, kind) => `${what} ${kind}`))
  .sort();

describe('the reader and the plain checker', () => {
  it('agree on damaged requests', { timeout: 600_000 }, () => {
    const dice = new Dice(SEED);
    const tally = new Tally();
    const rules = new Tally();
    for (let round = 0; round < ROUNDS; round += 1) {
      const action = ACTION_NAMES[round % ACTION_NAMES.length] ?? 'channel.read';
      const body = mutatedBody(requestOf(action, SAMPLES[action].args), dice);
      const verdict = checkRequest(body, MAX_BYTES, (rule) => rules.add(rule));
      agree(readAsVerdict(body), verdict, round, body);
      tally.add(verdict.sort === 'refused' ? verdict.code : verdict.sort);
      if (verdict.sort !== 'accepted') continue;
      tally.add(verdict.action);
      // Normalising twice is normalising once, and what a client writes is what a host reads.
      const written = writeUntypedRequest(verdict);
      if (!written.ok) expect.fail(`seed ${SEED} round ${round}: ${written.detail}`);
      agree(checkRequest(written.bytes, MAX_BYTES * 4), withoutFalse(verdict), round, written.bytes);
    }
    // The damage is neither so light nor so heavy that one of the answers is hardly met.
    expect(tally.share('accepted')).toBeGreaterThan(0.2);
    expect(tally.share('invalid_request')).toBeGreaterThan(0.2);
    expect(tally.share('uncorrelated')).toBeGreaterThan(0.05);
    expect(tally.share('unsupported_protocol_version')).toBeGreaterThan(0.002);
    expect(tally.share('unsupported_action_version')).toBeGreaterThan(0.002);
    expect(tally.share('unknown_action')).toBeGreaterThan(0.01);
    for (const name of ACTION_NAMES) expect(tally.share(name)).toBeGreaterThan(0.01);
    expect(unbroken(REQUEST_RULES, rules)).toEqual([]);
    expect([...rules.counts.keys()].filter((rule) => !REQUEST_RULES.includes(rule))).toEqual([]);
    expect([...dice.damage.keys()].sort()).toEqual(ALL_DAMAGE);
  });

  it('agree on damaged results', { timeout: 600_000 }, () => {
    const dice = new Dice(SEED + 1);
    const tally = new Tally();
    const rules = new Tally();
    for (let round = 0; round < ROUNDS; round += 1) {
      const action = ACTION_NAMES[round % ACTION_NAMES.length] ?? 'channel.read';
      const request = someRequest(action, dice);
      const body = mutatedBody(someResult(action, dice), dice);
      const reading = readResult(body, request);
      const verdict = checkResult(body, { ...request, args: asValue(request.args) }, (rule) => rules.add(rule));
      agree(reading.ok ? { sort: 'accepted', result: reading.result } : { sort: 'no verdict' }, verdict, round, body);
      tally.add(verdict.sort);
      if (!reading.ok) continue;
      tally.add(reading.result.status);
      const again = readResult(Buffer.from(writeResult(reading.result)), request);
      agree(again, { ok: true, result: withoutFalse(reading.result) }, round, body);
    }
    expect(tally.share('no verdict')).toBeGreaterThan(0.3);
    expect(tally.share('succeeded')).toBeGreaterThan(0.15);
    expect(tally.share('failed')).toBeGreaterThan(0.01);
    expect(tally.share('indeterminate')).toBeGreaterThan(0.01);
    expect(unbroken(RESULT_RULES, rules)).toEqual([]);
    expect([...rules.counts.keys()].filter((rule) => !RESULT_RULES.includes(rule))).toEqual([]);
    expect([...dice.damage.keys()].sort()).toEqual(ALL_DAMAGE);
  });
});

/** Tags of messages that are inside or outside the channel, the thread and the mentions that a read may ask for. */
const TAGS: readonly [string[][], ...string[][][]] = [
  [['h', CHANNEL]],
  [['h', OTHER_CHANNEL], ['h', CHANNEL], ['p']],
  [['h', OTHER_CHANNEL], ['p', KEY_ONE]],
  [['h', CHANNEL], ['e', OTHER_ID, '', 'root'], ['e', EVENT_ID, '', 'reply'], ['p', KEY_ONE]],
  [['h', CHANNEL], ['e', OTHER_ID.toUpperCase(), '', 'root'], ['p', '']],
  [['h', CHANNEL], ['e', EVENT_ID, '', 'root'], ['e', OTHER_ID, '', 'root'], ['e', 'x', '', 'root'], ['p', KEY_ONE]],
  [['h', CHANNEL], ['e', OTHER_ID], ['e', OTHER_ID, '', 'mention'], ['p', KEY_ONE]],
];

/** The sample request, or one whose echoes and bounds the sample outcome may miss. */
function someRequest(action: ActionName, dice: Dice): BrokerRequest {
  const changed: Readonly<Partial<Record<ActionName, Readonly<Record<string, unknown>>>>> = {
    'channel.read': {
      limit: dice.one([1, 2, 100, 500, undefined]),
      rootEventId: dice.one([EVENT_ID, OTHER_ID, undefined]),
      mentionsOnly: dice.happens(0.5),
    },
    'agents.create': { channelId: OTHER_CHANNEL },
    'agents.update': { target: dice.one([{ name: 'Worker' }, { pubkey: KEY_ONE }]), model: undefined },
    'agents.delete': { target: { pubkey: KEY_ONE } },
    'observer.emit': { frames: [{ kind: 'k', payload: 'p' }] },
  };
  const args = { ...SAMPLES[action].args, ...(dice.happens(0.3) ? changed[action] : {}) };
  const writing = writeUntypedRequest({ requestId: 'r-1', action, args });
  return writing.ok ? writing.request : expect.fail(writing.detail);
}

function someResult(action: ActionName, dice: Dice): unknown {
  const replayed = dice.happens(0.2) ? { replayed: dice.happens(0.7) } : {};
  const failed = errorOf('failed', dice.one(['unauthorized', 'internal', 'invalid_request']));
  const indeterminate = errorOf('indeterminate', dice.one(['outcome_unknown', 'internal']));
  if (dice.happens(0.2)) return { ...dice.one([failed, indeterminate]), ...replayed };
  const outcome = SAMPLES[action].outcome;
  if (action !== 'channel.read' || dice.happens(0.6)) return { ...successOf(action, outcome), ...replayed };
  const length = dice.happens(0.2) ? dice.one([100, 101]) : dice.below(5);
  const tags = dice.one(TAGS);
  return { ...successOf(action, { messages: Array.from({ length }, () => ({ ...EVENT, tags })) }), ...replayed };
}

/** `value` as a writer sends it: its optional booleans are omitted when false. */
function withoutFalse(value: unknown): unknown {
  return JSON.parse(canonical(value), (_name, each: unknown) => (each === false ? undefined : each));
}

/** Arguments as the checker knows values. */
function asValue(args: unknown): Value {
  if (typeof args === 'string' || typeof args === 'boolean' || typeof args === 'number') return args;
  if (Array.isArray(args)) return args.map(asValue);
  return Object.fromEntries(membersOf(args).map(([name, each]) => [name, asValue(each)]));
}
