/**
 * Many at once: twins of one request, and ten thousand mixed requests on a relay that drops, delays, lies and is gone
 * for a while, with runs of the broker that end in the middle. What clients were told is compared with what the relay
 * holds in the end.
 */
import { expect, it } from 'vitest';
import { openJournal } from '../../../src/broker/journal/index.ts';
import type { Journal, SendOutcome, Settled, Wire } from '../../../src/broker/journal/index.ts';
import { digestOf } from '../../../src/broker/wire/index.ts';
import { seconds, silentLog } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { systemClock } from '../../../src/system/index.ts';
import { AGENT, CHANNEL } from '../people.ts';
import { openStore } from '../temp-store.ts';
import { bench, NAMESPACE, told } from './harness.ts';

it('64 twins of one request are one execution and 64 equal verdicts', async () => {
  const made = bench(openStore());
  made.relay.answers.push('hold');
  const twins = Array.from({ length: 64 }, () => made.journal.run(made.post('r-1')));
  await made.relay.sends(1);
  made.relay.release();
  const verdicts = (await Promise.all(twins)).map(({ verdict }) => verdict);
  expect(verdicts).toEqual(Array(64).fill(verdicts[0]));
  expect([made.plans, made.relay.sent.length, verdicts[0]?.status]).toEqual([1, 1, 'succeeded']);
});

const REQUESTS = 10_000;
/** One id in so many requests: the others are retries of it, or conflicts with it. */
const IDS = 4_000;
const AT_ONCE = 64;
const RUNS = 5;

it('10,000 mixed requests on a relay that lies: nothing twice, nothing denied, nothing made up', { timeout: 120_000 }, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  process.stdout.write(`load: seed ${seed}\n`);
  const chance = generator(seed);
  const relay = new LyingRelay(chance);
  const store = openStore();
  const ledger = new Map<string, Entry>();
  const all: Promise<void>[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const journal = openJournal({ store, clock: systemClock, log: silentLog, owner: `run-${run}`, wireOf: () => relay });
    await journal.adopt(NAMESPACE);
    const isLast = run === RUNS - 1;
    let left = REQUESTS / RUNS;
    const callers = Array.from({ length: AT_ONCE }, async () => {
      for (; left > 0;) {
        left -= 1;
        if (left % 500 === 0) relay.isAway = chance() < 0.5;
        await oneRequest(journal, ledger, chance);
      }
    });
    all.push(...callers);
    // The next run takes over from one that has no time to end.
    await Promise.race(callers);
    if (!isLast) continue;
    await Promise.all(all);
    relay.isHonest = true;
    relay.isAway = false;
    await journal.drained();
    for (const requestId of ledger.keys()) await settle(journal, ledger, requestId);
  }
  const broken = [...ledger].flatMap(([requestId, entry]) => flawsOf(entry, relay).map((flaw) => `${requestId}: ${flaw} (seed ${seed})`));
  expect(broken).toEqual([]);
  const ends = [...ledger.values()].flatMap(({ told: all }) => all).map((settled) => settled.verdict.status);
  process.stdout.write(`load: ${JSON.stringify(Object.fromEntries(['succeeded', 'failed', 'indeterminate'].map((end) => [end, ends.filter((one) => one === end).length])))}, ${relay.kept.size} events kept\n`);
  for (const status of ['succeeded', 'failed', 'indeterminate']) expect(ends.filter((end) => end === status).length, status).toBeGreaterThan(100);
});

interface Entry {
  /** The body that came first, and so may own the id. */
  readonly bodies: Set<string>;
  plans: number;
  readonly events: Set<string>;
  readonly told: Settled[];
}

async function oneRequest(journal: Journal, ledger: Map<string, Entry>, chance: () => number): Promise<void> {
  const requestId = `r-${Math.floor(chance() * IDS)}`;
  await settle(journal, ledger, requestId, chance() < 0.05 ? 'other bytes' : 'the bytes', chance() < 0.02);
}

async function settle(
  journal: Journal, ledger: Map<string, Entry>, requestId: string, body = 'the bytes', gone = false,
): Promise<void> {
  const entry = ledger.get(requestId) ?? { bodies: new Set(), plans: 0, events: new Set(), told: [] };
  ledger.set(requestId, entry);
  entry.told.push(await journal.run({
    key: { ...NAMESPACE, requestId },
    digest: digestOf(Buffer.from(body)),
    action: 'message.post',
    plan: () => {
      entry.plans += 1;
      entry.bodies.add(body);
      const event = AGENT.sign({ tags: [['h', CHANNEL]], content: `${requestId} ${body} ${entry.plans}`, createdAtSec: nowSec() });
      entry.events.add(event.id);
      return Promise.resolve({ type: 'publish', action: 'message.post', event });
    },
    withdrawn: () => (gone ? { status: 'failed', error: { code: 'unauthenticated', message: 'gone' } } : undefined),
  }));
}

