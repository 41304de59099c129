/**
 * One line of stdout as a JSON-RPC 2.0 frame, or as noise. Strict in form and nothing else: what a method means is
 * decided later.
 *
 * Noise is every line that cannot be a frame of a conversation with us: a banner, a log line, a batch (ACP has none),
 * `id: null` (nothing can be answered under it), a number as id that JSON.parse cannot give back exactly, and what is nested
 * deeper than anything that anybody says: JSON.parse reads it, and JSON.stringify and whatever walks it run out of stack.
 */
export type RpcId = string | number;
export type Members = Readonly<Record<string, unknown>>;

export type Frame =
  | { readonly type: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly type: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly type: 'result'; readonly id: RpcId; readonly result: unknown }
  | { readonly type: 'error'; readonly id: RpcId; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly type: 'noise'; readonly why: 'not_json' | 'not_a_frame' | 'no_usable_id' | 'too_deep' };

const NOT_JSON: Frame = { type: 'noise', why: 'not_json' };
const NOT_A_FRAME: Frame = { type: 'noise', why: 'not_a_frame' };
const NO_USABLE_ID: Frame = { type: 'noise', why: 'no_usable_id' };
const TOO_DEEP: Frame = { type: 'noise', why: 'too_deep' };

/** Objects and lists in each other; frames of real agents have less than twenty, and JSON.stringify takes thousands. */
export const MAX_DEPTH = 512;

/** JSON-RPC's own code for a fault inside the other side; also ours for an answer that does not have ACP's form. */
export const INTERNAL_ERROR = -32603;
export const METHOD_NOT_FOUND = -32601;

/** UTF-16 units of an id, whatever it names: ids are remembered, and one may be as long as a line. */
const MAX_ID = 1_024;

export function readFrame(text: string): Frame {
  const value = parse(text);
  if (value === undefined) return NOT_JSON;
  if (!isMembers(value)) return NOT_A_FRAME;
  // Each level has two brackets: most lines are too short to be looked through.
  if (text.length > MAX_DEPTH * 2 && isDeep(value)) return TOO_DEEP;
  if (value['jsonrpc'] !== '2.0') return NOT_A_FRAME;
  const { id, method } = value;
  if (typeof method === 'string') {
    if (!Object.hasOwn(value, 'id')) return { type: 'notification', method, params: value['params'] };
    return isRpcId(id) ? { type: 'request', id, method, params: value['params'] } : NO_USABLE_ID;
  }
  if (method !== undefined) return NOT_A_FRAME;
  if (Object.hasOwn(value, 'error')) return isRpcId(id) ? errorFrame(id, value['error']) : NO_USABLE_ID;
  if (!Object.hasOwn(value, 'result')) return NOT_A_FRAME;
  return isRpcId(id) ? { type: 'result', id, result: value['result'] } : NO_USABLE_ID;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of a session or a tool call. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_ID;
}

/** Zero, the empty string and "7" beside 7 are ids like any other. */
function isRpcId(value: unknown): value is RpcId {
  if (typeof value === 'string') return isId(value);
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Level by level, because a walk that calls itself is what this is there to prevent. A list is not copied: it may be the line. */
function isDeep(value: object): boolean {
  let level: readonly object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    const below: object[] = [];
    for (const one of level) {
      const members: readonly unknown[] = Array.isArray(one) ? one : Object.values(one);
      for (const member of members) if (typeof member === 'object' && member !== null) below.push(member);
    }
    level = below;
  }
  return false;
}

function errorFrame(id: RpcId, error: unknown): Frame {
  const { code, message, data } = isMembers(error) ? error : {};
  return {
    type: 'error',
    id,
    code: typeof code === 'number' ? code : INTERNAL_ERROR,
    message: typeof message === 'string' ? message : 'the agent gave an error without a message',
    ...(data !== undefined && { data }),
  };
}

function parse(text: string): unknown {
  // Most noise is text: not worth an exception.
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
