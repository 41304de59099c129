/**
 * The end of an agent's processes, all of them: SIGTERM to the group, to the groups its tools lead and to every
 * other descendant, then SIGKILL, until none is left. Works when the leader is gone already.
 *
 * Before each signal the table is read anew and compared by pid and start time; a stranger is never signalled. Tool
 * shells of real agents run in groups of their own, which is why descendants are collected and remembered, and why the
 * mark in their environment is looked for, and the pipes they were given: these find what left the tree before anyone
 * looked at it. What is left all the same, and what may be, is told as a leak.
 *
 * Never signalled: ourselves and whoever started us. An agent may have started its supervisor anew.
 */
import { homedir } from 'node:os';
import { later, pause } from '../model/index.ts';
import type { Clock, Log } from '../model/index.ts';
import { lineOf, membersOf } from './descendants.ts';
import type { Leak } from './leaks.ts';
import type { AcpLimits } from './limits.ts';
import { startedSince } from './process-table.ts';
import type { ProcessIdentity, ProcessRow, ProcessTable } from './process-table.ts';
import { isWithin, straysAmong } from './strays.ts';

const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 100;

interface GroupParts {
  /** Whom the group is named after; it may have ended. */
  readonly leader: Promise<ProcessIdentity>;
  /** What all of them were started with (`markOf`), where the leader was. */
  readonly mark: string | undefined;
  /** The leader's own pipes, where they were looked at in time. */
  readonly pipes?: Promise<ReadonlySet<string>>;
  /** Whose it is, for who hears of leaks, and where it works. */
  readonly agent?: string;
  readonly cwd?: string;
  readonly onLeak?: (leak: Leak) => void;
  readonly table: ProcessTable;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<AcpLimits, 'stdinGraceMs' | 'termGraceMs' | 'killWaitMs'>;
}

