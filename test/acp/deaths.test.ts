/** The program dies while each kind of request waits: whoever waits hears of it within a second, with the exit code or signal. */
import { afterEach, describe, expect, it } from 'vitest';
import { USAGE_BY_LOOKING } from '../../adapters/index.ts';
import type { ProcessEnd } from '../../src/acp/index.ts';
import { noneLeft, open, plan, program, say, start, tryStart } from './harness.ts';
import type { Started } from './harness.ts';

afterEach(noneLeft);

const WITHIN_MS = 1_000;

const WAYS = [['7', { how: 'exited', exitCode: 7 }], ['SIGKILL', { how: 'signalled', signal: 'SIGKILL' }]] as const;

/** What the waiting one is told, and how long after the program's end. */
async function heard(started: Started, waiting: Promise<unknown>): Promise<readonly [unknown, ProcessEnd]> {
  const begun = performance.now();
  const told = await waiting;
  expect(performance.now() - begun).toBeLessThan(WITHIN_MS);
  return [told, await started.process.ended];
}

describe.each(WAYS)('a program that dies (%s)', (how, end) => {
  it('while session/new waits', async () => {
    const started = await start(program('dies-when-asked', 'session/new', how));
    const [told, ended] = await heard(started, started.process.newSession({ cwd: started.directory }));
    expect(told).toMatchObject({ ok: false, code: 'process_ended', end });
    expect(ended).toMatchObject(end);
  });

  it('while a prompt waits', async () => {
    const started = await start(program('dies-when-asked', 'session/prompt', how));
    const [told] = await heard(started, say(started.process, await open(started)));
    expect(told).toMatchObject({ status: 'process_ended', end });
  });

  it('while the choice of a model waits', async () => {
    const started = await start(program('dies-when-asked', 'session/set_model', how));
    const [told] = await heard(started, started.process.setModel(await open(started), 'b'));
    expect(told).toMatchObject({ ok: false, code: 'process_ended', end });
  });

  it('while the mode of a session waits', async () => {
    const dialect = { standing: 'capability', usage: USAGE_BY_LOOKING, startMode: 'strict' } as const;
    const started = await start(program('dies-when-asked', 'session/set_mode', how), { dialect });
    const [, ended] = await heard(started, started.process.newSession({ cwd: started.directory }));
    expect(ended).toMatchObject(end);
    expect(await say(started.process, 's1')).toMatchObject({ status: 'process_ended', end });
  });

  it('while the close of a session waits, and a prompt in another', async () => {
    const started = await start(program('dies-when-asked', 'session/close', how));
    const sessionId = await open(started);
    started.process.closeSession(sessionId);
    expect(await started.process.ended).toMatchObject(end);
  });
});

it('a program that dies while initialize waits', async () => {
  const started = await tryStart(plan(program('dies-when-asked', 'initialize', '7')));
  expect(started).toMatchObject({ ok: false, end: { how: 'exited_at_start', exitCode: 7 } });
  const killed = await tryStart(plan(program('dies-when-asked', 'initialize', 'SIGKILL')));
  expect(killed).toMatchObject({ ok: false, end: { how: 'start_refused', detail: 'ended by SIGKILL before its first answer' } });
});
