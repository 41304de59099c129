/** `skep fixtures scrub` as people run it, from a real recording to files that can be shown; and how it refuses. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runSkep, stopAll } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { newHome, recordsIn } from './home.ts';
import type { Home } from './home.ts';

let home: Home | undefined;

afterEach(async () => {
  home?.close();
  home = undefined;
  await stopAll();
});

const TURN = new URL('../../fixtures/turns/mention-in-channel.json', import.meta.url);

/** A folder with one recorded turn in `in/`. */
function withTurn(change: (text: string) => string = (text) => text): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'in'));
  writeFileSync(join(directory, 'in', 'turn.json'), change(readFileSync(TURN, 'utf8')));
  return directory;
}

describe('a real recording', () => {
  it('replays, is scrubbed, replays again, and tells nothing of what it was', async () => {
    home = newHome([{ once: 'killed', do: [{ die: 'SIGKILL' }] }, { do: [{ reply: 'fine' }] }], [], ['instructions: "Mind the greenhouse."']);
    const { directory, records } = home;
    const up = await home.up('--record', 'records');
    const owner = await home.owner();
    const root = await home.say(owner, 'Zebedee waters the philodendrons on Wednesdays.');
    await home.statusWhen(({ recording }) => recording?.streams === 1);
    await home.say(owner, 'And who feeds the axolotl?', root);
    await home.statusWhen(({ recording }) => recording?.streams === 2);
    up.kill('SIGTERM');
    expect((await up.ended).code).toBe(0);

    expect(await runSkep(['replay', 'records'], directory)).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await runSkep(['fixtures', 'scrub', 'records', '--out', 'shown'], directory);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^records\/stream-[0-9a-f]{16}\.json -> shown\/stream-[0-9a-f]{16}\.json\n/);
    expect(stdout).toContain(`\n${recordsIn(records).length} fixtures scrubbed; look at them before you show them\n`);
    expect(await runSkep(['replay', 'shown'], directory)).toMatchObject({ code: 0, stderr: '' });

    const shown = join(directory, 'shown');
    expect(recordsIn(shown)).toHaveLength(recordsIn(records).length);
    const text = (folder: string): string => recordsIn(folder).map((name) => readFileSync(join(folder, name), 'utf8')).join('');
    const [before, after] = [text(records), text(shown)];
    for (const told of ['Zebedee', 'philodendrons', 'Wednesdays', 'feeds', 'axolotl', 'greenhouse', home.agent, owner.pubkey, root.id, root.sig, 'helper']) {
      if (told !== 'helper') expect(before).toContain(told);
      expect(after.toLowerCase()).not.toContain(told.toLowerCase());
    }
    for (const name of recordsIn(shown)) expect(recordsIn(records)).not.toContain(name);
    // Ids agree between turns and streams: each event of a stream is in a turn.
    const ids = new Set(after.match(/(?<="id": ")[0-9a-f]{64}/g));
    expect(ids.size).toBe(2);

    const again = await runSkep(['fixtures', 'scrub', 'records', '-o', 'again'], directory);
    expect(again.code).toBe(0);
    expect(text(join(directory, 'again'))).toBe(after);
  }, 40_000);
});

describe('skep fixtures scrub', () => {
  it('writes beside, below the folder that was named, and open to everybody', async () => {
    const directory = withTurn();
    mkdirSync(join(directory, 'in', 'deep'));
    writeFileSync(join(directory, 'in', 'deep', 'other.json'), readFileSync(TURN));
    expect(await runSkep(['fixtures', 'scrub', 'in', '--out', 'out/here'], directory)).toEqual({
      code: 0, stderr: '',
      stdout: 'in/deep/other.json -> out/here/deep/other.json\nin/turn.json -> out/here/turn.json\n2 fixtures scrubbed; look at them before you show them\n',
    });
    expect(statSync(join(directory, 'out/here/turn.json')).mode & 0o777 & 0o600).toBe(0o600);
    expect(readFileSync(join(directory, 'in/turn.json'))).toEqual(readFileSync(TURN));
  });

  it('replaces files in place only when it is told to, and names by content anew', async () => {
    const directory = withTurn();
    writeFileSync(join(directory, 'in', 'turn-0123456789abcdef.json'), readFileSync(TURN));
    const { code, stdout } = await runSkep(['fixtures', 'scrub', 'in', '--in-place'], directory);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^in\/turn-0123456789abcdef\.json -> in\/turn-[0-9a-f]{16}\.json\nin\/turn\.json\n/);
    expect(recordsIn(join(directory, 'in'))).toHaveLength(2);
    expect(readFileSync(join(directory, 'in/turn.json'))).not.toEqual(readFileSync(TURN));
    expect((await runSkep(['replay', 'in'], directory)).code).toBe(0);
  });

  it.each([
    ['neither --out nor --in-place', ['in'], 'expected one of --out <dir> and --in-place'],
    ['both', ['in', '--out', 'out', '--in-place'], 'expected one of --out <dir> and --in-place'],
    ['a path that is not there', ['nowhere', '--out', 'out'], 'nowhere: there is no such file or folder'],
    ['no path', ['--out', 'out'], 'missing required argument'],
    ['a folder without fixtures', ['empty', '--out', 'out'], 'found no fixture there'],
  ])('refuses %s', async (_, args, told) => {
    const directory = withTurn();
    mkdirSync(join(directory, 'empty'));
    const { code, stdout, stderr } = await runSkep(['fixtures', 'scrub', ...args], directory);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(told);
    expect(recordsIn(join(directory, 'out'))).toEqual([]);
  });

  it('writes nothing where one fixture is broken, and names file, line and path', async () => {
    const directory = withTurn();
    const broken = readFileSync(TURN, 'utf8').replace('"kind": 9', '"kind": "nine"');
    writeFileSync(join(directory, 'in', 'broken.json'), broken);
    const line = broken.slice(0, broken.indexOf('"kind": "nine"')).split('\n').length;
    const { code, stderr } = await runSkep(['fixtures', 'scrub', 'in', '--out', 'out'], directory);
    expect(code).toBe(2);
    expect(stderr).toContain(`skep: in/broken.json:${line}: input.events[0].event.kind: expected `);
    expect(recordsIn(join(directory, 'out'))).toEqual([]);
  });

  it('refuses two files that would be one, and a folder that cannot be made', async () => {
    const directory = withTurn();
    mkdirSync(join(directory, 'two'));
    writeFileSync(join(directory, 'two', 'turn.json'), readFileSync(TURN));
    expect(await runSkep(['fixtures', 'scrub', 'in/turn.json', 'two/turn.json', '--out', 'out'], directory)).toMatchObject({
      code: 2, stderr: 'skep: in/turn.json and two/turn.json would be one file; scrub their folder as a whole\n',
    });
    rmSync(join(directory, 'two'), { recursive: true });
    writeFileSync(join(directory, 'out'), 'a file');
    expect((await runSkep(['fixtures', 'scrub', 'in', '--out', 'out'], directory)).code).toBe(5);
  });
});
