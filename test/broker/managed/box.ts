/** The broker on the relay in the box, with an agent that is an admin of the channel and may make agents. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { BrokerOptions, ManagedChange } from '../../../src/broker/index.ts';
import type { Store } from '../../../src/store/index.ts';
import type { Client } from '../../relay/harness.ts';
import { mentionsOf, newestFirst } from '../../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../../src/nostr/index.ts';
import { openBox } from '../box.ts';
import type { Box } from '../box.ts';
import { identity } from '../harness.ts';
import { AGENT, CHANNEL, OWNER } from '../people.ts';

export interface Made {
  readonly box: Box;
  readonly changes: readonly ManagedChange[];
  /** Files in the directory of keys. */
  keys(): readonly string[];
  members(): Promise<readonly string[]>;
  profile(pubkey: string): Promise<VerifiedEvent | undefined>;
}

export const CREATE = { channelId: CHANNEL, displayName: 'Scout', systemPrompt: 'Look around.' };

export async function openManagedBox(
  options: Partial<BrokerOptions> = {},
  role: 'admin' | 'member' = 'admin',
  firstStore: (store: Store) => Store = (store) => store,
  consume: (change: ManagedChange) => Promise<void> = () => Promise.resolve(),
): Promise<Made> {
  const changes: ManagedChange[] = [];
  const follow = (change: ManagedChange): Promise<void> => {
    changes.push(change);
    return consume(change);
  };
  const box = await openBox({ identities: [identity(AGENT, { runtimes: ['scripted', 'goose'] })], ...options }, follow, firstStore);
  const owner = await box.outside(OWNER);
  const sign = (kind: number, tags: readonly Tag[]) => OWNER.sign({ kind, tags, content: '', createdAtSec: Math.floor(Date.now() / 1000) });
  if (role === 'admin') await owner.publish(sign(9_000, [['h', CHANNEL], ['p', AGENT.pubkey, 'admin']]));
  const directory = join(box.directory, 'agents');
  return {
    box,
    changes,
    keys: () => (existsSync(directory) ? readdirSync(directory).sort() : []),
    members: async () => mentionsOf((await newest(owner, { kinds: [39_002], '#d': [CHANNEL] }))?.tags ?? []),
    profile: (pubkey) => newest(owner, { kinds: [0], authors: [pubkey] }),
  };
}

let questions = 0;

async function newest(reader: Client, filter: object): Promise<VerifiedEvent | undefined> {
  questions += 1;
  const id = `question-${questions}`;
  reader.send(['REQ', id, filter]);
  await reader.next('EOSE', id);
  return [...reader.receivedEvents(id)].sort(newestFirst)[0];
}

export async function until(holds: () => boolean): Promise<void> {
  await vi.waitFor(() => { if (!holds()) throw new Error('not yet'); }, { timeout: 30_000, interval: 10 });
}
