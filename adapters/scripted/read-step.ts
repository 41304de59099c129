/**
 * Reads one step: `{ <act>: ..., as?, when?, unless? }`, exactly one act.
 * in: script JSON and its path. out: a Step, every default written in; a ScriptError otherwise.
 */
import { closed, fileName, flag, integer, json, list, members, need, pick, rpcError, ScriptError } from './check.ts';
import { ending, signal, string, wrong, yes } from './check.ts';
import type { Reader } from './check.ts';
import { isList, isMembers } from './json.ts';
import type { Json, Members } from './json.ts';
import type { Act, ActOf, ActType, Conditions, Step } from './script.ts';

/** One hour: longer than any test or demo has patience for, far under the limit of a timer. */
const MAX_SLEEP_MS = 3_600_000;
const MAX_REPEAT = 100_000_000;
/** What one step may write: above the 60 MB lines that a client must survive, below what one string can hold. */
const MAX_OUTPUT_BYTES = 134_217_728;
const CHILD_SECONDS = 60;

const DEFAULT_OPTIONS: readonly Json[] = [
  { optionId: 'allow-once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'reject-once', name: 'Reject', kind: 'reject_once' },
];

export function readStep(value: Json, path: string): Step {
  const object = members(value, path);
  const names = Object.keys(object).filter((name) => !MODIFIERS.includes(name));
  const [name, second] = names;
  if (name === undefined) throw new ScriptError(`${path}: a step does one thing; expected one of ${ACTS.join(', ')}`);
  if (!isAct(name)) throw new ScriptError(`${path}.${name}: unknown step; expected one of ${ACTS.join(', ')}`);
  if (second !== undefined) throw new ScriptError(`${path}: a step does one thing; found ${names.join(' and ')}`);
  const act: Reader<Act> = READERS[name];
  return {
    act: need(object, name, path, act),
    as: pick(object, 'as', path, variable),
    when: pick(object, 'when', path, conditions) ?? new Map(),
    unless: pick(object, 'unless', path, conditions) ?? new Map(),
  };
}

/** `{ "answer.status": "succeeded", scope: ["thread", "dm"] }`. */
export const conditions: Reader<Conditions> = (value, path) =>
  new Map(
    Object.entries(members(value, path)).map(([name, expected]) => [
      name,
      (isList(expected) ? expected : [expected]).map((text) => scalar(text, `${path}.${name}`)),
    ]),
  );

function scalar(value: Json, path: string): string {
  if (isList(value) || isMembers(value)) return wrong(path, 'a text, number, true, false or a list of them', value);
  return value === null ? '' : String(value);
}

const variable: Reader<string> = (value, path) => {
  const isName = typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value);
  return isName ? value : wrong(path, 'a name of letters and digits', value);
};

const MODIFIERS: readonly string[] = ['as', 'when', 'unless'];

/** A step's short form is a text; its long form an object that holds the same text under `name`. */
function shorthand(value: Json, path: string, name: string, names: readonly string[]): Members {
  return typeof value === 'string' ? { [name]: value } : closed(value, path, [name, ...names]);
}

function speech(value: Json, path: string): Omit<ActOf<'say'>, 'type'> {
  const object = shorthand(value, path, 'text', ['chunks', 'repeat', 'byteByByte']);
  const text = need(object, 'text', path, string);
  return {
    text,
    chunks: pick(object, 'chunks', path, integer(1, 10_000)) ?? 1,
    repeat: repeats(object, path, Buffer.byteLength(text)),
    byteByByte: pick(object, 'byteByByte', path, flag) ?? false,
  };
}

function repeats(object: Members, path: string, bytes: number): number {
  const repeat = pick(object, 'repeat', path, integer(1, MAX_REPEAT)) ?? 1;
  if (repeat * bytes <= MAX_OUTPUT_BYTES) return repeat;
  throw new ScriptError(`${path}.repeat: expected at most ${MAX_OUTPUT_BYTES} bytes in all, found ${repeat * bytes}`);
}

const base64: Reader<Uint8Array> = (value, path) => {
  const text = string(value, path);
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '') ? bytes : wrong(path, 'base64', value);
};

const command: Reader<readonly [string, ...string[]]> = (value, path) => {
  const [program, ...args] = list(string)(value, path);
  return program === undefined ? wrong(path, 'a program and its arguments', value) : [program, ...args];
};

