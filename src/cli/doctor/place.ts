/** The check-up of the place itself: config, keys, relay, broker, disk, limits, and whether the programs are there. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import WebSocket from 'ws';
import { commandLine } from '../../../adapters/index.ts';
import { childEnvironment, findProgram } from '../../acp/index.ts';
import type { AgentConfig, Config, RelayConfig } from '../../config/index.ts';
import { askStatus, socketPathOf } from '../../control/index.ts';
import { Failure } from '../../model/index.ts';
import { openFilesLimit } from '../open-files.ts';
import { plural } from '../print.ts';
import { hint, ok, problem } from './finding.ts';
import type { Finding } from './finding.ts';
import { absent } from './mend.ts';

const STATUS_MS = 2_000;
const RELAY_MS = 10_000;
/** Files that an agent process and its connection take, and what skep takes itself. */
const FILES_EACH = 16;
const FILES_OURS = 128;
const LOW_BYTES = 1024 ** 3;
const TOO_LOW_BYTES = 64 * 1024 ** 2;

export async function examinePlace(config: Config): Promise<readonly Finding[]> {
  const runs = await runningPid(config.dataDirectory);
  const { agents, warnings, file } = config;
  return [
    ok('config', `${file}, ${plural(agents.length, 'agent')}`),
    ...warnings.map((warning) => hint('config', warning, 'change it, or leave it as it is meant')),
    ok('keys', `${plural(agents.length, 'key')} read, each of its own and readable by nobody else`),
    runs === undefined ? ok('supervisor', 'none runs here') : ok('supervisor', `runs as process ${runs}; skep status tells more`),
    await relay(config.relay, runs !== undefined),
    await broker(config.broker, runs !== undefined),
    ...disk(config.dataDirectory),
    limits(agents),
    ...agents.map(programOf),
  ];
}

async function runningPid(directory: string): Promise<number | undefined> {
  try {
    return (await askStatus(socketPathOf(directory), STATUS_MS)).pid;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

async function relay(relay: RelayConfig, runs: boolean): Promise<Finding> {
  if (relay.type === 'remote') {
    const refused = await connects(relay.url);
    if (refused === undefined) return ok('relay', `${relay.url} answers`);
    return problem('relay', `${relay.url}: ${refused}`, 'see that the URL is right, that the relay runs, and that this machine may reach it');
  }
  const { host, port } = relay;
  const where = `in the box, on ${host} port ${port === 0 ? 'of the system\'s choice' : port}`;
  if (runs) return ok('relay', where);
  const taken = await listenable(host, port);
  return taken === undefined ? ok('relay', where) : problem('relay', `${where}: ${taken}`, 'end what listens there, or set another embedded.port');
}

async function broker({ address, port, endpoint }: Config['broker'], runs: boolean): Promise<Finding> {
  const where = `${address} port ${port === 0 ? 'of the system\'s choice' : port}${endpoint === undefined ? '' : `, known as ${endpoint}`}`;
  if (runs) return ok('broker', where);
  const taken = await listenable(address, port);
  return taken === undefined ? ok('broker', where) : problem('broker', `${where}: ${taken}`, 'end what listens there, or set another broker.port');
}

/** Why nothing can listen there, or undefined. */
function listenable(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => { resolve(error.message); });
    server.listen({ host, port }, () => server.close(() => { resolve(undefined); }));
  });
}

/** Why no WebSocket opens there, or undefined. */
function connects(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { handshakeTimeout: RELAY_MS });
    socket.once('open', () => {
      socket.terminate();
      resolve(undefined);
    });
    // Terminating one that is not open yet is an error of its own, which nobody waits for.
    socket.on('error', (error) => { resolve(error.message); });
  });
}

function disk(directory: string): readonly Finding[] {
  let there = directory;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
  } catch {
    return [problem('disk', `${there} cannot be written to`, 'give its user the right to, or set another data')];
  }
  const { bavail, bsize } = statfsSync(there);
  const free = bavail * bsize;
  const what = `${directory}, ${Math.floor(free / 1024 ** 2)} MiB free`;
  if (free < TOO_LOW_BYTES) return [problem('disk', what, 'make room: what cannot be stored is not answered')];
  return [free < LOW_BYTES ? hint('disk', what, 'make room before it is needed') : ok('disk', what)];
}

function limits(agents: readonly AgentConfig[]): Finding {
  const needed = FILES_OURS + FILES_EACH * agents.reduce((sum, { processes }) => sum + processes, 0);
  const limit = openFilesLimit();
  const what = `${limit === Number.POSITIVE_INFINITY ? 'no limit of' : `at most ${limit}`} open files`;
  return limit >= needed ? ok('limits', what) : problem('limits', `${what}, about ${needed} are needed`, `ulimit -n ${needed * 2}`);
}

/** Whether the agent's program is there; looks at files alone. */
export function programOf({ name, adapter, args, env, cwd }: AgentConfig): Finding {
  const { command } = commandLine(adapter, process.execPath, args);
  const sought = { command, cwd, env: childEnvironment({ parent: process.env, extra: { ...adapter.environment, ...env } }) };
  const found = findProgram(sought);
  return found === undefined
    ? absent(name, sought, adapter)
    : ok(name, `${found}; skep doctor ${name} starts it`);
}
