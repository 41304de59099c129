/** A start with more open records than one pass looks at. */
import { expect, it } from 'vitest';
import { openRows } from '../../../src/broker/journal/rows.ts';
import { silentLog } from '../../../src/model/index.ts';
import { digestOf } from '../../../src/broker/wire/index.ts';
import { openStore } from '../temp-store.ts';
import { bench, NAMESPACE, told } from './harness.ts';

it('ends every claim of the run before, however many there are, and none of another principal', async () => {
  const store = openStore();
  const { journal, relay, clock, post } = bench(store);
  const before = openRows({ store, clock, log: silentLog, owner: 'the run before' });
  const digest = digestOf(Buffer.from('hello'));
  const claim = (requestId: string, community = NAMESPACE.community): Promise<unknown> =>
    before.claim({ key: { ...NAMESPACE, community, requestId }, digest, action: 'message.post' });
  await Promise.all(Array.from({ length: 70 }, (_, index) => claim(`r-${index}`)));
  await claim('r-0', 'wss://other');

  await journal.adopt(NAMESPACE);
  expect(await before.open(NAMESPACE, 'claimed', 100)).toEqual([]);
  expect(await before.open({ ...NAMESPACE, community: 'wss://other' }, 'claimed', 100)).toHaveLength(1);
  const retries = await Promise.all(Array.from({ length: 70 }, (_, index) => journal.run(post(`r-${index}`))));
  expect(new Set(retries.map(told))).toEqual(new Set(['failed/internal, replayed']));
  expect(relay.sent).toEqual([]);
});