const READERS: { readonly [Type in ActType]: Reader<ActOf<Type>> } = {
  say: (value, path) => ({ type: 'say', ...speech(value, path) }),
  think: (value, path) => ({ type: 'think', ...speech(value, path) }),
  tool: (value, path) => {
    const object = shorthand(value, path, 'title', ['kind', 'id', 'rawInput', 'updates']);
    return {
      type: 'tool',
      title: need(object, 'title', path, string),
      kind: pick(object, 'kind', path, string) ?? 'other',
      id: pick(object, 'id', path, string),
      rawInput: object['rawInput'],
      updates: pick(object, 'updates', path, list(members)) ?? [{ status: 'in_progress' }, { status: 'completed' }],
    };
  },
  update: (value, path) => ({ type: 'update', update: members(value, path) }),
  env: (value, path) => ({ type: 'env', names: value === true ? undefined : list(string)(value, path) }),
  action: (value, path) => {
    const object = closed(value, path, ['name', 'args', 'requestId', 'attempts', 'timeoutMs']);
    return {
      type: 'action',
      action: need(object, 'name', path, string),
      args: pick(object, 'args', path, members) ?? {},
      requestId: pick(object, 'requestId', path, string),
      attempts: pick(object, 'attempts', path, integer(1, 20)) ?? 5,
      timeoutMs: pick(object, 'timeoutMs', path, integer(1, MAX_SLEEP_MS)) ?? 30_000,
    };
  },
  reply: (value, path) => {
    const object = shorthand(value, path, 'text', ['to', 'mentions', 'requestId']);
    return {
      type: 'reply',
      text: need(object, 'text', path, string),
      to: pick(object, 'to', path, string) ?? '{{reply_to}}',
      mentions: pick(object, 'mentions', path, json) ?? [],
      requestId: pick(object, 'requestId', path, string),
    };
  },
  post: (value, path) => {
    const object = shorthand(value, path, 'text', ['channel', 'mentions', 'requestId']);
    return {
      type: 'post',
      text: need(object, 'text', path, string),
      channel: pick(object, 'channel', path, string) ?? '{{channel}}',
      mentions: pick(object, 'mentions', path, json) ?? [],
      requestId: pick(object, 'requestId', path, string),
    };
  },
  ask: (value, path) => {
    const object = shorthand(value, path, 'title', ['kind', 'toolCallId', 'toolCall', 'options', 'id']);
    return {
      type: 'ask',
      title: need(object, 'title', path, string),
      kind: pick(object, 'kind', path, string) ?? 'execute',
      toolCallId: pick(object, 'toolCallId', path, string),
      toolCall: pick(object, 'toolCall', path, members) ?? {},
      options: pick(object, 'options', path, list(json)) ?? DEFAULT_OPTIONS,
      id: object['id'],
    };
  },
  request: (value, path) => {
    const object = closed(value, path, ['method', 'params', 'id']);
    const method = need(object, 'method', path, string);
    return { type: 'request', method, params: object['params'] ?? {}, id: object['id'] };
  },
  notify: (value, path) => {
    const object = closed(value, path, ['method', 'params']);
    return { type: 'notify', method: need(object, 'method', path, string), params: object['params'] ?? {} };
  },
  wait: (value, path) => {
    if (typeof value === 'string') return { type: 'wait', on: { type: 'gate', gate: fileName(value, path) } };
    const object = closed(value, path, ['signal']);
    return { type: 'wait', on: { type: 'signal', signal: need(object, 'signal', path, signal) } };
  },
  mark: (value, path) => ({ type: 'mark', name: fileName(value, path) }),
  sleep: (value, path) => ({ type: 'sleep', ms: integer(0, MAX_SLEEP_MS)(value, path) }),
  raw: (value, path) => {
    const object = shorthand(value, path, 'text', ['base64', 'repeat', 'byteByByte']);
    const text = pick(object, 'text', path, string);
    const coded = pick(object, 'base64', path, base64);
    if ((text === undefined) === (coded === undefined)) return wrong(path, 'either text or base64', value);
    const bytes = coded ?? Buffer.from(text ?? '');
    const repeat = repeats(object, path, bytes.length);
    return { type: 'raw', bytes, repeat, byteByByte: pick(object, 'byteByByte', path, flag) ?? false };
  },
  stderr: (value, path) => {
    if (typeof value === 'number') return { type: 'stderr', text: 'x', repeat: repeats({ repeat: value }, path, 1) };
    const object = shorthand(value, path, 'text', ['repeat']);
    const text = need(object, 'text', path, string);
    return { type: 'stderr', text, repeat: repeats(object, path, Buffer.byteLength(text)) };
  },
  spawn: (value, path) => {
    const object = closed(value === true ? {} : value, path, ['command', 'seconds', 'detached', 'trapTerm', 'stdio']);
    const stdio = pick(object, 'stdio', path, string) ?? 'ignore';
    if (stdio !== 'ignore' && stdio !== 'inherit') return wrong(`${path}.stdio`, 'ignore or inherit', stdio);
    return {
      type: 'spawn',
      command: pick(object, 'command', path, command),
      seconds: pick(object, 'seconds', path, integer(1, 3600)) ?? CHILD_SECONDS,
      detached: pick(object, 'detached', path, flag) ?? false,
      trapTerm: pick(object, 'trapTerm', path, flag) ?? false,
      inheritStdio: stdio === 'inherit',
    };
  },
  hang: (value, path) => (yes(value, path), { type: 'hang' }),
  ignoreCancel: (value, path) => (yes(value, path), { type: 'ignoreCancel' }),
  die: (value, path) => ({ type: 'die', ending: ending(value, path) }),
  stop: (value, path) => {
    const object = shorthand(value, path, 'reason', ['usage', 'meta']);
    const reason = pick(object, 'reason', path, string) ?? 'end_turn';
    return { type: 'stop', reason, usage: object['usage'], meta: object['meta'] };
  },
  error: (value, path) => ({ type: 'error', error: rpcError(value, path) }),
};

const ACTS: readonly string[] = Object.keys(READERS);

function isAct(name: string): name is Act['type'] {
  return Object.hasOwn(READERS, name);
}
