/** `skep team` as a program: making, binding, sharing, adopting, and a deletion that is finished by the next one. */
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { seconds } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { asTeamId, versionTemplate } from '../../../src/persona/index.ts';
import { teamRecordTemplate, writeTeamRecord } from '../../../src/persona/team-record.ts';
import { TestRelay } from '../../broker/upstream/relay.ts';
import { alice, bob, carol, Client } from '../../relay/harness.ts';
import { seal, signed } from '../../persona/world.ts';
import { boxAt, openBox, runIn } from './box.ts';
import type { Box } from './box.ts';

const PATIENCE_MS = 300_000;

interface Made {
  readonly id: string;
}

async function make({ skep }: Box, ...args: readonly string[]): Promise<string> {
  const { stdout } = await skep('team', 'new', ...args, '--json');
  return (JSON.parse(stdout) as Made).id;
}

it('a team is made, its members bound, its name changed, its conflict told', async () => {
  const box = await openBox();
  const { skep } = box;
  box.write('bees.md', 'Share what you find.\n');
  const id = await make(box, 'Bees', '--instructions', 'bees.md', '--description', 'all of them');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(await skep('team', 'list')).toEqual({ code: 0, stdout: `${id}  Bees  0 agents, 0 personas\n`, stderr: '' });
  expect(await skep('team', 'add', 'Bees', bob.pubkey, carol.pubkey)).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse((await skep('team', 'show', id.slice(0, 8), '--json')).stdout)).toMatchObject({
    id, name: 'Bees', description: 'all of them', instructions: { source: 'version', bytes: 21 }, share: null, definitions: [],
    agents: [{ pubkey: bob.pubkey, persona: null }, { pubkey: carol.pubkey, persona: null }],
  });
  // A second team that says something else keeps bob from his next start, and both are named.
  const other = await make(box, 'Wasps');
  const conflict = await skep('team', 'add', 'Wasps', bob.pubkey);
  expect(conflict).toMatchObject({ code: 0, stdout: expect.stringMatching(/^added to team Wasps/) });
  expect(conflict.stderr).toContain('would not be started like this: teams: expected the same instructions, found different ones of');
  for (const name of ['Bees', 'Wasps']) expect(conflict.stderr).toContain(name);
  expect(await skep('team', 'remove', other, bob.pubkey)).toMatchObject({ code: 0, stderr: '' });
  expect(await skep('team', 'remove', other, bob.pubkey)).toMatchObject({ code: 2, stderr: expect.stringContaining('expected members of') });

  expect(await box.with({ input: 'y\n' }, 'team', 'edit', 'Bees', '--name', 'Honey bees')).toMatchObject({ code: 0, stderr: expect.stringContaining('-name: Bees\n+name: Honey bees') });
  expect(await skep('team', 'edit', id, '--name', '', '--yes')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('name: expected a nonempty text') });
  const editor = box.editor(`grep -v ${carol.pubkey} "$1" > "$1.new"; mv "$1.new" "$1"`);
  expect(await box.with({ input: 'y\n', env: { EDITOR: editor } }, 'team', 'edit', id)).toMatchObject({ code: 0, stderr: expect.stringContaining(`-  - ${carol.pubkey}`) });
  expect((await skep('team', 'show', id)).stdout).toMatch(/^Honey bees {2}.*\n {2}all of them\n {2}instructions {2}version .* 21 bytes, sha256 .*\n {2}agents {8}c6047f94\n {2}personas {6}none\n {2}shared {8}no\n$/s);
}, PATIENCE_MS);

