/** The recorder's queue: bounded, told about, and never in the way of an end. */
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileOperatorTurn, compileTurn } from '../../compiler/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import { silentLog } from '../../src/model/index.ts';
import { Recorder } from '../../src/recording/index.ts';
import { scrubFixtures } from '../../src/recording/scrub/scrub.ts';
import { replayFile } from '../../src/replay/index.ts';
import type { Tape } from '../../src/supervisor/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { HandClock } from '../supervisor/hand-clock.ts';
import { agent, channel, message, owner } from '../supervisor/people.ts';

const SETTINGS = {
  agent: agent.pubkey, owner: owner.pubkey, respondTo: 'owner-only', allowlist: [], subscribe: 'mentions', session: 'channel', gatherMs: 0,
} as const;

function newRecorder(directory: string, clock = new HandClock()): { readonly recorder: Recorder; readonly tape: Tape; readonly warnings: string[] } {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (text: string) => { warnings.push(text); } };
  const recorder = new Recorder({ directory, people: [agent.pubkey, owner.pubkey], log, clock });
  return { recorder, tape: recorder.tapeOf(SETTINGS), warnings };
}

function sendTurn(tape: Tape, turnId: string, event = message()): void {
  const input: TurnInput = { v: 1, channelId: channel, events: [{ event, rule: '@mention' }], standingRole: 'system' };
  tape.sent({ turnId, input, output: compileTurn(input) });
  tape.moved({
    input: { type: 'finished', turnId, ending: { how: 'done', outcome: 'end_turn' }, jitter: 0 },
    atMs: new HandClock().now(), commands: [], isEmpty: true,
  });
}

describe('the recorder', () => {
  it('writes the same turn twice as one file', async () => {
    const directory = join(temporaryDirectory(), 'a', 'b');
    const { recorder, tape } = newRecorder(directory);
    const event = message();
    sendTurn(tape, '1', event);
    sendTurn(tape, '2', event);
    await recorder.close();
    expect(readdirSync(directory)).toHaveLength(1);
    expect(recorder.report()).toEqual({ directory, turns: 2, streams: 0, dropped: 0 });
  });

  it('leaves out what comes too fast, counts it, and says so once', async () => {
    const directory = temporaryDirectory();
    const { recorder, tape, warnings } = newRecorder(directory);
    for (let n = 0; n < 300; n += 1) sendTurn(tape, String(n));
    expect(recorder.report()).toMatchObject({ turns: 0, dropped: 43 });
    expect(warnings).toEqual([expect.stringContaining('cannot keep up')]);
    await recorder.close();
    expect(recorder.report()).toMatchObject({ turns: 257, dropped: 43 });
    expect(readdirSync(directory)).toHaveLength(257);
  });

  it('ends within its time however much waits, and takes nothing afterwards', async () => {
    const directory = temporaryDirectory();
    const clock = new HandClock();
    const { recorder, tape, warnings } = newRecorder(directory, clock);
    for (let n = 0; n < 20; n += 1) sendTurn(tape, String(n));
    const closing = recorder.close();
    clock.push(2_000);
    await closing;
    sendTurn(tape, 'late');
    const { turns, dropped } = recorder.report();
    expect(turns + dropped).toBeLessThanOrEqual(20);
    expect(dropped).toBeGreaterThan(0);
    expect(warnings).toEqual([expect.stringContaining('unwritten')]);
    await recorder.close();
  });

  it('writes a turn that had no end when it was closed', async () => {
    const directory = temporaryDirectory();
    const { recorder, tape } = newRecorder(directory);
    const input: TurnInput = { v: 1, channelId: channel, events: [{ event: message(), rule: '@mention' }], standingRole: 'system' };
    tape.sent({ turnId: '1', input, output: compileTurn(input) });
    await recorder.close();
    expect(recorder.report()).toMatchObject({ turns: 1 });
  });

  it('does not write a turn that compiles to something else than what the agent read', async () => {
    const directory = temporaryDirectory();
    const { recorder, tape, warnings } = newRecorder(directory);
    const input: TurnInput = { v: 1, channelId: channel, events: [{ event: message(), rule: '@mention' }], standingRole: 'system' };
    tape.sent({ turnId: '1', input, output: { ...compileTurn(input), envelope: 'other' } });
    await recorder.close();
    expect(readdirSync(directory)).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('replayed, it differs')]);
  });

  it('leaves nothing half written where a file cannot be put in its place', async () => {
    const directory = temporaryDirectory();
    const first = newRecorder(directory);
    const event = message();
    sendTurn(first.tape, '1', event);
    await first.recorder.close();
    const [name = ''] = readdirSync(directory);
    const other = temporaryDirectory();
    mkdirSync(join(other, name));
    writeFileSync(join(other, name, 'in-the-way'), '');
    const second = newRecorder(other, new HandClock());
    sendTurn(second.tape, '1', event);
    await second.recorder.close();
    expect(readdirSync(other)).toEqual([name]);
    expect(second.recorder.report()).toMatchObject({ turns: 0, dropped: 1, problem: expect.stringMatching(/^E/) });
  });

  it.runIf(process.platform === 'linux')('drops what a full disk does not take, and goes on with the next', async () => {
    const directory = temporaryDirectory();
    const first = newRecorder(directory);
    const event = message();
    sendTurn(first.tape, '1', event);
    await first.recorder.close();
    const [name = ''] = readdirSync(directory);
    const other = temporaryDirectory();
    // Every write to it fails as on a full disk.
    symlinkSync('/dev/full', join(other, `.${name}.${process.pid}.tmp`));
    const second = newRecorder(other);
    sendTurn(second.tape, '1', event);
    sendTurn(second.tape, '2');
    await second.recorder.close();
    expect(readdirSync(other)).toEqual([expect.not.stringContaining(name)]);
    expect(second.recorder.report()).toMatchObject({ turns: 1, dropped: 1 });
    expect(second.warnings).toEqual([expect.stringContaining('cannot write')]);
  });
});

