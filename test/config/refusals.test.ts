/** Every mistake a config can hold, and the one line it is told. */
import { describe, expect, it } from 'vitest';
import { AGENT, AGENT_KEY, CHANNEL, NSEC, oneAgent, OWNER, OWNER_NPUB, told } from './write.ts';

const D = 'expected a duration like 90s, 5m or 2h between';
const OWNER_EXPECTED = 'expected the owner\'s public key (npub or 64 hex characters)';
const RELAY = 'expected embedded, or a URL that begins with ws:// or wss://';

/** Each row: what is added to an agent that would load, and the line. The addition stands at line 7. */
const AGENT_ROWS: readonly (readonly [string, string])[] = [
  ['adpater: x', 'skep.yaml:7: agents[0].adpater: unknown member, did you mean adapter?'],
  ['idleTimeout: 5m', 'skep.yaml:7: agents[0].idleTimeout: unknown member, did you mean idle-timeout?'],
  ['idle-timeout: 5 minutes', `skep.yaml:7: agents[0].idle-timeout: found "5 minutes", ${D} 1s and 7d`],
  ['idle-timeout: 0', `skep.yaml:7: agents[0].idle-timeout: found 0, ${D} 1s and 7d`],
  ['idle-timeout: 0s', `skep.yaml:7: agents[0].idle-timeout: found "0s", ${D} 1s and 7d`],
  ['idle-timeout: -1', `skep.yaml:7: agents[0].idle-timeout: found -1, ${D} 1s and 7d`],
  ['idle-timeout: -1s', `skep.yaml:7: agents[0].idle-timeout: found "-1s", ${D} 1s and 7d`],
  ['idle-timeout: 2147483648', `skep.yaml:7: agents[0].idle-timeout: found 2147483648, ${D} 1s and 7d`],
  ['idle-timeout: 999999999d', `skep.yaml:7: agents[0].idle-timeout: found "999999999d", ${D} 1s and 7d`],
  ['hard-timeout: 1e12', `skep.yaml:7: agents[0].hard-timeout: found 1000000000000, ${D} 1s and 7d`],
  ['hard-timeout: 8d', `skep.yaml:7: agents[0].hard-timeout: found "8d", ${D} 1s and 7d`],
  ['hard-timeout: .inf', `skep.yaml:7: agents[0].hard-timeout: found Infinity, ${D} 1s and 7d`],
  ['hard-timeout: .nan', `skep.yaml:7: agents[0].hard-timeout: found NaN, ${D} 1s and 7d`],
  ['hard-timeout: Infinity', `skep.yaml:7: agents[0].hard-timeout: found "Infinity", ${D} 1s and 7d`],
  ['hard-timeout:', `skep.yaml:7: agents[0].hard-timeout: found nothing, ${D} 1s and 7d`],
  ['hard-timeout: [5m]', `skep.yaml:7: agents[0].hard-timeout: found a list, ${D} 1s and 7d`],
  ['hard-timeout: 10m', 'skep.yaml:3: agents[0].idle-timeout: found 15m, expected less than hard-timeout (10m)'],
  ['idle-timeout: 2h', 'skep.yaml:7: agents[0].idle-timeout: found 2h, expected less than hard-timeout (2h)'],
  ['hard-timeout: x\nidle-timeout: y', `skep.yaml:7: agents[0].hard-timeout: found "x", ${D} 1s and 7d`],
  ['gather: 11s', `skep.yaml:7: agents[0].gather: found "11s", ${D} 0s and 10s`],
  ['session-turns: -1', 'skep.yaml:7: agents[0].session-turns: found -1, expected a whole number 0..100000'],
  ['session-idle: 8d', `skep.yaml:7: agents[0].session-idle: found "8d", ${D} 0s and 7d`],
  ['max-sessions: 0', 'skep.yaml:7: agents[0].max-sessions: found 0, expected a whole number 1..256'],
  ['effort: 3', 'skep.yaml:7: agents[0].effort: found 3, expected the id of a level of effort'],
  ['mode: ""', 'skep.yaml:7: agents[0].mode: found "", expected the id of a mode'],
  ['model: [a]', 'skep.yaml:7: agents[0].model: found a list, expected the id of a model'],
  ['processes: 0', 'skep.yaml:7: agents[0].processes: found 0, expected a whole number 1..32'],
  ['processes: 33', 'skep.yaml:7: agents[0].processes: found 33, expected a whole number 1..32'],
  ['processes: 1.5', 'skep.yaml:7: agents[0].processes: found 1.5, expected a whole number 1..32'],
  ['processes: "2"', 'skep.yaml:7: agents[0].processes: found "2", expected a whole number 1..32'],
  ['respond-to: everyone', 'skep.yaml:7: agents[0].respond-to: found "everyone", expected owner-only, allowlist, anyone or nobody'],
  ['respond-to: allowlist', 'skep.yaml:3: agents[0].allowlist: missing, expected with respond-to: allowlist'],
  [`allowlist: [${OWNER}]`, 'skep.yaml:7: agents[0].allowlist: only with respond-to: allowlist'],
  ['allowlist: []', 'skep.yaml:7: agents[0].allowlist: found 0 entries, expected a list of 1..1000 public keys'],
  [`allowlist: [${NSEC}]`, 'skep.yaml:7: agents[0].allowlist[0]: found a secret key, expected a public key (npub or 64 hex characters)'],
  ['subscribe: some', 'skep.yaml:7: agents[0].subscribe: found "some", expected mentions or all'],
  ['session: agent', 'skep.yaml:7: agents[0].session: found "agent", expected channel or thread'],
  ['permission: yes', 'skep.yaml:7: agents[0].permission: found "yes", expected reject, allow or ask'],
  ['ask-timeout: 0s', 'skep.yaml:7: agents[0].ask-timeout: found "0s", expected a duration like 90s, 5m or 2h between 1s and 5m'],
  ['ask-timeout: 301s', 'skep.yaml:7: agents[0].ask-timeout: found "301s", expected a duration like 90s, 5m or 2h between 1s and 5m'],
  ['observe: sometimes', 'skep.yaml:7: agents[0].observe: found "sometimes", expected on, batch or off'],
  ['canary: 1s', 'skep.yaml:7: agents[0].canary: found "1s", expected off, or a duration like 90s, 5m or 2h between 30s and 1d'],
  ['heartbeat: { every: 1s, prompt: x }', 'skep.yaml:7: agents[0].heartbeat.every: found "1s", expected a duration like 90s, 5m or 2h between 10s and 1d'],
  ['heartbeat: { every: 1h }', 'skep.yaml:7: agents[0].heartbeat.prompt: missing, expected prompt or prompt-file'],
  ['heartbeat: { every: 1h, prompt: x, prompt-file: y }', 'skep.yaml:7: agents[0].heartbeat.prompt-file: found prompt, too, expected one of them'],
  ['initial-prompt: { prompt-file: none.md }', 'skep.yaml:7: agents[0].initial-prompt.prompt-file: found none.md, which does not exist'],
  ['initial-prompt: { prompt: x, when: never }', 'skep.yaml:7: agents[0].initial-prompt.when: found "never", expected start or once'],
  ['idle-sleep: 1s', 'skep.yaml:7: agents[0].idle-sleep: found "1s", expected off, or a duration like 90s, 5m or 2h between 10s and 7d'],
  ['lazy-start: maybe', 'skep.yaml:7: agents[0].lazy-start: found "maybe", expected true or false'],
  ['liveness: 0', 'skep.yaml:7: agents[0].liveness: found 0, expected a duration like 90s, 5m or 2h between 1s and 10m'],
  ['mcp: "false"', 'skep.yaml:7: agents[0].mcp: found "false", expected true or false'],
  ['channels: []', 'skep.yaml:7: agents[0].channels: found 0 entries, expected a list of 1..500 channel ids, or no such member for all'],
  ['channels: general', 'skep.yaml:7: agents[0].channels: found "general", expected a list of 1..500 channel ids, or no such member for all'],
  ['channels: [general]', 'skep.yaml:7: agents[0].channels[0]: found "general", expected a channel id (a UUID)'],
  ['cwd: nowhere', 'skep.yaml:7: agents[0].cwd: found nowhere, which does not exist'],
  ['cwd: a.key', 'skep.yaml:7: agents[0].cwd: found a.key, which is not a directory'],
  ['cwd: ""', 'skep.yaml:7: agents[0].cwd: found "", expected a directory'],
  ['args: x', 'skep.yaml:7: agents[0].args: found "x", expected a list of at most 256 texts'],
  ['args: [1]', 'skep.yaml:7: agents[0].args[0]: found 1, expected a text'],
  [`args: ["--key=${NSEC}"]`, 'skep.yaml:7: agents[0].args[0]: found a secret key, expected a text'],
  [`args: ["--key=${AGENT_KEY}"]`, 'skep.yaml:7: agents[0].args: found the agent\'s secret key, agents hold no key'],
  ['args: ["a\\0b"]', 'skep.yaml:7: agents[0].args[0]: found text that is not well-formed, expected a text'],
  ['env: [A]', 'skep.yaml:7: agents[0].env: found a list, expected a mapping of names to texts'],
  ['env: { A-B: x }', 'skep.yaml:7: agents[0].env: A-B: expected a name of letters, digits and _'],
  ['env: { SKEP_X: x }', 'skep.yaml:7: agents[0].env: SKEP_X: expected no name that begins with SKEP_: those are set by skep'],
  ['env: { A: 1 }', 'skep.yaml:7: agents[0].env: A: expected a text, put it in quotation marks'],
  [`env: { A: ${NSEC} }`, 'skep.yaml:7: agents[0].env: A: found what looks like a Nostr secret key; agents hold no key'],
  [`env: { A: ${'F'.repeat(64)} }`, 'skep.yaml:7: agents[0].env: A: found what looks like a Nostr secret key; agents hold no key'],
  [`env: { A: "x ${AGENT_KEY} y" }`, 'skep.yaml:7: agents[0].env: found the agent\'s secret key, agents hold no key'],
  [`env: { ${NSEC}: x }`, 'skep.yaml:7: agents[0].env: <redacted>: found a secret key as a name'],
  ['instructions: ""', 'skep.yaml:7: agents[0].instructions: found "", expected a text'],
  [`instructions: my key is ${NSEC}`, 'skep.yaml:7: agents[0].instructions: found a secret key, expected a text'],
  [`instructions: my key is ${AGENT_KEY}`, 'skep.yaml:7: agents[0].instructions: found the agent\'s secret key, agents hold no key'],
  ['instructions-file: none.md', 'skep.yaml:7: agents[0].instructions-file: found none.md, which does not exist'],
  ['instructions: x\ninstructions-file: a.key', 'skep.yaml:8: agents[0].instructions-file: found instructions, too, expected one of them'],
  ['attestation: none.json', 'skep.yaml:7: agents[0].attestation: found none.json, which does not exist'],
  ['attestation: a.key', 'skep.yaml:7: agents[0].attestation: a.key: expected a JSON list ["auth", owner, conditions, signature]'],
  ['attestation: [auth]', 'skep.yaml:7: agents[0].attestation: does not hold for this agent\'s key: expected ["auth", owner, conditions, signature]'],
  [`attestation: [auth, ${AGENT}, "", "${'0'.repeat(128)}"]`, 'skep.yaml:7: agents[0].attestation: does not hold for this agent\'s key: owner: an agent cannot attest itself'],
  [`attestation: [auth, ${OWNER}, "", "${'0'.repeat(128)}"]`, 'skep.yaml:7: agents[0].attestation: does not hold for this agent\'s key: the signature does not verify'],
  [`attestation: ${NSEC}`, 'skep.yaml:7: agents[0].attestation: found a secret key, expected a list of auth, owner, conditions and signature, or a file that holds it'],
  [`${NSEC}: x`, 'skep.yaml:7: agents[0].<redacted>: unknown member, known here: '],
  [`${AGENT_KEY}x: x`, 'skep.yaml:7: agents[0].<64 hex characters>x: unknown member, known here: '],
];

