/** `skep instructions` as a program against the relay in the box: saving, its refusals, the way back, the end of a history. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { seconds } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { definitionTemplate, instanceTemplate, plainDefinition, versionTemplate, writeDefinition } from '../../../src/persona/index.ts';
import { TestRelay } from '../../broker/upstream/relay.ts';
import { alice, bob, Client } from '../../relay/harness.ts';
import { seal, signed } from '../../persona/world.ts';
import { askedIn, openBox } from './box.ts';
import type { Box } from './box.ts';

const AGENT = ['agent', bob.pubkey] as const;
const PATIENCE_MS = 300_000;

interface Line {
  readonly version: string;
  readonly current: boolean;
  readonly bytes: number | null;
  readonly fault: string | null;
}

async function history({ skep }: Box, subject: readonly string[] = AGENT): Promise<readonly Line[]> {
  const { stdout } = await skep('instructions', 'history', ...subject, '--json');
  return stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}

async function textNow({ skep }: Box, ...version: readonly string[]): Promise<string> {
  return (await skep('instructions', 'show', ...AGENT, ...version)).stdout;
}

/** As another device of alice's. */
async function publish({ relay }: Box, template: Parameters<typeof signed>[0]): Promise<void> {
  const client = await Client.as(alice, relay);
  expect(await client.publish(signed(template))).toEqual([true, '']);
}

function soon(): ReturnType<typeof seconds> {
  return seconds(Math.floor(Date.now() / 1_000) + 5);
}

it('a text is shown as a difference, asked for, saved, gone back from and deleted', async () => {
  const box = await openBox();
  const { skep } = box;
  expect(await skep('instructions', 'show', ...AGENT)).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining('no version yet, and no instructions') });
  box.write('one.md', 'You help.\nBe kind.\n');
  const saved = await box.with({ input: 'y\n' }, 'instructions', 'save', ...AGENT, 'one.md');
  expect(saved).toMatchObject({ code: 0, stdout: expect.stringMatching(/^saved: version [0-9a-f]{8} of agent \S+ is current, 19 bytes/) });
  expect(saved.stderr).toContain('+You help.\n+Be kind.\nSave this as the next version');
  expect(await textNow(box)).toBe('You help.\nBe kind.\n');

  const edited = await box.with({ input: 'y\n', env: { EDITOR: 'false', VISUAL: `sh ${box.editor('echo "Be brief." >> "$2"')} --wait` } }, 'instructions', 'edit', ...AGENT);
  expect(edited).toMatchObject({ code: 0, stderr: expect.stringContaining(' Be kind.\n+Be brief.\n') });
  const two = await history(box);
  expect(two.map(({ current, bytes, fault }) => ({ current, bytes, fault }))).toEqual([{ current: true, bytes: 29, fault: null }, { current: false, bytes: 19, fault: null }]);
  expect((await skep('instructions', 'diff', ...AGENT)).stdout).toContain('+Be brief.');
  expect((await skep('instructions', 'diff', ...AGENT, 'current', 'previous')).stdout).toContain('-Be brief.');

  const restored = await skep('instructions', 'restore', ...AGENT, two[1]?.version.slice(0, 10) ?? '', '--yes', '--json');
  expect(JSON.parse(restored.stdout)).toMatchObject({ status: 'current', subject: 'agent', id: bob.pubkey, bytes: 19 });
  expect(await textNow(box)).toBe('You help.\nBe kind.\n');
  expect(await textNow(box, 'previous')).toBe('You help.\nBe kind.\nBe brief.\n');

  const declined = await box.with({ input: 'n\n' }, 'instructions', 'delete', ...AGENT);
  expect(declined).toMatchObject({ code: 15, stdout: '', stderr: expect.stringMatching(/Delete all 3 versions.*None of them can be restored.*\nskep: nothing was changed\n$/s) });
  expect(await history(box)).toHaveLength(3);
  expect(await skep('instructions', 'delete', ...AGENT, '--yes')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^deleted: no version/) });
  expect(await history(box)).toEqual([]);
  expect(await box.stored(44_300)).toEqual([]);
}, PATIENCE_MS);

