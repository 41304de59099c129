/**
 * The journal (NIP-BA "Execution and retries"): at most one flight a key and digest. Whoever brings the same bytes
 * meanwhile waits with it and starts nothing; a wait that takes too long ends in `outcome_unknown`, the flight goes on.
 * in: operations. out: verdicts, in bounded time; the events a turn has published.
 */
import { within } from '../../model/index.ts';
import type { Clock, Log } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { Store } from '../../store/index.ts';
import { eventOf, fly, isAtRest } from './flight.ts';
import type { FlyingRecord } from './flight.ts';
import type { RecordInput } from './machine.ts';
import type { Aftermath, Operation, Settled, Wire } from './operation.ts';
import { openRows } from './rows.ts';
import type { FoundRecord, Namespace, RecordKey, Rows } from './rows.ts';
import { indeterminate, isPublishing } from './verdict.ts';

export interface Journal {
  /** Executes once, or tells what became of the earlier submission. Resolves within `waitMs`. */
  run(operation: Operation): Promise<Settled>;
  /** Takes over an earlier run's records; those without evidence had no effect and end here. Throws `Failure`. */
  adopt(namespace: Namespace): Promise<void>;
  /** Resolves open records from evidence. The number of those that stay in doubt. */
  reconcile(namespace: Namespace): Promise<number>;
  /**
   * What the records of a turn say, after those under way have ended and those in doubt were looked for; with what is
   * known by then, `patienceMs` at most.
   */
  publishedIn(namespace: Namespace, turnId: string, patienceMs: number): Promise<TurnEvents>;
  /** Resolves when no flight is left. */
  drained(): Promise<void>;
}

/** Signed events of one turn: those that are accepted, and those of which that is not known. Oldest first. */
export interface TurnEvents {
  readonly events: readonly VerifiedEvent[];
  readonly open: readonly VerifiedEvent[];
  /** An action that may yet sign an event. */
  readonly planning: boolean;
}

export interface JournalOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique to this run of the broker. */
  readonly owner: string;
  readonly wireOf: (namespace: Namespace) => Wire;
  /** Called when a record was left in doubt that was not known to be. */
  readonly onDoubt?: (namespace: Namespace) => void;
  /** What publications mean for the host's own tables. */
  readonly aftermath?: Aftermath;
  /** How long a caller waits for a flight, 20 s unless told otherwise. */
  readonly waitMs?: number;
  /** Records of one namespace; beyond it new operations are refused, for a record is never evicted. */
  readonly maxRecords?: number;
}

const WAIT_MS = 20_000;
/** About 2 GB of rows without their pages. */
const MAX_RECORDS = 5_000_000;
/** Records resolved in one pass; each costs one question to the relay. */
const PASS_RECORDS = 32;

const WAITED = 'the action is still under way; retry the identical request';

interface Flight {
  readonly record: FlyingRecord;
  readonly settled: Promise<Settled>;
}

type Subject = Pick<FlyingRecord, 'key' | 'digest' | 'state' | 'operation' | 'row'>;

export function openJournal(options: JournalOptions): Journal {
  return new FlyingJournal(options);
}

class FlyingJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #rows: Rows;
  readonly #flights = new Map<string, Flight>();
  /** Records of each namespace, so that counting costs nothing at a claim. */
  readonly #counts = new Map<string, number>();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#rows = openRows(options);
  }

  run(operation: Operation): Promise<Settled> {
    const { key, digest, evidence } = operation;
    const submit: RecordInput = { type: 'submit', ...(evidence === undefined ? {} : { evidence }) };
    return this.#wait(this.#flight({ key, digest, operation, state: { status: 'fresh' } }, submit));
  }

  async adopt(namespace: Namespace): Promise<void> {
    this.#counts.set(namespaceName(namespace), await this.#rows.count(namespace));
    await this.#rows.adopt(namespace);
    for (;;) {
      const claimed = await this.#rows.open(namespace, 'claimed', PASS_RECORDS);
      const ends = await Promise.all(claimed.map((found) => this.#recover(found).settled));
      // A disk that takes no result leaves them open; they end when somebody asks for them.
      if (claimed.length < PASS_RECORDS || ends.some(isOpen)) return;
    }
  }

  async reconcile(namespace: Namespace): Promise<number> {
    const signed = await this.#rows.open(namespace, 'signed', PASS_RECORDS);
    // An executor in flight tells by itself what it comes to.
    const left = signed.filter(({ key, digest }) => !this.#isExecuted(flightName(key, digest)));
    const flights = left.map((found) => this.#recover(found));
    await Promise.all(flights.map(({ settled }) => settled));
    return flights.filter(({ record }) => !isAtRest(record.state)).length;
  }

  async publishedIn(namespace: Namespace, turnId: string, patienceMs: number): Promise<TurnEvents> {
    let wanted = true;
    await within(this.#options.clock, patienceMs, this.#look(namespace, turnId, () => wanted));
    wanted = false;
    // Those that end while the rows are read may be missing there: they count as still under way.
    const before = this.#executing(namespace, turnId);
    const records = await this.#rows.ofTurn(namespace, turnId);
    const flying = [...before, ...this.#executing(namespace, turnId)].map(({ record }) => record.state);
    const events: VerifiedEvent[] = [];
    const open = flying.flatMap((state) => ('evidence' in state ? [state.evidence.event] : []));
    let planning = flying.some((state) => !('evidence' in state));
    for (const { state, ours } of records) {
      if (state.status === 'done' && state.verdict.status === 'succeeded' && state.evidence !== undefined) {
        events.push(state.evidence.event);
      }
      if (state.status === 'doubtful') open.push(state.evidence.event);
      // Ours is without effect once its flight has ended; another run's may be in flight there.
      if (state.status === 'claimed' && !ours) planning = true;
    }
    return { events, open, planning };
  }

  /** Waits for a turn's flights, then looks for its events in doubt, a few at a time and only as long as `wanted`. */
  async #look(namespace: Namespace, turnId: string, wanted: () => boolean): Promise<void> {
    await Promise.all(this.#executing(namespace, turnId).map(({ settled }) => settled));
    const records = await this.#rows.ofTurn(namespace, turnId);
    const doubtful = records.filter(({ state, ours }) => ours && state.status === 'doubtful');
    for (let at = 0; at < doubtful.length && wanted(); at += PASS_RECORDS) {
      const some = doubtful.slice(at, at + PASS_RECORDS);
      await Promise.all(some.map((found) => this.#recover(found).settled));
    }
  }

  async drained(): Promise<void> {
    while (this.#flights.size > 0) await Promise.all([...this.#flights.values()].map(({ settled }) => settled));
  }

  async #wait({ record, settled }: Flight): Promise<Settled> {
    const { waitMs = WAIT_MS, clock } = this.#options;
    const told = await within(clock, waitMs, settled);
    return told.status === 'settled'
      ? told.value
      : { verdict: indeterminate('outcome_unknown', WAITED), replayed: false, ...eventOf(record.state) };
  }

  /** Flights of a turn that may publish. */
  #executing({ community, principal }: Namespace, turnId: string): readonly Flight[] {
    return [...this.#flights.values()].filter(({ record: { key, operation } }) =>
      operation?.turnId === turnId && isPublishing(operation.action)
      && key.principal === principal && key.community === community);
  }

  #isExecuted(name: string): boolean {
    return this.#flights.get(name)?.record.operation !== undefined;
  }

  #recover(found: FoundRecord): Flight {
    return this.#flight(found, { type: 'recover' });
  }

  /** The flight of a key and digest: the one under way, or a new one that begins with `input`. */
  #flight({ key, digest, state, operation, row }: Subject, input: RecordInput): Flight {
    const name = flightName(key, digest);
    const flying = this.#flights.get(name);
    if (flying !== undefined) return flying;
    const record: FlyingRecord = {
      key, digest, state, ...(operation === undefined ? {} : { operation }), ...(row === undefined ? {} : { row }),
    };
    const { clock, log, wireOf, onDoubt, aftermath } = this.#options;
    const known = state.status === 'doubtful';
    const settled = fly(record, input, {
      rows: this.#rows,
      wire: () => wireOf(key),
      clock,
      log,
      ...(aftermath && { aftermath }),
      admits: () => this.#count(key) < (this.#options.maxRecords ?? MAX_RECORDS),
      onClaimed: () => this.#counts.set(namespaceName(key), this.#count(key) + 1),
    }).finally(() => {
      this.#flights.delete(name);
      if (!known && record.state.status === 'doubtful') onDoubt?.(key);
    });
    const flight = { record, settled };
    this.#flights.set(name, flight);
    return flight;
  }

  #count(namespace: Namespace): number {
    return this.#counts.get(namespaceName(namespace)) ?? 0;
  }
}

function isOpen({ verdict }: Settled): boolean {
  return verdict.status === 'indeterminate';
}

/** Two digests under one key are two flights; the claim on disk decides which of them owns it. */
function flightName({ community, principal, requestId }: RecordKey, digest: string): string {
  return `${digest} ${principal} ${community} ${requestId}`;
}

function namespaceName({ community, principal }: Namespace): string {
  return `${principal} ${community}`;
}
