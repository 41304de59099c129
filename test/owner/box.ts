/** The relay in the box with one channel, an owner's key in a file, and agents outside: what the owner's tests share. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLog } from '../../src/model/index.ts';
import type { Pubkey } from '../../src/model/index.ts';
import { openDesk, openLocalKey } from '../../src/owner/index.ts';
import type { Desk, Note } from '../../src/owner/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { Watch } from '../e2e/watch.ts';
import { alice, bob, carol, OPEN as CHANNEL, startRelay } from '../relay/harness.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { runSkep } from '../cli/skep.ts';
import type { Ended } from '../cli/skep.ts';
import { OutsideAgent } from './outside-agent.ts';

/** Alice owns two agents: bob, and carol. */
export const owner = alice;
export const agentPubkey = bob.pubkey;
export { CHANNEL };

export interface Box {
  readonly relay: Relay;
  readonly directory: string;
  readonly agent: OutsideAgent;
  /** Carol's program, connected when it is asked for. */
  readonly second: () => Promise<OutsideAgent>;
  /** `skep owner <args>` with relay, key and, unless `--agent` is given, bob as the one agent. */
  readonly skep: (...args: readonly string[]) => Promise<Ended>;
}

export async function openBox(): Promise<Box> {
  const relay = await startRelay({ agentOwners: [bob, carol].map(({ pubkey }) => ({ agent: pubkey, owner: owner.pubkey })) });
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'owner.key'), Buffer.from(owner.key).toString('hex'), { mode: 0o600 });
  return {
    relay, directory,
    agent: await OutsideAgent.connect(relay.url, bob.key, owner.pubkey),
    second: () => OutsideAgent.connect(relay.url, carol.key, owner.pubkey),
    skep: (verb = '', ...args) => {
      const agent = args.includes('--agent') ? [] : ['--agent', agentPubkey];
      return runSkep(['owner', verb, '--relay', relay.url, '--key', 'owner.key', ...agent, ...args], directory);
    },
  };
}

/** Answers decisions as NIP-AO says: the status, then the edit of the card. */
export function answering(agent: OutsideAgent, card: Awaited<ReturnType<OutsideAgent['card']>>, { edits = true, status = 'sent' } = {}): void {
  agent.onControl = (body) => {
    const { type, requestNonce, optionId } = body;
    void agent.tell({ kind: 'control_result', channelId: CHANNEL, payload: { type, status, requestNonce, optionId } });
    if (edits) void agent.edit(CHANNEL, card, 'applied', String(optionId));
  };
}

/** A desk in this process, ready; closed when the test ends. */
export async function deskAt(relayUrl: string, agents: readonly Pubkey[], others = false): Promise<{ readonly desk: Desk; readonly notes: readonly Note[]; readonly watch: Watch }> {
  const notes: Note[] = [];
  const watch = new Watch(() => JSON.stringify(notes));
  const key = openLocalKey(Buffer.from(owner.key).toString('hex'), 'owner.key', systemRandom);
  const desk = openDesk({
    relayUrl, key, agents, others, clock: systemClock, steadyClock, random: systemRandom, log: silentLog,
    onNote: (note) => {
      notes.push(note);
      watch.look();
    },
  });
  onTestFinished(() => desk.close());
  await desk.ready();
  return { desk, notes, watch };
}