it('no save is made over a version that was not seen, and none is lost by it', async () => {
  const box = await openBox();
  box.write('one.md', 'one');
  box.write('two.md', 'two');
  expect(await box.skep('instructions', 'save', ...AGENT, 'one.md', '--yes')).toMatchObject({ code: 0 });
  const [first] = await history(box);
  const unsaid = await box.skep('instructions', 'save', ...AGENT, 'two.md', '--yes');
  expect(unsaid).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(`expected --on <version>, the one that the text was made from (${first?.version.slice(0, 8) ?? ''} is current), or --over`) });

  // While it is edited, another device saves.
  const editor = box.editor(`echo "mine" > "$1"; touch ${join(box.directory, 'open')}; while [ ! -e ${join(box.directory, 'go')} ]; do sleep 0.05; done`);
  const editing = box.with({ input: 'y\n', env: { EDITOR: editor, TMPDIR: box.directory } }, 'instructions', 'edit', ...AGENT);
  await expect.poll(() => existsSync(join(box.directory, 'open')), { timeout: 60_000 }).toBe(true);
  await publish(box, versionTemplate({ type: 'agent', agent: bob.pubkey }, seal('v1:theirs'), soon()));
  writeFileSync(join(box.directory, 'go'), '');
  const refused = await editing;
  expect(refused).toMatchObject({ code: 15, stdout: '', stderr: expect.stringMatching(/nothing was saved: another version is current than the one that was seen.*--over; what you wrote is in /s) });
  const [, kept = ''] = /what you wrote is in (\S+)/.exec(refused.stderr) ?? [];
  expect(readFileSync(kept, 'utf8')).toBe('mine\n');
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect(await textNow(box)).toBe('theirs');

  expect(await box.skep('instructions', 'save', ...AGENT, kept, '--on', first?.version ?? '', '--yes')).toMatchObject({ code: 15 });
  expect(await box.skep('instructions', 'save', ...AGENT, kept, '--over', '--yes')).toMatchObject({ code: 0 });
  expect(await textNow(box)).toBe('mine\n');
  expect(await history(box)).toHaveLength(3);
}, PATIENCE_MS);

it('an editor that fails, or changes nothing, saves nothing and leaves no file', async () => {
  const box = await openBox();
  const files = (): readonly string[] => readdirSync(box.directory).filter((name) => name.startsWith('skep-edit'));
  for (const [script, line] of [['exit 3', 'the editor ended with 3'], ['true', 'the editor changed nothing'], ['kill -9 $$', 'the editor ended with 137'], ['rm "$1"', 'the editor left no file'], ['rm "$1"; mkdir "$1"', 'the editor left no file']] as const) {
    const ended = await box.with({ input: 'y\n', env: { EDITOR: box.editor(`ls -l "$1" | cut -c1-10; ls -ld "$(dirname "$1")" | cut -c1-10\n${script}`), TMPDIR: box.directory } }, 'instructions', 'edit', ...AGENT);
    expect(ended).toMatchObject({ code: 15, stdout: '' });
    expect(ended.stderr).toContain(line);
    // Nobody else can read what is edited.
    expect(ended.stderr).toMatch(/^-rw-------\ndrwx------\n/);
    expect(files()).toEqual([]);
  }
  // What is no text for us is still somebody's work.
  const broken = await box.with({ input: 'y\n', env: { EDITOR: box.editor('printf "a\\377" > "$1"'), TMPDIR: box.directory } }, 'instructions', 'edit', ...AGENT);
  expect(broken).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^skep: instructions\.md:1: expected UTF-8 text; nothing was changed; what you wrote is in \S+instructions\.md\n$/) });
  const [directory = ''] = files();
  expect([...readFileSync(join(box.directory, directory, 'instructions.md'))]).toEqual([0x61, 0xff]);
  rmSync(join(box.directory, directory), { recursive: true });
  const changing = { EDITOR: box.editor('echo x > "$1"'), TMPDIR: box.directory };
  const declined = await box.with({ input: 'n\n', env: changing }, 'instructions', 'edit', ...AGENT);
  expect(declined).toMatchObject({ code: 15, stdout: '' });
  expect(files()).toEqual([]);
  // Ctrl-C at the question.
  const asked = await askedIn(box.directory, ['instructions', 'edit', ...AGENT, '--relay', box.relay.url, '--key', 'owner.key'], changing);
  expect(files()).toHaveLength(1);
  asked.child.kill('SIGINT');
  expect(await asked.ended).toEqual([130, null]);
  expect(files()).toEqual([]);
  expect(await box.stored(44_300)).toEqual([]);
}, PATIENCE_MS);

it.each([['SIGINT', 'y\n'], ['SIGHUP', '']] as const)('what was written stays where %s ends the save after the answer %j', async (signal, answer) => {
  const box = await openBox();
  // One that answers what is asked before the question, and nothing after it.
  let isSilent = false;
  const relay = await TestRelay.open((connection, [word, id]) => {
    if (word === 'AUTH') connection.send('OK', (id as VerifiedEvent).id, true, '');
    if (word === 'REQ' && !isSilent) connection.send('EOSE', id);
  }, (connection) => { connection.send('AUTH', 'challenge'); });
  onTestFinished(() => relay.close());
  const env = { EDITOR: box.editor('echo work > "$1"'), TMPDIR: box.directory };
  const { child, said, ended } = await askedIn(box.directory, ['instructions', 'edit', ...AGENT, '--relay', relay.url, '--key', 'owner.key'], env);
  isSilent = true;
  child.stdin.write(answer);
  // The line that ends there is that the answer was heard.
  if (answer !== '') await expect.poll(said, { timeout: 60_000 }).toContain('[y/N] \n');
  child.kill(signal);
  expect(await ended).toEqual([signal === 'SIGINT' ? 130 : 129, null]);
  const [, kept = ''] = /not known to be saved; what you wrote is in (\S+)/.exec(said()) ?? [];
  expect(readFileSync(kept, 'utf8')).toBe('work\n');
}, PATIENCE_MS);

