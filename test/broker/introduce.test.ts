/** The profile of a managed agent is written in the line in which the agent's own changes of it stand. */
import { expect, it } from 'vitest';
import { introduce } from '../../src/broker/introduce.ts';
import { openKeyring } from '../../src/broker/keyring.ts';
import { openPublisher } from '../../src/broker/publish.ts';
import { silentLog } from '../../src/model/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { bench } from './actions/harness.ts';
import { AGENT, OWNER } from './people.ts';

it.each([[true, 1], [false, 0]])('its turn in the line came: %s', async (comes, sent) => {
  const { context, relay, clock } = bench();
  const keyring = openKeyring([AGENT, OWNER], systemRandom);
  const upstream = relay.open();
  const publisher = openPublisher({ pubkey: AGENT.pubkey, keyring, clock, upstream });
  let left = 0;
  const begin = () => ({
    context: { ...context, alone: (line: string) => Promise.resolve(line === '0' && comes) },
    settled: () => undefined,
    end: () => { left += 1; },
  });
  await introduce({
    agent: {
      pubkey: AGENT.pubkey, owner: OWNER.pubkey, owners: [OWNER.pubkey], root: AGENT.pubkey, displayName: 'Scout',
      systemPrompt: 'Look.', respondTo: 'anyone',
    },
    attestation: keyring.attest(OWNER.pubkey, AGENT.pubkey), renamed: false, via: { begin, publisher, upstream }, log: silentLog,
  });
  expect([relay.sent.length, left]).toEqual([sent, 1]);
});
