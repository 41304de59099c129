/** `skep doctor` and `skep adapters` as people run them, with agent programs that are well and ill. */
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedModule } from '../../adapters/index.ts';
import { isAlive } from '../e2e/alive.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { runSkep, stopAll } from './skep.ts';
import type { Ended } from './skep.ts';

afterEach(stopAll);

const OWNER = 'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';

interface Report {
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly findings: readonly { readonly about: string; readonly is: string; readonly what: string; readonly mend?: string }[];
}

function home({ relay = 'embedded', adapter = 'scripted', more = '' } = {}): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'a.key'), '1'.padStart(64, '0'), { mode: 0o600 });
  const embedded = relay === 'embedded' ? 'embedded: { port: 0 }\n' : '';
  writeFileSync(join(directory, 'skep.yaml'), `relay: ${relay}\n${embedded}${more}agents:\n  - { name: helper, key: a.key, owner: ${OWNER}, adapter: ${adapter} }\n`);
  return directory;
}

/** A config whose agent plays a script; `like` makes it one of the catalogue in all but its program. */
function playing(script: object, quirks: object = {}): string {
  const directory = home({ adapter: JSON.stringify({ command: process.execPath, args: [scriptedModule(), 'script.json'], ...quirks }) });
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates: '.', rules: [], ...script }));
  return directory;
}

async function doctor(directory: string, ...words: readonly string[]): Promise<Report & Pick<Ended, 'code'>> {
  const { code, stdout, stderr } = await runSkep(['doctor', ...words, '--json'], directory);
  expect(stderr).toBe('');
  return { code, ...JSON.parse(stdout) as Report };
}

const modes = { currentModeId: 'auto', availableModes: [{ id: 'auto', name: 'Auto' }, { id: 'default', name: 'Ask' }] };

describe('an agent that is well', () => {
  it('tells what it can, and will ask; nothing of it is left', async () => {
    const directory = playing({
      initialize: { capabilities: { loadSession: true, sessionCapabilities: { close: {}, resume: {} }, promptCapabilities: { image: true } }, meta: { steering: { supported: true } } },
      newSession: { modes, systemPrompt: false }, answers: { 'session/set_mode': { result: {} }, 'session/close': { result: {} } },
    }, { standing: 'meta-append', mode: 'default' });
    const { code, facts, findings } = await doctor(directory, 'helper');
    expect(findings.filter(({ is }) => is === 'problem')).toEqual([]);
    expect(code).toBe(0);
    expect(facts).toMatchObject({ load: true, close: true, resume: true, steering: true, prompt: ['image'], mode: 'auto', modes: ['auto', 'default'] });
    expect(findings).toContainEqual({ about: 'instructions', is: 'ok', what: 'in the system role, as _meta.systemPrompt of session/new' });
    expect(findings).toContainEqual({ about: 'permission', is: 'ok', what: 'it asks: skep puts each session into the mode default' });
    const { stdout } = await runSkep(['doctor', 'helper'], directory);
    expect(stdout).toMatch(/^ok +program +\//);
    expect(stdout).toMatch(/\n +modes +auto, default\n/);
  });

  it('is told how conversations go on, and what of the wishes of the config it does not grant', async () => {
    const configOptions = [{ id: 'effort', category: 'thought_level', currentValue: 'low', options: [{ value: 'low' }, { value: 'high' }] }];
    const directory = playing({ newSession: { modes, configOptions }, sessions: { load: true } });
    const file = join(directory, 'skep.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/ \}\n$/, ', mode: default, effort: ultra, model: large }\n'));
    const { code, findings } = await doctor(directory, 'helper');
    expect(findings).toContainEqual({ about: 'after its end', is: 'ok', what: 'conversations are gone on with by session/load, as it says' });
    expect(findings).toContainEqual({ about: 'mode', is: 'ok', what: 'default' });
    expect(findings).toContainEqual({ about: 'effort', is: 'problem', what: 'ultra is not set: the agent does not offer that effort', mend: 'one of low, high' });
    expect(findings).toContainEqual({ about: 'model', is: 'problem', what: 'large is not set: the agent does not offer that model', mend: 'leave model out: it offers none' });
    expect(code).toBe(1);
    expect((await runSkep(['doctor', 'helper'], directory)).stdout).toMatch(/\n +efforts +low, high\n/);
  });

  it.each([
    ['starts', {}, 'hint', 'it needs Node >=22, and finds v18.20.4; it starts all the same'],
    ['opens no session', { newSession: { error: { code: -32_603, message: 'no' } } }, 'problem', 'it needs Node >=22, and finds v18.20.4'],
  ])('on an older Node than its package asks for %s', async (_, script, is, what) => {
    const directory = playing({ newSession: { modes }, answers: { 'session/set_mode': { result: {} } }, ...script }, { like: 'claude' });
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'node'), '#!/bin/sh\necho v18.20.4\n', { mode: 0o755 });
    const config = join(directory, 'skep.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace(/ }\n$/, `, env: { PATH: "${bin}" } }\n`));
    const { findings } = await doctor(directory, 'helper');
    expect(findings).toContainEqual({ about: 'node', is, what, mend: 'put a newer Node first on the agent\'s PATH (env in skep.yaml)' });
  });

  it('whose profile knows that it loads too late is told to begin anew, whatever it offers', async () => {
    const { findings } = await doctor(playing({ newSession: { modes }, sessions: { load: true } }, { like: 'gemini' }), 'helper');
    expect(findings).toContainEqual({ about: 'after its end', is: 'ok', what: 'each conversation begins anew, and is given its context again' });
  });

  it('is ended with everything that it has started', async () => {
    const directory = temporaryDirectory();
    const program = join(directory, 'starts-a-child.mjs');
    writeFileSync(program, `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
writeFileSync(${JSON.stringify(join(directory, 'pid'))}, String(child.pid));
process.argv.splice(1, 1);
await import(${JSON.stringify(scriptedModule())});
`);
    const place = home({ adapter: JSON.stringify({ command: process.execPath, args: [program, scriptedModule()] }) });
    expect((await doctor(place, 'helper')).code).toBe(0);
    expect(isAlive(Number(readFileSync(join(directory, 'pid'), 'utf8')))).toBe(false);
  });
});

