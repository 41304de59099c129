/** The flows over a real socket, against the relay in the box: what it stores, what it refuses, whom it shows it to. */
import { expect, it, onTestFinished } from 'vitest';
import { seconds, silentLog } from '../../src/model/index.ts';
import { openLocalKey, openPersonaRelay } from '../../src/owner/index.ts';
import {
  asTeamId, deleteTeam, deleteVersions, historyPage, readTeams, saveTeamInstructions, saveVersion, versionTemplate, writeTeam,
} from '../../src/persona/index.ts';
import type { Cursor, OwnerPorts, PersonaRelay, Subject } from '../../src/persona/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { alice, bob, Client, startRelay } from '../relay/harness.ts';
import { agent, owner } from './people.ts';
import { ownerKey, seal, signed } from './world.ts';

const AGENT = { type: 'agent', agent } as const;
const TEAM = asTeamId('Bees:of/Kew') ?? expect.fail('no team id');

function relayOf({ url }: Relay): PersonaRelay {
  const key = openLocalKey(Buffer.from(alice.key).toString('hex'), 'owner.key', systemRandom);
  const opened = openPersonaRelay({ relayUrl: url, key, clock: systemClock, steadyClock, random: systemRandom, log: silentLog });
  onTestFinished(() => opened.close());
  return opened;
}

async function textsOf(ports: OwnerPorts, subject: Subject, limit: number): Promise<readonly string[]> {
  const texts: string[] = [];
  let cursor: Cursor | undefined;
  for (;;) {
    const next = await historyPage(ports, subject, cursor, limit);
    if (!next.ok) throw new Error(next.detail);
    if (next.page.status === 'end') return texts;
    texts.push(...next.page.versions.map(({ reading }) => (reading.status === 'valid' ? reading.text : reading.fault)));
    ({ cursor } = next.page);
  }
}

it('keeps every version, pages through those of one second, and forgets them when they are deleted', async () => {
  expect(alice.pubkey).toBe(owner);
  const relay = await startRelay();
  const ports: OwnerPorts = { key: ownerKey(), relay: relayOf(relay), nowSec: () => seconds(1_700_000_000) };
  const longest = 'x'.repeat(131_072);
  for (const text of ['', longest]) expect(await saveVersion(ports, { subject: AGENT, text, earlier: 'template' })).toMatchObject({ status: 'current' });
  const rivals = Array.from({ length: 5 }, () => signed(versionTemplate(AGENT, seal('v1:rival'), seconds(1_700_000_009))));
  for (const rival of rivals) expect(await ports.relay.publish(rival)).toMatchObject({ status: 'accepted' });
  const texts = await textsOf(ports, AGENT, 2);
  expect(texts.map((text) => (text === longest ? 'longest' : text))).toEqual([...rivals.map(() => 'rival'), 'longest', '', 'template']);

  expect(await deleteVersions(ports, AGENT, { clock: steadyClock, signal: new AbortController().signal })).toBe('done');
  const stranger = await Client.as(bob, relay);
  expect(await stranger.stored('all', { kinds: [44_300, 5] })).toEqual([]);
  expect(await textsOf(ports, AGENT, 9)).toEqual([]);
});

it('keeps a team’s record and its versions, and ends them in order', async () => {
  const relay = await startRelay();
  const ports: OwnerPorts = { key: ownerKey(), relay: relayOf(relay), nowSec: () => seconds(1_700_000_000) };
  expect(await writeTeam(ports, { status: 'live', id: TEAM, name: 'Bees', instructions: 'old', definitions: [], agents: [agent] })).toEqual({ ok: true });
  expect(await saveTeamInstructions(ports, TEAM, 'new')).toMatchObject({ status: 'current', earlier: 'kept' });
  expect(await textsOf(ports, { type: 'team', team: TEAM }, 1)).toEqual(['new', 'old']);
  expect(await readTeams(ports)).toMatchObject({ ok: true, records: [{ id: TEAM, agents: [agent] }] });
  expect(await deleteTeam(ports, TEAM, { clock: steadyClock, signal: new AbortController().signal })).toEqual({ status: 'done' });
  expect(await readTeams(ports)).toEqual({ ok: true, records: [{ status: 'deleted', id: TEAM, versions: 'gone' }] });
  expect(await textsOf(ports, { type: 'team', team: TEAM }, 1)).toEqual([]);
});
