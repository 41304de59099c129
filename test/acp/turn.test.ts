import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { PermissionAnswer, PromptOutcome } from '../../src/acp/index.ts';
import { silentLog } from '../../src/model/index.ts';
import { noneLeft, open, pidIn, plan, play, program, say, start, tryStart, until } from './harness.ts';

afterEach(noneLeft);

const ONCE: PermissionAnswer = { outcome: 'selected', optionId: 'allow-once' };
const rule = (...steps: readonly object[]): object => ({ rules: [{ do: steps }] });

describe('a turn', () => {
  it("ends with the agent's word and what it streamed", async () => {
    const { outcome } = await play(
      rule({ think: 'hm' }, { say: { text: 'hello 🐝 there', chunks: 3 } }, { tool: 'Read' }),
    );
    expect(outcome).toEqual({
      status: 'ended',
      stopReason: 'end_turn',
      seen: { text: 'hello 🐝 there', textCut: false, thoughts: 1, toolCalls: 1, updates: 7 },
    });
  });

  it.each(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled', 'END_TURN'])(
    'may end with %s',
    async (reason) => {
      const { outcome } = await play(rule({ stop: reason }));
      expect(outcome).toMatchObject({ status: 'ended', stopReason: reason.toLowerCase() });
    },
  );

  it('is at work while a tool of it runs, and while it waits for an answer', async () => {
    const updates = (status: string): object => ({ update: { sessionUpdate: 'tool_call_update', toolCallId: 't', status } });
    const replies: (() => void)[] = [];
    const nothing = (): void => undefined;
    const started = await start(
      rule({ tool: { title: 'x', id: 't', updates: [] } }, { wait: 'tool' }, updates('completed'), { say: 'A' }, { wait: 'ask' }, { ask: 'May I?' }, { say: 'B' }, { wait: 'end' }),
      { desk: () => ({ requested: (_, reply) => { replies.push(() => { void reply(ONCE); }); }, turnCancelled: nothing, turnOver: nothing, stopping: nothing, ended: nothing }) },
    );
    const { process, directory, lines } = started;
    const sessionId = await open(started);
    const isHeard = (word: string) => (): boolean => lines.some(({ direction, text }) => direction === 'read' && text.includes(word));
    const gate = (name: string): void => { writeFileSync(join(directory, name), ''); };
    expect(process.isAtWork(sessionId)).toBe(false);
    const outcome = say(process, sessionId);
    await until(isHeard('"tool_call"'));
    expect(process.isAtWork(sessionId)).toBe(true);
    gate('tool');
    await until(isHeard('"A"'));
    expect(process.isAtWork(sessionId)).toBe(false);
    gate('ask');
    await until(() => replies.length === 1);
    expect(process.isAtWork(sessionId)).toBe(true);
    replies[0]?.();
    await until(isHeard('"B"'));
    expect(process.isAtWork(sessionId)).toBe(false);
    gate('end');
    expect(await outcome).toMatchObject({ status: 'ended' });
  });

  it('has ended whatever the stop reason; the first odd one of a process is told', async () => {
    const told: unknown[] = [];
    const log = { ...silentLog, warn: (_: string, fields?: object) => told.push(fields) };
    const started = await start(program('answers-without-a-stop-reason'), { log });
    const sessionId = await open(started);
    for (const result of [{ stopReason: 'END_TURN' }, { stopReason: 'bored\n' }, { stopReason: null }, { stopReason: 7 }, { stopReason: '' }, {}, null]) {
      const outcome = await say(started.process, sessionId, JSON.stringify(result));
      expect(outcome).toMatchObject({ status: 'ended', stopReason: 'end_turn' });
    }
    expect(told).toEqual([{ agent: 'tester', pid: started.process.pid, found: String.raw`"bored\n"` }]);
  });

  it("that fails keeps the agent's code, and its words without secrets and within bounds", async () => {
    const { outcome } = await play(program('tells-its-secrets-and-dies', 'in-an-error'), {
      env: { SKEP_CREDENTIAL: 'c0ffee-c0ffee' },
    });
    expect(outcome).toMatchObject({ status: 'error', code: 401 });
    const { message } = outcome as Extract<PromptOutcome, { status: 'error' }>;
    expect(message).toMatch(/^my credential is <redacted>, my key <redacted> /);
    expect(message.length).toBeLessThan(520);
  });

  it('sends its blocks in order, and says when they have left us', async () => {
    const started = await start({});
    const sessionId = await open(started);
    let sent = 0;
    const outcome = await started.process.prompt({
      sessionId,
      blocks: ['one', 'two'],
      turnId: 't-1',
      idleTimeoutMs: 10_000,
      hardTimeoutMs: 10_000,
      onSent: () => (sent += 1),
    });
    expect(outcome.status).toBe('ended');
    expect(sent).toBe(1);
    const line = started.lines.find(({ text }) => text.includes('session/prompt'))?.text ?? '';
    expect(JSON.parse(line)).toMatchObject({
      params: {
        sessionId,
        prompt: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
        _meta: { skep: { turnId: 't-1' } },
      },
    });
  });

  it('gets no update from before it, and leaves none of its own to the next', async () => {
    const script = {
      newSession: { before: [{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'early' } }] },
      rules: [
        { match: 'first', do: [{ say: 'one' }, { stop: 'end_turn' }, { say: 'late' }, { mark: 'late' }] },
        { do: [{ say: 'two' }] },
      ],
    };
    const started = await start(script);
    const sessionId = await open(started);
    const first = await say(started.process, sessionId, 'first');
    await pidIn(started.directory, 'late');
    const second = await say(started.process, sessionId, 'second');
    expect([first, second]).toMatchObject([
      { seen: { text: 'one', updates: 1 } },
      { seen: { text: 'two', updates: 1 } },
    ]);
  });

  it('is one at a time in a session, and a second is a bug', async () => {
    const started = await start(rule({ wait: 'go' }));
    const sessionId = await open(started);
    const first = say(started.process, sessionId);
    expect(() => say(started.process, sessionId)).toThrow('a turn is running already');
    writeFileSync(join(started.directory, 'go'), '');
    expect(await first).toMatchObject({ status: 'ended' });
    expect(await say(started.process, sessionId)).toMatchObject({ status: 'ended' });
  });

  it('does not wait for another session of the process', async () => {
    const started = await start({
      rules: [{ match: 'slow', do: [{ wait: 'go' }, { say: 'slow' }] }, { do: [{ say: 'quick' }] }],
    });
    const [a, b] = [await open(started), await open(started)];
    const slow = say(started.process, a, 'slow');
    expect(await say(started.process, b, 'quick')).toMatchObject({ status: 'ended', seen: { text: 'quick' } });
    writeFileSync(join(started.directory, 'go'), '');
    expect(await slow).toMatchObject({ status: 'ended', seen: { text: 'slow', updates: 1 } });
  });

  it('keeps 64 KiB of text', async () => {
    const { outcome } = await play(rule({ say: { text: '🐝', repeat: 20_000 } }));
    expect(outcome.seen.textCut).toBe(true);
    expect(outcome.seen.text).toBe('🐝'.repeat(16_384));
  });

  it.each([0, -1, Number.NaN, Infinity])('needs timeouts that end it: %s is a bug', async (idleTimeoutMs) => {
    const started = await start({});
    const sessionId = await open(started);
    expect(() => say(started.process, sessionId, 'go', { idleTimeoutMs })).toThrow('timeout');
  });
});

