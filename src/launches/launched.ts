/**
 * One agent from what its owner says to its start, and what has changed since. It reads, starts the agent with what it
 * read, and from then on only compares: an agent that runs never changes (NIP-AP "Launch composition").
 *
 * | status  | it can be started   | the owner has to mend it                  | nobody answered               |
 * |---------|---------------------|-------------------------------------------|-------------------------------|
 * | reading | running             | refused, and its owner is told            | reading, again in 1 s to 60 s |
 * | refused | running             | refused, and its owner is told            | refused, again in 1 s to 60 s |
 * | running | running, compared   | running, what is new would not be started | running, again in 1 s to 60 s |
 *
 * It reads again when the owner may have said something new, and every five minutes.
 */
import { excerpt, pause, secondsOf, within } from '../model/index.ts';
import type { Clock, Log, Pubkey, Random, Refusal, Seconds } from '../model/index.ts';
import { launchRecord } from '../persona/index.ts';
import type { LaunchPlan, LaunchPlanning } from '../persona/index.ts';
import type { Records } from './records.ts';
import { driftOf, textsOf } from './snapshot.ts';
import type { LaunchedTexts, LaunchSnapshot } from './snapshot.ts';
import type { LaunchStart, LaunchTarget } from './target.ts';

/** `owner`: the signer holds another key than the agents' owner has. */
export type Planning = LaunchPlanning | Refusal<'owner'>;

export interface LaunchedOptions {
  readonly target: LaunchTarget;
  readonly plan: () => Promise<Planning>;
  readonly records: Records;
  readonly start: (start: LaunchStart) => void;
  /** For stamps. */
  readonly clock: Clock;
  /** For pauses. */
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** For a relay that tells nothing of what is new. */
const READ_EVERY_MS = 300_000;
/** Several saves at once are read once. */
const GATHER_MS = 250;

interface Run {
  readonly id: string;
  readonly startedAt: Seconds;
  readonly pinned: LaunchedTexts;
}

export class Launched {
  readonly #options: LaunchedOptions;
  readonly #closing = new AbortController();
  #run: Run | undefined;
  #refusal: string | undefined;
  #reason: string | undefined;
  #current: LaunchedTexts | undefined;
  #failures = 0;
  /** What was read before the end of a run is not what the next one begins with. */
  #runs = 0;
  #awake = (): void => {};
  #isNews = false;

  constructor(options: LaunchedOptions) {
    this.#options = options;
  }

  get pubkey(): Pubkey {
    return this.#options.target.pubkey;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Until it is closed. Rejects when the disk fails, or for a bug. */
  async follow(): Promise<void> {
    const { records, plan } = this.#options;
    await records.open();
    while (!this.#isOver()) {
      this.#isNews = false;
      const runs = this.#runs;
      const planned = await plan();
      if (this.#isOver()) return;
      if (runs !== this.#runs) continue;
      await this.#take(planned);
      await this.#sleep();
    }
  }

  /** The owner may have said something new. */
  news(): void {
    this.#isNews = true;
    this.#awake();
  }

  /** It was stopped, to be started again with what holds now. */
  ended(): void {
    this.#run = undefined;
    this.#current = undefined;
    this.#runs += 1;
    this.news();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#awake();
    await this.#options.records.close();
  }

  snapshot(): LaunchSnapshot {
    const { target: { name, pubkey, order: { persona } }, records } = this.#options;
    const run = this.#run;
    return {
      name, pubkey,
      ...(persona === undefined ? {} : { persona }),
      status: run === undefined ? (this.#refusal === undefined ? 'reading' : 'refused') : 'running',
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(run && { runId: run.id, startedAtSec: run.startedAt, pinned: run.pinned }),
      ...(this.#current && { current: this.#current }),
      drift: run !== undefined && this.#current !== undefined ? driftOf(run.pinned, this.#current) : [],
      pendingRecords: records.pending,
    };
  }

  async #take(planned: Planning): Promise<void> {
    const { target, log } = this.#options;
    if (planned.ok) {
      this.#failures = 0;
      this.#reason = undefined;
      this.#refusal = undefined;
      this.#current = textsOf(planned.plan);
      if (this.#run === undefined) await this.#start(planned.plan);
      return;
    }
    const { code } = planned;
    const detail = excerpt(planned.detail, 600);
    this.#failures = code === 'unavailable' ? this.#failures + 1 : 0;
    // What nobody answered is no news: what was known holds.
    if (code === 'unavailable' && this.#refusal !== undefined) return;
    if (detail !== this.#reason && (this.#run === undefined || code !== 'unavailable')) log.warn(this.#run === undefined ? 'an agent is not started' : 'an agent could not be started with what its owner says now', { agent: target.name, code, reason: detail });
    this.#reason = detail;
    if (code === 'unavailable') return;
    this.#current = undefined;
    if (this.#run === undefined) this.#tellOwner(code, detail);
    this.#refusal = this.#run === undefined ? detail : undefined;
  }

  async #start(plan: LaunchPlan): Promise<void> {
    const { target, records, start, clock, random, log } = this.#options;
    const run: Run = { id: Buffer.from(random.bytes(16)).toString('hex'), startedAt: secondsOf(clock.now()), pinned: textsOf(plan) };
    const record = launchRecord({ runId: run.id, startedAt: run.startedAt, layers: plan.layers, delivery: plan.delivery });
    // Ids and hashes of at most some dozen teams: far below what an engram holds.
    if (!record.ok) throw new TypeError(record.detail);
    await records.prepare(record.engram);
    if (this.#isOver()) return;
    this.#run = run;
    for (const id of plan.deletedTeams) log.warn('a team of an agent was deleted; its membership counts no longer', { agent: target.name, team: id });
    let isRecorded = false;
    start({
      target, sessionPolicy: plan.sessionPolicy, standing: plan.delivery.standing, model: plan.model.delivered,
      onProcess: () => {
        if (isRecorded) return;
        isRecorded = true;
        records.started(record.engram, plan.definition);
      },
    });
    const { own, team } = run.pinned;
    log.info('an agent is started with what its owner says', {
      agent: target.name, run: run.id, source: own.source, instructions: own.sha256 ?? 'none', teamInstructions: team.sha256 ?? 'none',
    });
  }

  /** Sealed, because what teams an owner has is for no channel to read; at each reading, because no relay keeps a frame. */
  #tellOwner(code: string, detail: string): void {
    const { target } = this.#options;
    if (target.observed) target.link().tell({ kind: 'launch_refused', payload: JSON.stringify({ code, detail }), rank: 'lifecycle' });
  }

  async #sleep(): Promise<void> {
    const { steadyClock } = this.#options;
    const pauseMs = this.#failures > 0 ? Math.min(FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 10), LONGEST_PAUSE_MS) : READ_EVERY_MS;
    const woken = new Promise<void>((resolve) => { this.#awake = resolve; });
    if (!this.#isNews && !this.#isOver()) await within(steadyClock, pauseMs, woken);
    await pause(steadyClock, GATHER_MS, this.#closing.signal);
  }

  #isOver(): boolean {
    return this.#closing.signal.aborted;
  }
}
