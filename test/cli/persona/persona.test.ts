/** `skep persona` as a program: definitions from words, files and an editor; shared, taken over, deleted. */
import { expect, it } from 'vitest';
import { alice, bob, Client } from '../../relay/harness.ts';
import { LAUNCHER } from '../skep.ts';
import { boxAt, openBox } from './box.ts';

const PATIENCE_MS = 300_000;

it('a persona is written from words and files, changed, compared and listed', async () => {
  const box = await openBox();
  const { skep } = box;
  expect(await skep('persona', 'list')).toEqual({ code: 0, stdout: 'no personas yet; skep persona new writes one\n', stderr: '' });
  box.write('prompt.md', 'You review.\n');
  const made = await box.with({ input: 'y\n' }, 'persona', 'new', 'reviewer', '--name', 'Reviewer', '--prompt', 'prompt.md', '--model', 'opus');
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^saved: reviewer, event [0-9a-f]{8}; /), stderr: expect.stringContaining('+display_name: Reviewer') });
  expect(JSON.parse((await skep('persona', 'show', 'reviewer', '--json')).stdout)).toMatchObject({
    slug: 'reviewer', shared: false, definition: { display_name: 'Reviewer', system_prompt: 'You review.\n', model: 'opus' },
  });
  const [event] = await box.stored(30_175);
  expect(event?.content).toBe('{"display_name":"Reviewer","system_prompt":"You review.\\n","model":"opus"}');

  // vi would wait for a terminal.
  expect(await box.with({ input: '', env: { EDITOR: '', VISUAL: ' ' } }, 'persona', 'edit', 'reviewer'))
    .toMatchObject({ code: 2, stderr: 'skep: there is no terminal to edit at: name an editor that needs none in EDITOR, or say it in options (--help)\n' });
  const edited = await box.with({ input: 'y\n', env: { EDITOR: box.editor('sed -i.bak "s/^model: opus/model: sonnet/" "$1"') } }, 'persona', 'edit', 'reviewer');
  expect(edited).toMatchObject({ code: 0, stderr: expect.stringMatching(/-model: opus\n\+model: sonnet\n/) });
  expect(await skep('persona', 'edit', 'reviewer', '--model', 'sonnet', '--yes')).toMatchObject({ code: 0, stdout: 'nothing to save: that is what reviewer says\n' });
  expect(await skep('persona', 'new', 'reviewer', '--name', 'R', '--yes')).toMatchObject({ code: 15, stderr: expect.stringContaining('there is a persona of that slug') });

  box.write('other.yaml', 'display_name: Reviewer\nsystem_prompt: |\n  You review.\nsession_policy: thread\n');
  expect((await skep('persona', 'diff', 'reviewer', 'other.yaml')).stdout).toContain('-model: sonnet\n+session_policy: thread');
  expect(await box.with({ input: 'display_name: Critic\n' }, 'persona', 'diff', 'reviewer', '-')).toMatchObject({ code: 0, stdout: expect.stringContaining('+display_name: Critic') });
  expect(await skep('persona', 'import', 'other.yaml', '--yes')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^saved: reviewer-2, /) });
  expect((await skep('persona', 'list')).stdout).toBe('reviewer  Reviewer  sonnet\nreviewer-2  Reviewer\n');

  expect(await skep('persona', 'delete', 'reviewer-2')).toMatchObject({ code: 15, stdout: '' });
  expect(await skep('persona', 'delete', 'reviewer-2', '--yes', '--json')).toMatchObject({ code: 0, stdout: expect.stringContaining('"status":"deleted"') });
  expect((await skep('persona', 'list', '--json')).stdout.trimEnd().split('\n')).toHaveLength(1);
  // What was deleted can be there again.
  expect(await skep('persona', 'import', 'other.yaml', '--as', 'reviewer-2', '--yes')).toMatchObject({ code: 0 });
  expect((await skep('persona', 'show', 'reviewer-2')).stdout).toContain('  session_policy  thread\n  system_prompt, 12 bytes:\n    You review.\n');
}, PATIENCE_MS);

