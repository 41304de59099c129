import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/model/index.ts';
import { relayKey } from '../../src/relay-key.ts';
import { systemRandom } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

const ROOM = fileURLToPath(new URL('../../dist/src/relay-key.js', import.meta.url));
const SYSTEM = fileURLToPath(new URL('../../dist/src/system/index.js', import.meta.url));
const MAKE = `
  const { relayKey } = await import(${JSON.stringify(ROOM)});
  const { systemRandom } = await import(${JSON.stringify(SYSTEM)});
  try {
    relayKey(process.argv[1], systemRandom);
  } catch (error) {
    process.stdout.write(JSON.stringify({ code: error.code, message: error.message }));
  }
`;

function failureOf(path: string): unknown {
  try {
    relayKey(path, systemRandom);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('the key of the relay in the box', () => {
  it('is made once, for its owner alone, and nothing beside it stays', () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'relay.key');
    const key = relayKey(path, systemRandom);
    expect(relayKey(path, systemRandom)).toEqual(key);
    expect(readdirSync(directory)).toEqual(['relay.key']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(`${Buffer.from(key).toString('hex')}\n`);
  });

  it('is whole or not there where the disk takes no more, and that is what is said', () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'relay.key');
    const limited = ['-c', 'ulimit -f 0 && exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', MAKE, path];
    const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ code: 'storage_full', message: expect.stringMatching(/relay\.key: the limit of a file's size is reached/) });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('says what the system says of a folder that is not there', () => {
    const directory = temporaryDirectory();
    const failure = failureOf(join(directory, 'none', 'relay.key'));
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ code: 'storage_failed', message: expect.stringContaining('cannot be written (ENOENT)') });
  });

  it('is refused where the file holds none, and the file stays as it is', () => {
    const path = join(temporaryDirectory(), 'relay.key');
    writeFileSync(path, '');
    expect(failureOf(path)).toMatchObject({ code: 'config' });
    expect(readFileSync(path, 'utf8')).toBe('');
  });
});
