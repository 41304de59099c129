/**
 * From a running child to its end: which cause came first, when those who wait are told, and that the whole group is
 * gone before `ended` says so.
 *
 * Two moments: when the program itself has ended and its last bytes were read, `onGone` tells (calls and turns fail
 * within `drainMs`); when its group and descendants are gone too, `ended` settles and the record of it is erased.
 */
import { settleable, within } from '../model/index.ts';
import type { Clock, Log } from '../model/index.ts';
import type { Child } from './child.ts';
import { endOfExit } from './ends.ts';
import type { ProcessGroup } from './group.ts';
import type { AcpLimits } from './limits.ts';
import type { ProcessEnd } from './ports.ts';
import type { StderrTail } from './stderr-tail.ts';

interface LifetimeParts {
  readonly child: Child;
  readonly group: Pick<ProcessGroup, 'end' | 'force'>;
  readonly stderr: StderrTail;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<AcpLimits, 'drainMs'>;
  /** The program has ended, or could not be ended. Called once. */
  readonly onGone: (end: ProcessEnd) => void;
  /** Erases the record of the process. */
  readonly forget: () => Promise<void>;
}

export class Lifetime {
  readonly ended: Promise<ProcessEnd>;
  readonly #parts: LifetimeParts;
  readonly #settle: (end: ProcessEnd) => void;
  /** The first cause; a function, because stderr is complete only when it is drained. */
  #cause: (() => ProcessEnd) | undefined;
  #down: Promise<readonly number[]> | undefined;
  #gone: ProcessEnd | undefined;

  constructor(parts: LifetimeParts) {
    this.#parts = parts;
    const { promise, resolve } = settleable<ProcessEnd>();
    this.ended = promise;
    this.#settle = resolve;
    void this.#afterExit();
  }

  /**
   * Ends the process for this reason, unless it is ending already. With `askFirst` (ending its stdin) it is given the
   * time to end by itself.
   */
  end(cause: ProcessEnd, askFirst?: () => void): void {
    this.#cause ??= () => cause;
    if (this.#down !== undefined) return;
    this.#down = this.#parts.group.end(askFirst);
    void this.#down.then((left) => {
      // Not even SIGKILL: nobody is kept waiting for it, and the record stays for the next start.
      if (left.length > 0) this.#settle(this.#tellGone());
    });
  }

  /** Ends the process for this reason with SIGKILL, now; an end that is under way keeps its cause and is cut short. */
  force(cause: ProcessEnd): void {
    this.#parts.group.force();
    this.end(cause);
  }

  /** Ends it for this reason if it does not end by itself at once: a broken pipe usually means that it just did. */
  async endUnlessExits(cause: ProcessEnd): Promise<void> {
    const { child, clock, limits } = this.#parts;
    const waited = await within(clock, limits.drainMs, child.exited);
    if (waited.status === 'late') this.end(cause);
  }

  async #afterExit(): Promise<void> {
    const { child, group, stderr, clock, limits, log, forget } = this.#parts;
    const exit = await child.exited;
    this.#cause ??= () => endOfExit(exit, stderr.text());
    // A grandchild may hold the pipes open for ever.
    await within(clock, limits.drainMs, child.drained);
    const end = this.#tellGone();
    this.#down ??= group.end();
    if ((await this.#down).length > 0) return;
    await forget().catch((error: unknown) => {
      log.warn('the record of an ended agent process could not be erased', { pid: child.pid, error: String(error) });
    });
    this.#settle(end);
  }

  /** Tells those who wait, once, and lets go of the pipes. */
  #tellGone(): ProcessEnd {
    if (this.#gone !== undefined) return this.#gone;
    const { child, onGone } = this.#parts;
    const end = this.#cause?.() ?? { how: 'stopped' };
    this.#gone = end;
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    onGone(end);
    return end;
  }
}
