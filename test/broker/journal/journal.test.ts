/** The journal on a real database: retries, conflicts, waits, limits, fences. */
import { describe, expect, it } from 'vitest';
import { GIVE_UP_AFTER_MS } from '../../../src/broker/journal/machine.ts';
import { READ_KEPT_MS } from '../../../src/broker/journal/rows.ts';
import { failed } from '../../../src/broker/journal/verdict.ts';
import type { Verdict } from '../../../src/broker/journal/verdict.ts';
import { sql } from '../../../src/store/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { fillable } from '../fake-store.ts';
import { SIBLING } from '../people.ts';
import { openStore, storeFile } from '../temp-store.ts';
import { bench, NAMESPACE, told } from './harness.ts';

const A_VALUE: Verdict = { status: 'succeeded', action: 'storage.get', outcome: { value: 'sealed' } };
const EMPTY_PAGE: Verdict = { status: 'succeeded', action: 'channel.read', outcome: { messages: [] } };

describe('a retry of the identical request', () => {
  it('gets the stored result, replayed, and executes nothing', async () => {
    const { journal, relay, post } = bench(openStore());
    const first = await journal.run(post('r-1'));
    const again = await journal.run(post('r-1'));
    expect([told(first), told(again)]).toEqual(['succeeded', 'succeeded, replayed']);
    expect(again.eventId).toBe(first.eventId);
    expect(relay.sent).toHaveLength(1);
  });

  it('joins the one under way', async () => {
    const made = bench(openStore());
    made.relay.answers.push('hold');
    const both = [made.journal.run(made.post('r-1')), made.journal.run(made.post('r-1'))];
    await made.relay.sends(1);
    made.relay.release();
    expect((await Promise.all(both)).map(told)).toEqual(['succeeded', 'succeeded']);
    expect(made.plans).toBe(1);
    expect(made.relay.sent).toHaveLength(1);
  });

  it('waits for it twenty seconds and no longer, and the one under way goes on', async () => {
    const { journal, relay, clock, post } = bench(openStore());
    relay.answers.push('hold');
    const first = journal.run(post('r-1'));
    const second = journal.run(post('r-1'));
    await relay.sends(1);
    clock.push(19_999);
    const early = await Promise.race([second, Promise.resolve('waiting')]);
    clock.push(1);
    expect(early).toBe('waiting');
    expect([told(await first), told(await second)]).toEqual(Array(2).fill('indeterminate/outcome_unknown'));
    relay.release();
    await journal.drained();
    expect(told(await journal.run(post('r-1')))).toBe('succeeded, replayed');
    expect(clock.alarms).toBe(0);
  });

  it('gets the verdict of a failure as well', async () => {
    const { journal, relay, post } = bench(openStore());
    relay.answers.push({ reject: 'restricted: not a channel member' });
    expect(told(await journal.run(post('r-1')))).toBe('failed/unauthorized');
    expect(told(await journal.run(post('r-1')))).toBe('failed/unauthorized, replayed');
    expect(relay.sent).toHaveLength(1);
  });
});

describe('the same id with other bytes', () => {
  it('is a conflict, in flight and done, and the record stays', async () => {
    const { journal, relay, post } = bench(openStore());
    relay.answers.push('hold');
    const first = journal.run(post('r-1', 'hello'));
    await relay.sends(1);
    expect(told(await journal.run(post('r-1', 'other')))).toBe('failed/request_id_conflict');
    relay.release();
    await first;
    expect(told(await journal.run(post('r-1', 'other')))).toBe('failed/request_id_conflict');
    expect(told(await journal.run(post('r-1', 'hello')))).toBe('succeeded, replayed');
    expect(relay.sent).toHaveLength(1);
  });

  it('never makes the rightful retry a conflict, not even in the same moment', async () => {
    const { journal, post } = bench(openStore());
    await journal.run(post('r-1', 'hello'));
    const [other, own] = await Promise.all([journal.run(post('r-1', 'other')), journal.run(post('r-1', 'hello'))]);
    expect([told(other), told(own)]).toEqual(['failed/request_id_conflict', 'succeeded, replayed']);
  });

  it('is another operation for another principal', async () => {
    const { journal, relay, post } = bench(openStore());
    await journal.run(post('r-1', 'hello'));
    const sibling = post('r-1', 'other', { key: { ...NAMESPACE, principal: SIBLING.pubkey, requestId: 'r-1' } });
    const community = post('r-1', 'third', { key: { ...NAMESPACE, community: 'wss://other', requestId: 'r-1' } });
    expect(told(await journal.run(sibling))).toBe('succeeded');
    expect(told(await journal.run(community))).toBe('succeeded');
    expect(relay.sent).toHaveLength(3);
  });
});

