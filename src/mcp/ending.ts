/**
 * What a model is told when a tool did not succeed, and above all what to do next: mend the arguments, try again, ask
 * again about the same request, or give up. The words of the broker are quoted on one line and shortened.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CallResult, Failed, Succeeded } from '../broker/client/index.ts';
import { excerpt, unreachable } from '../model/index.ts';

type Unsuccessful = Exclude<CallResult, Succeeded>;

const MAX_WORDS = 300;

export function toldResult(blocks: readonly string[]): CallToolResult {
  return { content: blocks.map((text) => ({ type: 'text', text })) };
}

/** `reads`: the action changes nothing, so that doing it twice does no harm. */
export function toldEnding(result: Unsuccessful, reads: boolean): CallToolResult {
  return { ...toldResult([wordsOf(result, reads)]), isError: true };
}

/** True when the same request should be asked about again, and no new one made. */
export function isOpen(result: CallResult, reads: boolean): boolean {
  return !reads && 'uncertain' in result && result.uncertain;
}

function wordsOf(result: Unsuccessful, reads: boolean): string {
  switch (result.status) {
    case 'refused':
      return `Not sent: ${excerpt(result.detail, MAX_WORDS)}. Mend the arguments and call the tool again.`;
    case 'failed': {
      const { code, message } = result.error;
      const what = `${code}: ${excerpt(message, MAX_WORDS)}.`;
      return isOpen(result, reads) ? `${what} ${unknown(result.requestId)}` : `${what} Nothing was done. ${next(result)}`;
    }
    case 'indeterminate':
      if (reads) return 'The broker could not say. Reading changes nothing: try again later.';
      return `The broker does not know whether it was done. ${unknown(result.requestId)}`;
    case 'transport': {
      const what = `No answer from the broker (${excerpt(result.detail, MAX_WORDS)}).`;
      if (isOpen(result, reads)) return `${what} ${unknown(result.requestId)}`;
      return `${what} Nothing was done. You may try once more; if that fails too, go on without it.`;
    }
    default:
      return unreachable(result);
  }
}

function unknown(requestId: string): string {
  return (
    'It may have been done all the same. Do not call this tool again for the same thing, that could do it twice. ' +
    `Call request_retry with requestId "${requestId}", or read the channel to see.`
  );
}

function next({ error: { code } }: Failed): string {
  switch (code) {
    case 'invalid_request':
    case 'unknown_action':
    case 'unsupported_protocol_version':
    case 'unsupported_action_version':
      return 'Mend the arguments and call the tool again; an old cursor is mended by leaving it out.';
    case 'unsupported':
      return 'This broker does not offer it: go on without it.';
    case 'unauthenticated':
      return 'Your session is over: no tool here will work again. Stop.';
    case 'unauthorized':
      return 'You are not permitted to do this here. Do not try again with the same channel or target.';
    case 'action_failed':
      return 'Trying the same again will not help: check the ids, or do something else.';
    case 'request_id_conflict':
    case 'internal':
      return 'You may try once more; if that fails too, go on without it.';
    default:
      return unreachable(code);
  }
}