describe('an agent\'s member', () => {
  it.each(AGENT_ROWS)('%s', (extra, line) => {
    const said = told(oneAgent(extra));
    expect(line.endsWith('known here: ') ? said.slice(0, line.length) : said).toBe(line);
  });

  it.each([
    [`owner: ${OWNER.slice(1)}`, `skep.yaml:5: agents[0].owner: found 63 hex characters, ${OWNER_EXPECTED}`],
    [`owner: ${OWNER_NPUB.slice(0, -1)}`, `skep.yaml:5: agents[0].owner: found "npub1ccz8l9zpa47k6vz9gphftsrumpw80rjt3nhnefat4sy…", ${OWNER_EXPECTED}`],
    [`owner: N${OWNER_NPUB.slice(1)}`, `skep.yaml:5: agents[0].owner: found an npub in mixed case, ${OWNER_EXPECTED}, all lower or all upper case`],
    [`owner: ${NSEC}`, `skep.yaml:5: agents[0].owner: found a secret key, ${OWNER_EXPECTED}`],
    [`owner: ${'f'.repeat(64)}`, `skep.yaml:5: agents[0].owner: found 64 hex characters, ${OWNER_EXPECTED}`],
    [`owner: ${'1'.repeat(64)}`, `skep.yaml:5: agents[0].owner: found a number, ${OWNER_EXPECTED}; put it in quotes`],
    ['owner:', `skep.yaml:5: agents[0].owner: found nothing, ${OWNER_EXPECTED}`],
    [`owner: ${AGENT}`, 'skep.yaml:5: agents[0].owner: found the agent\'s own key, expected the key of the person it belongs to'],
    ['session: thread', 'skep.yaml:3: agents[0].owner: missing, expected owner or attestation'],
  ])('%s', (owner, line) => {
    expect(told(oneAgent('', { owner }))).toBe(line);
  });

  it.each([
    ['adapter: gose', 'skep.yaml:6: agents[0].adapter: found "gose", did you mean goose?'],
    ['adapter: unheard-of', 'skep.yaml:6: agents[0].adapter: found "unheard-of", expected one of goose, claude, codex, gemini, opencode, buzz-agent, pi, scripted, or a mapping of command and args'],
    ['adapter: { comand: x }', 'skep.yaml:6: agents[0].adapter.comand: unknown member, did you mean command?'],
    ['adapter: { args: [x] }', 'skep.yaml:6: agents[0].adapter.command: missing, expected a program'],
    [`adapter: { command: ${NSEC} }`, 'skep.yaml:6: agents[0].adapter.command: found a secret key, expected a program'],
    [`adapter: { command: x, args: [${AGENT_KEY}x] }`, 'skep.yaml:6: agents[0].adapter: found the agent\'s secret key, agents hold no key'],
    ['session: thread', 'skep.yaml:3: agents[0].adapter: missing, expected one of goose, claude, codex, gemini, opencode, buzz-agent, pi, scripted, or a mapping of command and args'],
  ])('%s', (adapter, line) => {
    expect(told(oneAgent('', { adapter }))).toBe(line);
  });
});

