/**
 * What runs on this machine, as rows: /proc where there is one, `ps` elsewhere. A process is known by its pid and its
 * start time together, because a pid is used again; what start time means is the platform's, and only compared.
 *
 * On Linux a read is synchronous under the hood, so that no process can come and go between a look and a signal.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { markInEnviron, markInWords } from './mark.ts';

/** Tens of thousands of rows. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

export interface ProcessRow extends ProcessIdentity {
  readonly parent: number;
  readonly group: number;
  /** Linux only: the session id, which a process keeps when it makes a group of its own. */
  readonly session: number | undefined;
  /** Ended, and not yet waited for: nothing can be signalled and nothing needs to be. */
  readonly zombie: boolean;
}

/** False when a process is older than another, or of another boot, and so cannot descend from it. */
export function startedSince({ started }: ProcessIdentity, { started: since }: ProcessIdentity): boolean {
  const [boot, ticks] = started.split('/');
  const [sinceBoot, sinceTicks] = since.split('/');
  if (ticks !== undefined && sinceTicks !== undefined) return boot === sinceBoot && Number(ticks) >= Number(sinceTicks);
  // `ps` writes dates. What is no time at all (it had ended before it was looked at) rules nobody out.
  return !(Date.parse(started) < Date.parse(since));
}

/** Rejects only when the table cannot be read at all, at the limit of file descriptors. */
export interface ProcessTable {
  rows(): Promise<readonly ProcessRow[]>;
  /** The row of one pid, or undefined when nothing runs under it. */
  row(pid: number): Promise<ProcessRow | undefined>;
  /** The row of one pid and of all that descend from it. On Linux it costs by their number, not by the machine's. */
  tree(pid: number): Promise<readonly ProcessRow[]>;
  /**
   * Which of these programs, if they are of our user, were started with this mark (`markOf`) in their environment. macOS
   * hides the environment of its own programs (/bin/sleep), and shows that of others.
   */
  marked(mark: string, among: readonly ProcessRow[]): Promise<ReadonlySet<number>>;
  /** Names of the pipes at a program's stdin, stdout and stderr, none of which two pipes share. Linux only: elsewhere none. */
  pipes(pid: number): Promise<ReadonlySet<string>>;
  /** Which of these programs, if they are of our user, hold one of these pipes: nobody gets one but by descent. */
  holding(pipes: ReadonlySet<string>, among: readonly ProcessRow[]): Promise<ReadonlySet<number>>;
  /** What it shows of itself beside its row, where it is of our user. Linux only. */
  look(pid: number): Promise<ProcessLook | undefined>;
}

export interface ProcessLook {
  readonly program: string;
  readonly cwd: string;
  /** Whether it carries the mark of any agent. */
  readonly marked: boolean;
}

export function processTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  return platform === 'linux' ? procTable() : psTable();
}

function procTable(): ProcessTable {
  const boot = readOrUndefined('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  const read = (pid: string): ProcessRow | undefined => {
    const stat = readOrUndefined(`/proc/${pid}/stat`);
    return stat === undefined ? undefined : statRow(stat, boot);
  };
  return {
    rows: async () =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap((pid) => read(pid) ?? []),
    row: async (pid) => read(String(pid)),
    tree: async (pid) => descend(pid, childrenOf, (each) => read(String(each))),
    marked: async (mark, among) =>
      new Set(among.filter(({ pid, zombie }) => !zombie && isMarked(pid, mark)).map(({ pid }) => pid)),
    pipes: async (pid) => new Set(['0', '1', '2'].flatMap((fd) => linkOf(`/proc/${pid}/fd/${fd}`) ?? []).filter(isPipe)),
    holding: async (pipes, among) =>
      new Set(among.filter(({ pid, zombie }) => !zombie && isOurs(pid) && holdsOne(pid, pipes)).map(({ pid }) => pid)),
    look: async (pid) => {
      const [program, cwd, environ] = [readOrUndefined(`/proc/${pid}/comm`), linkOf(`/proc/${pid}/cwd`), readOrUndefined(`/proc/${pid}/environ`)];
      if (cwd === undefined || !isOurs(pid)) return undefined;
      return { program: program?.trimEnd() ?? '', cwd, marked: environ !== undefined && markInEnviron(environ) !== undefined };
    },
  };
}

function isPipe(target: string): boolean {
  return /^(?:socket|pipe):\[\d+\]$/.test(target);
}

function holdsOne(pid: number, pipes: ReadonlySet<string>): boolean {
  return namesOrNone(`/proc/${pid}/fd`).some((fd) => pipes.has(linkOf(`/proc/${pid}/fd/${fd}`) ?? ''));
}

