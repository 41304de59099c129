/** docs/personas.md: every command of the ten minutes is run as it stands, in order, and says what the page says. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../setup/temp.ts';
import { LAUNCHER, runSkep, startSkep, stopAll } from '../skep.ts';
import type { Skep } from '../skep.ts';
import type { Ran } from './box.ts';

afterEach(stopAll);

const PAGE = readFileSync(fileURLToPath(new URL('../../../docs/personas.md', import.meta.url)), 'utf8');

interface Step {
  readonly command: string;
  /** What the page shows of its stdout; `…` stands for any text in a line, alone for any lines. */
  readonly shown: readonly string[];
}

const steps = [...PAGE.matchAll(/^```console\n(.*?)^```/gms)].flatMap(([, block = '']) =>
  block.split(/^\$ /m).slice(1).map((part): Step => {
    const [command = '', ...shown] = part.trimEnd().split('\n');
    return { command, shown };
  }));

interface Hashed {
  readonly sha256: string;
}
interface Status {
  readonly launches: readonly { readonly name: string; readonly status: string; readonly pinned: { readonly own: Hashed; readonly team: Hashed } }[];
}
interface Plan {
  readonly own: { readonly delivered: Hashed };
  readonly team: { readonly delivered: Hashed };
}

function asShown(shown: readonly string[]): RegExp {
  const escape = (part: string): string => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${shown.map((line) => (line === '…' ? '(?:.*\n)*' : `${line.split('…').map(escape).join('.+')}\n`)).join('')}$`);
}

/** A person at a terminal who says yes, whose editor adds a line, and who has skep on their path. */
class Terminal {
  #folder = temporaryDirectory();
  readonly #environment: NodeJS.ProcessEnv;
  #up: Skep | undefined;

  constructor() {
    const bin = join(this.#folder, '.bin');
    mkdirSync(bin);
    for (const [name, script] of [['skep', `exec "${process.execPath}" "${LAUNCHER}" "$@"`], ['rhymes', 'echo "Answer in rhymes." >> "$1"']] as const) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o700);
    }
    this.#environment = { ...process.env, PATH: [bin, process.env['PATH'] ?? ''].join(delimiter), EDITOR: 'rhymes', VISUAL: '' };
  }

  async type(command: string): Promise<Ran> {
    if (command === 'skep up') return this.#restart();
    const [, into] = /^cd (\S+)$/.exec(command) ?? [];
    if (into !== undefined) {
      this.#folder = join(this.#folder, into);
      return { code: 0, stdout: '', stderr: '' };
    }
    const child = spawn('/bin/sh', ['-c', command], { cwd: this.#folder, env: this.#environment, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => undefined);
    child.stdin.end('y\n');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (command.startsWith('skep init')) this.#anyPort(join(this.#folder, command.split(' ').at(-1) ?? '', 'skep.yaml'));
    return { code: child.exitCode, stdout, stderr };
  }

  /** The port of the page may be taken here. */
  #anyPort(config: string): void {
    writeFileSync(config, readFileSync(config, 'utf8').replace('port: 7447', 'port: 0'));
  }

  async #restart(): Promise<Ran> {
    this.#up?.kill('SIGINT');
    const ended = await this.#up?.ended;
    if (ended !== undefined) expect(ended).toMatchObject({ code: 0 });
    this.#up = startSkep(['up'], this.#folder);
    await this.#up.says('Ctrl-C stops');
    return { code: 0, stdout: '', stderr: '' };
  }
}

describe('the page', () => {
  it('does what it says, command by command', async () => {
    expect(steps.length).toBeGreaterThan(25);
    const terminal = new Terminal();
    for (const { command, shown } of steps) {
      // What a supervisor knows of a save comes to it a moment later.
      if (command === 'skep status') {
        await expect.poll(async () => (await terminal.type(command)).stdout, { timeout: 60_000, message: command }).toMatch(asShown(shown));
        continue;
      }
      const ran = await terminal.type(command);
      expect({ command, ...ran }).toMatchObject({ command, code: 0 });
      if (shown.length > 0) expect(ran.stdout, command).toMatch(asShown(shown));
    }
    // Rolled back once: what holds is what was first, and all three are in the history.
    const { stdout } = await terminal.type('skep instructions show team Bees');
    expect(stdout).toBe('Write in whole sentences.\n');
    // What the agents that run were told is what the plan says, to the byte.
    const { launches } = JSON.parse((await terminal.type('skep status --json')).stdout) as Status;
    expect(launches.map(({ name }) => name).sort()).toEqual(['helper', 'scout', 'scribe']);
    for (const { name, status, pinned } of launches) {
      const plan = JSON.parse((await terminal.type(`skep launch plan ${name} --json`)).stdout) as Plan;
      expect(plan).toMatchObject({ starts: true, team: { delivered: { bytes: 25 } }, teams: [{ name: 'Bees' }] });
      expect({ status, own: pinned.own.sha256, team: pinned.team.sha256 }).toEqual({ status: 'running', own: plan.own.delivered.sha256, team: plan.team.delivered.sha256 });
    }
  }, 600_000);

  it.each(['persona', 'instructions', 'team', 'launch'])('names every verb of skep %s, and no other', async (verb) => {
    const { stdout } = await runSkep([verb, '--help'], temporaryDirectory());
    const verbs = [...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, name = '']) => name);
    expect(verbs.length).toBeGreaterThan(0);
    const [, table = ''] = verb === 'launch' ? ['', PAGE] : new RegExp(`^\\| \`skep ${verb}.*?\\n(.*?)\\n\\n`, 'ms').exec(PAGE) ?? [];
    for (const name of verbs) expect(table).toMatch(new RegExp(`\`(?:skep launch )?${name}\\b`));
  });

  it('tells a difference between what it shows and what is said', () => {
    expect('a 1\nb\nc\nend\n').toMatch(asShown(['a …', '…', 'end']));
    expect('a 1\nb\n').not.toMatch(asShown(['a …']));
    expect('a.\n').not.toMatch(asShown(['ab']));
  });
});
