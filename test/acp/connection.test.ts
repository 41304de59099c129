/** The framing over a transport of two functions: what is answered, what is dropped, what reaches nobody. */
import { describe, expect, it, vi } from 'vitest';
import { openConnection } from '../../src/acp/connection.ts';
import type { Connection, ConnectionEvents } from '../../src/acp/connection.ts';
import { milliseconds, silentLog } from '../../src/model/index.ts';

const clock = { now: () => milliseconds(0), wake: () => () => undefined };
const CANCELLED = { outcome: { outcome: 'cancelled' } };

interface Bench {
  readonly connection: Connection;
  /** Frames the agent would read. */
  readonly written: Record<string, unknown>[];
  readonly told: string[];
  readonly tapped: string[];
  readonly receive: (...lines: readonly (string | object)[]) => void;
}

function bench({
  limits = {},
  ...overrides
}: Partial<ConnectionEvents> & {
  readonly limits?: Partial<{ maxLineBytes: number; maxInvalidPerMinute: number }>;
} = {}): Bench {
  const written: Record<string, unknown>[] = [];
  const told: string[] = [];
  const tapped: string[] = [];
  const connection = openConnection({
    clock,
    log: silentLog,
    limits: { maxLineBytes: 1_000, maxInvalidPerMinute: 10, ...limits },
    write: (line, sent) => {
      expect(line.endsWith('\n')).toBe(true);
      written.push(JSON.parse(line) as Record<string, unknown>);
      sent?.(true);
    },
    onLine: (direction, text) => tapped.push(`${direction} ${text}`),
    events: {
      onFrame: (sessionId) => told.push(`frame ${sessionId ?? '-'}`),
      onUpdate: (sessionId, update) => told.push(`update ${sessionId} ${update.type}`) > 0,
      onOther: (sessionId, { type }) => told.push(`other ${sessionId} ${type}`),
      onPermission: ({ id, sessionId }, _line, reply) => {
        told.push(`permission ${JSON.stringify(id)} ${sessionId}`);
        void reply({ outcome: 'cancelled' });
      },
      onPromptAnswered: (sessionId) => told.push(`answered ${sessionId}`),
      onSteerAnswered: (sessionId) => told.push(`steered ${sessionId}`),
      onPromptSent: (sessionId) => told.push(`sent ${sessionId}`),
      onBroken: (detail) => told.push(`broken ${detail}`),
      ...overrides,
    },
  });
  const receive: Bench['receive'] = (...lines) => {
    const text = lines
      .map((line) => (typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })))
      .join('\n');
    connection.receive(Buffer.from(`${text}\n`));
  };
  return { connection, written, told, tapped, receive };
}

const update = (sessionId: unknown, text = 'hi'): object => ({
  method: 'session/update',
  params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
});
const prompt = { sessionId: 's', prompt: [{ type: 'text' as const, text: 'go' }] };

/** A call's bytes are written some microtasks later. */
async function written(at: Bench, count: number): Promise<void> {
  await vi.waitFor(
    () => {
      expect(at.written.length).toBe(count);
    },
    { interval: 1 },
  );
}

