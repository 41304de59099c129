import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { parseSecretKey, toNpub } from '../../src/nostr/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { LAUNCHER, runSkep, stopAll } from './skep.ts';

afterEach(stopAll);

function listing(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true }).map(String).sort();
}

const WRITTEN = ['.gitignore', 'keys', 'keys/.gitignore', 'keys/helper.key', 'keys/owner.key', 'skep.yaml'];

describe('skep init', () => {
  it('writes a config that loads as it stands, with keys that only their owner reads', async () => {
    const directory = temporaryDirectory();
    const { code, stdout, stderr } = await runSkep(['init'], directory);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(listing(directory)).toEqual(WRITTEN);
    const mode = (name: string): string => (statSync(join(directory, name)).mode & 0o777).toString(8);
    expect([mode('keys'), mode('keys/owner.key'), mode('keys/helper.key'), mode('skep.yaml')]).toEqual(['700', '600', '600', '600']);
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toContain('/keys/\n/.skep/\n');

    const config = loadConfig(join(directory, 'skep.yaml'));
    const ownerText = readFileSync(join(directory, 'keys/owner.key'), 'utf8');
    const owner = parseSecretKey(ownerText);
    expect(owner.ok && owner.pubkey).toBe(config.agents[0]?.owner);
    expect(config.relay).toMatchObject({ type: 'embedded', port: 7447, channels: [{ name: 'general' }] });
    expect(config.agents).toMatchObject([{ name: 'helper', adapter: { name: 'scripted' }, respondTo: 'owner-only' }]);
    expect(config.warnings).toEqual([]);

    // What a person needs next is said, and no secret with it.
    const [agent] = config.agents;
    const channel = config.relay.type === 'embedded' ? config.relay.channels[0]?.id : undefined;
    for (const told of [agent && toNpub(agent.owner), agent && toNpub(agent.pubkey), channel, 'ws://127.0.0.1:7447']) {
      expect(stdout).toContain(told ?? 'missing');
    }
    expect(stdout).toMatch(/^ {2}node \S*bin\/skep\.js up -c skep\.yaml$/m);
    expect(stdout).not.toContain('nsec1');
    expect(ownerText).toMatch(/^nsec1\w+\n$/);
  });

  it('makes the folder it is given, and keys of its own each time', async () => {
    const directory = temporaryDirectory();
    const results = [await runSkep(['init', 'deep/one'], directory), await runSkep(['init', 'deep/two'], directory)];
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(results[0]?.stdout).toMatch(/^ {2}node \S*bin\/skep\.js up -c deep\/one\/skep\.yaml$/m);
    const key = (name: string): string => readFileSync(join(directory, 'deep', name, 'keys/helper.key'), 'utf8');
    expect(key('one')).not.toBe(key('two'));
  });

  it('says what is in the way where a part of the path is a file', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    const { code, stdout, stderr } = await runSkep(['init', 'file'], directory);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(/^skep: init: .*file.*: a part of this path is not a directory; nothing was written\n$/);
  });

  it.each(['skep.yaml', 'keys/owner.key', 'keys/helper.key'])('overwrites nothing when there is %s', async (name) => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'keys'));
    writeFileSync(join(directory, name), 'precious');
    const before = listing(directory);
    const { code, stdout, stderr } = await runSkep(['init'], directory);
    expect({ code, stdout, stderr }).toEqual({
      code: 2, stdout: '', stderr: `skep: init: ${join(directory, name)} exists; nothing was written\n`,
    });
    expect(listing(directory)).toEqual(before);
    expect(readFileSync(join(directory, name), 'utf8')).toBe('precious');
  });

  it('does not write through a link that leads nowhere', async () => {
    const directory = temporaryDirectory();
    symlinkSync(join(directory, 'elsewhere'), join(directory, 'skep.yaml'));
    expect((await runSkep(['init'], directory)).code).toBe(2);
    expect(existsSync(join(directory, 'elsewhere'))).toBe(false);
  });

  it('leaves a .gitignore that is there, and says what it should name', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, '.gitignore'), 'mine\n');
    const { code, stdout } = await runSkep(['init'], directory);
    expect(code).toBe(0);
    expect(stdout).toContain('There is a .gitignore already: see that it names /.skep/');
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('mine\n');
  });

  it('keeps the keys out of git by themselves, in a checkout with a .gitignore of its own', async () => {
    const directory = temporaryDirectory();
    const git = (...args: readonly string[]): string => execFileSync('git', ['-C', directory, ...args], { encoding: 'utf8' });
    git('init', '-q');
    writeFileSync(join(directory, '.gitignore'), '/.skep/\n');
    const { stdout } = await runSkep(['init'], directory);
    expect(stdout).toContain('keys/.gitignore (git passes over the keys)');
    expect(git('ls-files', '--others', '--exclude-standard').trim().split('\n').sort()).toEqual(['.gitignore', 'skep.yaml']);
  });

  it('leaves a keys/.gitignore that is there, and says so', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'keys'));
    writeFileSync(join(directory, 'keys/.gitignore'), '*.key\n');
    const { code, stdout } = await runSkep(['init'], directory);
    expect(code).toBe(0);
    expect(stdout).toContain('There is a keys/.gitignore already: see that it names the keys');
    expect(readFileSync(join(directory, 'keys/.gitignore'), 'utf8')).toBe('*.key\n');
  });

  it('leaves nothing half-written where the disk takes no more', () => {
    const directory = temporaryDirectory();
    // No file may grow: the file is made, and its first byte is refused.
    const { status, stderr } = spawnSync('sh', ['-c', 'ulimit -f 0 && exec "$@"', 'sh', process.execPath, LAUNCHER, 'init'], {
      cwd: directory, encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 5, stderr: expect.stringMatching(/^skep: init: .*limit of a file's size.*; nothing was written\n$/) });
    expect(listing(directory)).toEqual([]);
  });

  it('leaves nothing half-written where it breaks off', async () => {
    const directory = temporaryDirectory();
    // `keys` is a file: the config is written first, the keys cannot be.
    writeFileSync(join(directory, 'keys'), '');
    const { code, stderr } = await runSkep(['init'], directory);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^skep: init: .*; nothing was written\n$/);
    expect(listing(directory)).toEqual(['keys']);
  });

  it.skipIf(process.getuid?.() === 0)('says so when it may not write', async () => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o500);
    expect(await runSkep(['init', 'x'], directory)).toMatchObject({ code: 5 });
    chmodSync(directory, 0o700);
  });
});
