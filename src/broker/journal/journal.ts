/**
 * The journal (NIP-BA "Execution and retries"): at most one flight a key and digest. Whoever brings the same bytes
 * meanwhile waits with it and starts nothing; a wait that takes too long ends in `outcome_unknown`, the flight goes on.
 * in: operations. out: verdicts, in bounded time; the events a turn has published.
 */
import type { Clock, Log } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { Store } from '../../store/index.ts';
import { eventOf, fly } from './flight.ts';
import type { FlyingRecord } from './flight.ts';
import type { RecordInput } from './machine.ts';
import type { Operation, Settled, Wire } from './operation.ts';
import { within } from './patience.ts';
import { openRows } from './rows.ts';
import type { FoundRecord, Namespace, RecordKey, Rows } from './rows.ts';
import { indeterminate } from './verdict.ts';

export interface Journal {
  /** Executes once, or tells what became of the earlier submission. Resolves within `waitMs`. */
  run(operation: Operation): Promise<Settled>;
  /** Takes over an earlier run's records; those without evidence had no effect and end here. Throws `Failure`. */
  adopt(namespace: Namespace): Promise<void>;
  /** Resolves open records from evidence. The number of those that stay in doubt. */
  reconcile(namespace: Namespace): Promise<number>;
  /** Events of the records of a turn that ended well, oldest first; waits for those under way, `patienceMs` at most. */
  publishedIn(namespace: Namespace, turnId: string, patienceMs: number): Promise<TurnEvents>;
  /** Resolves when no flight is left. */
  drained(): Promise<void>;
}

/** Signed events of one turn: those that are accepted, and those of which that is not known. Oldest first. */
export interface TurnEvents {
  readonly events: readonly VerifiedEvent[];
  readonly open: readonly VerifiedEvent[];
}

export interface JournalOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique to this run of the broker. */
  readonly owner: string;
  readonly wireOf: (namespace: Namespace) => Wire;
  /** Called when a record was left in doubt. */
  readonly onDoubt?: (namespace: Namespace) => void;
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

type Subject = Pick<FlyingRecord, 'key' | 'digest' | 'state'> & { readonly rowId?: number; readonly operation?: Operation };

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
    // Those in flight have their executor; what it comes to is the executor's to tell.
    const left = signed.filter(({ key, digest }) => !this.#flights.has(flightName(key, digest)));
    const ends = await Promise.all(left.map((found) => this.#recover(found).settled));
    return ends.filter(isOpen).length;
  }

  async publishedIn(namespace: Namespace, turnId: string, patienceMs: number): Promise<TurnEvents> {
    const flying = [...this.#flights.values()].filter(({ record }) => record.operation?.turnId === turnId);
    if (flying.length > 0) await within(Promise.all(flying.map(({ settled }) => settled)), patienceMs, this.#options.clock);
    const records = await this.#rows.ofTurn(namespace, turnId);
    const events: VerifiedEvent[] = [];
    const open: VerifiedEvent[] = [];
    for (const { state } of records) {
      if (state.status === 'doubtful') open.push(state.evidence.event);
      if (state.status !== 'done' || state.evidence === undefined) continue;
      if (state.verdict.status === 'succeeded') events.push(state.evidence.event);
    }
    return { events, open };
  }

  async drained(): Promise<void> {
    while (this.#flights.size > 0) await Promise.all([...this.#flights.values()].map(({ settled }) => settled));
  }

  async #wait({ record, settled }: Flight): Promise<Settled> {
    const { waitMs = WAIT_MS, clock } = this.#options;
    const told = await within(settled, waitMs, clock);
    return told ?? { verdict: indeterminate('outcome_unknown', WAITED), replayed: false, ...eventOf(record.state) };
  }

  #recover(found: FoundRecord): Flight {
    return this.#flight(found, { type: 'recover' });
  }

  /** The flight of a key and digest: the one under way, or a new one that begins with `input`. */
  #flight({ key, digest, state, rowId, operation }: Subject, input: RecordInput): Flight {
    const name = flightName(key, digest);
    const flying = this.#flights.get(name);
    if (flying !== undefined) return flying;
    const record: FlyingRecord = { key, digest, state, rowId, ...(operation === undefined ? {} : { operation }) };
    const { clock, log, wireOf, onDoubt } = this.#options;
    const settled = fly(record, input, {
      rows: this.#rows,
      wire: () => wireOf(key),
      clock,
      log,
      admits: () => this.#count(key) < (this.#options.maxRecords ?? MAX_RECORDS),
      onClaimed: () => this.#counts.set(namespaceName(key), this.#count(key) + 1),
    }).finally(() => {
      this.#flights.delete(name);
      if (record.state.status === 'doubtful') onDoubt?.(key);
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
