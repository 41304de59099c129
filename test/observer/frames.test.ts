/** The payloads of frames, and what is taken out of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentInitialized, lineFrame, secretFilter, sessionConfigured, turnFailed } from '../../src/observer/index.ts';

describe('a line', () => {
  it('is told as it stands, and weighs more where skep had asked', () => {
    const text = ' { "jsonrpc":"2.0","x":1.0 }';
    expect(lineFrame({ direction: 'read', text, method: 'session/update' })).toEqual({ kind: 'acp_read', payload: text, rank: 'stream' });
    expect(lineFrame({ direction: 'write', text, method: 'session/prompt' })).toEqual({ kind: 'acp_write', payload: text, rank: 'lifecycle' });
    expect(lineFrame({ direction: 'write', text, method: 'fs/read_text_file' }).rank).toBe('stream');
  });

  it('that is no message is told as such, shortened, and never splits a character', () => {
    expect(JSON.parse(lineFrame({ direction: 'read', text: '{oops', why: 'not_json' }).payload)).toEqual({ line: '{oops', error: 'not_json' });
    const { payload } = lineFrame({ direction: 'read', text: `${'x'.repeat(1_999)}🐝${'y'.repeat(90_000)}`, why: 'not_json' });
    expect(payload.length).toBeLessThan(2_100);
    expect((JSON.parse(payload) as { line: string }).line.isWellFormed()).toBe(true);
  });
});

describe('what an agent says of itself', () => {
  it('is kept to the byte', () => {
    expect(agentInitialized(2, '{"id":1,"result":{"protocolVersion":1, "n":1.0},"jsonrpc":"2.0"}')?.payload)
      .toBe('{"agentIndex":2,"initializeResult":{"protocolVersion":1, "n":1.0}}');
    expect(sessionConfigured('{"result":{"sessionId":"s","models":{"a": 1.0}}}')?.payload)
      .toBe('{"configOptions":null,"modes":null,"models":{"a": 1.0}}');
  });

  it('is nothing where the answer is an error', () => {
    expect(agentInitialized(0, '{"id":1,"error":{"code":1,"message":"no"}}')).toBeUndefined();
    expect(sessionConfigured('{"id":1,"error":{"code":1,"message":"no"}}')).toBeUndefined();
  });
});

it('a failure names the agent’s own code where it gave one', () => {
  expect(turnFailed({ outcome: 'error', error: 'no', code: -32_000 }).payload).toBe('{"outcome":"error","error":"no","code":-32000}');
  expect(turnFailed({ outcome: 'exited', error: 'gone' }).payload).toBe('{"outcome":"exited","error":"gone"}');
});

describe('secrets', () => {
  it('are taken out as they are and as JSON writes them, and nothing else is touched', () => {
    fc.assert(fc.property(fc.string({ minLength: 8, unit: 'grapheme' }), fc.string(), (secret, around) => {
      const clean = secretFilter([secret]);
      const line = JSON.stringify({ before: `${around}${secret}`, list: [secret] });
      if (around === '' && secret !== '<redacted>') {
        expect(JSON.parse(clean(line))).toEqual({ before: '<redacted>', list: ['<redacted>'] });
      }
      expect(secretFilter([])(line)).toBe(line);
    }));
  });

  it('are taken out also where JSON writes them with escapes that it does not need, and only then is a line spelt anew', () => {
    const clean = secretFilter(['p/w&ss€']);
    for (const spelt of [String.raw`p\/w&ss€`, String.raw`p/w\u0026ss€`, String.raw`p/w&ss\u20AC`, String.raw`\u0070/w&ss€`]) {
      expect(clean(` { "a": "${spelt}", "b": "\\/\\u00e9\\n" }`)).toBe(String.raw`{"a":"<redacted>","b":"/é\n"}`);
    }
    for (const line of [String.raw` { "a": "p\/w", "n": 1.0 }`, String.raw`no JSON \/ at \u0026 all`]) expect(clean(line)).toBe(line);
  });

  it('leave no rest where one holds another', () => {
    expect(secretFilter(['password', 'password-and-more'])('a password-and-more b')).toBe('a <redacted> b');
  });
});
