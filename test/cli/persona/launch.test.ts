/** `skep launch plan` as a program: for each layer where it comes from and its hash, and every reason against a start. */
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seconds } from '../../../src/model/index.ts';
import { toNpub } from '../../../src/nostr/index.ts';
import { versionTemplate } from '../../../src/persona/index.ts';
import { seal, signed } from '../../persona/world.ts';
import { alice, bob, carol, Client } from '../../relay/harness.ts';
import { openBox, runIn } from './box.ts';
import type { Box, Ran } from './box.ts';

const PATIENCE_MS = 300_000;

/** A config of alice's with bob's program as `helper` and carol's as `plain`, on the box's relay. */
function configure({ relay, directory }: Box, helper: string): void {
  mkdirSync(join(directory, 'keys'), { recursive: true });
  for (const [name, { key }] of [['owner', alice], ['helper', bob], ['plain', carol]] as const) {
    writeFileSync(join(directory, 'keys', `${name}.key`), Buffer.from(key).toString('hex'), { mode: 0o600 });
  }
  writeFileSync(join(directory, 'skep.yaml'), `relay: ${relay.url}
owner-key: keys/owner.key
agents:
  - { name: helper, key: keys/helper.key, owner: ${alice.pubkey}, adapter: scripted, ${helper} }
  - { name: plain, key: keys/plain.key, owner: ${alice.pubkey}, adapter: { command: ./not-there }, instructions: Of the file., session: thread }
`);
}

function inPlace(box: Box, ...args: readonly string[]): Promise<Ran> {
  return runIn(box.directory, args, '');
}

async function planned(box: Box, agent = 'helper'): Promise<Record<string, unknown>> {
  return JSON.parse((await inPlace(box, 'launch', 'plan', agent, '--json')).stdout) as Record<string, unknown>;
}

function size(text: string): object {
  return { bytes: Buffer.byteLength(text), sha256: hash('sha256', text, 'hex') };
}

const NO_TEXT = { bytes: null, sha256: null };

