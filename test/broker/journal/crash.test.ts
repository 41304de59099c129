/**
 * The process is killed at every commit, before it and after it; then it starts again on the same file, and the
 * identical request comes again. Whatever the relay did: at most one event, and never a failure that is none.
 */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/index.ts';
import type { Answer } from '../fake-relay.ts';
import { mortal } from '../fake-store.ts';
import type { Death } from '../fake-store.ts';
import { storeFile } from '../temp-store.ts';
import { bench, expectOneEvent, NAMESPACE, told } from './harness.ts';
import type { Bench } from './harness.ts';

const ANSWERS = ['accept', 'accept silently', 'lose', { reject: 'invalid: no' }] as const satisfies readonly Answer[];

interface Row {
  readonly death: Death;
  /** Why the retry is told what it is told. */
  readonly because: string;
  /** What the retry is told, for each of `ANSWERS`. */
  readonly ends: readonly [string, string, string, string];
}

const UNKNOWN = 'indeterminate/outcome_unknown';
const SUCCEEDED = 'succeeded, replayed';
const NOTHING_DONE = 'failed/internal, replayed';

const ROWS: readonly Row[] = [
  {
    death: { write: 1, when: 'before' },
    because: 'no claim is on disk, so the retry is the first submission',
    ends: ['succeeded', UNKNOWN, UNKNOWN, 'failed/action_failed'],
  },
  {
    death: { write: 1, when: 'after' },
    because: 'a claim without evidence is proof that nothing was done',
    ends: [NOTHING_DONE, NOTHING_DONE, NOTHING_DONE, NOTHING_DONE],
  },
  {
    death: { write: 2, when: 'before' },
    because: 'a claim without evidence is proof that nothing was done',
    ends: [NOTHING_DONE, NOTHING_DONE, NOTHING_DONE, NOTHING_DONE],
  },
  {
    death: { write: 2, when: 'after' },
    because: 'the event may have been sent, the relay does not have it, so it is sent, and again by the retry',
    ends: [SUCCEEDED, 'succeeded', 'succeeded', 'succeeded'],
  },
  {
    death: { write: 3, when: 'before' },
    because: 'the answer died with the process, so the relay is read, and the event sent again where it is not',
    ends: [SUCCEEDED, SUCCEEDED, SUCCEEDED, SUCCEEDED],
  },
  {
    death: { write: 3, when: 'after' },
    because: 'the result is durable, or is read from the relay where there was no answer',
    ends: [SUCCEEDED, SUCCEEDED, SUCCEEDED, 'failed/action_failed, replayed'],
  },
];

describe.each(ROWS)('killed $death.when commit $death.write: $because', ({ death, ends }) => {
  it.each(ANSWERS.map((answer, index) => ({ answer, end: ends[index] })))(
    'relay: $answer → $end',
    async ({ answer, end }) => {
      const open = storeFile();
      const dying = mortal(await known(open()), death);
      const before = bench(dying);
      before.relay.answers.push(answer);
      // Without an answer of the relay there is no third commit to die at; then the process just ends there.
      await Promise.race([dying.died, before.journal.run(before.post('r-1'))]);

      const after = await restart(open(), before);
      const retried = await after.journal.run(after.post('r-1'));
      expect(told(retried)).toBe(end);
      expectHonest(after, retried.verdict.status);

      const again = await after.journal.run(after.post('r-1'));
      if (retried.verdict.status !== 'indeterminate') expect(again.verdict).toEqual(retried.verdict);
      expectHonest(after, again.verdict.status);
      expect(before.plans + after.plans).toBeLessThanOrEqual(1);
    },
  );
});

const OWN_DEATHS: readonly Death[] = [
  { write: 1, when: 'before' },
  { write: 1, when: 'after' },
  { write: 2, when: 'before' },
  { write: 2, when: 'after' },
];

describe.each(OWN_DEATHS)('a message of our own, killed $when commit $write', (death) => {
  it('is said once, neither lost nor repeated', async () => {
    const open = storeFile();
    const dying = mortal(await known(open()), death);
    const before = bench(dying);
    void before.journal.run(before.own(' own:o-1'));
    await dying.died;

    const after = await restart(open(), before);
    const said = await after.journal.run(after.own(' own:o-1'));
    expect(said.verdict.status).toBe('succeeded');
    expectHonest(after, said.verdict.status);
  });
});

/** A store that has seen the principal before: the first commit is then the claim. */
async function known(store: Store): Promise<Store> {
  await bench(store).journal.adopt(NAMESPACE);
  return store;
}

/** A new process on the same file, a second later: an event that is made now is another one than before. */
async function restart(store: Store, before: Bench): Promise<Bench> {
  before.clock.push(1_000);
  const after = bench(store, { relay: before.relay, clock: before.clock });
  await after.journal.adopt(NAMESPACE);
  await after.journal.reconcile(NAMESPACE);
  return after;
}

/** Success means that the relay has it, failure that it never had it; one event either way. */
function expectHonest({ relay }: Bench, status: string): void {
  expectOneEvent(relay);
  if (status === 'succeeded') expect(relay.kept.size).toBe(1);
  if (status === 'failed') expect(relay.kept.size).toBe(0);
}
