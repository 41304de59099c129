/** `adapter` as a mapping: a program of the operator's own, down to its quirks. */
import { describe, expect, it } from 'vitest';
import { findAdapter } from '../../adapters/index.ts';
import { adapter } from '../../src/config/adapter.ts';

function mistakes(value: unknown): readonly string[] {
  const parsed = adapter.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a program of the operator’s own', () => {
  it('needs no more than its command', () => {
    expect(adapter.parse({ command: 'mine' })).toMatchObject({
      name: 'custom', launch: { command: 'mine', args: [] }, dialect: { standing: 'capability', usage: { input: 'by-total' } }, environment: {},
    });
  });

  it('may be told in every place where agents differ', () => {
    const sign = { update: 'session_info_update', path: ['_meta', 'mine', 'status'], value: 'broken' };
    const profile = adapter.parse({
      command: 'mine', args: ['--acp'], env: { MINE_QUIET: '1' }, standing: 'first-message', mode: 'careful',
      usage: { turn: ['usage'], session: ['cost'], input: 'without-cache' }, failures: [sign], remarks: [],
      errors: [{ means: 'limit', pattern: 'slow down' }, { means: 'login', pattern: '^who', 'in-answer': true }],
    });
    expect(profile.dialect).toEqual({
      standing: 'first-message', startMode: 'careful', usage: { turn: ['usage'], session: ['cost'], input: 'without-cache' }, failureSigns: [sign], remarkSigns: [],
      errorSigns: [{ means: 'limit', pattern: 'slow down' }, { means: 'login', pattern: '^who', inAnswer: true }],
    });
    expect(profile.environment).toEqual({ MINE_QUIET: '1' });
  });

  it('may be like one of the catalogue, with its environment and all', () => {
    const gemini = findAdapter('gemini');
    const profile = adapter.parse({ command: 'node', args: ['gemini.js', '--acp'], like: 'gemini', mode: 'plan', env: { A: '1' } });
    expect(profile.dialect).toEqual({ ...gemini?.dialect, startMode: 'plan' });
    expect(profile.environment).toEqual({ ...gemini?.environment, A: '1' });
    expect(profile.launch).toEqual({ runs: 'command', command: 'node', args: ['gemini.js', '--acp'] });
  });

  it.each([
    [{ command: 'x', like: 'geminy' }, 'like: found "geminy", did you mean gemini?'],
    [{ command: 'x', like: 7 }, 'like: found 7, expected one of goose, claude, codex, gemini, opencode, buzz-agent, pi, scripted'],
    [{ command: 'x', standing: 'loud' }, 'standing: found "loud", expected capability, meta-append, goose-method or first-message'],
    [{ command: 'x', mod: 'x' }, 'mod: unknown member, did you mean mode?'],
    [{ command: 'x', usage: { turn: ['all'] } }, 'usage.turn.0: found "all", expected usage or quota'],
    [{ command: 'x', failures: [{ update: 'u', path: [], value: 'v' }] }, 'failures.0.path: found 0 entries, expected a list of 1..8 names'],
    [{ command: 'x', errors: [{ means: 'limit', pattern: '(' }] }, 'errors.0.pattern: found "(", expected a regular expression of at most 512 characters'],
    [{ command: 'x', errors: [{ means: 'limit', pattern: 'x', 'in-answer': 'yes' }] }, 'errors.0.in-answer: found "yes", expected true or false'],
    [{ command: 'x', env: { SKEP_X: '1' } }, 'env: SKEP_X: expected no name that begins with SKEP_: those are set by skep'],
    [{ args: [] }, 'command: missing, expected a program'],
  ])('%j: %s', (value, mistake) => {
    expect(mistakes(value)).toEqual([mistake]);
  });
});
