/**
 * Starts an agent program and hands it out when it has answered `initialize`; five kinds of failure before that are
 * told apart. Puts the parts together and decides nothing of its own.
 */
import type { Dialect } from '../../adapters/index.ts';
import { excerpt, later, unreachable, within } from '../model/index.ts';
import type { Clock, Log, Milliseconds } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { spawnChild } from './child.ts';
import { endAtStart } from './ends.ts';
import { initializeParams, readInitialize } from './handshake.ts';
import type { Leak } from './leaks.ts';
import { recordProcess } from './leftovers.ts';
import { markOf } from './mark.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { AcpLimits } from './limits.ts';
import type { OpenPermissionDesk } from './permission-ports.ts';
import type { AgentProcess, LaunchPlan, LineTap, ProcessEnd } from './ports.ts';
import { agentProcess, attach, STOPPED } from './running.ts';
import type { Running } from './running.ts';

const MAX_DETAIL = 500;

export interface StartOptions {
  readonly plan: LaunchPlan;
  /** What the adapter's profile knows of how it speaks. */
  readonly dialect: Dialect;
  /** Our own version, for `clientInfo`. */
  readonly version: string;
  readonly permission: OpenPermissionDesk;
  /** For deadlines alone: one that nobody sets, so that a turn's timeouts hold when the system's clock is set. */
  readonly clock: Clock;
  readonly log: Log;
  /** Where running processes are on record; without it a crash of ours leaves them to themselves. */
  readonly store?: Store;
  readonly onLine?: LineTap;
  /** Told of what is left of the program when it has ended. */
  readonly onLeak?: (leak: Leak) => void;
  readonly onSpawn?: (pid: number) => void;
  /** Gives the start up: the process is ended, and the end is `stopped`. */
  readonly signal?: AbortSignal;
  readonly limits?: Partial<AcpLimits>;
}

export type AgentStart =
  { readonly ok: true; readonly process: AgentProcess } | { readonly ok: false; readonly end: ProcessEnd };

/**
 * Resolves in bounded time; when not ok, nothing of the program is left. Rejects only with the store's `Failure`, when
 * the process could not be put on record (it is ended then).
 */
export async function startAgent(options: StartOptions): Promise<AgentStart> {
  const { plan, clock, store, onSpawn, signal } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const givenUp = (): boolean => signal?.aborted === true;
  if (givenUp()) return { ok: false, end: STOPPED };
  const startBy = later(clock.now(), limits.startMs);
  const spawned = await spawnChild(plan);
  if (!spawned.ok) return spawned;

  const running = attach({ ...options, child: spawned.child, limits });
  const { lifetime } = running;
  const giveUp = (): void => {
    lifetime.end(STOPPED);
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  if (givenUp()) giveUp();
  try {
    onSpawn?.(spawned.child.pid);
    if (store !== undefined) {
      await recordProcess(store, { ...(await running.leader), agent: plan.agentName, mark: markOf(plan.env), cwd: plan.cwd });
    }
    const ready = await shakeHands(running, options, { startBy, startMs: limits.startMs });
    if (ready !== undefined && !givenUp()) return { ok: true, process: ready };
    return { ok: false, end: endAtStart(await lifetime.ended, plan.command) };
  } catch (error) {
    giveUp();
    await lifetime.ended;
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** The process when it is ready; otherwise undefined, and its end is under way. */
async function shakeHands(
  running: Running,
  { plan, dialect, version, clock, log }: StartOptions,
  { startBy, startMs }: { readonly startBy: Milliseconds; readonly startMs: number },
): Promise<AgentProcess | undefined> {
  const { conversation, lifetime, redacted } = running;
  const { command, agentName } = plan;
  const call = conversation.connection.calls.initialize(initializeParams(version));
  const waited = await within(clock, Math.max(0, startBy - clock.now()), call);
  const refused = (detail: string): undefined => {
    lifetime.end({ how: 'start_refused', command, detail });
  };
  if (waited.status === 'late') {
    lifetime.end({ how: 'start_timeout', command, afterMs: startMs });
    return undefined;
  }
  switch (waited.value.status) {
    case 'closed':
      return undefined;
    case 'error':
      return refused(`initialize: error ${waited.value.code}: ${excerpt(redacted(waited.value.message), MAX_DETAIL)}`);
    case 'result': {
      const read = readInitialize(waited.value.result, dialect);
      if (!read.ok) return refused(read.detail);
      const { pid } = await running.leader;
      log.debug('an agent answered initialize', { agent: agentName, pid, ...read.traits.agentInfo });
      return agentProcess(running, pid, read.traits);
    }
    default:
      return unreachable(waited.value);
  }
}