describe('an agent that is ill', () => {
  it.each<readonly [string, object, object, string, string]>([
    ['is not logged in', { newSession: { error: { code: -32_000, message: 'Authentication required' } } }, { like: 'codex' }, 'session', 'it is not logged in: OPENAI_API_KEY'],
    ['ends at once without a word', { dieAtStart: 2 }, {}, 'start', 'it may be no ACP agent, or may need other arguments'],
    ['offers no mode in which it asks', { newSession: { modes } }, { mode: 'careful', like: 'claude' }, 'permission', 'adapter.mode'],
    ['is described with a mode that it does not offer', { newSession: { modes } }, { mode: 'careful' }, 'permission', 'name one as adapter.mode'],
    ['is described with a mode, and offers none', {}, { mode: 'careful' }, 'permission', 'leave adapter.mode out'],
    ['speaks another version', { initialize: { protocolVersion: 2 } }, {}, 'start', 'its own words'],
  ])('%s: told with its mend', async (_, script, quirks, about, mend) => {
    const { code, findings } = await doctor(playing(script, quirks), 'helper');
    expect(code).toBe(1);
    expect(findings).toContainEqual(expect.objectContaining({ about, is: 'problem', mend: expect.stringContaining(mend) as unknown }));
  });

  it('is not there, or may not be executed', async () => {
    const directory = home({ adapter: '{ command: ./agent }' });
    expect(await doctor(directory, 'helper')).toMatchObject({ code: 1, findings: [{ about: 'program', is: 'problem', mend: expect.stringContaining('adapter.command') as unknown }] });
    writeFileSync(join(directory, 'agent'), '#!/bin/sh\necho "error: unknown option --acp" >&2\nexit 2\n');
    const path = join(directory, 'agent');
    const locked = { is: 'problem', what: `${path} may not be executed`, mend: `make it executable: chmod +x ${path}` };
    expect(await doctor(directory, 'helper')).toMatchObject({ code: 1, findings: [{ about: 'program', ...locked }] });
    expect((await doctor(directory)).findings).toContainEqual({ about: 'helper', ...locked });
    chmodSync(join(directory, 'agent'), 0o755);
    const { code, findings } = await doctor(directory, 'helper');
    expect([code, findings.at(-1)]).toMatchObject([1, { about: 'start', what: expect.stringContaining('unknown option --acp') as unknown, mend: expect.stringContaining('arguments') as unknown }]);
  });

  it('lies on its PATH, and may not be executed', async () => {
    const directory = home({ adapter: 'goose' });
    const file = join(directory, 'skep.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/ \}\n$/, `, env: { PATH: ${JSON.stringify(directory)} } }\n`));
    const path = join(directory, 'goose');
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o644 });
    const locked = { is: 'problem', what: `${path} may not be executed`, mend: `make it executable: chmod +x ${path}` };
    expect(await doctor(directory, 'helper')).toMatchObject({ code: 1, findings: [{ about: 'program', ...locked }] });
    expect((await doctor(directory)).findings).toContainEqual({ about: 'helper', ...locked });
  });

  it('is there, but not what its first line names to run it', async () => {
    const directory = home({ adapter: '{ command: ./agent }' });
    writeFileSync(join(directory, 'agent'), '#!/no/such/python\n', { mode: 0o755 });
    const { code, findings } = await doctor(directory, 'helper');
    expect([code, findings.at(-1)]).toMatchObject([1, { about: 'start', what: expect.stringContaining('/no/such/python') as unknown, mend: expect.stringContaining('put /no/such/python there') as unknown }]);
    writeFileSync(join(directory, 'agent'), '#!/bin/sh\r\nexit 0\r\n');
    expect((await doctor(directory, 'helper')).findings.at(-1)).toMatchObject({ what: expect.stringContaining('/bin/sh\\u{d}') as unknown, mend: 'its lines end in CR LF: save it with the line ends of Unix' });
    // What cannot be looked at on the way is no trouble of its own.
    const { findings: some } = await doctor(home({ adapter: `{ command: no-such }, env: { PATH: "${join(directory, 'agent')}" }` }), 'helper');
    expect(some).toMatchObject([{ about: 'program', what: 'there is no program no-such' }]);
  });

  it.each([['', true], [', like: codex', false]])('is one of the catalogue by its program, and is described%s: told that it has a profile: %s', async (like, told) => {
    const directory = home({ adapter: `{ command: ./codex-acp${like} }` });
    writeFileSync(join(directory, 'codex-acp'), `#!/bin/sh\nexec ${process.execPath} ${scriptedModule()} ${join(directory, 'script.json')}\n`, { mode: 0o755 });
    writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates: '.', rules: [], initialize: { agentInfo: { name: 'codex', version: '1' } } }));
    const hint = { about: 'adapter', is: 'hint', what: 'this is Codex', mend: 'say like: codex, so that it is spoken to as such' };
    const { findings } = await doctor(directory, 'helper');
    expect(findings).toContainEqual(expect.objectContaining({ about: 'start', is: 'ok' }));
    expect(findings.filter(({ about }) => about === 'adapter')).toEqual(told ? [hint] : []);
  });

  it('of the catalogue that is not installed is told with its installation; a name that nobody knows with those that are', async () => {
    const empty = temporaryDirectory();
    const { code, findings } = await doctor(empty, 'buzz-agent');
    expect([code, findings]).toMatchObject([1, [{ mend: 'install it: https://github.com/block/buzz' }]]);
    const stranger = await runSkep(['doctor', 'nobody'], empty);
    expect(stranger).toMatchObject({ code: 2, stdout: '' });
    expect(stranger.stderr).toContain('no agent "nobody"; there are goose, claude');
  });
});