describe('what the agent asks', () => {
  it.each([[7], ['7'], [0], ['']])('under id %j is answered under exactly that', async (id) => {
    const script = rule(
      { ask: { title: 'Run it?', id }, as: 'verdict' },
      { say: '{{verdict.outcome}} {{verdict.kind}}' },
    );
    const { outcome, asked, sessionId, lines } = await play(script, { permission: () => ONCE });
    expect(outcome).toMatchObject({ status: 'ended', seen: { text: 'selected allow_once' } });
    expect(asked).toMatchObject([{ id, sessionId }]);
    const result = '{"outcome":{"outcome":"selected","optionId":"allow-once"}}';
    const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
    expect(lines).toContainEqual({ direction: 'write', text: answer });
  });

  it('is put to the policy with its options as they came', async () => {
    const options = [{ optionId: 'w', name: 'For a week', kind: 'allow_for_a_week', _meta: { x: 1 } }];
    const { asked, outcome } = await play(rule({ ask: { title: 'x', options }, as: 'v' }, { say: '{{v.outcome}}' }));
    expect(asked[0]?.params['options']).toEqual(options);
    expect(outcome.seen.text).toBe('cancelled');
  });

  it('is never granted by a policy that fails', async () => {
    const script = rule({ ask: 'x', as: 'v' }, { say: '{{v.outcome}}' });
    const { outcome } = await play(script, {
      permission: () => {
        throw new Error('bug');
      },
    });
    expect(outcome.seen.text).toBe('cancelled');
  });

  it('and we do not offer is refused within a second', async () => {
    const { outcome } = await play(
      rule(
        { notify: { method: '_vendor/status', params: {} } },
        { request: { method: 'fs/read_text_file', params: { path: '/etc/passwd' }, id: '7' }, as: 'file' },
        { say: '{{file.outcome}} {{file.code}}' },
      ),
    );
    expect(outcome).toMatchObject({ status: 'ended', seen: { text: 'error -32601' } });
  });
});