it('names the source of each layer, its size and hash: definition, then version, then what this machine says', async () => {
  const box = await openBox();
  configure(box, 'persona: helper');
  expect(await planned(box)).toMatchObject({
    name: 'helper', starts: false, own: null, team: null, session: null,
    refusal: { code: 'definition_unusable', detail: 'definition helper: its owner has none on the relay; skep persona new helper makes one' },
  });
  box.write('prompt.md', 'As the persona says.');
  await inPlace(box, 'persona', 'new', 'helper', '--name', 'Helper', '--prompt', 'prompt.md', '--session', 'thread', '--model', 'large', '--yes');
  const [definition] = await box.stored(30_175);
  expect(await planned(box)).toEqual({
    agent: bob.pubkey, name: 'helper', starts: true, refusal: null,
    own: { source: 'definition', version: null, override: null, resolved: size('As the persona says.'), delivered: size('As the persona says.') },
    team: { source: 'none', version: null, override: null, resolved: NO_TEXT, delivered: NO_TEXT },
    teams: [], deletedTeams: [], definition: { slug: 'helper', event: definition?.id }, session: 'thread', model: { source: 'definition', resolved: 'large', override: null, delivered: 'large' },
    adapter: { name: 'scripted', there: true, what: expect.stringContaining('skep doctor helper starts it'), mend: null },
  });

  box.write('own.md', 'As its owner says.');
  box.write('team.md', '\n  Share.\n');
  expect(await inPlace(box, 'instructions', 'save', 'agent', 'helper', 'own.md', '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('kept as the first version') });
  await inPlace(box, 'team', 'new', 'Bees', '--instructions', 'team.md');
  expect(await inPlace(box, 'team', 'add', 'Bees', 'helper')).toMatchObject({ code: 0, stderr: '' });
  // The persona of a member belongs to the team.
  expect((await inPlace(box, 'team', 'show', 'Bees')).stdout).toContain('  agents        helper (helper)\n  personas      helper\n');
  expect(await planned(box)).toMatchObject({
    own: { source: 'version', delivered: size('As its owner says.') }, team: { source: 'teams', delivered: size('Share.') },
    teams: [{ name: 'Bees', ...size('\n  Share.\n'), fault: null }],
  });

  configure(box, 'persona: helper, instructions: Of this machine., team-instructions: Alone., model: small');
  expect(await planned(box)).toMatchObject({
    own: { source: 'version', override: 'skep.yaml: agents.helper.instructions', resolved: size('As its owner says.'), delivered: size('Of this machine.') },
    team: { source: 'teams', override: 'skep.yaml: agents.helper.team-instructions', resolved: size('Share.'), delivered: size('Alone.') },
    model: { source: 'definition', resolved: 'large', override: 'skep.yaml: agents.helper.model', delivered: 'small' },
  });
  // What is saved does not reach the agent here, and its owner is told so.
  expect((await inPlace(box, 'instructions', 'show', 'agent', 'helper')).stderr).toContain('skep: skep.yaml: agents.helper.instructions stands on this machine in the place of what agent helper says\n');
  expect((await inPlace(box, 'instructions', 'show', 'team', 'Bees')).stderr).toContain('skep: skep.yaml: agents.helper.team-instructions stands on this machine in the place of what team Bees');
  expect((await inPlace(box, 'persona', 'delete', 'helper')).stderr).toMatch(/^skep: made from it: helper\nskep: it belongs to 1 team: Bees\n/);
  const { code, stdout } = await inPlace(box, 'launch', 'plan', 'helper');
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^helper {2}npub1\\S+
 {2}own {6}version [0-9a-f]{8} of its instructions, 18 bytes, sha256 [0-9a-f]{12}
 {11}in its place skep.yaml: agents.helper.instructions, 16 bytes, sha256 [0-9a-f]{12}
 {2}team {5}its team, 6 bytes, sha256 [0-9a-f]{12}
 {11}in its place skep.yaml: agents.helper.team-instructions, 6 bytes, sha256 [0-9a-f]{12}
 {11}Bees \\(\\S+\\): version [0-9a-f]{8}, 10 bytes, sha256 [0-9a-f]{12}
 {2}session {2}thread
 {2}model {4}small, skep.yaml: agents.helper.model in the place of large of its persona
 {2}adapter {2}scripted: .*
would start
$`));

  await inPlace(box, 'persona', 'delete', 'helper', '--yes');
  expect(await inPlace(box, 'launch', 'plan', 'helper')).toMatchObject({ code: 0, stdout: expect.stringContaining('\n  session  channel: its persona helper is not on the relay, or cannot be read\n') });
}, PATIENCE_MS);

it('says why an agent would not be started', async () => {
  const box = await openBox();
  configure(box, 'teams: []');
  for (const name of ['Bees', 'Wasps']) {
    box.write(`${name}.md`, name);
    await inPlace(box, 'team', 'new', name, '--instructions', `${name}.md`);
    await inPlace(box, 'team', 'add', name, 'helper');
  }
  const conflict = await inPlace(box, 'launch', 'plan', 'helper');
  expect(conflict).toMatchObject({ code: 1, stderr: '' });
  expect(conflict.stdout).toMatch(/\n {2}teams\n(?: {11}(?:Bees|Wasps) \(\S+\): version \w{8}, [45] bytes, sha256 \w{12}\n){2}/);
  expect(conflict.stdout).toMatch(/\nwould not start: teams: expected the same instructions, found different ones of "(?:Bees|Wasps)".*"(?:Bees|Wasps)" \(\S+\)\n$/);
  await inPlace(box, 'team', 'delete', 'Wasps', '--yes');
  expect(await planned(box)).toMatchObject({ starts: true, teams: [{ name: 'Bees' }], own: { source: 'none' } });

  const client = await Client.as(alice, box.relay);
  await client.publish(signed(versionTemplate({ type: 'agent', agent: bob.pubkey }, seal('no prefix'), seconds(1_700_000_000))));
  expect(await planned(box)).toMatchObject({ starts: false, refusal: { code: 'instructions_invalid', detail: expect.stringContaining('is invalid; text: expected to begin with v1:') } });

  // What the file says alone needs no relay; a program that is not there is named with its mend.
  await box.relay.close();
  const plain = await inPlace(box, 'launch', 'plan', 'plain');
  expect(plain).toMatchObject({ code: 1, stderr: '' });
  expect(plain.stdout).toContain('  own      skep.yaml, 12 bytes, sha256 ');
  expect(plain.stdout).toMatch(/ {2}session {2}thread\n {2}adapter {2}\S+: there is no program .*not-there\n {11}→ .*\nwould not start: there is no program .*not-there\n$/);
  expect(await inPlace(box, 'launch', 'plan', 'nobody')).toEqual({ code: 2, stdout: '', stderr: 'skep: launch plan: no agent "nobody"; there are helper, plain\n' });
  for (const said of ['helper', toNpub(bob.pubkey), bob.pubkey.toUpperCase()]) expect(await inPlace(box, 'launch', 'plan', said)).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^skep: [^\n]+\n$/) });
}, PATIENCE_MS);