function nowSec(): number {
  return seconds(Math.floor(Date.now() / 1_000));
}

function flawsOf({ plans, bodies, events, told: all }: Entry, relay: LyingRelay): readonly string[] {
  const kept = [...events].filter((id) => relay.kept.has(id));
  const flaws: string[] = [];
  if (plans > 1 || bodies.size > 1) flaws.push(`planned ${plans} times`);
  if (kept.length > 1) flaws.push(`${kept.length} events on the relay`);
  for (const settled of all) {
    const { verdict } = settled;
    if (verdict.status === 'succeeded' && !events.has('eventId' in verdict.outcome ? verdict.outcome.eventId : '')) flaws.push('told of another event');
    // What the relay itself says wrongly of its only copy is the relay's word; skep may add no lie of its own.
    if (verdict.status === 'succeeded' && kept.length === 0 && !relay.saidYesTo(events)) flaws.push('a success of nothing');
    const isConflict = verdict.status === 'failed' && verdict.error.code === 'request_id_conflict';
    if (verdict.status === 'failed' && !isConflict && kept.length > 0 && !relay.saidNoTo(events)) flaws.push(`denied: ${told(settled)}`);
  }
  const finals = new Set(all.filter(({ verdict }) => verdict.status !== 'indeterminate')
    .filter(({ verdict }) => !(verdict.status === 'failed' && verdict.error.code === 'request_id_conflict')).map(({ verdict }) => JSON.stringify(verdict, plain)));
  if (finals.size > 1) flaws.push(`told ${finals.size} ends`);
  return flaws;
}

function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Keeps or loses what it is sent, and answers late, wrongly or not at all. What it said is remembered against it. */
class LyingRelay implements Wire {
  readonly kept = new Set<string>();
  readonly #yes = new Set<string>();
  readonly #no = new Set<string>();
  readonly #sends = new Map<string, number>();
  readonly #chance: () => number;
  isHonest = false;
  /** Restarting: nothing gets through. */
  isAway = false;

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  saidYesTo(ids: ReadonlySet<string>): boolean {
    return [...ids].some((id) => this.#yes.has(id));
  }

  /** To the only send: a no to a second one proves nothing. */
  saidNoTo(ids: ReadonlySet<string>): boolean {
    return [...ids].some((id) => this.#no.has(id) && this.#sends.get(id) === 1);
  }

  async publish({ id }: VerifiedEvent): Promise<SendOutcome> {
    const draw = this.isHonest ? 0 : this.#chance();
    for (let turns = this.isHonest ? 0 : Math.floor(this.#chance() * 4); turns > 0; turns -= 1) await nextTurn();
    this.#sends.set(id, (this.#sends.get(id) ?? 0) + 1);
    if (this.isAway) return { status: 'unknown', reason: 'no connection' };
    if (draw >= 0.85) return { status: 'unknown', reason: 'dropped before it came' };
    if (draw >= 0.8) return this.#refuse(id, 'invalid: no');
    if (draw >= 0.79) return this.#agree(id);
    this.kept.add(id);
    if (draw >= 0.77) return this.#refuse(id, 'error: and yet it is kept');
    // An OK that names another event is no answer to this one.
    if (draw >= 0.6) return { status: 'unknown', reason: 'no OK, or one with another id' };
    return this.#agree(id);
  }

  async find({ id }: VerifiedEvent): Promise<'found' | 'absent' | 'unreadable'> {
    await nextTurn();
    if (this.isAway || (!this.isHonest && this.#chance() < 0.2)) return 'unreadable';
    return this.kept.has(id) ? 'found' : 'absent';
  }

  #agree(id: string): SendOutcome {
    this.#yes.add(id);
    return { status: 'accepted' };
  }

  #refuse(id: string, reason: string): SendOutcome {
    this.#no.add(id);
    return { status: 'rejected', reason };
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const once = Math.imul(state ^ (state >>> 15), 1 | state);
    const twice = (once + Math.imul(once ^ (once >>> 7), 61 | once)) ^ once;
    return ((twice ^ (twice >>> 14)) >>> 0) / 2 ** 32;
  };
}
