/** The subject of the journal's goals: a no-op action through the journal's whole API, on a database of its own. */
import { openJournal } from '../src/broker/journal/index.ts';
import type { Journal, Operation, Verdict } from '../src/broker/journal/index.ts';
import { digestOf } from '../src/broker/wire/index.ts';
import { pubkey, silentLog } from '../src/model/index.ts';
import type { Store } from '../src/store/index.ts';
import { systemClock } from '../src/system/index.ts';

export const NAMESPACE = { community: 'wss://relay.example', principal: pubkey('1'.repeat(64)) };
/** As long as a real one: the name of the broker's run is part of every row. */
export const OWNER = '0123456789abcdef'.repeat(2);
/** Not a read: those are swept after a while, which is not what the goals are about. */
export const ACTION = 'observer.emit';
export const NOTHING: Verdict = { status: 'succeeded', action: ACTION, outcome: { accepted: 0 } };
const BODY = Buffer.from(JSON.stringify({ type: 'broker_request', args: { slug: 'core' }, padding: 'x'.repeat(100) }));

export function journalOn(store: Store): Journal {
  return openJournal({
    store,
    clock: systemClock,
    log: silentLog,
    owner: OWNER,
    wireOf: () => ({ publish: neverSent, find: neverSent }),
  });
}

export async function alone(journal: Journal, actions: number): Promise<void> {
  for (let count = 0; count < actions; count += 1) await journal.run(operation());
}

/** Each of `width` callers runs its actions one after the other; all of them at once. */
export async function inGroups(journal: Journal, actions: number, width: number): Promise<void> {
  let left = actions;
  const caller = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      await journal.run(operation());
    }
  };
  await Promise.all(Array.from({ length: width }, caller));
}

function operation(): Operation {
  return {
    key: { ...NAMESPACE, requestId: newRequestId() },
    digest: bodyDigest(),
    action: ACTION,
    plan: () => Promise.resolve({ type: 'end', verdict: NOTHING }),
    withdrawn: () => undefined,
  };
}

export function bodyDigest(): string {
  return digestOf(BODY);
}

let serial = 0;

/** Ids as clients make them: without order. */
export function newRequestId(): string {
  serial += 1;
  return digestOf(Buffer.from(String(serial))).slice(0, 32);
}

function neverSent(): Promise<never> {
  return Promise.reject(new TypeError('a no-op action sends nothing'));
}