/** Others' environments cannot be read; root can read all, and leaves those of other users alone. */
function isMarked(pid: number, mark: string): boolean {
  const environ = readOrUndefined(`/proc/${pid}/environ`);
  if (environ === undefined || markInEnviron(environ) !== mark) return false;
  return isOurs(pid);
}

function isOurs(pid: number): boolean {
  return orUndefined(() => statSync(`/proc/${pid}`).uid) === process.getuid?.();
}

/** Children hang on the thread that forked them. */
function childrenOf(pid: number): readonly number[] {
  const threads = namesOrNone(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readOrUndefined(`/proc/${pid}/task/${thread}/children`) ?? '');
  return lists.flatMap((list) =>
    list
      .split(' ')
      .filter((child) => child !== '')
      .map(Number),
  );
}

function descend(
  pid: number,
  children: (pid: number) => readonly number[],
  row: (pid: number) => ProcessRow | undefined,
): readonly ProcessRow[] {
  const seen = new Map<number, ProcessRow>();
  const queue = [pid];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const found = seen.has(next) ? undefined : row(next);
    if (found === undefined) continue;
    seen.set(next, found);
    queue.push(...children(next));
  }
  return [...seen.values()];
}

/** One /proc/<pid>/stat (proc(5)). The name in parentheses may itself hold spaces and parentheses. */
export function statRow(stat: string, boot: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  // Field 22 of the whole line, in clock ticks since boot; the boot makes it one moment in time.
  const ticks = fields[19];
  if (state === undefined || ticks === undefined) return undefined;
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: `${boot}/${ticks}`,
    zombie: state === 'Z' || state === 'X',
  };
}

function psTable(): ProcessTable {
  const run = async (...which: readonly string[]): Promise<readonly ProcessRow[]> => {
    const stdout = await output('ps', [...which, '-o', 'pid=,ppid=,pgid=,stat=,lstart=']);
    return stdout.split('\n').flatMap((line) => psRow(line) ?? []);
  };
  return {
    rows: () => run('-A'),
    row: async (pid) => (await run('-p', String(pid)))[0],
    tree: async (pid) => {
      const rows = await run('-A');
      const children = (parent: number): readonly number[] =>
        rows.filter((row) => row.parent === parent).map((row) => row.pid);
      return descend(pid, children, (each) => rows.find((row) => row.pid === each));
    },
    marked: async (mark, among) => {
      const pids = new Set(among.map(({ pid }) => pid));
      const lines = (await output('ps', ['-A', '-E', '-ww', '-o', 'pid=,uid=,command='])).split('\n');
      return new Set(lines.flatMap((line) => psMarked(line, mark, process.getuid?.()) ?? []).filter((pid) => pids.has(pid)));
    },
    pipes: async () => new Set(),
    holding: async () => new Set(),
    look: async () => undefined,
  };
}

/** What a program prints; nothing when it cannot be run or finds nothing. */
function output(command: string, args: readonly string[]): Promise<string> {
  // The dates are compared as text, so they must be written the same way each time.
  const env = { PATH: process.env['PATH'] ?? '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
  return new Promise((resolve) => {
    execFile(command, args, { env, maxBuffer: MAX_OUTPUT_BYTES }, (_error, stdout) => {
      resolve(stdout);
    });
  });
}

/** One line of `ps -o pid=,ppid=,pgid=,stat=,lstart=`. */
export function psRow(line: string): ProcessRow | undefined {
  const [, pid, parent, group, stat, started] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line) ?? [];
  if (pid === undefined || stat === undefined || started === undefined) return undefined;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: undefined,
    started,
    zombie: stat.startsWith('Z'),
  };
}

/** The pid of a line of `ps -E -o pid=,uid=,command=` that holds the mark and is of this user. */
export function psMarked(line: string, mark: string, ourUid: number | undefined): number | undefined {
  const [, pid, uid, words] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
  return words !== undefined && Number(uid) === ourUid && markInWords(words) === mark ? Number(pid) : undefined;
}

function namesOrNone(path: string): readonly string[] {
  return orUndefined(() => readdirSync(path)) ?? [];
}

function linkOf(path: string): string | undefined {
  return orUndefined(() => readlinkSync(path));
}

function readOrUndefined(path: string): string | undefined {
  return orUndefined(() => readFileSync(path, 'latin1'));
}

/** A process that ends while it is read is simply not there. One that cannot be looked at may be. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    if (code === 'EMFILE' || code === 'ENFILE') throw error;
    return undefined;
  }
}