it('sharing says what is read and asks; another owner sees it from then on, until it is unshared', async () => {
  const box = await openBox();
  const other = boxAt(box.relay, bob);
  const where = `30175:${alice.pubkey}:helper`;
  box.write('helper.yaml', `display_name: Helper\nsystem_prompt: Use sk-abcdefghijklmnop.\nacp_command: /home/alice/acp\nrespond_to: allowlist\nrespond_to_allowlist: [${bob.pubkey}]\n`);
  const made = await box.skep('persona', 'new', 'helper', '--from', 'helper.yaml', '--yes');
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('skep: warning: system_prompt looks like a key or token, and will be plain text on the relay') });
  expect(made.stderr).not.toContain('sk-abc');
  expect(await other.skep('persona', 'import', where, '--yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('there is none, or none that its owner shows') });

  const declined = await box.skep('persona', 'share', 'helper');
  expect(declined).toMatchObject({ code: 15, stdout: '' });
  expect(declined.stderr).toContain('everybody whom the relay lets in will read helper: its prompt (24 bytes), the 1 key it answers to, and all else it says');
  expect(declined.stderr).toContain('its acp_command is one of this machine and stays out of what is shown');
  expect(await box.with({ input: 'yes\n' }, 'persona', 'share', 'helper')).toMatchObject({ code: 0, stdout: `shared: ${where}\n` });
  expect((await other.skep('persona', 'list', '--of', alice.pubkey)).stdout).toBe('helper  Helper  shared\n');
  expect(await other.skep('persona', 'import', where, '--as', 'hers', '--yes')).toMatchObject({ code: 0 });
  const [taken] = await other.stored(30_175);
  // Its transport is stock, and whom it answers to is not a stranger's to say.
  expect(JSON.parse(taken?.content ?? '')).toEqual({ display_name: 'Helper', system_prompt: 'Use sk-abcdefghijklmnop.', acp_command: 'buzz-acp' });

  expect(await box.skep('persona', 'unshare', 'helper', '--yes')).toMatchObject({ code: 0, stdout: 'unshared: helper\n' });
  expect((await other.skep('persona', 'list', '--of', alice.pubkey)).stdout).toBe('no personas that are shown\n');
}, PATIENCE_MS);

it('a shared persona that is changed shows and saves what stands there, and goes on to say nothing of a command that it left out', async () => {
  const box = await openBox();
  box.write('bee.yaml', 'display_name: Bee\nacp_command: /home/alice/acp\n');
  await box.skep('persona', 'new', 'bee', '--from', 'bee.yaml', '--yes');
  await box.skep('persona', 'share', 'bee', '--yes');
  // Stock, said, would take the place of the command that another device of hers has kept.
  expect(await box.skep('persona', 'edit', 'bee', '--model', 'opus', '--yes')).toMatchObject({ code: 0 });
  expect((await box.stored(30_175))[0]?.content).toBe('{"display_name":"Bee","model":"opus"}');

  const left = await box.skep('persona', 'edit', 'bee', '--from', 'bee.yaml', '--model', 'opus', '--yes');
  expect(left).toEqual({ code: 0, stdout: 'nothing to save: that is what bee says\n', stderr: expect.stringContaining('its acp_command is one of this machine and stays out of what is shown') });

  box.write('stock.yaml', 'display_name: Bee\nacp_command: buzz-acp\n');
  expect((await box.skep('persona', 'edit', 'bee', '--from', 'stock.yaml', '--yes')).stderr).toContain('+acp_command: buzz-acp');
  const unsaid = await box.skep('persona', 'edit', 'bee', '--from', 'bee.yaml', '--yes');
  expect(unsaid.stderr).toMatch(/stays out of what is shown.*-acp_command: buzz-acp\n$/s);
  expect((await box.stored(30_175))[0]?.content).toBe('{"display_name":"Bee"}');
}, PATIENCE_MS);

it('is not written over what another device has changed while it was edited', async () => {
  const box = await openBox();
  await box.skep('persona', 'new', 'bee', '--name', 'Bee', '--yes');
  const meanwhile = `"${process.execPath}" "${LAUNCHER}" persona edit bee --model theirs --yes --relay ${box.relay.url} --key owner.key`;
  const editor = box.editor(`${meanwhile}\necho "model: mine" >> "$1"`);
  const refused = await box.with({ input: 'y\n', env: { EDITOR: editor, TMPDIR: box.directory } }, 'persona', 'edit', 'bee');
  expect(refused).toMatchObject({ code: 15, stdout: '', stderr: expect.stringMatching(/nothing was saved: bee was changed elsewhere meanwhile, and that was not seen; --over saves all the same; what you wrote is in \S+bee\.yaml\n$/) });
  const [, kept = ''] = /what you wrote is in (\S+)/.exec(refused.stderr) ?? [];
  expect((await box.skep('persona', 'show', 'bee')).stdout).toContain('theirs');
  expect(await box.skep('persona', 'edit', 'bee', '--from', kept, '--yes')).toMatchObject({ code: 0 });
  expect((await box.skep('persona', 'show', 'bee')).stdout).toContain('mine');
}, PATIENCE_MS);