describe('an outcome that is not known', () => {
  it('is resolved by reading, and no second event is made', async () => {
    const { journal, relay, doubts, post } = bench(openStore());
    relay.answers.push('accept silently');
    expect(told(await journal.run(post('r-1')))).toBe('indeterminate/outcome_unknown');
    expect(doubts).toHaveLength(1);
    expect(await journal.reconcile(NAMESPACE)).toBe(0);
    expect(told(await journal.run(post('r-1')))).toBe('succeeded, replayed');
    expect(relay.sent).toHaveLength(1);
  });

  it('is resolved by the retry itself', async () => {
    const { journal, relay, post } = bench(openStore());
    relay.answers.push('lose');
    const first = await journal.run(post('r-1'));
    const again = await journal.run(post('r-1'));
    expect([told(first), told(again)]).toEqual(['indeterminate/outcome_unknown', 'succeeded']);
    expect(relay.sent.map(({ id }) => id)).toEqual([first.eventId, first.eventId]);
  });

  it('stays unknown when a later send is refused, until the event is seen', async () => {
    const { journal, relay, post } = bench(openStore());
    relay.answers.push('lose', { reject: 'rate-limited: slow down' });
    await journal.run(post('r-1'));
    expect(told(await journal.run(post('r-1')))).toBe('indeterminate/outcome_unknown');
    relay.keep(...relay.sent);
    expect(told(await journal.run(post('r-1')))).toBe('succeeded');
  });

  it('of an event ten minutes old is never sent again', async () => {
    const { journal, relay, clock, post } = bench(openStore());
    relay.answers.push('lose');
    await journal.run(post('r-1'));
    clock.push(600_000);
    expect(await journal.reconcile(NAMESPACE)).toBe(1);
    expect(relay.sent).toHaveLength(1);
    relay.keep(...relay.sent);
    expect(await journal.reconcile(NAMESPACE)).toBe(0);
  });

  it('stays unknown while the relay cannot be read', async () => {
    const { journal, relay, post } = bench(openStore());
    relay.answers.push('accept silently');
    await journal.run(post('r-1'));
    relay.readable = false;
    expect(await journal.reconcile(NAMESPACE)).toBe(1);
    relay.readable = true;
    expect(await journal.reconcile(NAMESPACE)).toBe(0);
    expect(relay.sent).toHaveLength(1);
  });
});

describe("the effect's edge", () => {
  it('stops an operation whose permission is gone, before it is signed and before it is sent', async () => {
    const { journal, relay, post } = bench(openStore());
    const gone = failed('unauthenticated', 'revoked');
    let asked = 0;
    const before = post('r-1', 'hello', { withdrawn: () => gone });
    const between = post('r-2', 'hello', { withdrawn: () => ((asked += 1) === 1 ? undefined : gone) });
    expect(told(await journal.run(before))).toBe('failed/unauthenticated');
    expect(told(await journal.run(between))).toBe('failed/unauthenticated');
    expect(asked).toBe(2);
    expect(relay.sent).toEqual([]);
    expect(told(await journal.run(post('r-3')))).toBe('succeeded');
  });

  it('ends a plan that throws without an effect, loudly', async () => {
    const errors: string[] = [];
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: (message: string) => errors.push(message) };
    const { journal, relay, post } = bench(openStore(), { log });
    const broken = post('r-1', 'hello', { plan: () => Promise.reject(new Error('a bug')) });
    expect(told(await journal.run(broken))).toBe('failed/internal');
    expect(errors).toEqual(['journal: an action could not be planned']);
    expect(told(await journal.run(broken))).toBe('failed/internal, replayed');
    expect(relay.sent).toEqual([]);
  });
});

