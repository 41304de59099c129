/**
 * The whole broker on the relay in the box, over real sockets and a real database that survives a restart of the
 * broker; and the people outside, who speak to the relay themselves.
 */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openBroker } from '../../src/broker/index.ts';
import type { AgentLink, Broker, BrokerOptions, ManagedChange } from '../../src/broker/index.ts';
import { silentLog } from '../../src/model/index.ts';
import type { Pubkey } from '../../src/model/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { Client, startRelay } from '../relay/harness.ts';
import { identity, post, requestBytes } from './harness.ts';
import type { Answered } from './harness.ts';
import { AGENT, CHANNEL, ELSEWHERE, OWNER } from './people.ts';
import type { Person } from './people.ts';

export interface Box {
  readonly relay: Relay;
  readonly broker: Broker;
  /** One action under a session of the present broker. */
  act(requestId: string, action: string, args: unknown): Promise<Answered>;
  readonly link: AgentLink;
  /** Of an agent that was made since. */
  linkOf(agent: Pubkey): AgentLink;
  readonly sessionId: string;
  /** Of the database and its journals. */
  readonly directory: string;
  /** Ends the broker and opens another on the same data. */
  restart(): Promise<void>;
  close(graceMs: number): Promise<void>;
  /** A connection of their own, authenticated. */
  outside(someone: Person): Promise<Client>;
}

/** `CHANNEL` holds agent and owner, `ELSEWHERE` the owner alone. The agent is proven to be the owner's. */
export async function openBox(
  options: Partial<BrokerOptions> = {},
  onManaged: (change: ManagedChange) => Promise<void> = () => Promise.resolve(),
  firstStore: (store: Store) => Store = (store) => store,
): Promise<Box> {
  const member = { pubkey: AGENT.pubkey, role: 'member' } as const;
  const admin = { pubkey: OWNER.pubkey, role: 'admin' } as const;
  const relay = await startRelay({
    agentOwners: [{ agent: AGENT.pubkey, owner: OWNER.pubkey }],
    seedChannels: [
      { id: CHANNEL, name: 'team', visibility: 'private', members: [admin, member] },
      { id: ELSEWHERE, name: 'owners', visibility: 'private', members: [admin] },
    ],
  });
  const directory = temporaryDirectory();
  let isFirst = true;
  const start = async (): Promise<Started> => {
    const disk = openSqlite(join(directory, 'skep.db'), SUPERVISOR_SCHEMA);
    onTestFinished(() => disk.close());
    const store = isFirst ? firstStore(disk) : disk;
    isFirst = false;
    const broker = await openBroker({
      relayUrl: relay.url, identities: [identity()], store, clock: systemClock, steadyClock, random: systemRandom,
      log: silentLog, keyDirectory: join(directory, 'agents'), ...options,
    });
    onTestFinished(() => broker.close(0));
    broker.managed(onManaged);
    const link = broker.link(AGENT.pubkey);
    return { broker, link, ...link.openSession() };
  };
  let now = await start();
  return {
    relay,
    directory,
    act: (requestId, action, args) => post(now.broker.endpoint, now.token, requestBytes(requestId, action, args)),
    get broker() {
      return now.broker;
    },
    get link() {
      return now.link;
    },
    linkOf: (agent) => now.broker.link(agent),
    get sessionId() {
      return now.sessionId;
    },
    async restart() {
      await now.broker.close(0);
      now = await start();
    },
    close: (graceMs) => now.broker.close(graceMs),
    outside: (someone) =>
      Client.as({
        key: someone.secretKey, pubkey: someone.pubkey,
        sign: (kind, tags = [], content = '', createdAtSec = Math.floor(Date.now() / 1000)) =>
          someone.sign({ kind, tags, content, createdAtSec }),
      }, relay),
  };
}

interface Started {
  readonly broker: Broker;
  readonly link: AgentLink;
  readonly sessionId: string;
  readonly token: string;
}
