/**
 * What an agent streamed in one turn, added up as it comes. Bounded: text by bytes, tool calls by a count, so that an
 * agent that never stops costs no memory.
 */
import { unreachable } from '../model/index.ts';
import type { TurnOutput } from './ports.ts';
import type { Update } from './updates.ts';

/** Different tool calls told apart in one turn; more are not counted. */
const MAX_TOOL_CALLS = 10_000;
/** ACP `ToolCallStatus`; a status of another name is taken for work that goes on. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed']);

export interface OutputCounter {
  add(update: Update): void;
  /** Tool calls that have not ended, of those that are told apart. */
  readonly toolsOpen: number;
  output(): TurnOutput;
}

export function outputCounter(maxTextBytes: number): OutputCounter {
  const toolCalls = new Set<string>();
  const open = new Set<string>();
  let kept = '';
  let bytes = 0;
  /** Half of a pair of surrogates, whose other half may come in the next chunk: counted when it is known what it is. */
  let half = '';
  let thoughts = 0;
  let updates = 0;

  const keep = (text: string): void => {
    const whole = /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
    half = text.slice(whole.length);
    kept += whole;
    bytes += Buffer.byteLength(whole);
  };
  const heard = ({ toolCallId, status }: Extract<Update, { readonly type: 'tool' }>): void => {
    if (toolCalls.size >= MAX_TOOL_CALLS && !toolCalls.has(toolCallId)) return;
    // ACP: a call that is announced without a status is pending; one that is only told of keeps its own.
    if (status === undefined ? !toolCalls.has(toolCallId) : !ENDED.has(status)) open.add(toolCallId);
    else if (status !== undefined) open.delete(toolCallId);
    toolCalls.add(toolCallId);
  };
  return {
    add(update) {
      updates += 1;
      switch (update.type) {
        case 'message':
          if (bytes <= maxTextBytes) keep(half + update.text);
          return;
        case 'thought':
          thoughts += 1;
          return;
        case 'tool':
          return heard(update);
        case 'options':
        case 'mode':
        case 'other':
          return;
        default:
          return unreachable(update);
      }
    },
    get toolsOpen() {
      return open.size;
    },
    output() {
      const { text, cut } = cutBytes((kept + half).toWellFormed(), maxTextBytes);
      return { text, textCut: cut, thoughts, toolCalls: toolCalls.size, updates };
    },
  };
}

/** At most `maxBytes` of UTF-8, never ending inside a scalar. */
function cutBytes(text: string, maxBytes: number): { readonly text: string; readonly cut: boolean } {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, cut: false };
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), cut: true };
}
