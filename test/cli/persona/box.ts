/** The relay in the box, alice's key in a file, and `skep` as she runs it: with answers on stdin, and editors of her own. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import type { Relay, RelayOptions } from '../../../src/relay/index.ts';
import { alice, Client, startRelay } from '../../relay/harness.ts';
import type { Person } from '../../relay/harness.ts';
import { temporaryDirectory } from '../../setup/temp.ts';
import { LAUNCHER } from '../skep.ts';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** What is on stdin; nothing unless told. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Box {
  readonly relay: Relay;
  readonly directory: string;
  /** Everything alice has on the relay of these kinds. */
  readonly stored: (...kinds: readonly number[]) => Promise<readonly VerifiedEvent[]>;
  /** `skep <args>` with relay and key. */
  readonly skep: (...args: readonly string[]) => Promise<Ran>;
  readonly with: (options: RunOptions, ...args: readonly string[]) => Promise<Ran>;
  readonly asked: (...args: readonly string[]) => Promise<Asked>;
  /** A file in the directory. */
  readonly write: (name: string, text: string) => string;
  /** A program that is given the file to edit; what it runs is a shell script with the file in `$1`. */
  readonly editor: (script: string) => string;
}

export async function openBox(options: Partial<RelayOptions> = {}, who: Person = alice): Promise<Box> {
  const relay = await startRelay(options);
  return boxAt(relay, who);
}

/** One person's side of a relay that runs. */
export function boxAt(relay: Relay, who: Person): Box {
  const directory = temporaryDirectory();
  const write = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content, { mode: 0o600 });
    return name;
  };
  write('owner.key', Buffer.from(who.key).toString('hex'));
  const here = (args: readonly string[]): readonly string[] => [...args, '--relay', relay.url, '--key', 'owner.key'];
  const run = ({ input = '', env = {} }: RunOptions, args: readonly string[]): Promise<Ran> => runIn(directory, here(args), input, env);
  return {
    relay, directory, write,
    stored: async (...kinds) => {
      const client = await Client.as(who, relay);
      client.send(['REQ', 'all', { kinds, authors: [who.pubkey] }]);
      await client.next('EOSE', 'all');
      return client.receivedEvents('all');
    },
    skep: (...args) => run({}, args),
    with: (runOptions, ...args) => run(runOptions, args),
    asked: (...args) => askedIn(directory, here(args)),
    editor: (script) => {
      const file = join(directory, write(`editor-${editors += 1}.sh`, `#!/bin/sh\n${script}\n`));
      chmodSync(file, 0o700);
      return file;
    },
  };
}

let editors = 0;

export async function runIn(cwd: string, args: readonly string[], input: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { cwd, stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  // A program that asks nothing reads nothing.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

/** A program that has put its question, and waits. */
export interface Asked {
  readonly child: ChildProcessWithoutNullStreams;
  readonly said: () => string;
  /** Exit code and signal. */
  readonly ended: Promise<unknown>;
}

export async function askedIn(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Asked> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { cwd, env: { ...process.env, ...env } });
  const ended = once(child, 'close');
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => { said += chunk.toString(); });
  await expect.poll(() => said, { timeout: 60_000 }).toContain('[y/N] ');
  return { child, said: () => said, ended };
}
