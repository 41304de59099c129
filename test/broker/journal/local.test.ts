/**
 * What an action does to the host's own tables, committed with the record: once, both or neither, and by the run that
 * owns the record alone. A table of the test's own stands for them.
 */
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/broker/journal/operation.ts';
import type { LocalWrite } from '../../../src/broker/journal/rows.ts';
import { ATTACHING, failed } from '../../../src/broker/journal/verdict.ts';
import type { Attached, Evidence, Verdict } from '../../../src/broker/journal/verdict.ts';
import { Failure } from '../../../src/model/index.ts';
import { sql } from '../../../src/store/index.ts';
import type { Store } from '../../../src/store/index.ts';
import type { Answer } from '../fake-relay.ts';
import { mortal } from '../fake-store.ts';
import { AGENT, CHANNEL, SIBLING, START_SEC } from '../people.ts';
import { openStore, storeFile } from '../temp-store.ts';
import { bench, NAMESPACE, told } from './harness.ts';
import type { Bench } from './harness.ts';

const DELETED: Verdict = {
  status: 'succeeded', action: 'agents.delete', outcome: { agentPubkey: SIBLING.pubkey, displayName: 'helper' },
};
const ATTACHED: Attached = {
  status: 'succeeded', action: ATTACHING,
  outcome: { agentPubkey: SIBLING.pubkey, displayName: 'helper', channelId: CHANNEL },
};
const PUT_USER = AGENT.sign({ kind: 9_000, tags: [['h', CHANNEL], ['p', SIBLING.pubkey]], content: '', createdAtSec: START_SEC });

function note(text: string): LocalWrite {
  return (ours) => sql(`INSERT INTO notes (text) SELECT ? WHERE ${ours.text}`, text, ...ours.params);
}

async function withTable(store: Store): Promise<Store> {
  await store.write(sql('CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL)'));
  await bench(store).journal.adopt(NAMESPACE);
  return store;
}

async function notes(store: Store): Promise<readonly unknown[]> {
  return (await store.read(sql('SELECT text FROM notes'))).map((row) => row['text']);
}

function aftermath(evidence: Evidence, verdict: Verdict): readonly LocalWrite[] {
  return evidence.action === ATTACHING && verdict.status !== 'indeterminate' ? [note(verdict.status)] : [];
}

interface Made extends Bench {
  readonly told: { written: number; released: number };
}

function made(store: Store, before?: Bench): Made {
  const told = { written: 0, released: 0 };
  const shared = before === undefined ? {} : { relay: before.relay, clock: before.clock };
  return { ...bench(store, { ...shared, aftermath: { writes: aftermath, written: () => { told.written += 1; } } }), told };
}

function change(inner: Made, requestId: string, plan: Plan, withdrawn: () => Verdict | undefined = () => undefined) {
  return inner.post(requestId, requestId, {
    action: plan.type === 'end' ? 'agents.delete' : ATTACHING,
    plan: () => Promise.resolve({ ...plan, release: () => { inner.told.released += 1; } }),
    withdrawn,
  });
}

const END: Plan = { type: 'end', verdict: DELETED, writes: [note('deleted')] };
const ATTACH: Plan = { type: 'publish', action: ATTACHING, event: PUT_USER, accepted: ATTACHED, writes: [note('minted')] };

