/**
 * The sessions of one agent that outlive their processes: kept on disk after a good turn, found again after a crash or a
 * restart. What waits to be written is written in order, and a look waits for it: what was forgotten is not found.
 *
 * A session is given up after `MAX_REOPENINGS` tries without a good turn, and after thirty days.
 */
import type { ChannelId, Clock, Milliseconds, Pubkey } from '../../model/index.ts';
import { milliseconds } from '../../model/index.ts';
import type { Statement, Store } from '../../store/index.ts';
import type { LaneSession } from './lane-session.ts';
import {
  countStatement, findSession, forgetChannelStatement, forgetStatement, keepStatement, pruneStatements, reopenStatement,
} from './rows.ts';
import type { FoundSession } from './rows.ts';

/** Two crashes in turns that go on with it may be chance; the third time a fresh one begins. */
export const MAX_REOPENINGS = 3;
/** How long Claude Code keeps its own (`cleanupPeriodDays`). */
export const MAX_AGE_MS = 30 * 86_400_000;
/** Lanes of an agent; the sessions used longest ago are forgotten first. */
export const MAX_KEPT = 1_024;

export interface MemoryOptions {
  readonly store: Store;
  readonly agent: Pubkey;
  /** For stamps. */
  readonly clock: Clock;
  /** The disk. */
  readonly onFatal: (error: unknown) => void;
}

export interface Lane {
  readonly lane: string;
  readonly channelId: ChannelId;
}

export class SessionMemory {
  readonly #options: MemoryOptions;
  #written: Promise<void> = Promise.resolve();

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  /** After a turn that it has read for certain. */
  keep({ lane, channelId }: Lane, session: LaneSession): void {
    const { agent, clock } = this.#options;
    const { sessionId, fingerprint, takesSystemPrompt: inSystem, turns, turnSeq, delivered } = session;
    const now = clock.now();
    const kept = keepStatement(agent, { lane, channelId, sessionId, fingerprint, inSystem, turns, turnSeq, delivered, usedAtMs: now });
    // There is one more only where it was none before.
    this.#write(session.isKept ? [kept] : [kept, ...pruneStatements(agent, before(now), MAX_KEPT)]);
    session.isKept = true;
  }

  /** `then` follows when the number is on disk: no other metric of the session ever has it. */
  count(lane: string, session: LaneSession, turnSeq: number, then: () => void): void {
    session.turnSeq = turnSeq;
    if (!session.isKept) return then();
    this.#write([countStatement(this.#options.agent, lane, session.sessionId, turnSeq)], then);
  }

  /** What may be gone on with in this lane, where it was opened with the same. */
  async find(lane: string, fingerprint: string): Promise<FoundSession | undefined> {
    const { store, agent, clock } = this.#options;
    await this.#written;
    const found = await findSession(store, agent, lane);
    if (found === undefined) return undefined;
    const isOld = found.usedAtMs < before(clock.now()) || found.reopenings >= MAX_REOPENINGS;
    if (!isOld && found.fingerprint === fingerprint) return found;
    this.forget(lane, found.sessionId);
    return undefined;
  }

  /** It is about to be tried; resolves when that is on disk. */
  async trying(lane: string): Promise<void> {
    this.#write([reopenStatement(this.#options.agent, lane)]);
    await this.#written;
  }

  /** The lane may have another by now, which stays. */
  forget(lane: string, sessionId: string): void {
    this.#write([forgetStatement(this.#options.agent, lane, sessionId)]);
  }

  forgetChannel(channelId: ChannelId): void {
    this.#write([forgetChannelStatement(this.#options.agent, channelId)]);
  }

  /** Resolves when everything is written. */
  settled(): Promise<void> {
    return this.#written;
  }

  #write(statements: readonly Statement[], then?: () => void): void {
    const { store, onFatal } = this.#options;
    const written = store.write(...statements).then(() => { then?.(); }, onFatal);
    this.#written = Promise.all([this.#written, written]).then(() => undefined);
  }
}

function before(now: Milliseconds): Milliseconds {
  return milliseconds(Math.max(0, now - MAX_AGE_MS));
}
