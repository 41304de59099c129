/**
 * A started program with everything attached to it: framing on its pipes, its sessions, its end. Wiring alone.
 */
import type { Dialect } from '../../adapters/index.ts';
import type { Clock, Log } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import type { Child } from './child.ts';
import { Conversation } from './conversation.ts';
import { ProcessGroup } from './group.ts';
import type { AgentTraits } from './handshake.ts';
import type { Leak } from './leaks.ts';
import { forgetProcess } from './leftovers.ts';
import { markOf } from './mark.ts';
import { Lifetime } from './lifetime.ts';
import type { AcpLimits } from './limits.ts';
import type { OpenPermissionDesk } from './permission-ports.ts';
import type { AgentProcess, LaunchPlan, LineTap, ProcessEnd } from './ports.ts';
import { processTable } from './process-table.ts';
import type { ProcessIdentity } from './process-table.ts';
import { redactorFor } from './redaction.ts';
import type { Redactor } from './redaction.ts';
import { stderrTail } from './stderr-tail.ts';
import { openStdin } from './stdin.ts';
import { treeWatch } from './tree-watch.ts';

/** Ended by us: no fault of the agent's. */
export const STOPPED: ProcessEnd = { how: 'stopped' };

interface RunningParts {
  readonly child: Child;
  readonly plan: LaunchPlan;
  readonly permission: OpenPermissionDesk;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: AcpLimits;
  readonly store?: Store;
  readonly onLine?: LineTap;
  readonly dialect: Dialect;
  readonly onLeak?: (leak: Leak) => void;
}

export interface Running {
  readonly leader: Promise<ProcessIdentity>;
  readonly conversation: Conversation;
  readonly lifetime: Lifetime;
  readonly redacted: Redactor;
  readonly stop: AgentProcess['stop'];
}

/** Call it in the turn of the event loop that started the child: it attaches the readers of its pipes. */
export function attach({ child, plan, permission, clock, log, limits, store, onLine, dialect, onLeak }: RunningParts): Running {
  const table = processTable();
  const leader = identify(child.pid);
  const redacted = redactorFor(plan.env);
  const stderr = stderrTail(limits.maxStderrBytes, redacted);
  const broken = (detail: string): void => {
    log.warn('an agent broke the protocol and is ended', { agent: plan.agentName, pid: child.pid, detail });
    lifetime.end({ how: 'protocol', detail });
  };
  const closed = (pipe: 'stdin' | 'stdout'): void => {
    void lifetime.endUnlessExits({ how: 'protocol', detail: `it closed its ${pipe} and did not exit` });
  };
  let oddStopTold = false;
  let unaskingTold = false;
  // Looked at before the program can have let go of them.
  const pipes = table.pipes(child.pid).catch(() => new Set<string>());
  const group = new ProcessGroup({
    leader, mark: markOf(plan.env), pipes, agent: plan.agentName, cwd: plan.cwd, table, clock, log, limits, ...(onLeak && { onLeak }),
  });
  const watch = treeWatch(clock, limits.watchTreeMs, () => {
    group.remember().catch((error: unknown) => {
      log.debug('what an agent started could not be looked at', { agent: plan.agentName, error: String(error) });
    });
  });
  const stdin = openStdin({
    stream: child.stdin,
    clock,
    limits,
    onStuck: broken,
    onClosed: () => {
      closed('stdin');
    },
  });
  const conversation = new Conversation({
    write: stdin.write,
    permission,
    clock,
    log,
    limits,
    redacted,
    mcpServers: plan.mcpServers ?? [],
    dialect,
    onHeard: watch.heard,
    onTurnEnded: watch.turnEnded,
    onOddStop: (found) => {
      // Whoever does it does it in every turn.
      if (!oddStopTold) log.warn('an agent ends its turns without a stop reason of ACP; taken for end_turn', { agent: plan.agentName, pid: child.pid, found });
      oddStopTold = true;
    },
    onNotAsking: (detail) => {
      if (!unaskingTold) log.warn('an agent is not in the mode in which it asks before it acts', { agent: plan.agentName, pid: child.pid, detail });
      unaskingTold = true;
    },
    onBroken: broken,
    onUnresponsive: () => {
      log.warn('an agent does not heed a cancel and is ended', { agent: plan.agentName, pid: child.pid });
      lifetime.end(STOPPED);
    },
    onPoisoned: (cause) => {
      log.warn('what an agent has read of a permission answer is not known; it is replaced', { agent: plan.agentName, pid: child.pid, cause });
      lifetime.end({ how: 'poisoned', cause });
    },
    ...(onLine === undefined ? {} : { onLine }),
  });
  const lifetime = new Lifetime({
    child,
    group,
    stderr,
    clock,
    log,
    limits,
    onGone: (end) => {
      stdin.release();
      watch.release();
      conversation.end(end);
    },
    forget: async () => {
      if (store !== undefined) await forgetProcess(store, await leader);
    },
  });

  child.stderr.on('data', stderr.push);
  child.stdout.on('data', guarded(conversation.connection.receive));
  child.stdout.on('end', () => {
    guarded(conversation.connection.receiveEnd)();
    closed('stdout');
  });
  return {
    leader,
    conversation,
    lifetime,
    redacted,
    async stop(options) {
      conversation.stopping();
      if (options?.force === true) lifetime.force(STOPPED);
      else lifetime.end(STOPPED, () => { void conversation.closeSessions().then(stdin.end); });
      await lifetime.ended;
    },
  };

  async function identify(pid: number): Promise<ProcessIdentity> {
    // A child that has ended before it could be looked at has no start time, and will match nobody.
    const row = await table.row(pid).catch(() => undefined);
    return { pid, started: row?.started ?? '' };
  }

  /** A bug met while a line is handled ends this conversation, not the supervisor. */
  function guarded<Args extends readonly unknown[]>(handle: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      try {
        handle(...args);
      } catch (error) {
        log.error('a line of an agent met a bug', {
          agent: plan.agentName,
          error: error instanceof Error ? error.stack : String(error),
        });
        broken('skep could not handle a line of it');
      }
    };
  }
}

/** What the rest of the house holds. */
export function agentProcess(
  { conversation, lifetime, stop }: Running,
  pid: number,
  traits: AgentTraits,
): AgentProcess {
  conversation.knows(traits);
  return {
    pid,
    get takesSystemPrompt() {
      return conversation.takesSystemPrompt;
    },
    agentInfo: traits.agentInfo,
    initialized: traits.initialized,
    newSession: (request) => conversation.newSession(request),
    reopens: traits.reopens,
    reopenSession: (request) => conversation.reopenSession(request),
    closesSessions: traits.closesSessions,
    closeSession: (sessionId) => {
      void conversation.closeSession(sessionId);
    },
    settings: (sessionId) => conversation.settings(sessionId),
    setModel: (sessionId, modelId) => conversation.setModel(sessionId, modelId),
    prompt: (request) => conversation.prompt(request),
    isAtWork: (sessionId) => conversation.isAtWork(sessionId),
    canSteer: (sessionId) => conversation.canSteer(sessionId),
    steer: (sessionId, text) => conversation.steer(sessionId, text),
    cancel: (sessionId) => {
      conversation.cancel(sessionId);
    },
    stop,
    ended: lifetime.ended,
  };
}
