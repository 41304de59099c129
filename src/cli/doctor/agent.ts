/**
 * The check-up of one agent program: it is started in an empty directory, asked what it can, given one session, and ended
 * with everything it started. No prompt is sent, no key and no credential is given.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { commandLine, recognizeAdapter } from '../../../adapters/index.ts';
import type { AdapterProfile } from '../../../adapters/index.ts';
import { childEnvironment, ENV_PROCESS, findProgram, startAgent } from '../../acp/index.ts';
import type { AgentProcess, LaunchPlan, SessionStarted, WishedSettings } from '../../acp/index.ts';
import { silentLog } from '../../model/index.ts';
import { answerAtOnce } from '../../permission/index.ts';
import { steadyClock, systemRandom } from '../../system/index.ts';
import { VERSION } from '../version.ts';
import { readFacts } from './facts.ts';
import type { Facts } from './facts.ts';
import { hint, ok, problem } from './finding.ts';
import type { Finding } from './finding.ts';
import { memoryOfTree } from './memory.ts';
import { absent, lacking, noSession, notStarted } from './mend.ts';
import { nodeFinding } from './node.ts';

export interface Patient {
  readonly name: string;
  readonly adapter: AdapterProfile;
  readonly args: readonly string[];
  /** The operator's own. */
  readonly env: Readonly<Record<string, string>>;
  /** What the agent's relative paths are seen from. */
  readonly cwd: string;
  /** What the config wants every session to be put to. */
  readonly wished?: WishedSettings;
}

export interface Examination {
  readonly patient: string;
  readonly facts?: Facts;
  readonly startMs?: number;
  readonly sessionMs?: number;
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly findings: readonly Finding[];
}

const STANDING = 'You are being looked at by skep doctor. Nobody will prompt you.';