it('is named where what another program has written of it cannot be read', async () => {
  const box = await openBox();
  const client = await Client.as(alice, box.relay);
  expect(await client.publish(alice.sign(30_175, [['d', 'bee']], 'no JSON'))).toMatchObject([true, '']);
  for (const words of [['show', 'bee'], ['edit', 'bee', '--model', 'm', '--yes']])
    expect(await box.skep('persona', ...words)).toMatchObject({ code: 2, stderr: expect.stringContaining('persona bee: content: expected a JSON object') });
}, PATIENCE_MS);

it('is not shared, and nothing is unshared, over what another device has changed while it was asked', async () => {
  const box = await openBox();
  for (const [verb, model] of [['share', 'first'], ['unshare', 'second']] as const) {
    await box.skep('persona', verb === 'share' ? 'new' : 'share', 'bee', ...(verb === 'share' ? ['--name', 'Bee'] : []), '--yes');
    const { child, said, ended } = await box.asked('persona', verb, 'bee');
    expect(await box.skep('persona', 'edit', 'bee', '--model', model, '--yes')).toMatchObject({ code: 0 });
    child.stdin.end('y\n');
    expect(await ended).toEqual([15, null]);
    expect(said()).toMatch(/nothing was saved: bee was changed elsewhere meanwhile, and that was not seen\n$/);
    const [head] = await box.stored(30_175);
    expect(JSON.parse(head?.content ?? '')).toMatchObject({ model });
    expect(head?.tags).toEqual(verb === 'share' ? [['d', 'bee']] : [['d', 'bee'], ['shared', 'true']]);
  }
}, PATIENCE_MS);

it('what cannot be a persona is one line with file and member, exit code 2, and is not published', async () => {
  const box = await openBox();
  box.write('stray.yaml', 'display_name: A\nsystem_promt: x\n');
  box.write('bad.yaml', 'display_name: A\nparallelism: many\n');
  box.write('secret.yaml', 'display_name: A\nname_pool: []\nenv_vars: { KEY: x }\n');
  box.write('broken.yaml', 'display_name: "A\n');
  box.write('list.yaml', '- a\n');
  box.write('long.md', 'x'.repeat(65_536));
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['new', 'a', '--from', 'stray.yaml', '--yes'], /^skep: stray\.yaml: system_promt: expected one of display_name, system_prompt, /],
    [['new', 'a', '--from', 'bad.yaml', '--yes'], /^skep: bad\.yaml: parallelism: expected an integer 1\.\.4294967295, found "many"/],
    [['new', 'a', '--from', 'secret.yaml', '--yes'], /^skep: secret\.yaml: env_vars: expected in no body that others can read$/m],
    [['new', 'a', '--from', 'broken.yaml', '--yes'], /^skep: broken\.yaml: line \d+: Missing closing "quote/],
    [['import', 'list.yaml', '--yes'], /^skep: list\.yaml: expected a mapping of members/],
    [['new', 'a', '--prompt', 'long.md', '--yes'], /^skep: definition: expected at most 65535 bytes, found \d+/],
    [['new', 'Not A Slug', '--name', 'x', '--yes'], /^skep: slug: expected 1 to 64 of a-z, 0-9, _ and -, the first a letter or digit, found Not A Slug/],
    [['show', 'nobody'], /^skep: nobody: there is no persona of that slug on the relay/],
    [['import', '30175:abc:x', '--yes'], /^skep: 30175:<author>: expected an npub or 64 hex characters/],
    [['list', '--of', 'abc'], /^skep: --of: expected an npub or 64 hex characters/],
  ];
  for (const [args, line] of cases) {
    const { code, stdout, stderr } = await box.skep('persona', ...args);
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd()).not.toContain('\n');
  }
  expect(await box.stored(30_175)).toEqual([]);
}, PATIENCE_MS);
