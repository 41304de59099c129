/** `skep up --record` with real programs: what is written, what never is, and that no turn is the worse for it. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readFixture, replayStream } from '../../src/replay/index.ts';
import { stopAll } from '../cli/skep.ts';
import type { Skep } from '../cli/skep.ts';
import { newHome, readRecord, recordsIn } from './home.ts';
import type { Home } from './home.ts';

let home: Home;

afterEach(async () => {
  home.close();
  await stopAll();
});

const ECHO = [{ do: [{ reply: 'answer to {{content}}' }] }];

async function stop(skep: Skep): Promise<string> {
  skep.kill('SIGTERM');
  const { code, stderr } = await skep.ended;
  expect(code).toBe(0);
  return stderr;
}

const recorded = (turns: number, streams: number) => () => home.statusWhen(
  ({ recording }) => recording !== undefined && recording.turns >= turns && recording.streams >= streams,
);

describe('skep up --record', () => {
  it('writes a turn and the stream around it, which replay as they were', async () => {
    home = newHome(ECHO);
    const up = await home.up('--record', 'records');
    const owner = await home.owner();
    const question = await home.say(owner, 'how are the bees?');
    const { recording } = await recorded(1, 1)();
    expect(recording).toEqual({ directory: home.records, turns: 1, streams: 1, dropped: 0 });
    const names = recordsIn(home.records);
    expect(names).toEqual([expect.stringMatching(/^stream-[0-9a-f]{16}\.json$/), expect.stringMatching(/^turn-[0-9a-f]{16}\.json$/)]);
    expect(statSync(home.records).mode & 0o777).toBe(0o700);
    for (const name of names) {
      const bytes = readFileSync(join(home.records, name));
      expect(name).toContain(createHash('sha256').update(bytes).digest('hex').slice(0, 16));
      expect(statSync(join(home.records, name)).mode & 0o777).toBe(0o600);
      const read = readFixture(bytes.toString());
      if (!read.ok) throw new Error(`${name}: ${read.path}`);
      if (read.value.is === 'stream') expect(await replayStream(read.value.stream)).toEqual(read.value.stream.expected);
    }
    const stream = readRecord(home.records, names[0] ?? '');
    expect(stream['steps']).toEqual([
      expect.objectContaining({ atMs: 0, do: 'arrive', channelType: 'stream', author: { isAgent: false } }),
      expect.objectContaining({ do: 'take' }),
      expect.objectContaining({ do: 'finish', turn: 1, ending: { how: 'done', outcome: 'end_turn' } }),
    ]);
    expect(stream['expected']).toEqual([
      expect.objectContaining({ saw: 'queued', eventId: question.id, rule: '@mention' }),
      expect.objectContaining({ saw: 'turn', turn: 1, eventIds: [question.id], interrupted: false }),
      expect.objectContaining({ saw: 'done', turn: 1, eventIds: [question.id], outcome: 'end_turn' }),
    ]);
    await stop(up);
    expect(recordsIn(home.records)).toEqual(names);
  });

  it('writes the turn of an agent that was killed, and the one that came after, as one stream', async () => {
    home = newHome([{ once: 'killed', do: [{ die: 'SIGKILL' }] }, ...ECHO]);
    const up = await home.up('--record', 'records');
    await home.say(await home.owner(), 'will you survive this?');
    await recorded(2, 1)();
    const [name = ''] = recordsIn(home.records);
    expect((readRecord(home.records, name)['expected'] as readonly object[]).map((one) => ('saw' in one ? one.saw : '')))
      .toEqual(['queued', 'turn', 'again', 'turn', 'done']);
    await stop(up);
  }, 30_000);

  it('keeps what it saw when it is stopped in mid-turn', async () => {
    home = newHome([{ do: [{ wait: 'never' }] }], ['record: records', 'grace: 0s']);
    const up = await home.up();
    await home.say(await home.owner(), 'take your time');
    await home.statusWhen(({ agents }) => agents[0]?.turns.length === 1);
    await stop(up);
    const read = readFixture(readFileSync(join(home.records, recordsIn(home.records)[0] ?? ''), 'utf8'));
    expect(read.ok && read.value.is).toBe('stream');
  });

  it('records who was refused, and why, beside what was answered', async () => {
    home = newHome(ECHO);
    const up = await home.up('--record', 'records');
    const stranger = await home.person();
    await home.say(stranger, 'you do not know me');
    await home.say(await home.owner(), 'but me you do');
    await recorded(1, 1)();
    const stream = readRecord(home.records, recordsIn(home.records)[0] ?? '');
    expect(stream['expected']).toContainEqual(expect.objectContaining({ saw: 'refused', reason: 'not-owner' }));
    await stop(up);
  });

  it('writes nothing and costs nothing when it is off', async () => {
    home = newHome(ECHO);
    const up = await home.up();
    await home.say(await home.owner(), 'unrecorded');
    const report = await home.statusWhen(({ agents }) => agents[0]?.inbox.done === 1);
    expect(report.recording).toBeUndefined();
    await stop(up);
    expect(recordsIn(home.directory)).not.toContain('records');
  });
});

describe('a secret in a message', () => {
  it.each([
    ['an nsec', () => `nsec1${'q'.repeat(58)}`],
    ['the agent\'s own key in hex', () => home.agentSecretHex],
    ['a bunker link', () => `bunker://${home.agent}?relay=wss://relay.example&secret=abcdef`],
  ])('keeps the turn and its stream out of the records: %s', async (_, secret) => {
    home = newHome(ECHO);
    const up = await home.up('--record', 'records');
    const owner = await home.owner();
    const told = await home.say(owner, `keep this: ${secret()}`);
    await home.statusWhen(({ recording }) => recording?.dropped === 2);
    await home.say(owner, 'and now for something harmless');
    await recorded(1, 1)();
    const stderr = await stop(up);
    expect(stderr).toContain(told.id);
    expect(stderr).not.toContain(secret());
    for (const name of recordsIn(home.records)) expect(readFileSync(join(home.records, name), 'utf8')).not.toContain(secret());
    expect(recordsIn(home.records)).toHaveLength(2);
  });

  it.runIf(process.platform === 'linux')('keeps out the credential of the agent\'s own process', async () => {
    home = newHome(ECHO);
    const up = await home.up('--record', 'records');
    const owner = await home.owner();
    const { agents } = await home.statusWhen((report) => report.agents[0]?.processes[0]?.state === 'idle');
    const environment = readFileSync(`/proc/${agents[0]?.processes[0]?.pid ?? 0}/environ`, 'utf8');
    const token = /SKEP_CREDENTIAL=([\w-]{43})/.exec(environment)?.[1] ?? '';
    expect(token).not.toBe('');
    await home.say(owner, `is this yours: (${token})?`);
    const { recording } = await home.statusWhen((report) => report.recording?.dropped === 2);
    expect(recording).toMatchObject({ turns: 0, streams: 0 });
    expect(recordsIn(home.records)).toEqual([]);
    await stop(up);
  });
});

describe('a disk that does not do', () => {
  it('answers all the same where the directory cannot be made, says so once, and in the status', async () => {
    home = newHome(ECHO);
    writeFileSync(join(home.directory, 'records'), 'a file in its place');
    const up = await home.up('--record', 'records');
    const owner = await home.owner();
    await home.say(owner, 'first');
    await home.statusWhen((report) => report.recording?.dropped === 2);
    await home.say(owner, 'second');
    const { recording } = await home.statusWhen((report) => report.recording?.dropped === 4);
    expect(recording).toMatchObject({ turns: 0, streams: 0, problem: expect.stringMatching(/^E/) });
    rmSync(join(home.directory, 'records'));
    await home.say(owner, 'third');
    expect((await recorded(1, 1)()).recording?.problem).toBeUndefined();
    const stderr = await stop(up);
    expect(stderr.split('recording cannot write')).toHaveLength(2);
  });

  it('makes a directory anew that was removed on the way', async () => {
    home = newHome(ECHO);
    const up = await home.up('--record', 'records');
    const owner = await home.owner();
    await home.say(owner, 'first');
    await recorded(1, 1)();
    rmSync(home.records, { recursive: true });
    await home.say(owner, 'second');
    await recorded(2, 2)();
    expect(recordsIn(home.records)).toHaveLength(2);
    await stop(up);
  });
});