export async function examine({ name, adapter, args, env, cwd, wished = {} }: Patient, signal?: AbortSignal): Promise<Examination> {
  const line = commandLine(adapter, process.execPath, args);
  const environment = childEnvironment({ parent: process.env, extra: { ...adapter.environment, ...env }, own: { [ENV_PROCESS]: mark() } });
  const program = findProgram({ command: line.command, cwd, env: environment });
  if (program === undefined) return { patient: name, findings: [absent('program', { command: line.command, cwd, env: environment }, adapter)] };
  const before = [ok('program', program), ...needsOf(adapter, environment, cwd), ...(await nodeFinding(adapter, environment, cwd))];
  const directory = mkdtempSync(join(tmpdir(), 'skep-doctor-'));
  try {
    const plan: LaunchPlan = { agentName: name, command: program, args: line.args.map((arg) => seenFrom(cwd, arg)), cwd: directory, env: environment };
    const begunMs = steadyClock.now();
    const started = await startAgent({
      plan, dialect: adapter.dialect, version: VERSION, permission: answerAtOnce('reject'), clock: steadyClock, log: silentLog,
      ...(signal && { signal }),
    });
    if (!started.ok) return { patient: name, findings: [...before, notStarted(started.end, adapter)] };
    const startMs = steadyClock.now() - begunMs;
    try {
      return await look({ name, adapter, wished, process: started.process, directory, startMs, before });
    } finally {
      await started.process.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A file that an argument names by a relative path is not where the program is started: it is named by its whole path. */
function seenFrom(cwd: string, arg: string): string {
  return /[./]/.test(arg) && existsSync(resolve(cwd, arg)) ? resolve(cwd, arg) : arg;
}

/** By which everything that the program starts is known again, and ended with it. */
function mark(): string {
  return Buffer.from(systemRandom.bytes(16)).toString('hex');
}

interface Looking {
  readonly name: string;
  readonly adapter: AdapterProfile;
  readonly wished: WishedSettings;
  readonly process: AgentProcess;
  readonly directory: string;
  readonly startMs: number;
  readonly before: readonly Finding[];
}

async function look({ name, adapter, wished, process: agent, directory, startMs, before }: Looking): Promise<Examination> {
  const begunMs = steadyClock.now();
  const session = await agent.newSession({ cwd: directory, wished, ...(agent.takesSystemPrompt && { systemPrompt: STANDING }) });
  const sessionMs = steadyClock.now() - begunMs;
  const memory = await memoryOfTree(agent.pid);
  const facts = readFacts(agent.initialized, session.ok ? session.answer : undefined);
  return {
    patient: name, facts, startMs, sessionMs,
    ...(memory && { memoryBytes: memory.bytes, processes: memory.processes }),
    findings: [
      ...(session.ok ? before.map(allTheSame) : before),
      ok('start', `answered initialize after ${startMs} ms`),
      ...(session.ok ? opened(session, facts, { adapter, wished, process: agent }, sessionMs) : [noSession(session, adapter)]),
      ...kinship(adapter, agent),
    ],
  };
}

/** A program may run on another Node than its package asks for, or on one of its own. */
function allTheSame(finding: Finding): Finding {
  const { about, is, what } = finding;
  return about === 'node' && is === 'problem' ? { ...finding, is: 'hint', what: `${what}; it starts all the same` } : finding;
}

function opened(
  session: Extract<SessionStarted, { readonly ok: true }>, facts: Facts, { adapter, wished, process }: Pick<Looking, 'adapter' | 'wished' | 'process'>, sessionMs: number,
): readonly Finding[] {
  return [
    ok('session', `opened after ${sessionMs} ms`),
    ok('instructions', session.tookSystemPrompt ? `in the system role, ${wayOf(facts, adapter)}` : 'before the first prompt of each session'),
    wished.mode === undefined ? asking(facts, adapter) : hint('permission', `the config puts each session into the mode ${wished.mode}: it asks as that does`, 'leave mode out, and skep takes the one in which it asks, where one is known'),
    afterwards(process.reopens),
    ...settingsOf(wished, session),
  ];
}

/** Whether its conversations outlive a process of it. */
function afterwards(reopens: AgentProcess['reopens']): Finding {
  return ok('after its end', reopens === 'none' ? 'each conversation begins anew, and is given its context again' : `conversations are gone on with by session/${reopens}, as it says`);
}

function settingsOf(wished: WishedSettings, { refused }: Extract<SessionStarted, { readonly ok: true }>): readonly Finding[] {
  return (['model', 'mode', 'effort'] as const).flatMap((setting) => {
    const value = wished[setting];
    if (value === undefined) return [];
    const no = refused.find((one) => one.setting === setting);
    if (no === undefined) return [ok(setting, value)];
    const mend = no.offered.length === 0 ? `leave ${setting} out: it offers none` : `one of ${no.offered.join(', ')}`;
    return [problem(setting, `${value} is not set: ${no.detail}`, mend)];
  });
}

function wayOf({ systemPrompt }: Facts, { dialect }: AdapterProfile): string {
  if (systemPrompt) return 'as systemPrompt of session/new';
  return dialect.standing === 'goose-method' ? 'by goose\'s own method' : 'as _meta.systemPrompt of session/new';
}

/** Whether it will ask before it acts. */
function asking({ modes }: Facts, { dialect: { startMode }, asking: { by, how } }: AdapterProfile): Finding {
  if (by === 'nothing') return hint('permission', how, 'give it only what it may do: it cannot be stopped by an answer');
  if (startMode !== undefined && modes.includes(startMode)) return ok('permission', `it asks: skep puts each session into the mode ${startMode}`);
  if (by === 'environment') return ok('permission', how);
  // Named by its profile or by the operator, and not to be had.
  if (by === 'start-mode' || startMode !== undefined) {
    const mend = modes.length === 0 ? 'it offers no modes: see its documentation, and leave adapter.mode out' : 'see its modes below, and name one as adapter.mode';
    return problem('permission', `it may act without asking: no mode ${startMode ?? ''} is offered`, mend);
  }
  const what = by === 'settings' ? `it asks as its own settings say: ${how}` : 'nobody knows whether it asks';
  return hint('permission', what, 'see its documentation; adapter.mode names a mode that every session is put into');
}

function needsOf({ needs: { programs = [], trust, login } }: AdapterProfile, env: Readonly<Record<string, string>>, cwd: string): readonly Finding[] {
  const sought = programs.map((command) => ({ command, cwd, env })).filter((one) => findProgram(one) === undefined);
  return [
    ...sought.map(lacking),
    ...(trust !== undefined && env[trust.name] !== trust.value ? [hint('folder', trust.without, `set ${trust.name}=${trust.value} in env where the agent's cwd is to be trusted`)] : []),
    ...(login === undefined ? [] : [ok('login', `not tried; it comes from: ${login}`)]),
  ];
}

/** A program of the catalogue that the config does not call so. */
function kinship(adapter: AdapterProfile, { agentInfo }: AgentProcess): readonly Finding[] {
  const known = recognizeAdapter({ agentName: agentInfo.name, ...(adapter.launch.runs === 'command' && { command: adapter.launch.command }) });
  // One that is like another has its documentation, too.
  if (known === undefined || adapter.name !== 'custom' || adapter.docsUrl === known.docsUrl) return [];
  return [hint('adapter', `this is ${known.title}`, `say like: ${known.name}, so that it is spoken to as such`)];
}
