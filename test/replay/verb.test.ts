/** `skep replay` as people and CI run it: exit codes, reports, blessing, shards, and whatever lies in a folder. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { streamFixtureText, turnFixtureText } from '../../src/replay/index.ts';
import { runSkep, stopAll } from '../cli/skep.ts';
import type { Ended } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { streamSample, turnSample } from './samples.ts';

const TURN = turnFixtureText(turnSample());
const STREAM = streamFixtureText(streamSample());
const OTHER = TURN.replaceAll('Beds &amp;', 'Bads &amp;');
const TOOK = /\d+\.\d s$/m;

let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
  // These tests may run on GitHub Actions themselves.
  vi.stubEnv('GITHUB_ACTIONS', '');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await stopAll();
});

function put(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
}

const replay = (...args: readonly string[]): Promise<Ended> => runSkep(['replay', ...args], directory);
const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
const linesOf = ({ stdout }: Ended): readonly Readonly<Record<string, unknown>>[] =>
  stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

describe('the exit code', () => {
  const BROKEN = '{"provenance": "x",\n"provenance": "y"}';

  it.each([
    ['all the same', { 'fixtures/a.json': TURN, 'fixtures/b/c.json': STREAM }, [], 0, '2 fixtures: 2 the same'],
    ['a difference', { 'fixtures/a.json': TURN, 'fixtures/b.json': OTHER }, [], 1, '2 fixtures: 1 the same, 1 different'],
    ['a broken one', { 'fixtures/a.json': TURN, 'fixtures/b.json': BROKEN }, [], 2, '2 fixtures: 1 the same, 1 broken'],
    ['both', { 'fixtures/a.json': OTHER, 'fixtures/b.json': BROKEN }, [], 2, '2 fixtures: 0 the same, 1 different, 1 broken'],
    ['a path that is not there', { 'fixtures/a.json': TURN }, ['fixtures', 'nowhere'], 2, '2 fixtures: 1 the same, 1 broken'],
    ['one file', { 'fixtures/a.json': TURN, 'fixtures/b.json': BROKEN }, ['fixtures/a.json'], 0, '1 fixture: 1 the same'],
    ['a shard that is empty', { 'fixtures/a.json': TURN }, ['--shard', '2/2'], 0, '0 fixtures of shard 2/2: 0 the same'],
  ])('for %s', async (_, files, args, code, summary) => {
    put(files);
    const ended = await replay(...args);
    expect({ code: ended.code, last: ended.stdout.trimEnd().split('\n').at(-1)?.replace(/; [\d.]+ s$/, '') }).toEqual({ code, last: summary });
  });

  it.each([
    ['no folder', {}, [], 'fixtures/'],
    ['an empty folder', { 'fixtures/README.md': '' }, [], 'fixtures/'],
    ['a named folder without fixtures', { 'here/note.txt': '' }, ['here'], 'here'],
  ])('is 3 for %s', async (_, files, args, where) => {
    put(files);
    expect(await replay(...args)).toEqual({ code: 3, stdout: '', stderr: `skep: replay: nothing to replay: there is no .json file in ${where}\n` });
  });

  it.each([['0/2'], ['3/2'], ['1/0'], ['1'], ['a/b'], ['-1/2'], ['1/2/3']])('is 2 for --shard %s', async (shard) => {
    put({ 'fixtures/a.json': TURN });
    const { code, stderr } = await replay(`--shard=${shard}`);
    expect({ code, line: stderr }).toEqual({ code: 2, line: `skep: option '--shard <i/n>' argument '${shard}' is invalid. expected i/n with i from 1 to n; see skep replay --help\n` });
  });

  it('is 2 for annotations nobody knows', async () => {
    expect((await replay('--annotations', 'gitlab')).stderr).toContain('expected github, gitlab=<file> or none');
  });
});

describe('the report for people', () => {
  it('says file and line, layer, first byte and diff of what differs', async () => {
    put({ 'fixtures/a.json': OTHER });
    const { stdout } = await replay();
    const line = OTHER.split('\n').findIndex((one) => one.includes('"envelope"')) + 1;
    expect(stdout.replace(TOOK, '')).toContain(`different  fixtures/a.json:${line}\n`);
    expect(stdout).toMatch(/^ {2}envelope: differs from byte \d+ on \(line \d+, column 15\): recorded "a" \(0x61\), now "e" \(0x65\), in layer channel_snapshot$/m);
    expect(stdout).toContain('\n    -Description: Bads &amp; hives\n    +Description: Beds &amp; hives\n');
  });

  it('says which layer changed, and how', async () => {
    put({ 'fixtures/a.json': TURN.replace(/"estimatedTokens": \d+/, '"estimatedTokens": 77') });
    expect((await replay()).stdout).toMatch(/^ {2}layer platform_contract changed: estimatedTokens 77 → \d+$/m);
  });

  it('says where a stream was left, and what it did instead', async () => {
    put({ 'fixtures/s.json': STREAM.replace('"atMs": 300', '"atMs": 299') });
    const { stdout } = await replay();
    expect(stdout).toMatch(/^ {2}expected\[2\]: recorded {"atMs":299,"saw":"turn".*; now {"atMs":300,"saw":"turn"/m);
    expect(stdout).toMatch(/^ {4}-{"atMs":299/m);
  });

  it('says file, line and path of what is broken', async () => {
    put({
      'f/false.json': TURN.replace(/"sig": "[0-9a-f]{8}/, '"sig": "00000000'), 'f/twice.json': TURN.replace('"v": 1,', '"v": 1,\n"v": 1,'),
      'f/open.json': TURN.slice(0, 100), 'f/strange.json': TURN.replace('"output": {', '"stranger": 0, "output": {'),
    });
    const { stdout } = await replay('f');
    expect(stdout).toMatch(/^broken {5}f\/false\.json:\d+: input\.events\[0\]\.event\.sig: expected a signature of the author on the id, found "0{8}[0-9a-f]{8}…"$/m);
    expect(stdout).toContain('broken     f/twice.json:5: input.v: expected each member once, found "v"\n');
    expect(stdout).toMatch(/^broken {5}f\/open\.json:\d+: .*: expected .*, found the end of the text$/m);
    expect(stdout).toMatch(/^broken {5}f\/strange\.json:\d+: stranger: expected no member of this name, found 0$/m);
  });

  it('shows no control characters of what is in a fixture, nor secrets', async () => {
    put({ 'fixtures/a.json': TURN.replaceAll('Beds &amp;', 'Beds \\u001b[31m\\u202e nsec1qqqqqqqqqqqqqqqq') });
    const { stdout } = await replay();
    expect(stdout).toContain('Description: Beds \\u{1b}[31m\\u{202e} <redacted>');
    // eslint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]|nsec1/);
  });
});

it('--json is one object a line, and the summary last', async () => {
  put({ 'fixtures/a.json': OTHER, 'fixtures/b.json': TURN, 'fixtures/c.json': '{' });
  const ended = await replay('--json');
  const [first, second, third, last] = linesOf(ended);
  expect(ended).toMatchObject({ code: 2, stderr: '' });
  expect(first).toMatchObject({ is: 'different', file: 'fixtures/a.json', fixture: 'turn', differences: [{ at: 'output.envelope', is: 'text', layer: 'channel_snapshot' }] });
  expect(second).toMatchObject({ is: 'same', file: 'fixtures/b.json', fixture: 'turn' });
  expect(third).toMatchObject({ is: 'broken', file: 'fixtures/c.json', line: 1, path: '$' });
  expect(last).toMatchObject({ summary: { same: 1, different: 1, broken: 1, blessed: 0 } });
});

describe('--junit', () => {
  it('writes a case for each, whatever the names and texts hold', async () => {
    put({ 'f/a <&"\'>\u0001.json': OTHER.replaceAll('Bads', 'B\\u0007]]>ds'), 'f/b.json': TURN, 'f/c.json': '{' });
    expect((await replay('f', '--junit', 'out.xml')).code).toBe(2);
    const xml = read('out.xml').replaceAll(/time="[\d.]+"/g, 'time="0"');
    expect(xml).toContain('<testsuite name="skep replay" tests="3" failures="1" errors="1" time="0">');
    expect(xml).toContain('<testcase name="f/a &lt;&amp;&quot;&apos;&gt;.json" classname="turn" file="f/a &lt;&amp;&quot;&apos;&gt;.json" time="0"><failure message="envelope: differs from byte ');
    expect(xml).toContain('B\\u{7}]]&gt;ds &amp;amp; hives');
    expect(xml).toContain('<testcase name="f/b.json" classname="turn" file="f/b.json" time="0"/>');
    expect(xml).toContain('<error message="f/c.json:1: $: expected ');
    // eslint-disable-next-line no-control-regex
    expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
    for (const [opening] of xml.matchAll(/<[^>]*>/g)) expect(opening.replaceAll(/"[^"<]*"/g, '')).not.toMatch(/["<].*["<]/s);
  });

  it('says when it cannot', async () => {
    put({ 'f/a.json': TURN });
    expect(await replay('f', '--junit', 'no/where.xml')).toMatchObject({ code: 5, stderr: 'skep: replay: no/where.xml: the report cannot be written: ENOENT\n' });
  });
});

describe('annotations', () => {
  const expected = /^::error file=f\/a%2Cb\.json,line=\d+,title=Replay differs::envelope: differs from byte \d+ on .*%0A--- recorded%0A\+\+\+ now%0A@@ /m;

  it('for GitHub are commands in the log, one a fixture', async () => {
    put({ 'f/a,b.json': OTHER.replaceAll('Bads', 'B%ds'), 'f/c.json': '{', 'f/d.json': TURN });
    const { stdout } = await replay('f', '--annotations', 'github');
    expect(stdout).toMatch(expected);
    expect(stdout).toContain('B%25ds');
    expect(stdout).toContain('::error file=f/c.json,line=1,title=Broken fixture::f/c.json:1: $: expected ');
    expect(stdout.match(/^::error/gm)).toHaveLength(2);
  });

  it('are written on GitHub Actions by themselves, unless nobody wants them', async () => {
    put({ 'f/a,b.json': OTHER });
    vi.stubEnv('GITHUB_ACTIONS', 'true');
    expect((await replay('f')).stdout).toMatch(expected);
    expect((await replay('f', '--annotations', 'none')).stdout).not.toContain('::error');
    const json = await replay('f', '--json');
    expect(linesOf(json)).toHaveLength(2);
    const both = await replay('f', '--json', '--annotations', 'github');
    expect(linesOf(both)).toHaveLength(2);
    expect(both.stderr).toMatch(expected);
  });

  it('for GitLab are a Code Quality report', async () => {
    put({ 'f/a.json': OTHER, 'f/b.json': TURN, 'f/c.json': '{' });
    await replay(join(directory, 'f'), '--annotations', 'gitlab=quality.json', '--annotations', 'github');
    const report = JSON.parse(read('quality.json')) as readonly { readonly fingerprint: string }[];
    expect(report).toMatchObject([
      { check_name: 'skep replay', severity: 'major', location: { path: 'f/a.json', lines: { begin: expect.any(Number) } }, description: expect.stringContaining('Replay differs: envelope: ') },
      { check_name: 'skep replay', severity: 'critical', location: { path: 'f/c.json', lines: { begin: 1 } } },
    ]);
    expect(new Set(report.map(({ fingerprint }) => fingerprint)).size).toBe(2);
  });
});

describe('--update', () => {
  const PROMISE = 'skep: 1 changed turn blessed: under rules version 1 a turn compiles to the same bytes for ever, so this breaks a promise\n';

  it('shows what differs, then blesses it, and says what that means', async () => {
    put({ 'fixtures/a.json': OTHER, 'fixtures/b.json': TURN });
    chmodSync(join(directory, 'fixtures/a.json'), 0o640);
    const ended = await replay('--update');
    expect(ended).toMatchObject({ code: 0, stderr: PROMISE });
    expect(ended.stdout).toMatch(/^different {2}fixtures\/a\.json:\d+\n(?: {2,}.*\n)+blessed {4}fixtures\/a\.json\n2 fixtures: 1 the same, 1 blessed; /);
    expect(read('fixtures/a.json')).toBe(TURN);
    expect(statSync(join(directory, 'fixtures/a.json')).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(directory, 'fixtures'))).toEqual(['a.json', 'b.json']);
    expect((await replay()).code).toBe(0);
  });

  it('completes what is new, and breaks no promise with that', async () => {
    const fresh = { provenance: 'made: new', input: turnSample().input };
    put({ 'fixtures/a.json': turnFixtureText(fresh), 'fixtures/s.json': STREAM.replace('"atMs": 300', '"atMs": 299') });
    expect((await replay()).stdout).toContain('broken     fixtures/a.json:1: output: expected what was recorded, found nothing; --update records it\n');
    const ended = await replay('--update', '--json');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(ended)).toMatchObject([{ is: 'blessed', differences: [{ is: 'new' }] }, { is: 'blessed', fixture: 'stream' }, { summary: { blessed: 2 } }]);
    expect(read('fixtures/a.json')).toBe(turnFixtureText(turnSample(undefined, fresh.input)).replace('made: a sample', 'made: new'));
    expect(read('fixtures/s.json')).toBe(STREAM);
  });

  it('leaves what is broken as it is', async () => {
    const broken = TURN.replace(/"sig": "[0-9a-f]{8}/, '"sig": "00000000');
    put({ 'fixtures/a.json': broken, 'fixtures/b.json': OTHER });
    expect((await replay('--update')).code).toBe(2);
    expect([read('fixtures/a.json'), read('fixtures/b.json')]).toEqual([broken, TURN]);
  });

  it('writes through a link', async () => {
    put({ 'real.json': OTHER, 'fixtures/x.txt': '' });
    symlinkSync('../real.json', join(directory, 'fixtures/a.json'));
    expect((await replay('--update')).code).toBe(0);
    expect(read('real.json')).toBe(TURN);
    expect(readdirSync(directory)).toEqual(['fixtures', 'real.json']);
  });
});

describe('--shard', () => {
  it('splits the fixtures: each in one, in the order of their bytes', async () => {
    put(Object.fromEntries(['b.json', 'a.json', 'é.json', 'Z.json', 'z/a.json', '🙂.json', '\uffee.json'].map((name) => [`f/${name}`, TURN])));
    const filesIn = async (...args: readonly string[]): Promise<unknown[]> => linesOf(await replay('f', '--json', ...args)).slice(0, -1).map(({ file }) => file);
    const all = ['f/Z.json', 'f/a.json', 'f/b.json', 'f/z/a.json', 'f/é.json', 'f/\uffee.json', 'f/🙂.json'];
    expect(await filesIn()).toEqual(all);
    const shards = [await filesIn('--shard', '1/3'), await filesIn('--shard', '2/3'), await filesIn('--shard', '3/3')];
    expect(shards.map(({ length }) => length)).toEqual([3, 2, 2]);
    expect(shards.flat().sort()).toEqual([...all].sort());
    expect((await replay('f', '--shard', '8/8')).stderr).toBe('skep: this shard of 7 fixtures is empty\n');
  });
});

describe('a folder', () => {
  it('is read whole, once, and not through what is hidden', async () => {
    put({
      'f/a.json': TURN, 'f/deep/er/b.json': TURN, 'f/.hidden/c.json': '{', 'f/.d.json': '{', 'f/node_modules/e.json': '{', 'f/note.txt': '{', 'f/g.json.tmp': '{',
    });
    symlinkSync('.', join(directory, 'f/loop'));
    symlinkSync('..', join(directory, 'f/deep/up'));
    const ended = await replay('f', 'f/a.json', './f/deep', join(directory, 'f'), '--json');
    expect(ended.code).toBe(0);
    expect(linesOf(ended)).toHaveLength(3);
  });

  it('may hold what cannot be read, which is named', async () => {
    put({ 'f/big.json': '', 'f/text.json': Buffer.from([0x7b, 0xff, 0x7d]), 'f/empty.json': '', 'f/list.json': '[]' });
    truncateSync(join(directory, 'f/big.json'), 16 * 1024 * 1024 + 1);
    symlinkSync('nowhere', join(directory, 'f/gone.json'));
    symlinkSync('self.json', join(directory, 'f/self.json'));
    execFileSync('mkfifo', [join(directory, 'f/pipe.json')]);
    const { code, stdout } = await replay('f');
    expect(code).toBe(2);
    expect(stdout.split('\n').slice(0, -2)).toEqual([
      'broken     f/big.json: expected at most 16 MiB, found 16777217 bytes',
      'broken     f/empty.json:1: $: expected a JSON value, found the end of the text',
      'broken     f/gone.json: there is no such file or folder',
      'broken     f/list.json:1: $: expected a recorded turn (member input, or operator) or stream (member steps), found an array of 0',
      'broken     f/pipe.json: expected a file',
      'broken     f/self.json: a symbolic link that leads to itself',
      'broken     f/text.json:1: byte 1: expected UTF-8 text, found 0xff',
    ]);
  });

  it('may be of a file with a byte order mark and CRLF', async () => {
    put({ 'f/a.json': `\ufeff${TURN.replaceAll('\n', '\r\n')}` });
    expect((await replay('f')).code).toBe(0);
  });
});

it('every fixture of the repository gives what was recorded', async () => {
  const root = new URL('../../', import.meta.url).pathname;
  expect(await runSkep(['replay'], root)).toMatchObject({ code: 0, stderr: '' });
});