describe('requests of the agent', () => {
  it.each([[7], ['7'], [0], [''], [-1], [1.5], [9_007_199_254_740_991], ['🐝']])(
    'a permission request with id %j is answered under it',
    (id) => {
      const at = bench();
      at.receive({ id, method: 'session/request_permission', params: { sessionId: 's', options: [] } });
      expect(at.written).toEqual([{ jsonrpc: '2.0', id, result: CANCELLED }]);
    },
  );

  it.each([
    ['id null', { id: null, method: 'session/request_permission', params: { sessionId: 's' } }],
    ['no id', { method: 'session/request_permission', params: { sessionId: 's' } }],
    ['a list as id', { id: [1], method: 'session/request_permission', params: { sessionId: 's' } }],
  ])('a permission request with %s is put to nobody', (_, frame) => {
    const at = bench();
    at.receive(frame);
    expect(at.told.filter((word) => word.startsWith('permission'))).toEqual([]);
    expect(at.written).toEqual([]);
  });

  it('an id that is longer than any is none, of a request or a session: what is remembered is small', () => {
    const at = bench({ limits: { maxLineBytes: 10_000 } });
    at.receive({ id: 'x'.repeat(1_025), method: 'fs/read_text_file', params: {} }, update('s'.repeat(1_025)));
    at.receive({ id: 1, method: 'session/request_permission', params: { sessionId: 's'.repeat(1_025) } });
    expect(at.told).toEqual(['frame -', 'frame -', 'permission 1 ']);
    expect(at.written.map(({ id }) => id)).toEqual([1]);
  });

  it('a permission request without usable params is decided all the same', () => {
    const at = bench();
    at.receive(
      { id: 1, method: 'session/request_permission', params: null },
      { id: 2, method: 'session/request_permission', params: { sessionId: 7, options: 'x' } },
    );
    expect(at.told).toContain('permission 1 ');
    expect(at.written.map(({ id, result }) => [id, result])).toEqual([
      [1, CANCELLED],
      [2, CANCELLED],
    ]);
  });

  it('an option of a kind from the future reaches the policy, and no one answers -32602 before', () => {
    const asked: unknown[] = [];
    const at = bench({
      onPermission: ({ params }, _line, reply) => {
        asked.push(params['options']);
        void reply({ outcome: 'selected', optionId: 'x' });
      },
    });
    const options = [{ optionId: 'x', name: 'X', kind: 'allow_for_a_week' }];
    at.receive({ id: 0, method: 'session/request_permission', params: { sessionId: 's', toolCall: {}, options } });
    expect(asked).toEqual([options]);
    expect(at.written).toEqual([
      { jsonrpc: '2.0', id: 0, result: { outcome: { outcome: 'selected', optionId: 'x' } } },
    ]);
  });

  it.each(['fs/read_text_file', 'terminal/create', '_vendor/ask', 'elicitation/create', ''])(
    '%j is not offered',
    (method) => {
      const at = bench();
      at.receive({ id: '7', method, params: {} });
      expect(at.written).toEqual([
        { jsonrpc: '2.0', id: '7', error: { code: -32601, message: `skep does not offer ${method}` } },
      ]);
    },
  );
});

describe('what is neither speech nor a tool call', () => {
  it('is told, also of a notification that ACP does not know, where it names its session', () => {
    const at = bench();
    const other = { sessionUpdate: 'usage_update', used: 1, size: 2 };
    at.receive(
      update('s'),
      { method: 'session/update', params: { sessionId: 's', update: other } },
      { method: '_vendor/usage', params: { sessionId: 's', used: 1 } },
      { method: 'session/update', params: { update: other } },
      { method: '_vendor/usage', params: { used: 1 } },
    );
    expect(at.told.filter((word) => word.startsWith('other'))).toEqual(['other s update', 'other s notice']);
  });
});

describe('what is for nobody', () => {
  it('an unknown notification is passed over, yet it is a sign of life', () => {
    const at = bench();
    at.receive(
      { method: '_auth/status_update', params: {} },
      { method: '$/cancel_request', params: { requestId: 1 } },
      { method: 'session/update' },
    );
    expect(at.told).toEqual(['frame -', 'frame -', 'frame -']);
    expect(at.written).toEqual([]);
  });

  it('an update of unknown kind or shape is skipped alone, and nothing is printed', async () => {
    const printed = (['error', 'warn', 'log'] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation(() => undefined),
    );
    const at = bench();
    at.receive(
      update('s'),
      { method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'a_kind_from_the_future' } } },
      {
        method: 'session/update',
        params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: null } },
      },
      { method: 'session/update', params: { sessionId: null, update: null } },
      update('s'),
    );
    at.receive({ id: 5, result: {} }, { id: 5, error: { code: null } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(at.told.filter((word) => word.startsWith('update'))).toEqual(['update s message', 'update s message']);
    expect(at.written).toEqual([]);
    for (const spy of printed) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  it('noise is never answered, and too much of it in a minute is not the protocol', () => {
    const at = bench({ limits: { maxInvalidPerMinute: 4 } });
    at.receive('Welcome!', '\u001b[31mred\u001b[0m', '', '{"level":30}');
    expect(at.told).toEqual([]);
    at.receive(update('s'));
    expect(at.told).toEqual(['frame s', 'update s message']);
    at.receive('one more', update('s'), 'and more');
    expect(at.told.slice(2)).toEqual(['broken more than 4 lines a minute on stdout that are no ACP frames']);
    expect(at.written).toEqual([]);
  });

  it('a line beyond the limit is not the protocol; nothing is read after it', () => {
    const at = bench({ limits: { maxLineBytes: 200 } });
    at.receive(update('s', 'x'.repeat(300)), update('s'));
    at.receive(update('s'));
    expect(at.told).toEqual(['broken a line of more than 200 bytes on stdout']);
  });

  it('nor is one that is nested too deep to be told again', () => {
    const at = bench({ limits: { maxLineBytes: 10_000_000 } });
    at.receive(`{"jsonrpc":"2.0","id":1,"result":${'{"stopReason":'.repeat(100_000)}1${'}'.repeat(100_000)}}`, update('s'));
    expect(at.told).toEqual(['broken a line of more than 512 levels on stdout']);
  });
});