describe('the disk', () => {
  it('that takes no claim: nothing is executed, and the same request is taken when there is room again', async () => {
    let full = true;
    const made = bench(fillable(openStore(), () => full));
    expect(told(await made.journal.run(made.post('r-1')))).toBe('failed/internal');
    expect([made.plans, made.relay.sent.length]).toEqual([0, 0]);
    full = false;
    expect(told(await made.journal.run(made.post('r-1')))).toBe('succeeded');
  });

  it('that takes no evidence: nothing is sent, and the end is told only when it can be stored', async () => {
    let full = false;
    const { journal, relay, post } = bench(fillable(openStore(), () => full));
    const filling = post('r-1', 'hello', { withdrawn: () => void (full = true) });
    expect(told(await journal.run(filling))).toBe('indeterminate/internal');
    expect(relay.sent).toEqual([]);
    full = false;
    expect(told(await journal.run(post('r-1')))).toBe('failed/internal');
    expect(told(await journal.run(post('r-1')))).toBe('failed/internal, replayed');
    expect(relay.sent).toEqual([]);
  });

  it('that takes no result: the success is not told, and found again by reading', async () => {
    let full = false;
    const { journal, relay, post } = bench(fillable(openStore(), () => full));
    relay.answers.push('hold');
    const first = journal.run(post('r-1'));
    await relay.sends(1);
    full = true;
    relay.release();
    expect(told(await first)).toBe('indeterminate/internal');
    full = false;
    expect(told(await journal.run(post('r-1')))).toBe('succeeded');
    expect(relay.sent).toHaveLength(1);
  });
});

describe('limits', () => {
  it('a full namespace refuses new operations and goes on to answer for the old ones', async () => {
    const store = openStore();
    const { journal, relay, post } = bench(store, { maxRecords: 2 });
    await journal.adopt(NAMESPACE);
    await journal.run(post('r-1'));
    await journal.run(post('r-2', 'two'));
    expect(told(await journal.run(post('r-3', 'three')))).toBe('failed/internal');
    expect(told(await journal.run(post('r-1')))).toBe('succeeded, replayed');
    expect(relay.sent).toHaveLength(2);
    const next = bench(store, { maxRecords: 2 });
    await next.journal.adopt(NAMESPACE);
    expect(told(await next.journal.run(next.post('r-3', 'three')))).toBe('failed/internal');
  });

  it.each([
    ['a page', 'channel.read', EMPTY_PAGE],
    ['a value of memory', 'storage.get', A_VALUE],
  ] as const)('%s is kept for an hour, its record for ever', async (_, action, verdict) => {
    const { journal, clock, post } = bench(openStore());
    let reads = 0;
    const read = (requestId: string) =>
      post(requestId, 'read', {
        action,
        plan: () => {
          reads += 1;
          return Promise.resolve({ type: 'end', verdict } as const);
        },
      });
    await journal.run(read('r-1'));
    clock.push(READ_KEPT_MS);
    await journal.run(read('r-2'));
    expect(told(await journal.run(read('r-1')))).toBe('succeeded, replayed');
    clock.push(1);
    await journal.run(read('r-3'));
    expect(told(await journal.run(read('r-1')))).toBe('indeterminate/outcome_unknown');
    expect(told(await journal.run(read('r-2')))).toBe('succeeded, replayed');
    expect(told(await journal.run(post('r-1', 'other')))).toBe('failed/request_id_conflict');
    expect(reads).toBe(3);
  });
});

describe('a record that was given up', () => {
  it('is closed, no longer pursued and never sent, and is resolved when its event is seen after all', async () => {
    const open = storeFile();
    const one = bench(open());
    one.relay.answers.push('lose');
    await one.journal.run(one.post('r-1', 'hello', { turnId: 't-1' }));
    one.clock.push(GIVE_UP_AFTER_MS);
    one.relay.readable = false;
    expect(await one.journal.reconcile(NAMESPACE)).toBe(1);
    expect((await one.journal.publishedIn(NAMESPACE, 't-1', 1_000)).open).toHaveLength(1);
    one.relay.readable = true;
    expect(await one.journal.reconcile(NAMESPACE)).toBe(0);
    expect(await one.journal.publishedIn(NAMESPACE, 't-1', 1_000)).toEqual({ events: [], open: [], planning: false });
    const asked = one.relay.asked.length;
    expect(await one.journal.reconcile(NAMESPACE)).toBe(0);
    expect(one.relay.asked).toHaveLength(asked);
    expect(one.doubts).toHaveLength(1);

    // The clock is set back, and it is another run.
    const two = bench(open(), { relay: one.relay });
    await two.journal.adopt(NAMESPACE);
    expect(told(await two.journal.run(two.post('r-1')))).toBe('indeterminate/outcome_unknown');
    expect(one.relay.sent).toHaveLength(1);
    one.relay.keep(...one.relay.sent);
    expect(told(await two.journal.run(two.post('r-1')))).toBe('succeeded');
    expect(told(await two.journal.run(two.post('r-1')))).toBe('succeeded, replayed');
    expect((await two.journal.publishedIn(NAMESPACE, 't-1', 1_000)).events).toHaveLength(1);
    expect(one.relay.sent).toHaveLength(1);
  });
});

