import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, loadConfig } from '../../src/config/index.ts';
import { Failure, pubkey } from '../../src/model/index.ts';
import { attest } from '../../src/nostr/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import {
  AGENT, AGENT_KEY, CHANNEL, lineOf, load, NSEC, oneAgent, OTHER_KEY, OWNER, OWNER_KEY, OWNER_NPUB, told, writeConfig,
  writeKey,
} from './write.ts';

describe('a config', () => {
  it('has a default for everything but relay, name, key, owner and adapter', () => {
    const directory = writeConfig(oneAgent());
    const { agents, ...rest } = load(directory);
    expect(rest).toEqual({
      file: join(directory, 'skep.yaml'),
      broker: { address: '127.0.0.1', port: 0 },
      relay: { type: 'embedded', host: '127.0.0.1', port: 7447, channels: [] },
      dataDirectory: join(directory, '.skep'),
      logLevel: 'info',
      graceMs: 30_000,
      warnings: [],
    });
    expect(agents).toHaveLength(1);
    const { adapter, secretKey, ...agent } = agents[0] ?? expect.fail('no agent');
    expect(Buffer.from(secretKey).toString('hex')).toBe(AGENT_KEY);
    expect(adapter.name).toBe('scripted');
    expect(agent).toEqual({
      name: 'helper', pubkey: AGENT, owner: OWNER, args: [], cwd: directory, env: {}, respondTo: 'owner-only', allowlist: [],
      subscribe: 'mentions', processes: 1, lazyStart: false, session: 'channel', sessionTurns: 0, sessionIdleMs: 3_600_000, maxSessions: 256, wished: {}, gatherMs: 200, midTurn: 'steer', idleTimeoutMs: 900_000,
      hardTimeoutMs: 7_200_000, permission: 'reject', askTimeoutMs: 300_000, observe: 'on', livenessMs: 10_000, presence: true, typing: true, operatorSession: 'kept', mcp: true, manageAgents: true,
    });
  });

  it('means what it says, member by member', () => {
    const directory = writeConfig(`
relay: WSS://Relay.Example:443/path
data: ../state
log: debug
grace: 0
record: ../records
agents:
  - name: a-1
    key: a.key
    owner: ${OWNER_NPUB}
    adapter: { command: ./agent, args: [--acp] }
    args: [--more]
    cwd: work
    env: { LANG: C.UTF-8, EMPTY: "", PUBKEY: ${OWNER_NPUB} }
    respond-to: allowlist
    allowlist: [${OWNER.toUpperCase()}, ${OWNER_NPUB}]
    subscribe: all
    channels: [${CHANNEL.toUpperCase()}, ${CHANNEL}]
    processes: 32
    lazy-start: true
    idle-sleep: 15m
    session: thread
    session-turns: 40
    session-idle: 0
    max-sessions: 8
    model: large
    mode: read-only
    effort: high
    gather: 0
    mid-turn: owner-interrupt
    idle-timeout: 90s
    hard-timeout: 7d
    permission: ask
    ask-timeout: 20s
    mcp: false
    observe: off
    liveness: 1m
    presence: false
    typing: false
    canary: 5m
    heartbeat: { every: 30m, prompt: Look around. }
    initial-prompt: { prompt-file: first.md, when: once }
    operator-session: fresh
    manage-agents: false
    instructions: |
      Be brief.
      🐝
  - { name: b, key: b.key, owner: ${OWNER}, adapter: goose, gather: 250ms }
`);
    mkdirSync(join(directory, 'work'));
    writeFileSync(join(directory, 'first.md'), 'Read.\n');
    const { relay, dataDirectory, logLevel, graceMs, recordDirectory, agents } = load(directory, 8);
    expect({ relay, dataDirectory, logLevel, graceMs, recordDirectory }).toEqual({
      relay: { type: 'remote', url: 'wss://relay.example/path' },
      dataDirectory: join(directory, '..', 'state'), logLevel: 'debug', graceMs: 0,
      recordDirectory: join(directory, '..', 'records'),
    });
    expect(agents[0]).toMatchObject({
      name: 'a-1', owner: OWNER, args: ['--more'], cwd: join(directory, 'work'),
      adapter: { name: 'custom', launch: { runs: 'command', command: './agent', args: ['--acp'] } },
      env: { LANG: 'C.UTF-8', EMPTY: '', PUBKEY: OWNER_NPUB },
      respondTo: 'allowlist', allowlist: [OWNER], subscribe: 'all', channels: [CHANNEL], processes: 32, lazyStart: true, idleSleepMs: 900_000, session: 'thread',
      sessionTurns: 40, sessionIdleMs: 0, maxSessions: 8, wished: { model: 'large', mode: 'read-only', effort: 'high' },
      gatherMs: 0, midTurn: 'owner-interrupt', idleTimeoutMs: 90_000, hardTimeoutMs: 604_800_000, permission: 'ask', askTimeoutMs: 20_000, observe: 'off', livenessMs: 60_000, presence: false, typing: false,
      canaryMs: 300_000, heartbeat: { everyMs: 1_800_000, prompt: 'Look around.' }, initialPrompt: { prompt: 'Read.\n', when: 'once' }, operatorSession: 'fresh', mcp: false, manageAgents: false,
      instructions: 'Be brief.\n🐝\n',
    });
    expect(agents[1]).toMatchObject({ name: 'b', adapter: { name: 'goose' }, gatherMs: 250 });
  });

  it('takes the channels of the relay in the box', () => {
    const top = `relay: embedded\nembedded: { port: 0, host: "::1", url: "WSS://Relay.example", channels: [{ id: ${CHANNEL}, name: general }] }`;
    expect(load(writeConfig(oneAgent('', { top }))).relay).toEqual({
      type: 'embedded', host: '::1', port: 0, publicUrl: 'wss://relay.example/', channels: [{ id: CHANNEL, name: 'general' }],
    });
  });

  it('reads the same with a byte order mark and CRLF, instructions and keys included', () => {
    const yaml = oneAgent('instructions: |\n  one\n  two\n');
    const plain = writeConfig(yaml);
    const windows = writeConfig(`\uFEFF${yaml.replaceAll('\n', '\r\n')}`);
    writeKey(windows, 'a.key', `\uFEFF${NSEC}\r\n`);
    const parts = (directory: string) => load(directory).agents.map(({ cwd, ...agent }) => ({ ...agent, same: cwd === directory }));
    expect(parts(windows)).toEqual(parts(plain));
  });

  it('takes instructions from a file, normalised', () => {
    const directory = writeConfig(oneAgent('instructions-file: me.md'));
    writeFileSync(join(directory, 'me.md'), '\uFEFFone\r\ntwo');
    expect(load(directory).agents[0]?.instructions).toBe('one\ntwo');
  });

  it.each([['an nsec', `my key is ${NSEC}`], ['the agent\'s own key', `key: ${AGENT_KEY.toUpperCase()}`]])(
    'refuses instructions from a file that hold %s, and does not repeat it',
    (_, text) => {
      const directory = writeConfig(oneAgent('instructions-file: me.md'));
      writeFileSync(join(directory, 'me.md'), text);
      expect(() => load(directory)).toThrow(/agents\[0\]\.instructions-file: found (a secret key in it|the agent's secret key), agents hold no key$/);
    },
  );

  it('may use anchors, but not to blow itself up', () => {
    expect(load(writeConfig(oneAgent('instructions: &t text\nargs: [*t]'))).agents[0]?.args).toEqual(['text']);
    const bomb = 'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]';
    expect(told(bomb)).toBe('skep.yaml:1: anchors and aliases that cannot be resolved');
  });
});

describe('key files', () => {
  it.each([
    ['hex', `${AGENT_KEY}\n`], ['upper-case hex', AGENT_KEY.toUpperCase()], ['nsec', NSEC], ['spaces around', `  ${NSEC} \n\n`],
  ])('may hold %s', (_, text) => {
    const directory = writeConfig(oneAgent());
    writeKey(directory, 'a.key', text);
    expect(load(directory).agents[0]?.pubkey).toBe(AGENT);
  });

  it.each([0o644, 0o640, 0o604, 0o660, 0o666, 0o620])('are refused with mode %o', (mode) => {
    const directory = writeConfig(oneAgent());
    writeKey(directory, 'a.key', AGENT_KEY, mode);
    const octal = `0${mode.toString(8)}`;
    expect(lineOf(directory)).toBe(
      `skep.yaml:4: agents[0].key: a.key has mode ${octal}, expected 0600: others can read or change it; chmod 600 a.key`,
    );
  });

  it.each([0o600, 0o400])('are taken with mode %o', (mode) => {
    const directory = writeConfig(oneAgent());
    writeKey(directory, 'a.key', AGENT_KEY, mode);
    expect(lineOf(directory)).toBe('loaded');
  });

  const expected = 'expected an nsec or 64 hex characters of a secret key';
  it.each([
    ['an npub', OWNER_NPUB, `${expected}, found a public key (npub)`],
    ['63 characters', AGENT_KEY.slice(1), `${expected}, found 63 characters that are neither`],
    ['zero', '0'.repeat(64), `${expected}, found 64 characters that are neither`],
    ['a broken nsec', NSEC.slice(0, -1), `${expected}, found 62 characters that are neither`],
    ['nothing', '', `${expected}, found 0 characters that are neither`],
    ['two keys', `${AGENT_KEY}\n${OTHER_KEY}`, `${expected}, found 129 characters that are neither`],
    ['a long text', 'x'.repeat(5_000), undefined],
  ])('are refused with %s', (_, text, detail) => {
    const directory = writeConfig(oneAgent());
    writeKey(directory, 'a.key', text);
    const sentence = detail === undefined ? 'found a.key, which has 5000 bytes, expected at most 4096' : `a.key: ${detail}`;
    expect(lineOf(directory)).toBe(`skep.yaml:4: agents[0].key: ${sentence}`);
  });

  it.each([
    ['none.key', 'found none.key, which does not exist'],
    ['folder', 'found folder, which is not a file'],
    ['a.key/x', 'found a.key/x, which does not exist'],
    [NSEC, 'found a secret key, expected the path of a file that holds the agent\'s secret key'],
    [`"${AGENT_KEY}"`, 'found <64 hex characters>, which does not exist'],
    [`"${AGENT_KEY.slice(1)}"`, 'found <63 hex characters>, which does not exist'],
    [`keys/${AGENT_KEY}0`, 'found keys/<65 hex characters>, which does not exist'],
    [`${'beef'.repeat(11)}/a.key`, `found ${'beef'.repeat(11)}/a.k…, which does not exist`],
  ])('are looked for by path: %s', (path, sentence) => {
    const directory = writeConfig(oneAgent().replace('key: a.key', `key: ${path}`));
    mkdirSync(join(directory, 'folder'));
    expect(lineOf(directory)).toBe(`skep.yaml:4: agents[0].key: ${sentence}`);
  });
});

describe('the owner', () => {
  const tag = attest(pubkey(AGENT), '', OWNER_KEY, new Uint8Array(32));

  it.each([
    ['in the config', () => `attestation: ${JSON.stringify(tag)}`],
    ['in a file', (directory: string) => {
      writeFileSync(join(directory, 'owner.json'), `\uFEFF${JSON.stringify(tag)}\r\n`);
      return 'attestation: owner.json';
    }],
  ])('is the one of the attestation %s', (_, attestation) => {
    const directory = writeConfig('');
    writeFileSync(join(directory, 'skep.yaml'), oneAgent('', { owner: attestation(directory) }));
    const [agent] = load(directory).agents;
    expect(agent?.owner).toBe(OWNER);
    expect(agent?.attestation).toEqual({ owner: OWNER, tag });
  });

  it('agrees with the attestation', () => {
    const both = `attestation: ${JSON.stringify(tag)}`;
    expect(told(oneAgent(both))).toBe('loaded');
    const other = 'f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9';
    expect(told(oneAgent(both, { owner: `owner: ${other}` }))).toBe(
      'skep.yaml:5: agents[0].owner: found another owner than the attestation names, expected the same',
    );
  });

  it('attests this agent and no other', () => {
    const directory = writeConfig(oneAgent(`attestation: ${JSON.stringify(tag)}`));
    writeKey(directory, 'a.key', OTHER_KEY);
    expect(lineOf(directory)).toBe(
      'skep.yaml:7: agents[0].attestation: does not hold for this agent\'s key: the signature does not verify',
    );
  });
});

describe('several agents', () => {
  const second = (name: string, key: string): string =>
    `${oneAgent()}  - { name: ${name}, key: ${key}, owner: ${OWNER}, adapter: scripted }\n`;

  it('have names and keys of their own', () => {
    expect(told(second('other', 'b.key'))).toBe('loaded');
    expect(told(second('helper', 'b.key'))).toBe('skep.yaml:7: agents[1].name: found "helper" again, expected a name of its own');
    expect(told(second('other', 'a.key'))).toBe('skep.yaml:7: agents[1].key: found the key of agent helper, expected one of its own');
  });

  it.each(['', 'Helper', '-x', 'a b', 'a'.repeat(33), 'ä'])('are not named %j', (name) => {
    expect(told(second(JSON.stringify(name), 'b.key'))).toContain('skep.yaml:7: agents[1].name: found ');
  });
});

describe('warnings', () => {
  const warnings = (yaml: string, cores: number): readonly string[] => load(writeConfig(yaml), cores).warnings;

  it('tell a pool larger than the machine', () => {
    expect(warnings(oneAgent('processes: 8'), 2)).toEqual([]);
    expect(warnings(oneAgent('processes: 9'), 2)).toEqual([
      '9 agent processes on 2 cores: expect them to wait for each other beyond 8',
    ]);
  });

  it.each([
    ['relay: ws://relay.example', 'the relay is reached over ws://, unencrypted; use wss://'],
    ['relay: embedded\nembedded: { host: 0.0.0.0 }', 'the relay listens on 0.0.0.0: other machines can reach it, unencrypted'],
    ['relay: wss://relay.example', undefined],
    ['relay: ws://127.0.0.1:7447', undefined],
    ['relay: "ws://[::1]:7447"', undefined],
  ])('tell an unencrypted relay: %j', (top, warning) => {
    expect(warnings(oneAgent('', { top }), 8)).toEqual(warning === undefined ? [] : [warning]);
  });

  it('tell an agent that acts for anyone', () => {
    expect(warnings(oneAgent('respond-to: anyone\npermission: allow'), 8)).toHaveLength(1);
    expect(warnings(oneAgent('respond-to: anyone'), 8)).toEqual([]);
  });

  it.each([
    ['OPENAI_API_KEY: k, COLOUR: red', 0o644, ['agent helper: other users of this machine can read its OPENAI_API_KEY in the config file; chmod 600 the file']],
    ['OPENAI_API_KEY: k', 0o600, []],
    ['COLOUR: red', 0o644, []],
  ])('tell a secret that others can read: %s in a file of mode %o', (env, mode, expected) => {
    const directory = writeConfig(oneAgent(`env: { ${env} }`));
    chmodSync(join(directory, 'skep.yaml'), mode);
    expect(load(directory).warnings).toEqual(expected);
  });
});

describe('the file itself', () => {
  it.each([
    ['none', undefined, 'does not exist; skep init writes one'],
    ['not UTF-8', Buffer.from([0xff, 0xfe, 0x41]), 'is not UTF-8 text'],
  ])('is told: %s', (_, bytes, ending) => {
    const path = join(temporaryDirectory(), 'skep.yaml');
    if (bytes !== undefined) writeFileSync(path, bytes);
    expect(() => loadConfig(path)).toThrow(ending);
  });

  it('is a small one', () => {
    const path = join(temporaryDirectory(), 'skep.yaml');
    writeFileSync(path, Buffer.alloc(1_048_577, 0x20));
    expect(() => loadConfig(path)).toThrow('has 1048577 bytes, expected at most 1048576');
  });

  it('has a data directory whose socket path is short enough for every system', () => {
    expect(told(oneAgent('', { top: `relay: embedded\ndata: ${'x'.repeat(100)}` }))).toMatch(
      /^skep\.yaml:2: data: found x{48}…, but its control socket's path has \d+ bytes, expected at most 100; use a shorter path$/,
    );
    // Hex characters are a key from 64 on; fewer are a name.
    const inHex = (count: number): string => `./${'a'.repeat(count)}/${'x'.repeat(60)}`;
    const data = (count: number): string => oneAgent('', { top: `relay: embedded\ndata: ${inHex(count)}` });
    expect(told(data(63))).toContain(`data: found ./${'a'.repeat(46)}…, but`);
    expect(told(data(64))).toContain('data: found ./<64 hex characters>/xxx');
  });
});

describe('a secret', () => {
  it('is never repeated, wherever in the file it stands', () => {
    const lines = oneAgent('env: { A: b }\nargs: [x]\ninstructions: y\nallowlist: [z]').split('\n');
    const place = fc.record({ line: fc.nat(lines.length - 1), at: fc.nat(30), whole: fc.boolean() });
    fc.assert(fc.property(place, fc.constantFrom(NSEC, NSEC.toUpperCase(), AGENT_KEY), ({ line, at, whole }, secret) => {
      const broken = lines.map((text, index) => {
        if (index !== line) return text;
        return whole ? text.replace(/[^ ]+$/, secret) : `${text.slice(0, at)}${secret}${text.slice(at)}`;
      });
      const said = told(broken.join('\n'));
      expect(said.toLowerCase()).not.toContain(secret.toLowerCase().slice(-20));
      expect(said).not.toContain('\n');
    }), { numRuns: 300 });
  });
});

describe('durations', () => {
  it('are written back in their largest whole unit', () => {
    expect([0, 250, 1_000, 90_000, 300_000, 7_200_000, 604_800_000].map(formatDuration)).toEqual(
      ['0s', '250ms', '1s', '90s', '5m', '2h', '7d'],
    );
  });

  it('mean the same when written back', () => {
    fc.assert(fc.property(fc.integer({ min: 1_000, max: 604_799_999 }), (ms) => {
      expect(load(directory(ms)).agents[0]?.idleTimeoutMs).toBe(ms);
    }), { numRuns: 30 });
  });

  const shared = { directory: '' };
  function directory(ms: number): string {
    if (shared.directory === '') shared.directory = writeConfig('');
    writeFileSync(join(shared.directory, 'skep.yaml'), oneAgent(`idle-timeout: ${formatDuration(ms)}\nhard-timeout: 7d`));
    return shared.directory;
  }
});

it('documents every member', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const known = (yaml: string): readonly string[] => (/known here: (.*)$/.exec(told(yaml))?.[1] ?? '').split(', ');
  const members = [...known(`relay: x\nzzzzzzzzzzzz: 1`), ...known('relay: embedded\nembedded: { zzzzzzzzzzzz: 1 }'), ...known('relay: embedded\nbroker: { zzzzzzzzzzzz: 1 }'), ...known(oneAgent('zzzzzzzzzzzz: 1'))];
  expect(members.length).toBeGreaterThan(20);
  for (const member of members) expect(page, member).toContain(`\`${member}\``);
});

it('is a failure with a code', () => {
  expect(() => load(writeConfig('x'))).toThrow(Failure);
});
