/** The small pure pieces: what is read of an update, what is kept of a turn, of stderr, of an answer. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeEnd } from '../../src/acp/index.ts';
import type { ProcessEnd } from '../../src/acp/index.ts';
import { endAtStart, endOfExit, endOfSpawnError } from '../../src/acp/ends.ts';
import { initializeParams, readInitialize } from '../../src/acp/handshake.ts';
import { echoMemory, noiseMeter } from '../../src/acp/noise.ts';
import { outputCounter } from '../../src/acp/output.ts';
import { redactorFor } from '../../src/acp/redaction.ts';
import { newSessionParams, readSessionId, readStopReason } from '../../src/acp/session-request.ts';
import { stderrTail } from '../../src/acp/stderr-tail.ts';
import { readUpdate } from '../../src/acp/updates.ts';
import type { Update } from '../../src/acp/updates.ts';
import { milliseconds } from '../../src/model/index.ts';

describe('an update', () => {
  const text = { type: 'text', text: 'hi' };
  it.each([
    [
      { sessionUpdate: 'agent_message_chunk', content: text },
      { type: 'message', text: 'hi' },
    ],
    [{ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: '' } }, { type: 'other' }],
    [{ sessionUpdate: 'agent_thought_chunk', content: text }, { type: 'thought' }],
    [
      { sessionUpdate: 'tool_call', toolCallId: 't', title: null, status: 7 },
      { type: 'tool', toolCallId: 't' },
    ],
    [
      { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' },
      { type: 'tool', toolCallId: 't', status: 'completed' },
    ],
    [
      { sessionUpdate: 'tool_call_update', toolCallId: 't' },
      { type: 'tool', toolCallId: 't' },
    ],
    [{ sessionUpdate: 'usage_update', used: null, size: 'x' }, { type: 'other' }],
    [{ sessionUpdate: 'plan' }, { type: 'other' }],
  ])('is read: %j', (update, read) => {
    expect(readUpdate(update)).toEqual(read);
  });

  it.each([
    [undefined],
    [null],
    [[]],
    ['text'],
    [{}],
    [{ sessionUpdate: 'a_kind_from_the_future', content: text }],
    [{ sessionUpdate: null }],
    [{ sessionUpdate: 'agent_message_chunk' }],
    [{ sessionUpdate: 'agent_message_chunk', content: null }],
    [{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: null } }],
    [{ sessionUpdate: 'agent_message_chunk', content: { type: null } }],
    [{ sessionUpdate: 'agent_thought_chunk', content: 'hm' }],
    [{ sessionUpdate: 'tool_call', toolCallId: 7 }],
  ])('is skipped: %j', (update) => {
    expect(readUpdate(update)).toBeUndefined();
  });

  it('of a tool call is skipped where its id is longer than any', () => {
    const of = (length: number): Update | undefined => readUpdate({ sessionUpdate: 'tool_call', toolCallId: 'x'.repeat(length) });
    expect([of(1_024)?.type, of(1_025)]).toEqual(['tool', undefined]);
  });
});

describe('what is kept of a turn', () => {
  it('counts, each tool call once', () => {
    const seen = outputCounter(100);
    for (const toolCallId of ['a', 'a', 'b']) seen.add({ type: 'tool', toolCallId });
    seen.add({ type: 'thought' });
    seen.add({ type: 'message', text: 'one ' });
    seen.add({ type: 'message', text: 'two' });
    seen.add({ type: 'other' });
    expect(seen.output()).toEqual({ text: 'one two', textCut: false, thoughts: 1, toolCalls: 2, updates: 7 });
  });

  it('knows which tool calls go on, by what was said of each', () => {
    const seen = outputCounter(100);
    const tool = (toolCallId: string, status?: string): number => {
      seen.add({ type: 'tool', toolCallId, ...(status !== undefined && { status }) });
      return seen.toolsOpen;
    };
    expect([tool('a'), tool('b', 'pending'), tool('a'), tool('c', 'completed')]).toEqual([1, 2, 2, 2]);
    expect([tool('c'), tool('a', 'in_progress'), tool('a', 'failed'), tool('b', 'of the future'), tool('b', 'completed')]).toEqual([2, 2, 1, 1, 0]);
  });

  it('joins a pair of surrogates that came in two chunks, and mends one that came alone', () => {
    const seen = outputCounter(100);
    for (const text of ['\ud83d', '\udc1d', ' \ud83d']) seen.add({ type: 'message', text });
    expect(seen.output().text).toBe('🐝 \ufffd');
  });

  it('loses nothing without saying so, where a pair in two chunks counts less than its halves', () => {
    const seen = outputCounter(5);
    for (const text of ['\ud83d', '\udc1d', 'a']) seen.add({ type: 'message', text });
    expect(seen.output()).toMatchObject({ text: '🐝a', textCut: false });
  });

  it('cuts at the limit, and never inside a scalar', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'ä', '…', '🐝', '\ud83d', '\udc1d', '')), fc.nat(20), (texts, maxBytes) => {
        const seen = outputCounter(maxBytes);
        for (const text of texts) seen.add({ type: 'message', text });
        const { text, textCut } = seen.output();
        const whole = texts.join('').toWellFormed();
        expect(text.isWellFormed()).toBe(true);
        expect(whole.startsWith(text)).toBe(true);
        expect(textCut).toBe(Buffer.byteLength(whole) > maxBytes);
        // As much as fits: one scalar more would not.
        const next = Array.from(whole.slice(text.length))[0] ?? '';
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
        if (textCut) expect(Buffer.byteLength(text + next)).toBeGreaterThan(maxBytes);
        else expect(text).toBe(whole);
      }),
    );
  });

  it('stops keeping what it will cut', () => {
    const seen = outputCounter(10);
    for (let chunk = 0; chunk < 1_000; chunk += 1) seen.add({ type: 'message', text: '0123456789' });
    expect(seen.output()).toMatchObject({ text: '0123456789', textCut: true, updates: 1_000 });
    // All of it kept would be more than a string can hold.
    const megabyte = 'x'.repeat(1_000_000);
    for (let chunk = 0; chunk < 600; chunk += 1) seen.add({ type: 'message', text: megabyte });
    expect(seen.output()).toMatchObject({ text: '0123456789', updates: 1_600 });
  });
});

describe('the tail of stderr', () => {
  const plain = (text: string): string => text;

  it('keeps all of a short one, without colours and control characters', () => {
    const tail = stderrTail(1_000, plain);
    tail.push(Buffer.from('\u001b[1;31mError\u001b[0m: x\u0007\r\n\tat y\u200b\n'));
    expect(tail.text()).toBe('Error: x\n\tat y');
  });

  it('keeps the end of a long one, whole lines only', () => {
    const tail = stderrTail(100, plain);
    for (let line = 0; line < 10_000; line += 1) tail.push(Buffer.from(`line ${line}\n`));
    const text = tail.text();
    expect(text.endsWith('line 9998\nline 9999')).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(110);
    expect(text).toMatch(/^\[…\]\nline \d{4}\n/);
  });

  it('redacts, also a secret whose beginning was cut off', () => {
    const nsec = `nsec1${'q'.repeat(58)}`;
    const redacted = redactorFor({
      SKEP_CREDENTIAL: 'c0ffee-c0ffee',
      API_KEY: 'tiny',
      HOME: '/home/longer-than-eight',
    });
    const whole = stderrTail(1_000, redacted);
    whole.push(Buffer.from(`key ${nsec} credential c0ffee-c0ffee tiny /home/longer-than-eight`));
    expect(whole.text()).toBe('key <redacted> credential <redacted> tiny /home/longer-than-eight');
    for (let cut = 1; cut < nsec.length; cut += 1) {
      const tail = stderrTail(cut + 4, redacted);
      tail.push(Buffer.from(`${nsec}\nend`));
      expect(tail.text(), `cut ${cut}`).toBe(`[…]\nend`);
    }
    const endless = stderrTail(10, redacted);
    endless.push(Buffer.from(nsec.repeat(100)));
    expect(endless.text()).toBe('[…]');
  });
});

describe('redaction', () => {
  it('leaves no rest of a secret that holds another', () => {
    const redacted = redactorFor({ A_KEY: '12345678', B_TOKEN: 'begin-12345678-end' });
    expect(redacted('begin-12345678-end and 12345678')).toBe('<redacted> and <redacted>');
  });
});

describe('noise', () => {
  it('is allowed so many lines a minute', () => {
    let now = 0;
    const meter = noiseMeter(2, { now: () => milliseconds(now), wake: () => () => undefined });
    expect([meter.count(), meter.count(), meter.count()]).toEqual([true, true, false]);
    now = 59_999;
    expect(meter.count()).toBe(false);
    now = 60_000;
    expect(meter.count()).toBe(true);
    expect(meter.total).toBe(5);
  });

  it('knows an echo once, and remembers only so many lines', () => {
    const memory = echoMemory();
    memory.wrote('a');
    expect([memory.isEcho('b'), memory.isEcho('a'), memory.isEcho('a')]).toEqual([false, true, false]);
    memory.wrote('first');
    for (let line = 0; line < 256; line += 1) memory.wrote(`${line}`);
    expect([memory.isEcho('first'), memory.isEcho('0')]).toEqual([false, true]);
  });
});

describe('initialize', () => {
  it('asks for version 1 and offers nothing', () => {
    expect(initializeParams('1.2.3')).toEqual({
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, _meta: { goose: { customNotifications: true } } },
      clientInfo: { name: 'skep', version: '1.2.3' },
    });
  });

  it.each([
    [{}, 'capability', 'none'],
    [{}, 'first-message', 'none'],
    [{}, 'meta-append', 'meta'],
    [{}, 'goose-method', 'goose'],
    [{ sessionCapabilities: { systemPrompt: {} } }, 'goose-method', 'content'],
    [{ sessionCapabilities: { systemPrompt: {} } }, 'capability', 'content'],
    [{ sessionCapabilities: { systemPrompt: { mode: { override: {} } } } }, 'meta-append', 'content'],
    [{ sessionCapabilities: { systemPrompt: {} } }, 'first-message', 'content'],
    [{ sessionCapabilities: { systemPrompt: null } }, 'capability', 'none'],
    [{ sessionCapabilities: { systemPrompt: false } }, 'capability', 'none'],
    [{ sessionCapabilities: null }, 'capability', 'none'],
    [null, 'capability', 'none'],
  ] as const)('capabilities %j and the hint %s: the standing text goes by %s', (agentCapabilities, hint, form) => {
    const read = readInitialize({ protocolVersion: 1, agentCapabilities, agentInfo: null }, { standing: hint });
    expect(read).toEqual({
      ok: true,
      traits: { agentInfo: { name: '', version: '' }, systemPrompt: form, closesSessions: false, reopens: 'none', steers: false, initialized: { protocolVersion: 1, agentCapabilities, agentInfo: null } },
    });
  });

  it.each([[{}, true], [true, true], [false, false], [null, false], [undefined, false]])('close %j: sessions are closed: %s', (close, closes) => {
    const read = readInitialize({ protocolVersion: 1, agentCapabilities: { sessionCapabilities: { close } } }, { standing: 'capability' });
    expect(read).toMatchObject({ traits: { closesSessions: closes } });
  });

  it.each([
    [{ protocolVersion: 2 }, 'found 2'],
    [{ protocolVersion: '1' }, 'found "1"'],
    [{ protocolVersion: null }, 'found null'],
    [{}, 'found nothing'],
    [null, 'expected an object'],
  ])('refuses %j', (result, detail) => {
    const read = readInitialize(result, { standing: 'capability' });
    expect(read).toMatchObject({ ok: false, code: 'initialize' });
    expect(read.ok ? '' : read.detail).toContain(detail);
  });
});

describe('a session', () => {
  it.each([
    [
      'content',
      { cwd: '/w', mcpServers: [], systemPrompt: { mode: 'append', content: [{ type: 'text', text: 'be' }] } },
    ],
    ['meta', { cwd: '/w', mcpServers: [], _meta: { systemPrompt: { append: 'be' } } }],
  ] as const)('carries the standing text as %s', (form, params) => {
    expect(newSessionParams({ cwd: '/w', systemPrompt: 'be' }, form)).toEqual(params);
    expect(newSessionParams({ cwd: '/w' }, form)).toEqual({ cwd: '/w', mcpServers: [] });
  });

  it('leaves a text to goose’s own method', () => {
    expect(newSessionParams({ cwd: '/w', systemPrompt: 'be' }, 'goose')).toEqual({ cwd: '/w', mcpServers: [] });
  });

  it('offers the MCP servers of the launch, in the form of ACP', () => {
    const server = { name: 'buzz', command: '/node', args: ['skep.js', 'mcp'], env: { A: '1', B: '' } };
    expect(newSessionParams({ cwd: '/w' }, 'none', [server])).toEqual({
      cwd: '/w',
      mcpServers: [{ ...server, env: [{ name: 'A', value: '1' }, { name: 'B', value: '' }] }],
    });
  });

  it('is never given a standing text that would be lost', () => {
    expect(() => newSessionParams({ cwd: '/w', systemPrompt: 'be' }, 'none')).toThrow('takes none');
  });

  it.each([
    [{ sessionId: 's' }, 's'],
    [{ sessionId: '' }, undefined],
    [{ sessionId: 7 }, undefined],
    [null, undefined],
    [{}, undefined],
  ])('has the id of %j: %s', (result, id) => {
    expect(readSessionId(result)).toBe(id);
  });

  it.each([
    ['end_turn', 'end_turn'],
    ['END_TURN', 'end_turn'],
    ['Cancelled', 'cancelled'],
    ['max_tokens', 'max_tokens'],
    ['max_turn_requests', 'max_turn_requests'],
    ['refusal', 'refusal'],
  ])('stop reason %j is %s', (stopReason, read) => {
    expect(readStopReason({ stopReason })).toEqual({ stopReason: read });
  });

  it.each([
    [{ stopReason: 'done' }, '"done"'],
    [{ stopReason: '' }, '""'],
    [{ stopReason: null }, 'null'],
    [{ stopReason: 7 }, '7'],
    [{ stopReason: 'end_turn ' }, '"end_turn "'],
    [{ stopReason: { how: 'end_turn' } }, '{"how":"end_turn"}'],
    [{ stopReason: `a\u202eb${'x'.repeat(100)}` }, `"a\\u{202e}b${'x'.repeat(49)}…`],
    [{}, 'nothing'],
    [null, 'the result null'],
    ['end_turn', 'the result "end_turn"'],
    [['end_turn'], 'the result ["end_turn"]'],
  ])('no stop reason of ACP in %j is end_turn, and told as %s', (result, odd) => {
    expect(readStopReason(result)).toEqual({ stopReason: 'end_turn', odd });
  });
});

describe('an end', () => {
  it.each([
    ['ENOENT', { how: 'not_found', command: 'bee' }],
    ['ENOTDIR', { how: 'not_found', command: 'bee' }],
    ['EACCES', { how: 'not_executable', command: 'bee' }],
    ['EMFILE', { how: 'start_refused', command: 'bee', detail: 'spawn bee EMFILE' }],
    [undefined, { how: 'start_refused', command: 'bee', detail: 'spawn bee undefined' }],
  ])('of a spawn that failed with %s', (code, end) => {
    expect(endOfSpawnError('bee', Object.assign(new Error(`spawn bee ${code}`), { code }))).toEqual(end);
  });

  it.each<readonly [ProcessEnd, ProcessEnd['how'], string]>([
    [{ how: 'not_found', command: 'bee' }, 'not_found', 'bee: no such program'],
    [{ how: 'not_executable', command: 'bee' }, 'not_executable', 'bee: found, but'],
    [{ how: 'no_interpreter', command: 'bee', interpreter: undefined }, 'no_interpreter', 'bee: found, but not what runs it'],
    [
      { how: 'exited_at_start', command: 'bee', exitCode: 1, stderrTail: 'x\nno model' },
      'exited_at_start',
      'bee: exited with code 1 at the start; stderr: no model',
    ],
    [
      { how: 'start_timeout', command: 'bee', afterMs: 60_000 },
      'start_timeout',
      'bee: did not answer initialize within 60000 ms',
    ],
    [{ how: 'start_refused', command: 'bee', detail: 'why' }, 'start_refused', 'bee: why'],
    [{ how: 'exited', exitCode: 2, stderrTail: '' }, 'exited_at_start', 'exited with code 2'],
    [{ how: 'signalled', signal: 'SIGKILL', stderrTail: '' }, 'start_refused', 'ended by SIGKILL'],
    [{ how: 'protocol', detail: 'too long' }, 'start_refused', 'broke the protocol: too long'],
    [{ how: 'poisoned', cause: 'unread' }, 'poisoned', 'permission answer'],
    [{ how: 'stopped' }, 'stopped', 'stopped'],
  ])('%j is told, and at the start reads as %s', (end, atStart, words) => {
    expect(describeEnd(end)).toContain(words);
    expect(endAtStart(end, 'bee').how).toBe(atStart);
  });

  it.each([
    ["file:///bee.mjs:3\nthrow new Error('no model');\n      ^\n\nError: no model\n    at file:///bee.mjs:3:7\n\nNode.js v20.20.2\n", 'Error: no model'],
    ["node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '/bee.js'\n    at node:internal/main:28:49 {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2", "Error: Cannot find module '/bee.js'"],
    ['^\nno model\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v20.20.2', 'no model'],
    ['    at a:1\n\nNode.js v20.20.2', 'Node.js v20.20.2'],
    ['Traceback (most recent call last):\n  File "bee.py", line 1\nModuleNotFoundError: No module named \'hive\'', "ModuleNotFoundError: No module named 'hive'"],
  ])('quotes the cause in %j', (stderrTail, cause) => {
    expect(describeEnd({ how: 'exited', exitCode: 1, stderrTail })).toBe(`the agent exited with code 1; stderr: ${cause}`);
  });

  it('of an exit is a code or a signal', () => {
    expect(endOfExit({ exitCode: 3, signal: null }, 'tail')).toEqual({
      how: 'exited',
      exitCode: 3,
      stderrTail: 'tail',
    });
    expect(endOfExit({ exitCode: null, signal: 'SIGSEGV' }, '')).toEqual({
      how: 'signalled',
      signal: 'SIGSEGV',
      stderrTail: '',
    });
  });
});