it('the prompt of until then is kept, and reset goes back to the persona', async () => {
  const box = await openBox();
  const written = writeDefinition({ ...plainDefinition('Helper'), systemPrompt: 'As the persona says.' }, false);
  const instance = instanceTemplate({ agent: bob.pubkey, name: 'helper', definitionId: 'helper', own: {}, respondToAllowlist: [] }, seconds(1_700_000_000));
  if (!written.ok || !instance.ok) return expect.fail('no definition');
  await publish(box, definitionTemplate({ slug: 'helper', body: written.body, isShared: false, createdAt: seconds(1_700_000_000) }));
  await publish(box, instance.template);
  // By the name of its instance, as another client has called it.
  expect(JSON.parse((await box.skep('instructions', 'show', 'agent', 'helper', '--json')).stdout)).toMatchObject({ source: 'definition', version: null, text: 'As the persona says.', id: bob.pubkey, name: 'helper' });
  const saved = await box.with({ input: 'New.' }, 'instructions', 'save', 'agent', 'helper', '-', '--yes');
  expect(saved.stdout).toMatch(/^kept as the first version: the text of until now\nsaved: /);
  expect(await textNow(box, 'previous')).toBe('As the persona says.');
  expect(await box.skep('instructions', 'reset', ...AGENT, '--yes')).toMatchObject({ code: 0 });
  expect(await textNow(box)).toBe('As the persona says.');
  expect(await box.skep('instructions', 'reset', ...AGENT, '--yes')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nothing to save/) });
  return undefined;
}, PATIENCE_MS);

it('an invalid version is told as one, and nothing older is shown in its place', async () => {
  const box = await openBox();
  box.write('one.md', 'one');
  await box.skep('instructions', 'save', ...AGENT, 'one.md', '--yes');
  await publish(box, versionTemplate({ type: 'agent', agent: bob.pubkey }, seal('no prefix'), soon()));
  expect(await box.skep('instructions', 'show', ...AGENT)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^skep: version \S+ is invalid; text: expected to begin with v1:/) });
  expect(await history(box)).toMatchObject([{ current: true, bytes: null, fault: 'prefix' }, { bytes: 3, fault: null }]);
  expect(await box.skep('instructions', 'restore', ...AGENT, 'previous', '--yes')).toMatchObject({ code: 0 });
  expect(await textNow(box)).toBe('one');
}, PATIENCE_MS);

it.each([[131_071, 0], [131_072, 0], [131_073, 2]])('a file of %d bytes ends with %d', async (bytes, code) => {
  const box = await openBox();
  const text = 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2);
  box.write('long.md', text);
  const saved = await box.skep('instructions', 'save', ...AGENT, 'long.md', '--yes', '--json');
  expect(saved.code).toBe(code);
  if (code === 0) expect(await textNow(box)).toBe(text);
  else expect(saved.stderr).toMatch(/skep: text: expected at most 131072 bytes, found 131073\n$/);
}, PATIENCE_MS);

it('what looks like a key, or moves a cursor, is not on the screen; a file gets the very text', async () => {
  const box = await openBox();
  const secret = `nsec1${'q'.repeat(58)}`;
  const text = `Use ${secret}\u{1b}[2J and AKIAABCDEFGHIJKLMNOP.\n`;
  box.write('bad.md', text);
  const saved = await box.skep('instructions', 'save', ...AGENT, 'bad.md', '--yes');
  expect(saved.stderr).toContain('+Use <a Nostr secret key>\\u{1b}[2J and <a cloud access key>.');
  expect(saved.stderr + saved.stdout).not.toContain(secret);
  expect(await textNow(box)).toBe(text);
}, PATIENCE_MS);

it('bad words are one line and exit code 2; a relay that is away is one line and 1', async () => {
  const box = await openBox();
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['show', 'bee', 'x'], /value 'bee' is invalid for argument 'sort'\. Allowed choices are agent, team/],
    [['show', 'agent', 'nobody'], /^skep: agent: expected a name of the config, an npub or 64 hex characters, found nobody/],
    [['show', 'team', 'nobody'], /^skep: team: expected the id of a team, its beginning, or a name, found nobody; there is no such team, see skep team list\n/],
    [['show', ...AGENT, 'abc'], /^skep: version: expected the beginning of an id, at least 4 characters, current or previous/],
    [['save', ...AGENT, 'missing.md'], /^skep: missing\.md: there is no such file/],
    [['save', ...AGENT, '-'], /expected --yes too/],
    [['reset', 'team', 'x'], /there is no such team/],
    [['save', ...AGENT], /missing required argument 'file'/],
  ];
  for (const [args, line] of cases) {
    const ended = await box.skep('instructions', ...args);
    expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code: 2, stdout: '' });
    expect(ended.stderr).toMatch(line);
    expect(ended.stderr.trimEnd()).not.toContain('\n');
  }
  await box.relay.close();
  const away = await box.skep('instructions', 'show', ...AGENT);
  expect(away).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^skep: [^\n]*\n$/) });
}, PATIENCE_MS);