describe('a turn that no message asked for', () => {
  const promptTurn = (tape: Tape, prompt: string): void => {
    const input = { v: 1, source: 'heartbeat', prompt, standing: { base: 'You are an agent.' }, standingRole: 'sent' } as const;
    tape.prompted({ input, output: compileOperatorTurn(input) });
  };

  it('is written at once, and replays', async () => {
    const directory = temporaryDirectory();
    const { recorder, tape } = newRecorder(directory);
    promptTurn(tape, 'Look around.');
    await recorder.close();
    const [name = ''] = readdirSync(directory);
    expect(recorder.report()).toMatchObject({ turns: 1, dropped: 0 });
    expect(await replayFile(join(directory, name), { update: false })).toEqual({ is: 'same', file: join(directory, name), fixture: 'operator' });
  });

  it('is left out where its prompt holds what looks like a secret', async () => {
    const directory = temporaryDirectory();
    const { recorder, tape, warnings } = newRecorder(directory);
    recorder.keepSecret('correct-horse-battery-staple');
    promptTurn(tape, 'Use correct-horse-battery-staple to look around.');
    await recorder.close();
    expect([readdirSync(directory), recorder.report().dropped, warnings.length]).toEqual([[], 1, 1]);
  });

  it('is scrubbed of its words, and replays', async () => {
    const input = { v: 1, source: 'initial', prompt: 'Ask Beatrix about honeycombs.', standing: { system: 'Honeycombs matter.' }, standingRole: 'prompt' } as const;
    const scrubbed = await scrubFixtures([{ is: 'operator', turn: { provenance: 'a test', operator: input, output: compileOperatorTurn(input) } }]);
    const [one] = scrubbed.ok ? scrubbed.fixtures : [];
    if (one?.is !== 'operator') expect.fail('no operator turn');
    expect(JSON.stringify(one)).not.toMatch(/beatrix|honeycombs/i);
    expect(compileOperatorTurn(one.turn.operator)).toEqual(one.turn.output);
    expect(one.turn.operator).toMatchObject({ source: 'initial', standingRole: 'prompt' });
  });
});
