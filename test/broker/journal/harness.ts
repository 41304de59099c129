/** A journal on a real database, a relay in memory, and operations that post one message. */
import { expect } from 'vitest';
import { openJournal } from '../../../src/broker/journal/journal.ts';
import type { Journal, JournalOptions } from '../../../src/broker/journal/journal.ts';
import type { Operation, Settled } from '../../../src/broker/journal/operation.ts';
import type { Namespace } from '../../../src/broker/journal/rows.ts';
import type { Evidence } from '../../../src/broker/journal/verdict.ts';
import { openKeyring } from '../../../src/broker/keyring.ts';
import { openPublisher } from '../../../src/broker/publish.ts';
import type { Publisher } from '../../../src/broker/publish.ts';
import { digestOf } from '../../../src/broker/wire/index.ts';
import { silentLog } from '../../../src/model/index.ts';
import type { Pubkey } from '../../../src/model/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { systemRandom } from '../../../src/system/index.ts';
import { HeldClock } from '../clock.ts';
import { FakeRelay, RELAY_URL } from '../fake-relay.ts';
import { AGENT, CHANNEL, SIBLING } from '../people.ts';

export const NAMESPACE: Namespace = { community: RELAY_URL, principal: AGENT.pubkey };

export interface Bench {
  readonly journal: Journal;
  readonly relay: FakeRelay;
  readonly clock: HeldClock;
  readonly doubts: Namespace[];
  /** How often an operation was planned. */
  plans: number;
  readonly post: (requestId: string, content?: string, changes?: Partial<Operation>) => Operation;
  /** The same, with its event signed before the claim. */
  readonly own: (requestId: string) => Operation;
}

let runs = 0;

/** A run of the journal; another one on the same store and relay is a restart. */
export function bench(
  store: Store,
  options: Partial<JournalOptions> & { relay?: FakeRelay; clock?: HeldClock } = {},
): Bench {
  const { relay = new FakeRelay(), clock = new HeldClock(), ...rest } = options;
  const doubts: Namespace[] = [];
  const keyring = openKeyring([AGENT, SIBLING], systemRandom);
  const publisherOf = (pubkey: Pubkey): Publisher => openPublisher({ pubkey, keyring, clock, upstream: relay.open() });
  const publisher = publisherOf(AGENT.pubkey);
  runs += 1;
  const journal = openJournal({
    store,
    clock,
    log: silentLog,
    owner: `run-${runs}`,
    wireOf: () => publisher,
    onDoubt: (namespace) => doubts.push(namespace),
    ...rest,
  });
  const signed = (content: string): Evidence => ({
    action: 'message.post',
    event: publisher.compose({ kind: 9, tags: [['h', CHANNEL]], content }),
  });
  const made: Bench = {
    journal,
    relay,
    clock,
    doubts,
    plans: 0,
    post: (requestId, content = 'hello', changes = {}) => ({
      key: { ...NAMESPACE, requestId },
      digest: digestOf(Buffer.from(content)),
      action: 'message.post',
      plan: async () => {
        made.plans += 1;
        return Promise.resolve({ type: 'publish', ...signed(content) });
      },
      withdrawn: () => undefined,
      ...changes,
    }),
    own: (requestId) => made.post(requestId, 'hello', { evidence: signed('hello') }),
  };
  return made;
}

/** `succeeded`, or the status and code. */
export function told({ verdict, replayed }: Settled): string {
  const name = verdict.status === 'succeeded' ? verdict.status : `${verdict.status}/${verdict.error.code}`;
  return replayed ? `${name}, replayed` : name;
}

/** At most one event went to the relay, whatever happened. */
export function expectOneEvent(relay: FakeRelay): void {
  expect(new Set(relay.sent.map(({ id }) => id)).size).toBeLessThanOrEqual(1);
}
