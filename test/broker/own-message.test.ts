/** A message of skep's own survives a crash between its claim and its publication: said once, under its id. */
import { expect, it } from 'vitest';
import type { OwnMessage } from '../../src/broker/index.ts';
import { bench, end } from './harness.ts';
import { mortal } from './fake-store.ts';
import { CHANNEL } from './people.ts';
import { storeFile } from './temp-store.ts';

const MESSAGE: OwnMessage = {
  operationId: 'o-1',
  channelId: CHANNEL,
  content: 'a notice',
  kind: 'notice',
  turnId: 't-1',
};

// Writes of a first start: the namespace, the adoption. The third is the claim, with the signed event.
it.each(['before', 'after'] as const)('killed %s the commit of its claim', async (when) => {
  const open = storeFile();
  const dying = mortal(open(), { write: 3, when });
  const before = await bench({ store: dying });
  void before.link.say(MESSAGE);
  await dying.died;
  await end(before.broker, before.clock);

  const after = await bench({ store: open(), relay: before.relay, clock: before.clock });
  expect(await after.link.say(MESSAGE)).toMatchObject({ status: 'accepted', eventId: after.relay.sent[0]?.id });
  expect(after.relay.sent).toHaveLength(1);
});
