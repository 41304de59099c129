/**
 * skep's scripted agent: a real ACP agent that plays a script instead of asking a model.
 * `node main.js [script.json|script.yaml]`, JSON-RPC lines on stdin and stdout, noise on stderr. Reads SKEP_BROKER_URL,
 * SKEP_CREDENTIAL and SKEP_SCRIPT_GATES; holds no key. Exit: 0 when stdin ends, 2 with one line for a bad script,
 * otherwise what the script says. This file alone touches the process; docs/scripted-agent.md says how to write one.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { agent } from './agent.ts';
import { brokerCall } from './broker-call.ts';
import type { BrokerCall } from './broker-call.ts';
import { gates } from './gates.ts';
import { lineSplitter, output } from './lines.ts';
import { loadScript } from './load-script.ts';
import { sleep } from './pause.ts';
import { peer } from './peer.ts';
import { actsOf, needsGates } from './read-script.ts';
import type { Ending, Script } from './script.ts';
import type { Outside } from './stage.ts';

/** An agent that does not heed its stdin ends all the same: ten minutes outlast every test and no forgotten one. */
const LONGEST_LIFE_MS = 600_000;

const { env } = process;
const stdout = output(process.stdout);
const stderr = output(process.stderr);

const die = async (ending: Ending): Promise<void> => {
  await Promise.all([stdout.flushed(), stderr.flushed()]);
  if (ending.type === 'exit') return process.exit(ending.code);
  process.kill(process.pid, ending.signal);
  // A stopped process goes on here when it is continued; one that traps the signal was told to live.
  if (ending.signal !== 'SIGSTOP') await new Promise(() => undefined);
};

const refuseToStart = async (detail: string): Promise<never> => {
  await stderr.write(`scripted agent: ${detail}\n`);
  return process.exit(2);
};

async function main(): Promise<void> {
  const loaded = await loadScript(process.argv[2]);
  if (!loaded.ok) return refuseToStart(loaded.detail);
  const { script } = loaded;
  const directory = script.gates === undefined ? env['SKEP_SCRIPT_GATES'] : resolve(loaded.directory, script.gates);
  if (needsGates(script) && !isDirectory(directory)) {
    return refuseToStart(`gates: ${directory ?? 'SKEP_SCRIPT_GATES is not set'}: expected an existing directory`);
  }

  if (script.dieAtStart !== undefined) {
    await sleep(script.dieAtStart.afterMs, new AbortController().signal);
    return die(script.dieAtStart.ending);
  }
  // Nobody reads any more: what the client does about that is its own matter, ours is to end with stdin.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  if (script.ignoreSigterm) process.on('SIGTERM', () => undefined);
  const signals = actsOf(script).flatMap((act) =>
    act.type === 'wait' && act.on.type === 'signal' ? [act.on.signal] : [],
  );
  const outside: Outside = {
    peer: peer(stdout),
    stdout,
    stderr,
    gates: gates(directory, signals),
    broker: broker(),
    env,
    pid: process.pid,
    newId: () => crypto.randomUUID(),
    die,
  };
  for (const line of script.banner) void stdout.write(`${line}\n`);
  listen(script, outside);
}

function listen(script: Script, outside: Outside): void {
  const handlers = agent(script, outside);
  const split = lineSplitter((line) => {
    if (script.echo) void stdout.write(`${line}\n`);
    outside.peer.receive(line, handlers);
  });
  const { dieAfterBytes = Infinity, pauseAfterBytes = Infinity } = script.stdin;
  let bytes = 0;
  process.stdin.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    split(chunk);
    if (bytes >= dieAfterBytes) process.exit(1);
    if (bytes >= pauseAfterBytes) process.stdin.pause();
  });
  process.stdin.on('end', () => {
    if (!script.ignoreStdinEof) void die({ type: 'exit', code: 0 });
  });
  if (script.ignoreStdinEof || pauseAfterBytes !== Infinity) setTimeout(() => process.exit(0), LONGEST_LIFE_MS);
}

function broker(): BrokerCall | undefined {
  const url = env['SKEP_BROKER_URL'];
  const credential = env['SKEP_CREDENTIAL'];
  return url === undefined || credential === undefined ? undefined : brokerCall({ url, credential, sleep });
}

function isDirectory(path: string | undefined): boolean {
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

await main();
