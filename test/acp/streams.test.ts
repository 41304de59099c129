/** Pipes of real programs on their bad days: noise, long lines, bytes one at a time, stderr, prompts nobody reads. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, describe, expect, it } from 'vitest';
import { noneLeft, open, play, program, say, start } from './harness.ts';

afterEach(noneLeft);

const rule = (...steps: readonly object[]): object => ({ rules: [{ do: steps }] });
const MIB = 1_048_576;

describe('stdout', () => {
  it('with a banner, colours, blank lines and text between frames is read all the same', async () => {
    const { outcome, lines } = await play({
      banner: ['\u001b[1mWelcome!\u001b[0m', '', '   ', '{"level":30,"msg":"started"}', '[]'],
      ...rule({ raw: 'thinking...\n' }, { say: 'one ' }, { raw: '\n\n\u001b[2K\r\n' }, { say: 'two' }),
    });
    expect(outcome).toMatchObject({ status: 'ended', seen: { text: 'one two', updates: 2 } });
    // Nothing was answered to it: our three calls are all we wrote.
    expect(lines.filter(({ direction }) => direction === 'write').length).toBe(3);
  });

  it('that echoes everything gets no reply to an echo', async () => {
    const { outcome, lines } = await play({
      echo: true,
      ...rule(
        { ask: 'x', as: 'v' },
        { request: { method: 'fs/read_text_file', params: {} }, as: 'f' },
        { say: '{{v.outcome}} {{f.code}}' },
      ),
    });
    expect(outcome).toMatchObject({ status: 'ended', seen: { text: 'cancelled -32601' } });
    expect(lines.filter(({ direction }) => direction === 'write').length).toBe(5);
  });

  it('that comes one byte at a time gives the same text', async () => {
    const text = 'zum Bänkchen 👩🏽‍🚀 🐝';
    const { outcome } = await play(rule({ say: { text, byteByByte: true } }));
    expect(outcome.seen.text).toBe(text);
  });

  it('with a BOM and CRLF is read', async () => {
    expect((await play(program('begins-with-bom-and-ends-lines-with-crlf'))).outcome).toMatchObject({
      status: 'ended',
    });
  });

  it('of blank lines without end is not the protocol', async () => {
    const { outcome, process: agent } = await play(program('floods-blank-lines'));
    expect(outcome).toMatchObject({ status: 'process_ended', end: { how: 'protocol' } });
    expect(await agent.ended).toMatchObject({ how: 'protocol' });
  });

  it('with an odd update skips that update alone', async () => {
    const { outcome } = await play(
      rule(
        { say: 'one ' },
        { update: { sessionUpdate: 'a_kind_from_the_future', n: null } },
        { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: null } } },
        { update: { sessionUpdate: 'usage_update', used: null, size: null } },
        { say: 'two' },
      ),
    );
    expect(outcome).toMatchObject({ status: 'ended', seen: { text: 'one two', updates: 3 } });
  });

  it.each([1, 8])('of a line of %d MB is read', async (megabytes) => {
    const { outcome } = await play(rule({ say: { text: 'x'.repeat(1_000), repeat: megabytes * 1_000 } }));
    expect(outcome).toMatchObject({ status: 'ended', seen: { textCut: true, updates: 1 } });
    expect(outcome.seen.text.length).toBe(65_536);
  });

  it.each([20, 33, 60])('of a line of %d MB ends this agent, and another one answers meanwhile, within a second', async (megabytes) => {
    const other = await start({ rules: [{ do: [{ say: 'here' }] }] });
    const session = await open(other);
    const long = await start(rule({ say: { text: 'x'.repeat(1_000), repeat: megabytes * 1_000 } }));
    const sessionId = await open(long);
    const lag = monitorEventLoopDelay({ resolution: 5 });
    lag.enable();
    const turn = say(long.process, sessionId);
    expect(await say(other.process, session)).toMatchObject({ status: 'ended', seen: { text: 'here' } });
    expect(await turn).toMatchObject({
      status: 'process_ended',
      end: { how: 'protocol', detail: 'a line of more than 10000000 bytes on stdout' },
      seen: { updates: 0 },
    });
    lag.disable();
    // It is thrown away as it comes. A machine that is busy with writing 60 MB lags by itself.
    expect(lag.max / 1e6).toBeLessThan(1_000);
    expect(await long.process.ended).toMatchObject({ how: 'protocol' });
    expect(await say(other.process, session)).toMatchObject({ status: 'ended', seen: { text: 'here' } });
  });

  it('that is closed by a living agent ends it', async () => {
    const { outcome, process: agent } = await play(program('closes-its-stdout'));
    const end = { how: 'protocol', detail: 'it closed its stdout and did not exit' };
    expect(outcome).toMatchObject({ status: 'process_ended', end });
    expect(await agent.ended).toEqual(end);
  });
});

describe('stderr', () => {
  it('of a mebibyte before the first answer stops nobody, and its tail is kept, bounded', async () => {
    const { outcome } = await play(program('writes-a-mebibyte-to-stderr-first'));
    expect(outcome).toMatchObject({ status: 'process_ended', end: { how: 'exited', exitCode: 3 } });
    const { stderrTail } = (outcome as { end: { stderrTail: string } }).end;
    expect(stderrTail.endsWith(`line 16383 ${'x'.repeat(51)}`)).toBe(true);
    expect(stderrTail.length).toBeLessThanOrEqual(65_536 + 4);
    expect(stderrTail.length).toBeGreaterThan(60_000);
  });

  it('is told without secrets when the program dies', async () => {
    const { outcome } = await play(program('tells-its-secrets-and-dies'), {
      env: { SKEP_CREDENTIAL: 'c0ffee-c0ffee' },
    });
    expect(outcome).toMatchObject({
      end: { how: 'exited', exitCode: 1, stderrTail: 'my credential is <redacted>, my key <redacted> red' },
    });
  });
});

describe('a prompt of 2 MB', () => {
  const block = '🐝'.repeat(MIB / 2);

  it('is read', async () => {
    const started = await start({});
    let sent = 0;
    expect(await say(started.process, await open(started), block, { onSent: () => (sent += 1) })).toMatchObject({
      status: 'ended',
    });
    expect(sent).toBe(1);
  });

  it('to a program that exits in the middle of it is a failed turn', async () => {
    const started = await start({ stdin: { dieAfterBytes: MIB } });
    let sent = 0;
    const outcome = await say(started.process, await open(started), block, { onSent: () => (sent += 1) });
    expect(outcome).toMatchObject({ status: 'process_ended', end: { how: 'exited', exitCode: 1 } });
    expect(sent).toBe(0);
  });

  it('to a program that exits after it is a failed turn', async () => {
    const started = await start(rule({ die: 5 }));
    expect(await say(started.process, await open(started), block)).toMatchObject({
      status: 'process_ended',
      end: { how: 'exited', exitCode: 5 },
    });
  });

  it('to a program that has just exited is a failed turn', async () => {
    const started = await start(rule({ hang: true }));
    const sessionId = await open(started);
    process.kill(started.process.pid, 'SIGKILL');
    expect(await say(started.process, sessionId, block)).toMatchObject({
      status: 'process_ended',
      end: { how: 'signalled', signal: 'SIGKILL' },
    });
  });

  it('to a program that stops reading ends it, in bounded time', async () => {
    const started = await start({ stdin: { pauseAfterBytes: MIB } }, { limits: { writeMs: 300 } });
    const outcome = await say(started.process, await open(started), block);
    expect(outcome).toMatchObject({
      status: 'process_ended',
      end: { how: 'protocol', detail: 'it read nothing from its stdin for 300 ms' },
    });
  });

  it('to a program that closed its stdin ends it', async () => {
    const started = await start(program('closes-its-stdin'));
    const [first, second] = [await open(started), 's2'];
    const turn = say(started.process, first);
    const outcome = await Promise.all([turn, say(started.process, second, block)]);
    for (const each of outcome)
      expect(each).toMatchObject({
        status: 'process_ended',
        end: { how: 'protocol', detail: 'it closed its stdin and did not exit' },
      });
  });

  it('of which too much waits is not kept for ever', async () => {
    const started = await start({ stdin: { pauseAfterBytes: 1 } }, { limits: { maxUnreadBytes: MIB } });
    const opening = started.process.newSession({ cwd: started.directory });
    const outcome = await say(started.process, 'any', block);
    expect(outcome).toMatchObject({ status: 'process_ended', end: { how: 'protocol' } });
    expect(await opening).toMatchObject({ ok: false });
  });
});
