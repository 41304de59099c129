/** `skep relay`: the relay in the box, alone, until a signal. */
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { lockDataDirectory } from '../control/index.ts';
import { openLog } from '../log/index.ts';
import { openRelay } from '../relay/index.ts';
import { relayKey } from '../relay-key.ts';
import { systemClock, systemRandom } from '../system/index.ts';
import { print, tell } from './print.ts';
import { watchSignals } from './signals.ts';

interface RelayFlags {
  readonly port: number;
  readonly host: string;
  readonly data: string;
}

export function relayVerb(program: Command): void {
  program
    .command('relay')
    .description('run the relay in the box alone until SIGINT or SIGTERM')
    .option('-p, --port <number>', 'the port; 0 takes a free one', parsePort, 7447)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('-d, --data <directory>', 'where it keeps its events and its key', '.skep')
    .action(serveRelay);
}

async function serveRelay({ port, host, data }: RelayFlags): Promise<void> {
  const directory = resolve(data);
  const lock = lockDataDirectory(directory);
  try {
    const relay = await openRelay({
      port, host,
      storePath: join(directory, 'relay.db'),
      secretKey: relayKey(join(directory, 'relay.key'), systemRandom),
      clock: systemClock, random: systemRandom, log: openLog('info'),
    });
    print(`relay ${relay.url}`);
    print('Ctrl-C stops');
    await untilSignal(() => relay.close());
    print('stopped');
  } finally {
    lock.release();
  }
}

/** Resolves when `close` has, after the first signal. */
function untilSignal(close: () => Promise<void>): Promise<void> {
  return new Promise((done, failed) => {
    const stop = watchSignals({
      first: () => {
        tell('stopping; press twice more to end without waiting');
        close().finally(() => { stop(); }).then(done, failed);
      },
      second: () => tell('still stopping; once more ends without waiting'),
    });
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('expected a whole number 0..65535');
}
