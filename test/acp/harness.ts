/**
 * Starts real agent programs through the door and sees to it that none outlives its test: every process met is kept
 * with its start time, and looked for at the end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { scriptedModule, USAGE_BY_LOOKING } from '../../adapters/index.ts';
import { childEnvironment, startAgent } from '../../src/acp/index.ts';
import type {
  AcpLimits,
  AgentProcess,
  AgentStart,
  IncomingRequest,
  LaunchPlan,
  OpenPermissionDesk,
  PermissionAnswer,
  PermissionRequest,
  PromptOutcome,
  StartOptions,
} from '../../src/acp/index.ts';
import { silentLog } from '../../src/model/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

/** Short enough to meet, long enough for a busy machine. */
export const SHORT: Partial<AcpLimits> = {
  closeMs: 100,
  stdinGraceMs: 300,
  termGraceMs: 300,
  killWaitMs: 2_000,
  cancelGraceMs: 1_500,
  idleCancelGraceMs: 1_500,
};

export interface Tapped {
  readonly direction: 'read' | 'write';
  readonly text: string;
}

export interface Started {
  readonly process: AgentProcess;
  readonly lines: readonly Tapped[];
  readonly asked: readonly IncomingRequest[];
  readonly directory: string;
}

export type Options = Partial<Omit<StartOptions, 'plan' | 'permission'>> & {
  /** Answers at once; in the place of it `desk` answers as it likes. */
  readonly permission?: (request: PermissionRequest) => PermissionAnswer;
  readonly desk?: OpenPermissionDesk;
  readonly env?: Readonly<Record<string, string>>;
  readonly command?: readonly [string, ...string[]];
};

const processes: AgentProcess[] = [];
const met = new Map<number, string>();

/** A script for the scripted agent, or the words of a command. */
export function plan(what: object | readonly [string, ...string[]], options: Options = {}): LaunchPlan {
  const cwd = temporaryDirectory();
  const env = childEnvironment({ parent: { PATH: process.env['PATH'], HOME: cwd }, extra: options.env ?? {} });
  if (isCommand(what)) {
    const [command, ...args] = what;
    return { agentName: 'tester', command, args, cwd, env };
  }
  const script = join(cwd, 'script.json');
  writeFileSync(script, JSON.stringify({ v: 1, gates: '.', rules: [{ do: [] }], ...what }));
  const [command = process.execPath, ...before] = options.command ?? [];
  return {
    agentName: 'tester',
    command,
    args: [...before, ...(options.command === undefined ? [] : [process.execPath]), scriptedModule(), script],
    cwd,
    env,
  };
}

/** A program of test/acp/programs. */
export function program(name: string, ...args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url)), ...args];
}

export async function tryStart(
  launch: LaunchPlan,
  options: Options = {},
): Promise<AgentStart & { readonly lines: Tapped[]; readonly asked: IncomingRequest[] }> {
  const lines: Tapped[] = [];
  const asked: IncomingRequest[] = [];
  const { permission = () => ({ outcome: 'cancelled' }), desk = answering(permission), ...rest } = options;
  const started = await startAgent({
    dialect: { standing: 'capability', usage: USAGE_BY_LOOKING },
    version: '1.2.3',
    clock: steadyClock,
    log: silentLog,
    ...rest,
    plan: launch,
    permission: (doors) => {
      const opened = desk(doors);
      return {
        ...opened,
        requested: (request, reply) => {
          asked.push(request);
          opened.requested(request, reply);
        },
      };
    },
    onLine: (direction, text, about) => {
      lines.push({ direction, text });
      options.onLine?.(direction, text, about);
    },
    onSpawn: (pid) => {
      meet(pid);
      options.onSpawn?.(pid);
    },
    limits: { ...SHORT, ...options.limits },
  });
  if (started.ok) processes.push(started.process);
  return { ...started, lines, asked };
}

/** Hears of nothing but requests, and answers them at once. */
export function answering(policy: (request: IncomingRequest) => PermissionAnswer): OpenPermissionDesk {
  const nothing = (): void => undefined;
  return () => ({
    requested: (request, reply) => void reply(policy(request)),
    turnCancelled: nothing, turnOver: nothing, stopping: nothing, ended: nothing,
  });
}

/** Starts an agent that must start. */
export async function start(what: object | readonly [string, ...string[]], options: Options = {}): Promise<Started> {
  const launch = plan(what, options);
  const started = await tryStart(launch, options);
  if (!started.ok) throw new Error(`the agent did not start: ${JSON.stringify(started.end)}`);
  return { process: started.process, lines: started.lines, asked: started.asked, directory: launch.cwd };
}

export async function open({ process: agent, directory }: Started): Promise<string> {
  const session = await agent.newSession({ cwd: directory });
  if (!session.ok) throw new Error(`no session: ${session.detail}`);
  return session.sessionId;
}

export function say(
  agent: AgentProcess,
  sessionId: string,
  text = 'go',
  bounds: { readonly turnId?: string; readonly idleTimeoutMs?: number; readonly hardTimeoutMs?: number; readonly onSent?: () => void } = {},
): Promise<PromptOutcome> {
  return agent.prompt({ sessionId, blocks: [text], idleTimeoutMs: 15_000, hardTimeoutMs: 15_000, ...bounds });
}

/** One agent, one session, one prompt. */
export async function play(
  what: object,
  options: Options = {},
): Promise<Started & { readonly sessionId: string; readonly outcome: PromptOutcome }> {
  const started = await start(what, options);
  const sessionId = await open(started);
  return { ...started, sessionId, outcome: await say(started.process, sessionId) };
}

/** Keeps a process in mind, so that the end of the test can look for it. */
export function meet(pid: number): void {
  const started = startTime(pid);
  if (started !== undefined) met.set(pid, started);
}

/** Whether the process met under that pid is still running. */
export function alive(pid: number): boolean {
  return met.has(pid) && startTime(pid) === met.get(pid);
}

/** For afterEach: stops what runs, then expects that no process met is left. */
export async function noneLeft(): Promise<void> {
  await Promise.all(processes.splice(0).map((agent) => agent.stop()));
  const left = [...met.keys()].filter(alive);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  met.clear();
  expect(left, 'processes left').toEqual([]);
}

/** Polls a condition of the outside world with the real event loop; fails by the test's own timeout. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** The pid an agent's script wrote as a mark or a file holds. */
export async function pidIn(directory: string, name: string): Promise<number> {
  const path = join(directory, name);
  await until(() => text(path).trim() !== '');
  const pid = Number(text(path));
  meet(pid);
  return pid;
}

export interface Program {
  readonly pid: number;
  readonly kill: () => Promise<void>;
  readonly exited: Promise<unknown>;
}

/** Any program, in a group of its own, that is not under supervision. */
export function run(command: string, args: readonly string[], cwd?: string): Program {
  const child = spawn(command, args, { stdio: 'ignore', detached: true, ...(cwd === undefined ? {} : { cwd }) });
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    exited,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Start time of a running process; undefined when it is gone or a zombie. */
export function startTime(pid: number): string | undefined {
  const stat = text(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' || fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isCommand(what: object | readonly [string, ...string[]]): what is readonly [string, ...string[]] {
  return Array.isArray(what);
}
