import { describe, expect, it } from 'vitest';
import { MAX_DEPTH, readFrame } from '../../src/acp/frames.ts';

const V = '"jsonrpc":"2.0"';

describe('a line as a frame', () => {
  it.each([
    [`{${V},"method":"x","params":{"a":1}}`, { type: 'notification', method: 'x', params: { a: 1 } }],
    [`{${V},"method":"x"}`, { type: 'notification', method: 'x', params: undefined }],
    [`{${V},"id":7,"method":"x","params":null}`, { type: 'request', id: 7, method: 'x', params: null }],
    [`{${V},"id":"7","method":"x"}`, { type: 'request', id: '7', method: 'x', params: undefined }],
    [`{${V},"id":0,"method":"x"}`, { type: 'request', id: 0, method: 'x', params: undefined }],
    [`{${V},"id":"","method":"x"}`, { type: 'request', id: '', method: 'x', params: undefined }],
    [`{${V},"id":-1.5,"method":"x"}`, { type: 'request', id: -1.5, method: 'x', params: undefined }],
    [`{${V},"id":0,"result":null}`, { type: 'result', id: 0, result: null }],
    [`  {${V},"id":0,"result":{}}  `, { type: 'result', id: 0, result: {} }],
    [
      `{${V},"id":1,"error":{"code":401,"message":"who?","data":1}}`,
      { type: 'error', id: 1, code: 401, message: 'who?', data: 1 },
    ],
    [
      `{${V},"id":1,"error":"boom"}`,
      { type: 'error', id: 1, code: -32603, message: 'the agent gave an error without a message' },
    ],
    [
      `{${V},"id":1,"error":{"code":null,"message":null}}`,
      { type: 'error', id: 1, code: -32603, message: 'the agent gave an error without a message' },
    ],
  ])('%s', (text, frame) => {
    expect(readFrame(text)).toEqual(frame);
  });

  it.each([
    ['Welcome to the agent!', 'not_json'],
    ['\u001b[31mred\u001b[0m', 'not_json'],
    ['{"unfinished": ', 'not_json'],
    ['[]', 'not_json'],
    [`[{${V},"method":"x"}]`, 'not_json'],
    ['7', 'not_json'],
    ['null', 'not_json'],
    ['{}', 'not_a_frame'],
    ['{"level":30,"msg":"started"}', 'not_a_frame'],
    ['{"jsonrpc":"1.0","method":"x"}', 'not_a_frame'],
    ['{"method":"GET","id":3}', 'not_a_frame'],
    [`{${V},"id":1}`, 'not_a_frame'],
    [`{${V},"id":1,"method":7}`, 'not_a_frame'],
    [`{${V},"id":null,"method":"session/request_permission","params":{}}`, 'no_usable_id'],
    [`{${V},"id":null,"error":{"code":-32700,"message":"Parse error"}}`, 'no_usable_id'],
    [`{${V},"id":null,"result":{}}`, 'no_usable_id'],
    [`{${V},"id":{},"method":"x"}`, 'no_usable_id'],
    [`{${V},"id":9007199254740993,"method":"x"}`, 'no_usable_id'],
  ])('is noise: %s', (text, why) => {
    expect(readFrame(text)).toEqual({ type: 'noise', why });
  });

  const nested = (levels: number, open = '{"a":', close = '}'): string => `{${V},"id":1,"result":${open.repeat(levels)}1${close.repeat(levels)}}`;

  it.each([
    [MAX_DEPTH - 1, 'result'],
    [MAX_DEPTH, 'noise'],
    [1_000_000, 'noise'],
  ])('with %i levels in it is a %s', (levels, type) => {
    expect(readFrame(nested(levels)).type).toBe(type);
    expect(readFrame(nested(levels, '[', ']')).type).toBe(type);
  });

  it('may be long, wide and full of brackets in its texts', () => {
    const wide = JSON.stringify(Array.from({ length: 5_000 }, () => ({ text: '[{'.repeat(50) })));
    expect(readFrame(`{${V},"id":1,"result":${wide}}`).type).toBe('result');
  });
});