it('sharing names whose instructions are read, and asks; what is adopted is a team of one’s own', async () => {
  const box = await openBox();
  const other = boxAt(box.relay, bob);
  box.write('bees.md', 'Share what you find.\n');
  box.write('scout.md', 'You look.');
  await box.skep('persona', 'new', 'scout', '--name', 'Scout', '--prompt', 'scout.md', '--yes');
  const id = await make(box, 'Bees', '--instructions', 'bees.md');
  expect(await box.skep('team', 'add', 'Bees', '--persona', 'scout')).toMatchObject({ code: 0 });

  const declined = await box.skep('team', 'share', 'Bees');
  expect(declined).toMatchObject({ code: 15, stdout: '' });
  expect(declined.stderr).toContain(`Sharing team Bees (${id}) makes this readable by everybody whom the relay lets in, as it is now:
  the team's instructions, 21 bytes
  the prompt of scout (Scout), 9 bytes, which is not shared by itself
What is saved later is not shown before you share again.
Share it? [y/N] `);
  expect(await box.stored(30_178)).toEqual([]);
  const where = `30178:${alice.pubkey}:${id}`;
  expect(await box.with({ input: 'y\n' }, 'team', 'share', 'Bees')).toMatchObject({ code: 0, stdout: `shared: ${where}\n` });

  expect(await other.skep('team', 'adopt', where)).toMatchObject({ code: 15, stderr: expect.stringMatching(/its instructions:\n {2}Share what you find\.\npersona scout \(Scout\):\n {2}You look\.\nAdopt this/) });
  const adopted = await other.skep('team', 'adopt', where, '--yes', '--json');
  const { id: own } = JSON.parse(adopted.stdout) as Made;
  expect(own).not.toBe(id);
  expect(JSON.parse((await other.skep('team', 'show', own, '--json')).stdout)).toMatchObject({ name: 'Bees', definitions: ['scout'], agents: [], instructions: { source: 'version', bytes: 21 } });
  expect((await other.skep('instructions', 'history', 'team', own)).stdout.trimEnd().split('\n')).toHaveLength(1);

  box.write('new.md', 'Share nothing.');
  await box.skep('instructions', 'save', 'team', 'Bees', 'new.md', '--over', '--yes');
  expect((await box.skep('team', 'show', 'Bees')).stdout).toContain('with other instructions than hold now');
  expect(await box.skep('team', 'unshare', 'Bees', '--yes')).toMatchObject({ code: 0 });
  expect(await other.skep('team', 'adopt', where, '--yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('there is none, or none that its owner shows') });
  // What was copied stays with who has it.
  expect((await other.skep('instructions', 'show', 'team', own)).stdout).toBe('Share what you find.\n');
}, PATIENCE_MS);

it('what looks like a key in a team that is adopted is told by its place, before it is asked', async () => {
  const box = await openBox();
  const other = boxAt(box.relay, bob);
  box.write('scout.md', 'Use sk-abcdefghijklmnop.');
  await box.skep('persona', 'new', 'scout', '--name', 'Scout', '--prompt', 'scout.md', '--yes');
  const id = await make(box, 'Bees');
  await box.skep('team', 'add', 'Bees', '--persona', 'scout');
  expect(await box.skep('team', 'share', 'Bees', '--yes')).toMatchObject({ code: 0 });

  const { code, stderr } = await other.skep('team', 'adopt', `30178:${alice.pubkey}:${id}`);
  expect(code).toBe(15);
  expect(stderr).toContain('skep: warning: scout.system_prompt looks like a key or token, and will be plain text on the relay\nAdopt this');
  expect(stderr).not.toContain('sk-abc');
}, PATIENCE_MS);

it('is not shared, and nothing is unshared, over what another device has shared while it was asked', async () => {
  const box = await openBox();
  const id = await make(box, 'Bees');
  for (const [verb, description] of [['share', 'first'], ['unshare', 'second']] as const) {
    const { child, said, ended } = await box.asked('team', verb, id);
    await box.skep('team', 'edit', id, '--description', description, '--yes');
    expect(await box.skep('team', 'share', id, '--yes')).toMatchObject({ code: 0 });
    child.stdin.end('y\n');
    expect(await ended).toEqual([15, null]);
    expect(said()).toContain(`nothing was changed: team ${id} was shared, or unshared, elsewhere meanwhile`);
    const [head] = await box.stored(30_178);
    expect(head?.content).toContain(description);
    expect(head?.tags).toContainEqual(['shared', 'true']);
  }
}, PATIENCE_MS);

it('an edit in whose place another device’s is afterwards is none: what was written stays in its file', async () => {
  const box = await openBox();
  const id = asTeamId('bees') ?? expect.fail('no id');
  const recordOf = (name: string, at: number): VerifiedEvent => {
    const written = writeTeamRecord({ status: 'live', id, name, description: undefined, definitions: [], agents: [] });
    return written.ok ? signed(teamRecordTemplate(alice.pubkey, id, seal(written.body), seconds(at))) : expect.fail(written.detail);
  };
  let head = recordOf('Bees', 1_700_000_000);
  // It takes what is written, and has what came at the same moment.
  const relay = await TestRelay.open((connection, [word, first, filter]) => {
    if (word === 'EVENT') head = recordOf('Wasps', 4_000_000_000);
    if (word === 'AUTH' || word === 'EVENT') connection.send('OK', (first as VerifiedEvent).id, true, '');
    if (word !== 'REQ') return;
    // There is one alone: behind it is nothing.
    if (!Object.hasOwn(filter as object, 'before_id')) connection.send('EVENT', first, head);
    connection.send('EOSE', first);
  }, (connection) => { connection.send('AUTH', 'challenge'); });
  onTestFinished(() => relay.close());
  const env = { EDITOR: box.editor('sed -i s/Bees/Hornets/ "$1"'), TMPDIR: box.directory };
  const ran = await runIn(box.directory, ['team', 'edit', id, '--yes', '--relay', relay.url, '--key', 'owner.key'], '', env);
  expect(ran).toMatchObject({ code: 15, stdout: '' });
  const [, kept = ''] = /was changed elsewhere meanwhile; what you wrote is in (\S+)/.exec(ran.stderr) ?? [];
  expect(readFileSync(kept, 'utf8')).toContain('name: Hornets');
}, PATIENCE_MS);

it('a team of another client, which has versions and no record of ours, is told and restored by its id', async () => {
  const box = await openBox();
  const team = asTeamId('builtin-team:welcome') ?? expect.fail('no id');
  const client = await Client.as(alice, box.relay);
  for (const [at, text] of ['one', 'two'].entries()) await client.publish(signed(versionTemplate({ type: 'team', team }, seal(`v1:${text}`), seconds(1_700_000_000 + at))));
  expect(await box.skep('instructions', 'show', 'team', team)).toMatchObject({ code: 0, stdout: 'two' });
  expect(await box.skep('instructions', 'restore', 'team', team, 'previous', '--yes')).toMatchObject({ code: 0 });
  expect(await box.skep('instructions', 'show', 'team', team)).toMatchObject({ code: 0, stdout: 'one' });
}, PATIENCE_MS);

it('a team is deleted with all it was told; a deletion that was killed half way is finished by the next', async () => {
  const box = await openBox();
  box.write('a.md', 'a');
  box.write('b.md', 'b');
  const id = await make(box, 'Bees', '--instructions', 'a.md');
  await box.skep('instructions', 'save', 'team', id, 'b.md', '--over', '--yes');
  await box.skep('team', 'share', id, '--yes');
  expect(await box.skep('team', 'delete', id)).toMatchObject({ code: 15, stdout: '', stderr: expect.stringContaining('No agent is in it.') });
  expect(await box.stored(44_300)).toHaveLength(2);
  expect(await box.skep('team', 'delete', 'Bees', '--yes')).toEqual({ code: 0, stderr: '', stdout: `deleted: team ${id}, and every version of its instructions\n` });
  expect(await box.stored(44_300, 30_178)).toEqual([]);
  expect(await box.skep('instructions', 'show', 'team', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no such team') });

  // As a run that died after the record had ended leaves it, with a version still there.
  const half = await make(box, 'Wasps');
  const team = asTeamId(half) ?? expect.fail('no id');
  const ended = writeTeamRecord({ status: 'deleted', id: team, versions: 'left' });
  if (!ended.ok) return expect.fail(ended.detail);
  const later = seconds(Math.floor(Date.now() / 1_000) + 9);
  const client = await Client.as(alice, box.relay);
  await client.publish(signed(versionTemplate({ type: 'team', team }, seal('v1:old'), later)));
  await client.publish(signed(teamRecordTemplate(alice.pubkey, team, seal(ended.body), later)));
  expect(await box.skep('team', 'list')).toMatchObject({ code: 0, stderr: expect.stringContaining(`team ${half} is deleted and versions of its instructions may be left: skep team delete goes on`) });
  expect(await box.skep('team', 'delete', half)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^deleted: /) });
  expect(await box.stored(44_300)).toEqual([]);
  expect(await box.skep('team', 'list')).toEqual({ code: 0, stderr: '', stdout: 'no teams yet; skep team new makes one\n' });

  // A client that does not know the record saves for a team that is gone.
  await client.publish(signed(versionTemplate({ type: 'team', team }, seal('v1:late'), later)));
  expect(await box.skep('team', 'delete', half)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^deleted: /) });
  expect(await box.stored(44_300)).toEqual([]);

  // A record that cannot be read keeps its team from everything but the end.
  const broken = asTeamId('broken') ?? expect.fail('no id');
  await client.publish(signed(teamRecordTemplate(alice.pubkey, broken, seal('{}'), later)));
  expect(await box.skep('team', 'list')).toMatchObject({ code: 2, stdout: '' });
  await client.publish(signed({ kind: 30_078, created_at: later, tags: [['d', 'stray'], ['t', 'skep-team']], content: 'x' }));
  expect(await box.skep('team', 'list')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^skep: team(?: record [0-9a-f]{64})?: /) });
  await box.skep('persona', 'new', 'bee', '--name', 'Bee', '--yes');
  expect(await box.skep('persona', 'delete', 'bee', '--yes')).toMatchObject({ code: 0, stderr: expect.stringContaining('which teams it belongs to is not known') });
  await client.publish(signed({ kind: 5, created_at: later, tags: [['a', `30078:${alice.pubkey}:stray`], ['k', '30078']], content: '' }));
  // What may be the name of another team is not taken for its id.
  const live = await make(box, 'Ants');
  expect(await box.skep('team', 'delete', 'Ants', '--yes')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('expected the whole id of a team') });
  expect(await box.skep('team', 'delete', 'broken', '--yes')).toMatchObject({ code: 0 });
  expect(await box.skep('team', 'list')).toMatchObject({ code: 0, stdout: `${live}  Ants  0 agents, 0 personas\n` });
  expect(await box.skep('team', 'list')).toMatchObject({ code: 0, stderr: '' });
  return undefined;
}, PATIENCE_MS);