describe('the top of the file', () => {
  it.each([
    ['', 'skep.yaml:2: relay: missing, '.concat(RELAY)],
    ['relay: embeded', `skep.yaml:1: relay: found "embeded", ${RELAY}`],
    ['relay: https://relay.example', `skep.yaml:1: relay: found "https://relay.example", ${RELAY}`],
    ['relay: "wss://"', `skep.yaml:1: relay: found "wss://", ${RELAY}`],
    ['relay: wss://me:hunter2@relay.example', 'skep.yaml:1: relay: found a URL with a password, expected one without'],
    ['relay: "wss://relay.example/#x"', 'skep.yaml:1: relay: found a URL with a fragment (#), expected one without'],
    ['relay: wss://relay.example\nembedded: {}', 'skep.yaml:2: embedded: only with relay: embedded'],
    ['relay: embedded\nembedded: { port: 65536 }', 'skep.yaml:2: embedded.port: found 65536, expected a whole number 0..65535'],
    ['relay: embedded\nembedded: { host: a b }', 'skep.yaml:2: embedded.host: found "a b", expected an IP address or localhost'],
    ['relay: embedded\nembedded: { host: ":::::" }', 'skep.yaml:2: embedded.host: found ":::::", expected an IP address or localhost'],
    ['relay: embedded\nembedded: { host: 1.2.3.400 }', 'skep.yaml:2: embedded.host: found "1.2.3.400", expected an IP address or localhost'],
    ['relay: embedded\nembedded: { host: "fe80::1%eth0" }', 'skep.yaml:2: embedded.host: found "fe80::1%eth0", expected an IP address or localhost'],
    ['relay: embedded\nembedded:\n  channels:\n    - id: x\n      name: y', 'skep.yaml:4: embedded.channels[0].id: found "x", expected a channel id (a UUID)'],
    [`relay: embedded\nembedded:\n  channels:\n    - { id: ${CHANNEL}, name: a }\n    - { id: ${CHANNEL}, name: b }`, 'skep.yaml:5: embedded.channels[1].id: found the id of an earlier channel, expected one of its own'],
    ['relay: embedded\nlog: loud', 'skep.yaml:2: log: found "loud", expected debug, info, warn, error or silent'],
    ['relay: embedded\ngrace: 11m', `skep.yaml:2: grace: found "11m", ${D} 0s and 10m`],
    ['relay: embedded\ndata: 5', 'skep.yaml:2: data: found 5, expected a directory'],
    ['relay: embedded\nagent: x', 'skep.yaml:2: agent: unknown member, did you mean agents?'],
    ['relay: embedded\nrelay: embedded', 'skep.yaml:2: relay: the same member twice'],
    ['relay: embedded\nnsec1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsmhltgl: 1\nnsec1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsmhltgl: 1', 'skep.yaml:3: the same member twice'],
    ['relay: embedded\nbee2: 1\nbee2: 1', 'skep.yaml:3: bee2: the same member twice'],
    ['relay: embedded\nsk-abcdefgh1: 1\nsk-abcdefgh1: 1', 'skep.yaml:3: the same member twice'],
    ['relay: embedded\nlog: !!js/function info', 'skep.yaml:2: a YAML tag that is not known here'],
    ['relay: [', 'skep.yaml:'],
    ['\trelay: x', 'skep.yaml:1: a tab as indentation; use spaces'],
    ['relay: embedded\n---', 'skep.yaml:2: a second document in the file'],
    ['relay: &a embedded\ndata: *b', 'skep.yaml:1: anchors and aliases that cannot be resolved'],
  ])('%j', (top, line) => {
    const said = told(oneAgent('', { top }));
    expect(said.startsWith(line) ? line : said).toBe(line);
    expect(said).not.toContain('\n');
  });

  it.each([
    ['', 'skep.yaml:1: found nothing, expected a mapping with relay and agents'],
    ['just text', 'skep.yaml:1: found "just text", expected a mapping with relay and agents'],
    [NSEC, 'skep.yaml:1: found a secret key, expected a mapping with relay and agents'],
    ['relay: embedded\nagents: []', 'skep.yaml:2: agents: found 0 entries, expected a list of 1..64 agents'],
    ['relay: embedded\nagents: x', 'skep.yaml:2: agents: found "x", expected a list of 1..64 agents'],
    ['relay: embedded\nagents: [x]', 'skep.yaml:2: agents[0]: found "x", expected a mapping that describes an agent'],
    ['relay: embedded', 'skep.yaml:1: agents: missing, expected a list of 1..64 agents'],
  ])('%j', (yaml, line) => {
    expect(told(yaml)).toBe(line);
  });
});