describe('another run of the broker', () => {
  it('takes over what is open; the run before can finish nothing', async () => {
    const open = storeFile();
    const one = bench(open());
    one.relay.answers.push('hold');
    const first = one.journal.run(one.post('r-1'));
    await one.relay.sends(1);
    const two = bench(open(), { relay: one.relay });
    await two.journal.adopt(NAMESPACE);
    one.relay.release();
    expect(told(await first)).toBe('indeterminate/internal');
    expect(await two.journal.reconcile(NAMESPACE)).toBe(0);
    expect(told(await two.journal.run(two.post('r-1')))).toBe('succeeded, replayed');
    expect(one.relay.sent).toHaveLength(1);
  });

  it('is left alone with what it owns', async () => {
    const open = storeFile();
    const one = bench(open());
    const two = bench(open(), { relay: one.relay });
    one.relay.answers.push('hold');
    const first = one.journal.run(one.post('r-1'));
    await one.relay.sends(1);
    expect(told(await two.journal.run(two.post('r-1')))).toBe('indeterminate/outcome_unknown');
    expect(await two.journal.reconcile(NAMESPACE)).toBe(0);
    one.relay.release();
    expect(told(await first)).toBe('succeeded');
    expect(told(await two.journal.run(two.post('r-1')))).toBe('succeeded, replayed');
    expect(one.relay.sent).toHaveLength(1);
  });
});

describe('a turn', () => {
  it('has published what ended well in it, oldest first', async () => {
    const { journal, relay, post } = bench(openStore());
    await journal.run(post('r-1', 'one', { turnId: 't-1' }));
    relay.answers.push({ reject: 'invalid: no' });
    await journal.run(post('r-2', 'two', { turnId: 't-1' }));
    await journal.run(post('r-3', 'three', { turnId: 't-1' }));
    await journal.run(post('r-4', 'four', { turnId: 't-2' }));
    const { events, open } = await journal.publishedIn(NAMESPACE, 't-1', 1_000);
    expect(open).toEqual([]);
    expect(events.map(({ content }) => content)).toEqual(['one', 'three']);
  });

  it('has its records looked for, however many came after them', async () => {
    const { journal, relay, post } = bench(openStore());
    relay.answers.push(...Array.from({ length: 34 }, () => 'accept silently' as const));
    for (let nth = 0; nth < 34; nth += 1) await journal.run(post(`r-${nth}`, `${nth}`, { turnId: nth < 2 ? 't-1' : 't-2' }));
    const { events, open } = await journal.publishedIn(NAMESPACE, 't-1', 1_000);
    expect(events.map(({ content }) => content)).toEqual(['0', '1']);
    expect(open).toEqual([]);
    expect(relay.asked).toHaveLength(2);
  });

  it('is not decided while an action of it is planned beyond the patience', async () => {
    const { journal, relay, clock, post } = bench(openStore());
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const { plan } = post('r-1', 'one');
    const slow = { turnId: 't-1', plan: () => gate.then(plan) };
    const first = journal.run(post('r-1', 'one', slow));
    const reading = journal.run(post('r-2', 'two', { ...slow, turnId: 't-2', action: 'channel.read' }));
    const asked = journal.publishedIn(NAMESPACE, 't-1', 1_000);
    clock.push(1_000);
    expect(await asked).toEqual({ events: [], open: [], planning: true });
    // Reading publishes nothing; and other turns are their own.
    expect(await journal.publishedIn(NAMESPACE, 't-2', 1_000)).toEqual({ events: [], open: [], planning: false });
    release();
    await Promise.all([first, reading]);
    expect(await journal.publishedIn(NAMESPACE, 't-1', 1_000))
      .toEqual({ events: [relay.sent[0]], open: [], planning: false });
  });

  it('waits for what is under way in it', async () => {
    const { journal, relay, post } = bench(openStore());
    relay.answers.push('hold');
    const first = journal.run(post('r-1', 'one', { turnId: 't-1' }));
    await relay.sends(1);
    const asked = journal.publishedIn(NAMESPACE, 't-1', 1_000);
    relay.release();
    await first;
    expect((await asked).events).toHaveLength(1);
  });
});

it('refuses a row that skep did not write, and says so', async () => {
  const store = openStore();
  const { journal, post } = bench(store);
  await journal.run(post('r-1'));
  await store.write(sql("UPDATE journal SET result = '{}'"));
  expect(told(await journal.run(post('r-1')))).toBe('failed/internal');
  expect(await rowsOf(store)).toHaveLength(1);
});

async function rowsOf(store: Store): Promise<readonly unknown[]> {
  return await store.read(sql('SELECT id FROM journal'));
}