describe('a process that ends in a turn', () => {
  it.each([
    [{ die: 3 }, { how: 'exited', exitCode: 3 }],
    [{ die: 0 }, { how: 'exited', exitCode: 0 }],
    [{ die: 'SIGKILL' }, { how: 'signalled', signal: 'SIGKILL' }],
  ])('%j', async (step, end) => {
    const { outcome, process: agent, sessionId } = await play(rule({ say: 'last words' }, step));
    expect(outcome).toMatchObject({ status: 'process_ended', end, seen: { text: 'last words' } });
    expect(await agent.ended).toMatchObject(end);
    expect(await say(agent, sessionId)).toMatchObject({ status: 'process_ended', end, seen: { text: '', updates: 0 } });
  });

  it('ends every turn that waits in it, within a second, with the way it ended', async () => {
    const started = await start(rule({ hang: true }));
    const sessions = [await open(started), await open(started), await open(started)];
    const turns = sessions.map((sessionId) => say(started.process, sessionId));
    const before = Date.now();
    process.kill(started.process.pid, 'SIGKILL');
    const outcomes = await Promise.all(turns);
    expect(Date.now() - before).toBeLessThan(1_000);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'process_ended', end: { how: 'signalled', signal: 'SIGKILL' } });
  });

  it('does not wait for a grandchild that holds its stdout', async () => {
    const { outcome } = await play(rule({ spawn: { seconds: 60, stdio: 'inherit' } }, { die: 4 }));
    expect(outcome).toMatchObject({ status: 'process_ended', end: { how: 'exited', exitCode: 4 } });
  });

  it('is told as a stop when we stopped it', async () => {
    const started = await start(rule({ mark: 'begun' }, { ignoreCancel: true }, { wait: 'never' }));
    const turn = say(started.process, await open(started));
    await pidIn(started.directory, 'begun');
    await started.process.stop();
    expect(await turn).toMatchObject({ status: 'process_ended', end: { how: 'stopped' } });
  });
});

describe('a policy for one agent', () => {
  it('does not reach another', async () => {
    const launch = plan(rule({ ask: 'x', as: 'v' }, { say: '{{v.outcome}}' }));
    const [allowed, denied] = await Promise.all([tryStart(launch, { permission: () => ONCE }), tryStart(launch)]);
    const outcomes = await Promise.all(
      [allowed, denied].map(async (started) => {
        if (!started.ok) throw new Error('not started');
        const session = await started.process.newSession({ cwd: launch.cwd });
        return session.ok ? say(started.process, session.sessionId) : undefined;
      }),
    );
    expect(outcomes.map((outcome) => outcome?.seen.text)).toEqual(['selected', 'cancelled']);
  });
});
