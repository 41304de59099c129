/** `skep compile`: exact bytes for what is right, one line and exit code 2 for what is not. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CompiledTurn, TurnInput } from '../../compiler/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { openPiped, runPiped } from './piped.ts';
import { LAUNCHER } from './skep.ts';

const TURNS = fileURLToPath(new URL('../../fixtures/turns/', import.meta.url));

interface Recorded {
  readonly input: TurnInput;
  readonly output: CompiledTurn;
}

function recorded(name: string): Recorded {
  return JSON.parse(readFileSync(join(TURNS, `${name}.json`), 'utf8')) as Recorded;
}

const SYSTEM = recorded('standing-system');
const ODD = recorded('odd-text');
const INPUT = JSON.stringify(SYSTEM.input, null, 2);

let directory = '';
beforeAll(() => {
  directory = temporaryDirectory();
  writeFileSync(join(directory, 'turn.json'), INPUT);
});

async function compiled(args: readonly string[], input = ''): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runPiped(['compile', ...args], directory, input);
  return { code, stdout: stdout.toString('utf8'), stderr };
}

describe('prints', () => {
  it.each([
    ['the envelope and one LF', ['turn.json'], `${SYSTEM.output.envelope}\n`],
    ['the same for a recorded turn', [join(TURNS, 'standing-system.json')], `${SYSTEM.output.envelope}\n`],
    ['text as odd as it came', [join(TURNS, 'odd-text.json')], `${ODD.output.envelope}\n`],
    ['the manifest', ['turn.json', '--manifest'], `${JSON.stringify(SYSTEM.output.manifest, null, 2)}\n`],
    ['the standing text for the system role', ['--system', 'turn.json'], `${SYSTEM.output.system ?? ''}\n`],
    ['the whole output on one line', ['--json', 'turn.json'], `${JSON.stringify(SYSTEM.output)}\n`],
  ])('%s', async (_, args, stdout) => {
    expect(await compiled(args)).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('the same from stdin, a byte order mark before it and CRLF in it', async () => {
    expect(await compiled(['-'], `\ufeff${INPUT.replaceAll('\n', '\r\n')}`)).toEqual({ code: 0, stdout: `${SYSTEM.output.envelope}\n`, stderr: '' });
  });

  it.each([
    ['bare', 'this session has read its standing text before (standingRole "sent")'],
    ['standing-prompt', 'this turn\'s standing text, if any, is the first block of its prompt (standingRole "prompt"; see --json)'],
  ])('no system text for %s, and says why', async (name, why) => {
    expect(await compiled(['--system', join(TURNS, `${name}.json`)])).toEqual({ code: 0, stdout: '', stderr: `skep: no system text: ${why}\n` });
  });

  it('no system text for a turn without standing text', async () => {
    expect(await compiled(['--system', '-'], JSON.stringify({ ...SYSTEM.input, standing: { base: ' ' } }))).toEqual({ code: 0, stdout: '', stderr: 'skep: no system text: the turn has no standing text\n' });
  });
});

describe('takes one form of output', () => {
  it.each([
    ['--manifest', '--json'], ['--system', '--ndjson'], ['--json', '--ndjson'], ['--manifest', '--system'],
  ])('%s or %s', async (one, other) => {
    expect(await compiled([one, other, 'turn.json'])).toEqual({
      code: 2, stdout: '', stderr: `skep: option '${one}' cannot be used with option '${other}'; see skep compile --help\n`,
    });
  });
});

describe('refuses, naming file, line and path', () => {
  // test/turn-file has the table of what is refused, and with which words.
  it('what is wrong in a turn', async () => {
    const wrong = INPUT.replace(/"kind": \d+/, '"kind": "9"');
    const line = wrong.split('\n').findIndex((one) => one.includes('"kind"')) + 1;
    writeFileSync(join(directory, 'wrong.json'), wrong);
    const told = `${line}: events[0].event.kind: expected an integer from 0 to 65535, found "9"\n`;
    expect(await compiled(['wrong.json'])).toEqual({ code: 2, stdout: '', stderr: `skep: wrong.json:${told}` });
    expect(await compiled(['-'], wrong)).toEqual({ code: 2, stdout: '', stderr: `skep: stdin:${told}` });
  });

  it('an event that is not what it says', async () => {
    const { code, stdout, stderr } = await compiled(['-'], INPUT.replace('"content": "', '"content": "Not '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^skep: stdin:\d+: events\[0\]\.event\.id: expected the hash of the event, found "[0-9a-f]{16}…"\n$/);
  });

  it('bytes that are no UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{\n"v": "'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    const { code, stdout, stderr } = await runPiped(['compile', '-'], directory, bytes);
    expect({ code, stdout: stdout.length, stderr }).toEqual({ code: 2, stdout: 0, stderr: 'skep: stdin:2: byte 9: expected UTF-8 text, found 0x28\n' });
  });

  it('what cannot be read', async () => {
    mkdirSync(join(directory, 'folder'));
    const huge = openSync(join(directory, 'huge.json'), 'w');
    ftruncateSync(huge, 100_000_000);
    closeSync(huge);
    const [none, folder, large, wordless] = await Promise.all([['none.json'], ['folder'], ['huge.json'], []].map((args) => compiled(args)));
    expect(none).toEqual({ code: 2, stdout: '', stderr: 'skep: none.json: there is no such file\n' });
    expect(folder).toEqual({ code: 2, stdout: '', stderr: 'skep: folder: expected a file, found a directory\n' });
    expect(large).toEqual({ code: 2, stdout: '', stderr: 'skep: huge.json: expected at most 16 MiB, found more\n' });
    expect(wordless).toEqual({ code: 2, stdout: '', stderr: 'skep: missing required argument \'file\'; see skep compile --help\n' });
  });
});

describe('--unverified', () => {
  it('takes every event at its word, and says so', async () => {
    const input = INPUT.replace(/"sig": "[0-9a-f]+"/, `"sig": "${'0'.repeat(128)}"`);
    expect(input).not.toBe(INPUT);
    expect(await compiled(['-', '--unverified'], input)).toEqual({
      code: 0, stdout: `${SYSTEM.output.envelope}\n`, stderr: 'skep: no event was verified (--unverified)\n',
    });
  });
});

describe('--ndjson', () => {
  const names = ['bare', 'odd-text', 'fifty-events', 'standing-system'];
  const lines = names.map((name) => JSON.stringify(recorded(name).input));
  const outputs = names.map((name) => `${JSON.stringify(recorded(name).output)}\n`);

  it('gives an output for each turn, in order, recorded ones among them', async () => {
    const recordedLine = JSON.stringify(recorded('batch'));
    const expected = [...outputs, `${JSON.stringify(recorded('batch').output)}\n`].join('');
    for (const input of [[...lines, recordedLine].join('\n'), [...lines, recordedLine, ''].join('\r\n')]) {
      expect(await compiled(['-', '--ndjson'], input)).toEqual({ code: 0, stdout: expected, stderr: '' });
    }
  });

  it('gives nothing for nothing', async () => {
    expect(await compiled(['--ndjson', '-'], '')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each([
    ['a turn that is refused', lines[0]?.replace('"v":1', '"v":3') ?? '', 'v: expected 1, found 3'],
    ['an empty line', '', '$: expected a JSON value, found the end of the text'],
    ['a line that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'byte 1: expected UTF-8 text, found 0xff'],
    ['a line that is too long', Buffer.alloc(17 * 1024 * 1024, 0x20), '$: expected a line of at most 16 MiB, found more'],
  ])('stops at %s, with what came before it written', async (_, third, told) => {
    const input = Buffer.concat([Buffer.from(`${lines.slice(0, 2).join('\n')}\n`), Buffer.from(third), Buffer.from(`\n${lines.slice(2).join('\n')}`)]);
    writeFileSync(join(directory, 'turns.ndjson'), input);
    const { code, stdout, stderr } = await runPiped(['compile', '--ndjson', 'turns.ndjson'], directory);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 2, stdout: outputs.slice(0, 2).join(''), stderr: `skep: turns.ndjson:3: ${told}\n`,
    });
  });

  it('answers each turn before it is given the next', async () => {
    const child = openPiped(['compile', '--ndjson', '-'], directory);
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (const [index, line] of lines.entries()) {
      child.stdin.write(`${line}\n`);
      expect(`${String((await answers.next()).value)}\n`).toBe(outputs[index]);
    }
    child.stdin.end();
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  it('ends in peace when its reader has had enough', async () => {
    const child = openPiped(['compile', '--ndjson', '-'], directory);
    const told = text(child.stderr);
    const ended = once(child, 'close');
    child.stdin.write(`${lines[0] ?? ''}\n`);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    // More than any pipe holds, and stdin stays open: it is the write that must end it.
    for (let count = 0; count < 50; count += 1) child.stdin.write(`${lines[2] ?? ''}\n`);
    expect(await ended).toEqual([0, null]);
    expect(await told).toBe('');
  });
});

it.runIf(existsSync('/dev/full'))('says that the disk is full', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, 'compile', 'turn.json'], { cwd: directory, stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
  closeSync(full);
  expect({ status, stderr }).toEqual({ status: 5, stderr: 'skep: stdout: ENOSPC: no space left on device, write\n' });
});
