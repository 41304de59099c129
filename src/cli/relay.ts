/** `skep relay`: the relay in the box, alone, until a signal. */
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { lockDataDirectory } from '../control/index.ts';
import { openLog } from '../log/index.ts';
import { openRelay } from '../relay/index.ts';
import { relayKey } from '../relay-key.ts';
import { steadyClock, systemClock, systemRandom } from '../system/index.ts';
import { print, tell } from './print.ts';
import { watchSignals } from './signals.ts';

interface RelayFlags {
  readonly port: number;
  readonly host: string;
  readonly data: string;
  readonly url?: string;
}

export function relayVerb(program: Command): void {
  program
    .command('relay')
    .description('run the relay in the box alone until SIGINT or SIGTERM')
    .option('-p, --port <number>', 'the port; 0 takes a free one', parsePort, 7447)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('-d, --data <directory>', 'where it keeps its events and its key', '.skep')
    .option('--url <wss://...>', 'what clients outside connect to, where a TLS proxy stands in front: AUTH must name it', parseUrl)
    .action(serveRelay);
}

async function serveRelay({ port, host, data, url }: RelayFlags): Promise<void> {
  const directory = resolve(data);
  const lock = lockDataDirectory(directory);
  try {
    const relay = await openRelay({
      port, host, names: { port: '--port', host: '--host' },
      ...(url === undefined ? {} : { publicUrl: url }),
      storePath: join(directory, 'relay.db'),
      secretKey: relayKey(join(directory, 'relay.key'), systemRandom),
      clock: systemClock, steadyClock, random: systemRandom, log: openLog('info'),
    });
    print(`relay ${relay.url}${url === undefined ? '' : `, to clients ${url}`}`);
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

function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRelay = url?.protocol === 'ws:' || url?.protocol === 'wss:';
  if (url !== undefined && isRelay && url.username === '' && url.password === '' && url.hash === '') return url.href;
  throw new InvalidArgumentError('expected a ws:// or wss:// URL without user, password or fragment');
}