describe('the place', () => {
  it('where everything is there', async () => {
    const { code, findings } = await doctor(home());
    expect(findings.filter(({ is }) => is === 'problem')).toEqual([]);
    expect(code).toBe(0);
    expect(findings.map(({ about }) => about)).toEqual(expect.arrayContaining(['config', 'keys', 'supervisor', 'relay', 'broker', 'disk', 'limits', 'helper']));
  });

  it('where no relay answers, a port is taken, and a program is missing', async () => {
    const server = createServer();
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port ?? 0 : 0;
    try {
      const taken = await doctor(home({ more: `broker: { port: ${port} }\n`, adapter: '{ command: nowhere-to-be-found }' }));
      expect(taken.code).toBe(1);
      expect(taken.findings.filter(({ is }) => is === 'problem').map(({ about }) => about)).toEqual(['broker', 'helper']);
    } finally {
      server.close();
    }
    const gone = await doctor(home({ relay: `ws://127.0.0.1:${port}` }));
    expect(gone.findings.filter(({ is }) => is === 'problem')).toMatchObject([{ about: 'relay', what: expect.stringContaining('ECONNREFUSED') as unknown }]);
  });

  it('without a config that can be used is told in one line, as by every verb', async () => {
    const directory = home({ adapter: 'claud' });
    expect(await runSkep(['doctor'], directory)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('did you mean claude?') as unknown });
  });
});

describe('skep adapters', () => {
  it('lists the catalogue, with what is here and how to install the rest', async () => {
    const directory = temporaryDirectory();
    const bin = join(directory, 'lib', 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'gemini'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(join(directory, 'lib', 'package.json'), '{"name":"x","version":"0.61.0","bin":{"gemini":"bin/gemini"}}');
    const before = process.env['PATH'];
    process.env['PATH'] = bin;
    try {
      const { code, stdout } = await runSkep(['adapters', '--json'], directory);
      expect(code).toBe(0);
      const listed = JSON.parse(stdout) as { readonly adapter: string }[];
      expect(listed.find(({ adapter }) => adapter === 'gemini')).toMatchObject({ installed: join(bin, 'gemini'), version: '0.61.0', command: 'gemini --acp' });
      expect(listed.find(({ adapter }) => adapter === 'codex')).toMatchObject({ installed: null, version: null, install: 'npm install --global @agentclientprotocol/codex-acp' });
      const lines = (await runSkep(['adapters'], directory)).stdout;
      expect(lines).toContain(`gemini      gemini --acp  0.61.0  ${join(bin, 'gemini')}\n`);
      expect(lines).toContain('pi-acp  not installed: npm install --global pi-acp');
    } finally {
      process.env['PATH'] = before;
    }
    expect(existsSync(join(directory, '.skep'))).toBe(false);
  });
});
