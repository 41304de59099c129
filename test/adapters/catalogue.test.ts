import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterNames, commandLine, customAdapter, findAdapter, recognizeAdapter, scriptedModule } from '../../adapters/index.ts';

describe('the catalogue', () => {
  it.each([
    ['goose', 'goose acp', 'goose-method'],
    ['claude', 'claude-agent-acp', 'meta-append'],
    ['codex', 'codex-acp', 'capability'],
    ['gemini', 'gemini --acp', 'first-message'],
    ['opencode', 'opencode acp', 'first-message'],
    ['buzz-agent', 'buzz-agent', 'first-message'],
    ['pi', 'pi-acp', 'first-message'],
  ])('%s starts as `%s` and takes its standing text by %s', (name, words, standingRole) => {
    const profile = findAdapter(name);
    if (profile === undefined) throw new Error(`${name} is not in the catalogue`);
    const { command, args } = commandLine(profile, '/bin/node');
    expect([command, ...args].join(' ')).toBe(words);
    expect(profile).toMatchObject({ name, dialect: { standing: standingRole } });
    expect(profile.docsUrl).toMatch(/^https:\/\//);
  });

  it('names every profile once and knows no other word', () => {
    expect(adapterNames).toEqual(['goose', 'claude', 'codex', 'gemini', 'opencode', 'buzz-agent', 'pi', 'scripted']);
    expect(adapterNames.map((name) => findAdapter(name)?.name)).toEqual(adapterNames);
    for (const name of ['Goose', 'custom', '', 'constructor']) expect(findAdapter(name)).toBeUndefined();
  });

  it('starts none of them by a package manager: a registry that is away stops nobody', () => {
    const managers = ['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bunx', 'bun', 'uvx', 'pipx'];
    for (const name of adapterNames) {
      const { command, args } = commandLine(findAdapter(name) ?? expect.fail(name), '/bin/node', []);
      expect([command, ...args].filter((word) => managers.includes(word))).toEqual([]);
    }
  });

  it('makes a profile of any command', () => {
    const profile = customAdapter({ command: '/opt/my-agent', args: ['--acp'] });
    expect(profile).toMatchObject({ name: 'custom', dialect: { standing: 'capability' } });
    expect(commandLine(profile, '/bin/node', ['-v'])).toEqual({ command: '/opt/my-agent', args: ['--acp', '-v'] });
  });
});

describe('a program of the operator’s own', () => {
  const claude = findAdapter('claude');

  it('may be like one of the catalogue, but for what the operator says', () => {
    const profile = customAdapter({
      command: 'my-claude', ...(claude && { like: claude }), startMode: 'plan', environment: { A: '1' },
    });
    expect(profile).toMatchObject({
      name: 'custom', launch: { command: 'my-claude', args: [] }, environment: { A: '1' },
      dialect: { standing: 'meta-append', startMode: 'plan', usage: claude?.dialect.usage, remarkSigns: claude?.dialect.remarkSigns },
    });
  });

  it('is recognized by what it calls itself, or by its command', () => {
    expect(recognizeAdapter({ agentName: ' @AgentClientProtocol/claude-agent-acp', command: '/bin/node' })?.name).toBe('claude');
    expect(recognizeAdapter({ command: '/opt/bin/codex-acp' })?.name).toBe('codex');
    expect(recognizeAdapter({ command: 'C:\\bin\\Gemini.CMD' })?.name).toBe('gemini');
    expect(recognizeAdapter({ agentName: 'stranger', command: 'node' })).toBeUndefined();
    expect(recognizeAdapter({ agentName: '' })).toBeUndefined();
  });
});

describe('the scripted agent’s module', () => {
  it('is the compiled one, run by the given Node', () => {
    const module = scriptedModule();
    expect(isAbsolute(module) && existsSync(module)).toBe(true);
    expect(module).toMatch(/\/dist\/program\/scripted\.js$/);
    const profile = findAdapter('scripted');
    if (profile === undefined) throw new Error('scripted is not in the catalogue');
    expect(commandLine(profile, '/bin/node', ['s.json'])).toEqual({ command: '/bin/node', args: [module, 's.json'] });
  });

  it('is found from the compiled catalogue as well', () => {
    const catalogue = scriptedModule().replace('/program/scripted.js', '/adapters/index.js');
    const print = 'import(process.argv[1]).then((door) => process.stdout.write(door.scriptedModule()))';
    expect(execFileSync(process.execPath, ['-e', print, catalogue], { encoding: 'utf8' })).toBe(scriptedModule());
  });
});
