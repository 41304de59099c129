/**
 * One life of an agent process: the process, its credential, and the sessions it holds for lanes. When it is over, what
 * still refers to it can do nothing any more: a late turn never touches the process that came after.
 */
import type { AgentProcess } from '../acp/index.ts';
import type { AgentLink, SessionCredential, TurnBinding } from '../broker/index.ts';
import type { ChannelId, Milliseconds } from '../model/index.ts';
import { RecentMap } from './recent-map.ts';
import type { ProcessFate } from './settle.ts';
import type { LaneSession } from './sessions/lane-session.ts';

export class Life {
  readonly process: AgentProcess;
  readonly #credential: SessionCredential;
  readonly #link: AgentLink;
  readonly #sessions: RecentMap<string, LaneSession>;
  #status: 'idle' | 'busy' | 'ending' | 'over' = 'idle';
  #blamed = false;
  /** The turn that has the process. */
  #holder: string | undefined;

  /** `maxSessions`: those it has open at once; under the thread policy there is no end of threads. */
  constructor(process: AgentProcess, credential: SessionCredential, link: AgentLink, maxSessions: number) {
    this.#sessions = new RecentMap(maxSessions);
    this.process = process;
    this.#credential = credential;
    this.#link = link;
  }

  get status(): 'idle' | 'busy' | 'ending' | 'over' {
    return this.#status;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Gives the process to a turn. Only an idle one is given. */
  take(turnId: string): void {
    if (this.#status !== 'idle') throw new TypeError(`life: expected an idle process, found ${this.#status}`);
    this.#status = 'busy';
    this.#holder = turnId;
  }

  /** The turn gives it back. Twice is once: by then another turn may have it, and keeps it. */
  release(turnId: string): void {
    if (this.#holder !== turnId) return;
    this.#holder = undefined;
    if (this.#status === 'busy') this.#status = 'idle';
  }

  holds(lane: string): boolean {
    return this.#sessions.has(lane);
  }

  session(lane: string): LaneSession | undefined {
    return this.#sessions.get(lane);
  }

  /** The lanes of a channel that have a session: the channel itself, or threads of it. */
  lanesOf(channelId: ChannelId): readonly (readonly [lane: string, session: LaneSession])[] {
    return this.#sessions.entries().filter(([lane]) => lane === channelId || lane.startsWith(`${channelId}/`));
  }

  /** The one used longest ago gives way where there are too many; it may be gone on with later. */
  remember(lane: string, session: LaneSession): void {
    const evicted = this.#sessions.set(lane, session);
    if (evicted !== undefined) this.process.closeSession(evicted.sessionId);
  }

  has(sessionId: string): boolean {
    return this.#sessions.entries().some(([, session]) => session.sessionId === sessionId);
  }

  /** Closes those that no turn has used since `beforeMs` and none is in, where the agent offers that. Says when the rest was used first. */
  closeIdle(beforeMs: Milliseconds, busy: ReadonlySet<string>): Milliseconds | undefined {
    if (!this.process.closesSessions) return undefined;
    const idle = this.#sessions.entries().filter(([lane]) => !busy.has(lane));
    const [due, rest] = [idle.filter(([, { usedAtMs }]) => usedAtMs <= beforeMs), idle.filter(([, { usedAtMs }]) => usedAtMs > beforeMs)];
    for (const [lane] of due) this.forget(lane);
    return rest.map(([, { usedAtMs }]) => usedAtMs).sort((one, other) => one - other)[0];
  }

  forget(lane: string): void {
    const session = this.#sessions.get(lane);
    if (session !== undefined) this.process.closeSession(session.sessionId);
    this.#sessions.delete(lane);
  }

  /** Tells the broker which turn the process is in, or that it is in none. */
  bind(turn: TurnBinding | undefined): void {
    if (this.#status !== 'over') this.#link.bindTurn(this.#credential.sessionId, turn);
  }

  /** How many of the broker's actions it has begun that may leave something behind. */
  get traces(): number {
    return this.#link.traces(this.#credential.sessionId);
  }

  /** From here on nothing the process may still do reaches the relay. */
  revoke(): void {
    this.#link.closeSession(this.#credential.sessionId);
  }

  /**
   * What a turn has left of the process. One whose turn did not end by its own word may still be at work: nothing it does
   * from here on may reach the relay, as the turn may be given to another, and a message is answered once.
   */
  async dispose(fate: ProcessFate): Promise<void> {
    if (fate === 'kept') return;
    if (fate === 'gone') this.revoke();
    else await this.retire(fate);
  }

  /** Revokes, and ends the process; another takes its place. `crashed` counts it against the program. */
  async retire(how: 'retired' | 'crashed'): Promise<void> {
    this.revoke();
    if (how === 'crashed') this.#blamed = true;
    if (this.#status !== 'over') this.#status = 'ending';
    await this.process.stop();
  }

  /** Ends the process and all it has started without asking; also while it is being asked. */
  kill(): void {
    this.revoke();
    if (this.#status !== 'over') this.#status = 'ending';
    // The slot waits for the end; stopping twice is stopping once.
    void this.process.stop({ force: true });
  }

  /** True when the end was ours and the program is not to blame. The last word of a life. */
  finish(): boolean {
    const meant = this.#status === 'ending' && !this.#blamed;
    this.#status = 'over';
    this.revoke();
    this.#sessions.clear();
    return meant;
  }
}