describe('our calls', () => {
  it("are numbered, answered, and refused with the agent's own code", async () => {
    const at = bench();
    const first = at.connection.calls.newSession({ cwd: '/', mcpServers: [] });
    const second = at.connection.calls.newSession({ cwd: '/', mcpServers: [] });
    await written(at, 2);
    const ids = at.written.map(({ id }) => id);
    at.receive({ id: ids[1], error: { code: 401, message: 'who?' } }, { id: ids[0], result: { sessionId: 's' } });
    expect(await second).toEqual({ status: 'error', code: 401, message: 'who?' });
    expect(await first).toEqual({ status: 'result', result: { sessionId: 's' } });
  });

  it('are not answered by a frame under another id, nor under theirs as text', async () => {
    const at = bench();
    const call = at.connection.calls.newSession({ cwd: '/', mcpServers: [] });
    await written(at, 1);
    const id = Number(at.written[0]?.['id']);
    at.receive(
      { id: String(id), result: 'text' },
      { id: id + 1, result: 'other' },
      { id, result: 'mine' },
      { id, result: 'late' },
    );
    expect(await call).toEqual({ status: 'result', result: 'mine' });
  });

  it('all settle when the connection is closed', async () => {
    const at = bench();
    const calls = [
      at.connection.calls.initialize({ protocolVersion: 1 }),
      at.connection.calls.newSession({ cwd: '/', mcpServers: [] }),
      at.connection.calls.prompt(prompt),
    ];
    await written(at, 3);
    at.connection.close();
    at.connection.close();
    expect(await Promise.all(calls)).toEqual([{ status: 'closed' }, { status: 'closed' }, { status: 'closed' }]);
    expect(await at.connection.calls.prompt(prompt)).toEqual({ status: 'closed' });
    at.receive(update('s'));
    expect(at.told).not.toContain('frame s');
  });

  it('a prompt is complete at its answer: what follows in the same read is late', async () => {
    const at = bench();
    const call = at.connection.calls.prompt(prompt);
    await written(at, 1);
    const id = at.written[0]?.['id'];
    at.receive(update('s'), { id, result: { stopReason: 'end_turn' } }, update('s'));
    expect(at.told).toEqual([
      'sent s',
      'frame s',
      'update s message',
      'frame s',
      'answered s',
      'frame s',
      'update s message',
    ]);
    expect(await call).toEqual({ status: 'result', result: { stopReason: 'end_turn' } });
  });

  it('keep order and lose nothing in a burst of 60,000 updates', async () => {
    const texts: number[] = [];
    const at = bench({
      limits: { maxLineBytes: 10_000_000 },
      onUpdate: (_, read) => texts.push(read.type === 'message' ? Number(read.text) : -1) > 0,
    });
    const call = at.connection.calls.prompt(prompt);
    await written(at, 1);
    const frames = Array.from({ length: 60_000 }, (_, index) => update('s', String(index)));
    at.receive(...frames, { id: at.written[0]?.['id'], result: {} });
    expect(texts).toEqual(Array.from({ length: 60_000 }, (_, index) => index));
    await call;
  });
});

describe('an agent that echoes', () => {
  it('gets no reply to an echo, and its echoes end no call of ours', async () => {
    const at = bench();
    const echo = (): void => {
      for (const frame of at.written.slice()) at.receive(frame);
    };
    const call = at.connection.calls.prompt(prompt);
    void at.connection.calls.cancel('s');
    await written(at, 2);
    const id = at.written[0]?.['id'];
    // Asked under the number of our own call, so that our answer, sent back, could pass for its answer.
    at.receive(
      { id, method: 'session/request_permission', params: { sessionId: 's' } },
      { id: 'x', method: 'fs/read_text_file' },
    );
    expect(at.written.length).toBe(4);
    echo();
    expect(at.written.length).toBe(4);
    at.receive({ id, result: { stopReason: 'end_turn' } });
    expect(await call).toEqual({ status: 'result', result: { stopReason: 'end_turn' } });
  });
});

describe('the tap', () => {
  it('gets every line as it stood', async () => {
    const at = bench();
    const odd = '{"jsonrpc":"2.0",  "method":"_x", "params":{"n":1.0,"u":"\\u00e4"}}';
    at.receive(odd, 'noise');
    void at.connection.calls.newSession({ cwd: '/', mcpServers: [] });
    await written(at, 1);
    expect(at.tapped).toEqual([
      `read ${odd}`,
      'read noise',
      `write {"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`,
    ]);
    at.connection.close();
  });
});
