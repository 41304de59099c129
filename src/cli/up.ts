/**
 * `skep up`: runs a config until a signal. The first stops taking work and lets turns in flight end within the grace;
 * the second cuts them short, to be taken up again by the next `skep up`. Each says what happens next.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { loadConfig } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { openLog } from '../log/index.ts';
import { later, LOG_LEVELS } from '../model/index.ts';
import type { LogLevel } from '../model/index.ts';
import { toNpub } from '../nostr/index.ts';
import type { Running } from '../root.ts';
import { steadyClock, systemClock, systemRandom } from '../system/index.ts';
import { ago, plural, print, safe, tell } from './print.ts';
import { exitCodeFor, watchSignals } from './signals.ts';
import type { EndSignal } from './signals.ts';
import { VERSION } from './version.ts';

interface UpFlags {
  readonly config: string;
  readonly logLevel?: LogLevel;
  readonly record?: string;
}

export function upVerb(program: Command): void {
  program
    .command('up')
    .description('run the agents of a config until SIGINT or SIGTERM')
    .option('-c, --config <file>', 'the config file', 'skep.yaml')
    .addOption(new Option('--log-level <level>', 'instead of the config\'s').choices(LOG_LEVELS))
    .option('--record <dir>', 'write every turn, and the stream around it, to this directory as it happens')
    .action(async (flags: UpFlags) => {
      process.exitCode = await up(flags);
    });
}

/** Resolves with the exit code; rejects with what kept it from starting or ended it. */
async function up({ config: file, logLevel, record }: UpFlags): Promise<number> {
  const written = loadConfig(file);
  const config = record === undefined ? written : { ...written, recordDirectory: resolve(record) };
  const log = openLog(logLevel ?? config.logLevel);
  for (const warning of config.warnings) log.warn(warning);
  const ending = watchEnding(config);
  try {
    // Loaded by need: the verbs that only read and compute start sooner, and where this cannot (--jitless).
    const { start } = await import('../root.ts');
    const running = await start(config, {
      clock: systemClock, steadyClock, random: systemRandom, log,
      version: VERSION, nodePath: process.execPath, environment: process.env,
    });
    tellStart(config, running);
    ending.follow(running);
    await running.closed;
    const code = await ending.exitCode();
    print('stopped');
    return code;
  } finally {
    ending.stop();
  }
}

interface Ending {
  /** From now on signals end `running`; one that came before does so at once. */
  readonly follow: (running: Running) => void;
  /** Rejects with what went wrong while closing. */
  readonly exitCode: () => Promise<number>;
  readonly stop: () => void;
}

/** An end that takes no longer needs no more words. */
const PATIENCE_MS = 2_000;

function watchEnding({ graceMs }: Config): Ending {
  let running: Running | undefined;
  let cancelWord = (): void => undefined;
  let asked = false;
  let closing: Promise<void> | undefined;
  let forcedBy: EndSignal | undefined;
  const close = (): void => {
    closing = running?.close(graceMs);
    // Looked at in `exitCode`, when everything has ended.
    closing?.catch(() => undefined);
  };
  const stop = watchSignals({
    first: () => {
      asked = true;
      const turns = running === undefined ? 0 : turnsOf(running);
      const early = 'stopping as soon as it has started; press again to end now';
      tell(running === undefined ? early : promise(turns, graceMs));
      // Of turns it is told already how long they may take.
      if (turns === 0) {
        cancelWord = steadyClock.wake(later(steadyClock.now(), PATIENCE_MS), () => {
          tell(`still stopping: up to ${ago(graceMs)} for agents to end, and for what is on its way to the relay; press again to end now`);
        });
      }
      close();
    },
    second: (signal) => {
      forcedBy = signal;
      cancelWord();
      if (running === undefined) process.exit(exitCodeFor(signal));
      tell('ending now: turns in flight are cut short and come back at the next start; once more ends without waiting');
      running.force();
    },
  });
  return {
    follow: (started) => {
      running = started;
      if (asked) close();
    },
    exitCode: async () => {
      await closing;
      return forcedBy === undefined ? 0 : exitCodeFor(forcedBy);
    },
    stop: () => {
      cancelWord();
      stop();
    },
  };
}

function turnsOf(running: Running): number {
  return running.snapshot().agents.reduce((sum, agent) => sum + agent.turns.length, 0);
}

function promise(turns: number, graceMs: number): string {
  return turns === 0
    ? 'stopping: no turn in flight'
    : `stopping: up to ${ago(graceMs)} for ${plural(turns, 'turn')} in flight; press again to end now`;
}

function tellStart(config: Config, running: Running): void {
  const where = config.relay.type === 'embedded' ? `the relay in the box, ${running.relayUrl}` : running.relayUrl;
  print(`skep ${VERSION}: ${plural(config.agents.length, 'agent')} on ${where}`);
  for (const { name, pubkey } of config.agents) print(`  ${name}  ${toNpub(pubkey)}`);
  if (config.recordDirectory !== undefined) print(`recording every turn in ${safe(config.recordDirectory)}`);
  print('Ctrl-C stops');
}
