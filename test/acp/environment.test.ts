import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { childEnvironment, ENV_CREDENTIAL, ENV_ENDPOINT } from '../../src/acp/index.ts';

const NSEC = `nsec1${'q'.repeat(58)}`;

/** What a supervisor may have been started with on a bad day. */
const POISONED = {
  PATH: '/usr/bin:/bin',
  HOME: '/home/bee',
  USER: 'bee',
  LOGNAME: 'bee',
  SHELL: '/bin/sh',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  LC_TIME: 'de_DE.UTF-8',
  TZ: 'Europe/Berlin',
  TMPDIR: '/tmp',
  TERM: 'xterm',
  XDG_CONFIG_HOME: '/home/bee/.config',
  XDG_RUNTIME_DIR: '/run/user/1000',
  NODE_OPTIONS: '--require=/tmp/evil.js',
  NODE_ENV: 'test',
  CLAUDECODE: '1',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  BUZZ_PRIVATE_KEY: NSEC,
  GITHUB_TOKEN: 'ghp_0123456789abcdef',
  ANTHROPIC_API_KEY: 'sk-ant-parent',
  SSH_AUTH_SOCK: '/tmp/agent.sock',
  LD_PRELOAD: '/tmp/evil.so',
  HTTPS_PROXY: 'http://user:password@proxy',
  LC_lower: 'no',
  SKEP_CREDENTIAL: 'of another session',
  EMPTY: '',
};

describe('the environment of an agent process', () => {
  it("is the allow-list, the operator's extra and its own session, and nothing else", () => {
    const env = childEnvironment({
      parent: POISONED,
      extra: { ANTHROPIC_API_KEY: 'sk-ant-own', TERM: 'dumb' },
      own: { [ENV_ENDPOINT]: 'http://127.0.0.1:4711', [ENV_CREDENTIAL]: 'c0ffee' },
    });
    expect(Object.entries(env)).toEqual([
      ['ANTHROPIC_API_KEY', 'sk-ant-own'],
      ['HOME', '/home/bee'],
      ['LANG', 'C.UTF-8'],
      ['LC_ALL', 'C.UTF-8'],
      ['LC_TIME', 'de_DE.UTF-8'],
      ['LOGNAME', 'bee'],
      ['PATH', '/usr/bin:/bin'],
      ['SHELL', '/bin/sh'],
      ['SKEP_BROKER_URL', 'http://127.0.0.1:4711'],
      ['SKEP_CREDENTIAL', 'c0ffee'],
      ['TERM', 'dumb'],
      ['TMPDIR', '/tmp'],
      ['TZ', 'Europe/Berlin'],
      ['USER', 'bee'],
      ['XDG_CONFIG_HOME', '/home/bee/.config'],
    ]);
  });

  it('passes no nsec, whoever wrote it', () => {
    expect(
      childEnvironment({ parent: { HOME: NSEC, PATH: '/bin' }, extra: { KEY: `x ${NSEC.toUpperCase()}` } }),
    ).toEqual({ PATH: '/bin' });
  });

  it('lets the session win over the operator, and the operator over the parent', () => {
    const env = childEnvironment({
      parent: { HOME: 'parent' },
      extra: { HOME: 'extra', [ENV_CREDENTIAL]: 'extra' },
      own: { [ENV_CREDENTIAL]: 'own' },
    });
    expect(env).toEqual({ HOME: 'extra', [ENV_CREDENTIAL]: 'own' });
  });

  it('of nothing is nothing, which a program can be started with', () => {
    expect(childEnvironment({ parent: {} })).toEqual({});
    expect(execFileSync('/usr/bin/env', { env: childEnvironment({ parent: {} }), encoding: 'utf8' })).toBe('');
  });
});
