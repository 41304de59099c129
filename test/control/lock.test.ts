/** The lock, between real processes: one holds the directory, another asks for it. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { lockDataDirectory } from '../../src/control/index.ts';
import { Failure } from '../../src/model/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

const CONTROL = fileURLToPath(new URL('../../dist/src/control/index.js', import.meta.url));
const HOLD = `
  const { lockDataDirectory } = await import(${JSON.stringify(CONTROL)});
  const lock = lockDataDirectory(process.argv[1]);
  process.on('SIGTERM', () => { lock.release(); process.exit(0); });
  setInterval(() => {}, 60_000);
  process.stdout.write('held');
`;

const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => end(child, 'SIGKILL')));
});

/** A process that holds the directory's lock until it is ended. */
async function holder(directory: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLD, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function failureOf(directory: string): { readonly code: string; readonly message: string } {
  try {
    lockDataDirectory(directory).release();
  } catch (error) {
    if (error instanceof Failure) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: 'none', message: '' };
}

describe('the lock of a data directory', () => {
  it('makes the directory for its owner alone, and says who holds it', () => {
    const directory = join(temporaryDirectory(), 'deep', 'data');
    const lock = lockDataDirectory(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(directory, 'skep.pid'), 'utf8')).toBe(`${process.pid}\n`);
    lock.release();
    lock.release();
    expect(existsSync(join(directory, 'skep.pid'))).toBe(false);
  });

  it('is a file for its owner alone, whatever the umask, and so is all beside it', () => {
    const directory = temporaryDirectory();
    const umask = process.umask(0);
    try {
      const lock = lockDataDirectory(directory);
      const modes = readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode & 0o777]);
      expect(modes).toContainEqual(['lock.db', 0o600]);
      expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
      lock.release();
    } finally {
      process.umask(umask);
    }
  });

  it('refuses the second process, naming the first', async () => {
    const directory = temporaryDirectory();
    const { pid } = await holder(directory);
    expect(failureOf(directory)).toEqual({
      code: 'in_use',
      message: `${directory}: process ${pid} holds this data directory; stop it first, or use another`,
    });
    // The refused one leaves the holder's mark as it is.
    expect(readFileSync(join(directory, 'skep.pid'), 'utf8')).toBe(`${pid}\n`);
  });

  it('refuses a second time in one process', () => {
    const directory = temporaryDirectory();
    const lock = lockDataDirectory(directory);
    expect(failureOf(directory).code).toBe('in_use');
    lock.release();
    expect(failureOf(directory).code).toBe('none');
  });

  it('is kept for other processes when it is refused a second time in one', async () => {
    const directory = temporaryDirectory();
    const lock = lockDataDirectory(directory);
    expect(failureOf(directory).code).toBe('in_use');
    const ask = `
      const { lockDataDirectory } = await import(${JSON.stringify(CONTROL)});
      try {
        lockDataDirectory(process.argv[1]).release();
      } catch (error) {
        process.exitCode = error.code === 'in_use' ? 7 : 1;
      }
    `;
    const other = spawn(process.execPath, ['--input-type=module', '-e', ask, directory], { stdio: 'ignore' });
    expect(await once(other, 'exit')).toEqual([7, null]);
    lock.release();
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('is free again after %s', async (signal) => {
    const directory = temporaryDirectory();
    const child = await holder(directory);
    expect(failureOf(directory).code).toBe('in_use');
    await end(child, signal);
    expect(failureOf(directory).code).toBe('none');
  });

  it('does not name a process that is gone', async () => {
    const directory = temporaryDirectory();
    await holder(directory);
    const gone = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(gone, 'exit');
    writeFileSync(join(directory, 'skep.pid'), `${gone.pid}\n`);
    expect(failureOf(directory).message).toContain('another skep holds');
  });

  it('is not confused by a pid file of a live process that holds nothing', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'skep.pid'), `${process.ppid}\n`);
    expect(failureOf(directory).code).toBe('none');
  });
});

describe('a directory that cannot be used', () => {
  it('is named when it cannot be written', () => {
    const root = process.getuid?.() === 0;
    // Nothing but the kernel is denied to root: /sys takes no files from anybody.
    const directory = root ? '/sys/skep' : join(temporaryDirectory(), 'locked');
    if (!root) {
      mkdirSync(directory);
      chmodSync(directory, 0o500);
    }
    expect(failureOf(directory)).toEqual({
      code: 'storage_readonly', message: `${directory}: cannot be written; check owner and mode`,
    });
  });

  it('is named when it is a file, or below one', () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(failureOf(file)).toEqual({ code: 'storage_failed', message: `${file}: is not a directory` });
    expect(failureOf(join(file, 'data')).code).toBe('storage_failed');
  });

  it('is named when its lock is no lock', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'lock.db'), 'not a database '.repeat(100));
    expect(failureOf(directory)).toEqual({
      code: 'storage_corrupt', message: `${directory}: its lock.db is not a lock of skep; move it away`,
    });
  });
});
