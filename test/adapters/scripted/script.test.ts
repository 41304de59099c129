import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedModule } from '../../../adapters/index.ts';
import { ScriptError } from '../../../adapters/scripted/check.ts';
import type { Json } from '../../../adapters/scripted/json.ts';
import { actsOf, needsGates, readScript } from '../../../adapters/scripted/read-script.ts';
import { said, startAgent, stopAll } from './client.ts';

afterEach(stopAll);

function read(value: Json): string {
  try {
    readScript(value);
    return 'accepted';
  } catch (error) {
    if (error instanceof ScriptError) return error.message;
    throw error;
  }
}

const step = (one: Json): Json => ({ v: 1, rules: [{ do: [one] }] });

describe('a script that cannot be played', () => {
  it.each<readonly [Json, string]>([
    [[], 'script: expected an object, found []'],
    [{ rules: [] }, 'v: expected 1, the version of this format, found null'],
    [{ v: 2, rules: [] }, 'v: expected 1, the version of this format, found 2'],
    [{ v: 1 }, 'rules: missing'],
    [{ v: 1, rules: {} }, 'rules: expected a list, found {}'],
    [{ v: 1, rules: [], rule: [] }, 'rule: unknown member; expected one of v, initialize'],
    [{ v: 1, rules: [{}] }, 'rules[0].do: missing'],
    [{ v: 1, rules: [{ do: [], time: 1 }] }, 'rules[0].time: unknown member; expected one of match'],
    [{ v: 1, rules: [{ do: [], times: 0 }] }, 'rules[0].times: expected an integer from 1 to 1000000, found 0'],
    [{ v: 1, rules: [{ do: [], match: '/(/' }] }, 'rules[0].match: Invalid regular expression'],
    [{ v: 1, rules: [{ do: [], match: '/x/g' }] }, 'rules[0].match: expected flags without g and y, found "/x/g"'],
    [{ v: 1, rules: [{ do: [], once: '../x' }] }, 'rules[0].once: expected a plain file name, found "../x"'],
    [{ v: 1, rules: [{ do: [], when: { scope: {} } }] }, 'rules[0].when.scope: expected a text, number'],
    [step('say'), 'rules[0].do[0]: expected an object, found "say"'],
    [step({}), 'rules[0].do[0]: a step does one thing; expected one of say, think'],
    [step({ sya: 'x' }), 'rules[0].do[0].sya: unknown step; expected one of say, think'],
    [step({ say: 'x', think: 'y' }), 'rules[0].do[0]: a step does one thing; found say and think'],
    [step({ say: 1 }), 'rules[0].do[0].say: expected an object, found 1'],
    [step({ say: {} }), 'rules[0].do[0].say.text: missing'],
    [step({ say: { text: 'x', chunk: 2 } }), 'rules[0].do[0].say.chunk: unknown member; expected one of text, chunks'],
    [step({ say: { text: 'x', chunks: 1.5 } }), 'rules[0].do[0].say.chunks: expected an integer from 1 to 10000'],
    [step({ say: { text: '0123456789', repeat: 99_999_999 } }), 'do[0].say.repeat: expected at most 134217728 bytes'],
    [step({ say: '{{contnet}}' }), 'rules[0].do[0].say: {{contnet}} is neither a fact nor captured'],
    [step({ say: 'x', when: { 'a.b': 1 } }), 'rules[0].do[0]: condition on a, which no step above captures'],
    [step({ ask: 'x', as: 'scope' }), 'rules[0].do[0].as: scope is a fact'],
    [step({ ask: 'x', as: 'a b' }), 'rules[0].do[0].as: expected a name of letters and digits'],
    [step({ ask: { title: 'x', options: {} } }), 'rules[0].do[0].ask.options: expected a list, found {}'],
    [step({ action: {} }), 'rules[0].do[0].action.name: missing'],
    [step({ action: { name: 'x', args: { deep: ['{{no}}'] } } }), 'rules[0].do[0].action.args.deep[0]: {{no}}'],
    [step({ action: { name: 'x', attempts: 21 } }), 'rules[0].do[0].action.attempts: expected an integer from 1 to 20'],
    [step({ wait: '..' }), 'rules[0].do[0].wait: expected a plain file name, found ".."'],
    [step({ wait: { signal: 'SIGNOPE' } }), 'rules[0].do[0].wait.signal: expected a signal name such as SIGKILL'],
    [step({ sleep: -1 }), 'rules[0].do[0].sleep: expected an integer from 0 to 3600000, found -1'],
    [step({ sleep: 2_147_483_648 }), 'rules[0].do[0].sleep: expected an integer from 0 to 3600000'],
    [step({ raw: {} }), 'rules[0].do[0].raw: expected either text or base64'],
    [step({ raw: { base64: 'é' } }), 'rules[0].do[0].raw.base64: expected base64'],
    [step({ stderr: 1_000_000_000 }), 'rules[0].do[0].stderr.repeat: expected an integer from 1 to 100000000'],
    [step({ spawn: { command: [] } }), 'rules[0].do[0].spawn.command: expected a program and its arguments'],
    [step({ spawn: { stdio: 'pipe' } }), 'rules[0].do[0].spawn.stdio: expected ignore or inherit, found "pipe"'],
    [step({ hang: 1 }), 'rules[0].do[0].hang: expected true, found 1'],
    [step({ die: 256 }), 'rules[0].do[0].die: expected an integer from 0 to 255, found 256'],
    [step({ die: true }), 'rules[0].do[0].die: expected an exit code or a signal name, found true'],
    [step({ env: 'PATH' }), 'rules[0].do[0].env: expected a list, found "PATH"'],
    [step({ error: { code: '1' } }), 'rules[0].do[0].error.code: expected an integer from -2147483648 to 2147483647'],
    [{ v: 1, rules: [], onCancel: [{ say: '{{verdict}}' }] }, 'onCancel[0].say: {{verdict}} is neither a fact'],
    [{ v: 1, rules: [], answers: { 'session/load': {} } }, 'answers.session/load.result: missing'],
    [{ v: 1, rules: [], initialize: { delayMs: 'soon' } }, 'initialize.delayMs: expected an integer from 0 to 600000'],
    [{ v: 1, rules: [], dieAtStart: { afterMs: 1 } }, 'dieAtStart.with: missing'],
  ])('%j', (script, message) => {
    expect(read(script)).toContain(message);
  });

  it('accepts a template of what an earlier step captured, in this rule alone', () => {
    const [ask, say] = [{ ask: 'x', as: 'a' }, { say: '{{a.kind}}', when: { 'a.kind': 'allow_once' } }];
    expect(read({ v: 1, rules: [{ do: [ask, say] }] })).toBe('accepted');
    expect(read({ v: 1, rules: [{ do: [say, ask] }] })).toContain('neither a fact');
    expect(read({ v: 1, rules: [{ do: [ask] }, { do: [say] }] })).toContain('neither a fact');
  });

  it('knows which scripts need gates', () => {
    const needs = (value: Json): boolean => needsGates(readScript(value));
    expect(needs(step({ wait: 'gate' }))).toBe(true);
    expect(needs(step({ mark: 'gate' }))).toBe(true);
    expect(needs({ v: 1, rules: [{ once: 'x', do: [] }] })).toBe(true);
    expect(needs(step({ wait: { signal: 'SIGUSR2' } }))).toBe(false);
    expect(actsOf(readScript({ v: 1, rules: [{ do: [{ hang: true }] }], onCancel: [{ sleep: 1 }] }))).toHaveLength(2);
  });
});

