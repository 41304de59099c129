/** The parts of the check-up that need no program: what is read of answers, and which mend goes with which trouble. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findAdapter } from '../../../adapters/index.ts';
import type { AdapterProfile } from '../../../adapters/index.ts';
import { readFacts } from '../../../src/cli/doctor/facts.ts';
import { sumOfTree } from '../../../src/cli/doctor/memory.ts';
import { lacking, noSession, notStarted } from '../../../src/cli/doctor/mend.ts';
import { isAtLeast } from '../../../src/cli/doctor/node.ts';
import { temporaryDirectory } from '../../setup/temp.ts';

function profile(name: string): AdapterProfile {
  const found = findAdapter(name);
  if (found === undefined) throw new Error(`${name} is not in the catalogue`);
  return found;
}

describe('what an agent tells', () => {
  it('is read from config options before the older lists', () => {
    const facts = readFacts(
      { agentInfo: { name: 'x', version: '1' }, agentCapabilities: { mcpCapabilities: { http: true, sse: false } }, authMethods: [{ id: 'api-key' }, 7] },
      {
        modes: { currentModeId: 'older', availableModes: [{ id: 'older' }] }, models: { currentModelId: 'm', availableModels: [{ modelId: 'm' }, { modelId: 'n' }] },
        configOptions: [null, { category: 'mode', currentValue: 'a', options: [{ name: 'G', options: [{ value: 'a' }, { value: 'b' }] }] }],
      },
    );
    expect(facts).toMatchObject({ program: 'x 1', mcp: ['http'], logins: ['api-key'], mode: 'a', modes: ['a', 'b'], model: 'm', models: ['m', 'n'], load: false, steering: false });
  });

  it.each([[undefined, undefined], [null, 7], [[], 'x'], [{ agentInfo: 7, agentCapabilities: [] }, { modes: null, configOptions: {} }]])('%j and %j tell nothing', (initialized, session) => {
    expect(readFacts(initialized, session)).toEqual({
      program: '', load: false, resume: false, close: false, systemPrompt: false, prompt: [], mcp: [], steering: false, logins: [], modes: [], models: [], efforts: [],
    });
  });
});

describe('the mend', () => {
  it('of a program that the agent needs beside its own is to install it, or to let it be run', () => {
    const cwd = temporaryDirectory();
    const sought = { command: 'tool', cwd, env: { PATH: cwd } };
    expect(lacking(sought)).toEqual({ about: 'program', is: 'problem', what: 'it needs tool, which is not on PATH', mend: 'install tool' });
    const path = join(cwd, 'tool');
    writeFileSync(path, '', { mode: 0o644 });
    expect(lacking(sought)).toMatchObject({ what: `it needs ${path}, which may not be executed`, mend: `make it executable: chmod +x ${path}` });
  });

  const exited = (stderrTail: string): Parameters<typeof notStarted>[0] => ({ how: 'exited_at_start', command: 'x', exitCode: 1, stderrTail });

  it.each([
    ['not installed', { how: 'not_found', command: 'goose' } as const, 'goose', 'install it: brew install'],
    ['not executable', { how: 'not_executable', command: '/x/goose' } as const, 'goose', 'chmod +x /x/goose'],
    ['no interpreter', { how: 'no_interpreter', command: '/x/goose', interpreter: '/opt/python' } as const, 'goose', 'put /opt/python there, or install the program anew: brew'],
    ['a wrong flag', exited('error: unknown option \'--acp\'\n'), 'gemini', 'arguments'],
    ['an old Node', exited('SyntaxError: Unexpected token \'with\'\n    at Node.js v18'), 'claude', 'another Node (>=22)'],
    ['an old Node, by a module', exited('Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite'), 'codex', 'another Node'],
    ['no login', exited('Please log in first'), 'claude', 'not logged in: ANTHROPIC_API_KEY'],
    ['a folder that is not trusted', exited('the workspace is not trusted'), 'gemini', 'set GEMINI_CLI_TRUST_WORKSPACE=true'],
    ['silence', { how: 'start_timeout', command: 'x', afterMs: 60_000 } as const, 'goose', 'no ACP agent'],
    ['noise', { how: 'protocol', detail: 'x' } as const, 'goose', 'no ACP agent'],
    ['its own words', exited('boom'), 'goose', 'its own words'],
  ])('of %s', (_, end, name, mend) => {
    expect(notStarted(end, profile(name))).toMatchObject({ is: 'problem', mend: expect.stringContaining(mend) as unknown });
  });

  it.each([
    ['no login, by its code', { ok: false, code: 'error', rpcCode: -32_000, detail: 'x' } as const, 'gemini', 'GEMINI_API_KEY'],
    ['no login, by its words', { ok: false, code: 'error', rpcCode: 401, detail: 'Invalid API key' } as const, 'gemini', 'GEMINI_API_KEY'],
    ['silence', { ok: false, code: 'timeout', detail: 'x' } as const, 'pi', 'by hand'],
    ['a program that is missing', { ok: false, code: 'error', rpcCode: -32_603, detail: 'spawn pi ENOENT' } as const, 'pi', 'on PATH'],
  ])('of a session: %s', (_, refused, name, mend) => {
    expect(noSession(refused, profile(name))).toMatchObject({ about: 'session', is: 'problem', mend: expect.stringContaining(mend) as unknown });
  });
});

it.each([
  ['v22.19.0', '>=22.19', true], ['v22.18.9', '>=22.19', false], ['v24.0.0', '>=22.19', true], ['v20.20.2', '>=22', false], ['v22.0.0', '>=22', true], ['v9.1.0', '>=20', false],
])('Node %s for %s: %s', (version, needed, enough) => {
  expect(isAtLeast(version, needed)).toBe(enough);
});

it('memory is that of the whole tree, in whatever order it is listed', () => {
  const words = '  7   5  100\n  5   2 1000\n  2   1   10\n  9   1 5000\n\n';
  expect(sumOfTree(2, words)).toEqual({ bytes: 1_110 * 1_024, processes: 3 });
  expect(sumOfTree(77, words)).toBeUndefined();
});