describe('an end with writes', () => {
  it('is one commit, told once and replayed without them', async () => {
    const store = await withTable(openStore());
    const inner = made(store);
    expect(told(await inner.journal.run(change(inner, 'r-1', END)))).toBe('succeeded');
    expect(told(await inner.journal.run(change(inner, 'r-1', END)))).toBe('succeeded, replayed');
    expect(await notes(store)).toEqual(['deleted']);
    expect(inner.told.released).toBe(1);
  });

  it('does nothing when the permission is gone by then', async () => {
    const store = await withTable(openStore());
    const inner = made(store);
    const gone = (): Verdict => failed('unauthenticated', 'gone');
    expect(told(await inner.journal.run(change(inner, 'r-1', END, gone)))).toBe('failed/unauthenticated');
    expect(await notes(store)).toEqual([]);
    expect(inner.told.released).toBe(1);
  });

  it('does nothing for a run whose record was taken over', async () => {
    const store = await withTable(openStore());
    const inner = made(store);
    let take = (): void => {};
    const taken = new Promise<void>((resolve) => { take = resolve; });
    const planning = change(inner, 'r-1', END);
    const slow = inner.journal.run({ ...planning, plan: async () => { await taken; return planning.plan(); } });
    await inner.journal.adopt({ ...NAMESPACE, community: 'wss://other' });
    await bench(store).journal.adopt(NAMESPACE);
    take();
    expect(told(await slow)).toBe('indeterminate/internal');
    expect(await notes(store)).toEqual([]);
  });

  it.each([
    ['before', 'failed/internal, replayed', []],
    ['after', 'succeeded, replayed', ['deleted']],
  ] as const)('killed %s the commit: %s', async (when, end, left) => {
    const open = storeFile();
    const dying = mortal(await withTable(open()), { write: 2, when });
    const before = made(dying);
    void before.journal.run(change(before, 'r-1', END));
    await dying.died;
    const store = open();
    const after = made(store, before);
    await after.journal.adopt(NAMESPACE);
    expect(told(await after.journal.run(change(after, 'r-1', END)))).toBe(end);
    expect(await notes(store)).toEqual(left);
  });
});

describe('a publication with writes', () => {
  it.each([
    ['accept', 'succeeded', ['minted', 'succeeded']],
    [{ reject: 'restricted: no' }, 'failed/unauthorized', ['minted', 'failed']],
    ['lose', 'indeterminate/outcome_unknown', ['minted']],
  ] as const)('the relay says %j: %s', async (answer, end, left) => {
    const store = await withTable(openStore());
    const inner = made(store);
    inner.relay.answers.push(answer);
    expect(told(await inner.journal.run(change(inner, 'r-1', ATTACH)))).toBe(end);
    expect(await notes(store)).toEqual(left);
    expect(inner.told.written).toBe(left.length);
    expect(inner.told.released).toBe(1);
  });

  it.each([
    [2, 'before', 'accept', 'failed/internal, replayed', []],
    [2, 'after', 'accept', 'succeeded, replayed', ['minted', 'succeeded']],
    [3, 'before', 'accept', 'succeeded, replayed', ['minted', 'succeeded']],
    [3, 'before', 'lose', 'succeeded, replayed', ['minted', 'succeeded']],
    [3, 'before', { reject: 'restricted: no' }, 'succeeded, replayed', ['minted', 'succeeded']],
    [3, 'after', 'accept', 'succeeded, replayed', ['minted', 'succeeded']],
    [3, 'after', { reject: 'restricted: no' }, 'failed/unauthorized, replayed', ['minted', 'failed']],
  ] as const)('killed at commit %i, %s it, the relay says %j: %s', async (write, when, answer: Answer, end, left) => {
    const open = storeFile();
    const dying = mortal(await withTable(open()), { write, when });
    const before = made(dying);
    before.relay.answers.push(answer);
    await Promise.race([dying.died, before.journal.run(change(before, 'r-1', ATTACH))]);
    const store = open();
    const after = made(store, before);
    await after.journal.adopt(NAMESPACE);
    await after.journal.reconcile(NAMESPACE);
    const settled = await after.journal.run(change(after, 'r-1', ATTACH));
    expect(told(settled)).toBe(end);
    if (settled.verdict.status === 'succeeded') expect(settled.verdict).toEqual(ATTACHED);
    expect(await notes(store)).toEqual(left);
  });

  it('takes back what a commit may have left that was told to have failed', async () => {
    const store = await withTable(openStore());
    let isFirst = true;
    const lying: Store = {
      read: (statement) => store.read(statement),
      close: () => store.close(),
      async write(...statements) {
        const done = await store.write(...statements);
        if (!statements.some(({ sql: text }) => text.includes('notes')) || !isFirst) return done;
        isFirst = false;
        throw new Failure('storage_failed', 'skep.db: no word of the disk');
      },
    };
    const inner = made(lying);
    await inner.journal.run(change(inner, 'r-1', ATTACH));
    expect(await notes(store)).toEqual(['minted', 'failed']);
    expect(inner.relay.sent).toEqual([]);
  });
});