describe('the program with a bad script', () => {
  it.each([
    ['broken JSON', '{"v":1,', '.json', 'JSON'],
    ['a bad member', '{"v":1,"rules":[{"do":[{"sya":1}]}]}', '.json', 'rules[0].do[0].sya: unknown step'],
    ['broken YAML', 'v: 1\nrules: [\n', '.yaml', 'line'],
    ['a number that JSON cannot hold', 'v: 1\nrules: .nan\n', '.yaml', 'not JSON'],
  ])('says one line about %s and exits with 2', async (_, script, extension, words) => {
    const agent = startAgent({ script, extension });
    expect(await agent.exited).toEqual({ code: 2, signal: null });
    await agent.closed;
    expect(agent.stderr()).toMatch(/^scripted agent: \/.*script\.(json|yaml): .+\n$/);
    expect(agent.stderr()).toContain(words);
    expect(agent.lines).toEqual([]);
  });

  it('says so where there is no such file', () => {
    const { status, stderr } = spawnSync(process.execPath, [scriptedModule(), '/no/such.json'], { encoding: 'utf8' });
    expect(stderr).toMatch(/^scripted agent: \/no\/such\.json: ENOENT.*\n$/);
    expect(status).toBe(2);
  });

  it('says so where the gates directory is missing', async () => {
    const script = { v: 1, rules: [{ do: [{ wait: 'x' }] }] };
    const lost = startAgent({ script, env: { SKEP_SCRIPT_GATES: '/no/such' } });
    expect((await lost.exited).code).toBe(2);
    await lost.closed;
    expect(lost.stderr()).toBe('scripted agent: gates: /no/such: expected an existing directory\n');
  });
});

describe('a script file', () => {
  it('may be JSON that begins with a byte order mark', async () => {
    const agent = startAgent({ script: '\uFEFF{"v":1,"rules":[{"do":[{"say":"json"}]}]}' });
    await agent.prompt(await agent.open(), 'hi');
    expect(said(agent.frames)).toBe('json');
  });

  it('may be YAML, and may begin with a byte order mark and have CRLF', async () => {
    const yaml = '\uFEFFv: 1\r\nrules:\r\n  - match: hi\r\n    do:\r\n      - say: "yaml {{content}}"\r\n';
    const agent = startAgent({ script: yaml, extension: '.yaml' });
    await agent.prompt(await agent.open(), 'hi');
    expect(said(agent.frames)).toBe('yaml hi');
  });
});