export class ProcessGroup {
  readonly #parts: GroupParts;
  readonly #forced = new AbortController();
  #known: readonly ProcessIdentity[] = [];
  /** Tools that led a group of their own at the last look. */
  #toolLeaders: readonly ProcessIdentity[] = [];
  /** Groups in which we or those who started us are. */
  #ownGroups: ReadonlySet<number> = new Set();

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  /**
   * Remembers who descends from the leader now. A tool in a group and session of its own becomes a stranger's child the
   * moment its parents crash; only who was remembered before can still be found.
   */
  async remember(): Promise<void> {
    const { table } = this.#parts;
    const leader = await this.#parts.leader;
    const rows = await table.tree(leader.pid);
    if (!rows.some((row) => isAlive(row, leader))) return;
    const known = new Map(this.#known.map((member) => [member.pid, member]));
    for (const row of rows) if (!row.zombie) known.set(row.pid, { pid: row.pid, started: row.started });
    const alive = await Promise.all(
      [...known.values()].map(async (member) => isAlive(await table.row(member.pid), member)),
    );
    this.#known = [...known.values()].filter((_, index) => alive[index]);
  }

  /** Gives no more time: SIGKILL within one poll, in an end that is under way and in one to come. Twice is once. */
  force(): void {
    this.#forced.abort();
  }

  /**
   * Ends every member. `askFirst` is called, where given, after the members were recorded, and they get the stdin
   * grace before the first signal. Resolves in bounded time with the pids that even SIGKILL did not end, or that could
   * not be looked at.
   */
  async end(askFirst?: () => void): Promise<readonly number[]> {
    try {
      const left = await this.#end(askFirst);
      await this.#tellLeaks(left);
      return left.map(({ pid }) => pid);
    } catch (error) {
      const { pid } = await this.#parts.leader;
      this.#parts.log.error('the process table cannot be read: an agent may live on', { pid, error: String(error) });
      return [pid];
    }
  }

  async #end(askFirst?: () => void): Promise<readonly ProcessRow[]> {
    const { limits, clock, log } = this.#parts;
    const { signal } = this.#forced;
    await this.#record();
    askFirst?.();
    if (await this.#goneWithin(askFirst === undefined ? 0 : limits.stdinGraceMs, signal)) return [];
    if (!signal.aborted) await this.#signal('SIGTERM');
    if (await this.#goneWithin(limits.termGraceMs, signal)) return [];
    // What forks while it is killed is caught in the next round.
    const deadline = later(clock.now(), limits.killWaitMs);
    do {
      await this.#signal('SIGKILL');
      if (await this.#goneWithin(MAX_POLL_MS)) return [];
    } while (clock.now() < deadline);
    const left = await this.#record();
    log.error('processes survive SIGKILL', { leader: (await this.#parts.leader).pid, left: left.map(({ pid }) => pid) });
    return left;
  }

  /** What may have escaped is looked for once all else is gone: until then its parent may still be one of ours. */
  async #tellLeaks(left: readonly ProcessRow[]): Promise<void> {
    const { table, onLeak, agent = '', cwd } = this.#parts;
    if (onLeak === undefined) return;
    for (const { pid, started } of left) onLeak({ pid, started, agent, program: (await table.look(pid))?.program ?? '', why: 'survives' });
    const leader = await this.#parts.leader;
    if (cwd === undefined || leader.started === '') return;
    for (const leak of await escapedFrom({ leader, agent, cwd, table })) onLeak(leak);
  }

  /** Reads the table, remembers the living members and forgets the others. */
  async #record(): Promise<readonly ProcessRow[]> {
    const { table, mark, pipes } = this.#parts;
    const leader = await this.#parts.leader;
    const rows = await table.rows();
    // What is older than the agent is not of it: most of the machine need not be looked into.
    const younger = rows.filter((row) => startedSince(row, leader));
    const marked = mark === undefined ? new Set<number>() : await table.marked(mark, younger);
    const held = pipes === undefined ? new Set<number>() : await table.holding(await pipes, younger);
    const line = lineOf(process.pid, rows);
    const spared = new Set(line.map(({ pid }) => pid));
    this.#ownGroups = new Set(line.map(({ group }) => group));
    const members = membersOf(rows, [leader, ...this.#toolLeaders], this.#known, new Set([...marked, ...held])).filter(({ pid }) => !spared.has(pid));
    this.#known = members.map(identityOf);
    this.#toolLeaders = members.filter(({ pid, group }) => pid === group).map(identityOf);
    return members;
  }

  async #signal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { log } = this.#parts;
    const { pid: leader } = await this.#parts.leader;
    const members = await this.#record();
    if (members.length === 0) return;
    log.debug("signalling an agent's processes", { signal, leader, pids: members.map(({ pid }) => pid) });
    // A group as one, so that a member that forks in this moment is met too.
    const wholes = members.filter(({ pid, group }) => (group === leader || group === pid) && !this.#ownGroups.has(group));
    const groups = new Set(wholes.map(({ group }) => group));
    for (const group of groups) send(-group, signal);
    for (const { pid, group } of members) if (!groups.has(group)) send(pid, signal);
  }

  /**
   * Polls the known members one by one, which is cheap, and asks the whole table only when those are gone. The wait is
   * over, within one poll, when `hurry` aborts.
   */
  async #goneWithin(ms: number, hurry?: AbortSignal): Promise<boolean> {
    const { clock } = this.#parts;
    const deadline = later(clock.now(), ms);
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
      if (!(await this.#anyKnownAlive()) && (await this.#record()).length === 0) return true;
      const leftMs = deadline - clock.now();
      if (leftMs <= 0 || hurry?.aborted === true) return false;
      await pause(clock, Math.min(pollMs, leftMs));
    }
  }

  async #anyKnownAlive(): Promise<boolean> {
    for (const member of this.#known) {
      if (isAlive(await this.#parts.table.row(member.pid), member)) return true;
    }
    return false;
  }
}

interface Home {
  readonly leader: ProcessIdentity;
  readonly agent: string;
  readonly cwd: string;
  readonly table: ProcessTable;
}

/** What works where the agent worked, and may be of it: see `straysAmong`. */
export async function escapedFrom({ leader, agent, cwd, table }: Home): Promise<readonly Leak[]> {
  // Everything that a user starts may work at home: that says nothing.
  if (isWithin(homedir(), cwd)) return [];
  const rows = await table.rows();
  const found: Leak[] = [];
  for (const { pid, started } of straysAmong(rows, leader, lineOf(process.pid, rows))) {
    const seen = await table.look(pid);
    // One with a mark is another agent's, or of one that is still being ended.
    if (seen !== undefined && !seen.marked && isWithin(seen.cwd, cwd)) found.push({ pid, started, agent, program: seen.program, why: 'escaped' });
  }
  return found;
}

function identityOf({ pid, started }: ProcessRow): ProcessIdentity {
  return { pid, started };
}

function isAlive(row: ProcessRow | undefined, { pid, started }: ProcessIdentity): boolean {
  return row?.pid === pid && row.started === started && !row.zombie;
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone between the look and the signal (ESRCH), or another user's by now (EPERM): not ours to end.
  }
}
