/** Agents that are started with what their owner says: the members that go with that, and the owner's key. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENT, lineOf, load, oneAgent, OTHER_KEY, OWNER, OWNER_KEY, OWNER_NPUB, writeConfig, writeKey } from './write.ts';

const TOP = 'relay: embedded\nowner-key: o.key';
const HEX = Buffer.from(OWNER_KEY).toString('hex');
const BUNKER = `bunker://${AGENT}?relay=wss%3A%2F%2Frelay.example&secret=hush`;

function folder(extra: string, { top = TOP, key = HEX, mode = 0o600 } = {}): string {
  const directory = writeConfig(oneAgent(extra, { top }));
  writeKey(directory, 'o.key', key, mode);
  return directory;
}

it('takes a persona, teams and what stands in their place', () => {
  const { agents: [agent], ownerKey } = load(folder('persona: bee\nteams: ["builtin-team:welcome", x]\nteam-instructions: hum\ninstructions: mine'));
  expect(agent).toMatchObject({ session: 'channel', instructions: 'mine', launch: { persona: 'bee', teams: ['builtin-team:welcome', 'x'], teamInstructions: 'hum' } });
  expect(ownerKey).toEqual({ type: 'local', secretKey: OWNER_KEY, pubkey: OWNER });
  expect(load(folder('teams: []')).agents[0]?.launch).toEqual({ teams: [] });
});

it('takes the address of a signer from the file, and nothing from a config without personas', () => {
  const directory = folder('persona: bee', { key: ` ${BUNKER}\n` });
  expect(load(directory).ownerKey).toEqual({ type: 'bunker', address: BUNKER, file: join(directory, 'o.key') });
  const plain = load(writeConfig(oneAgent()));
  expect([plain.ownerKey, plain.agents[0]?.launch]).toEqual([undefined, undefined]);
});

describe('a mistake', () => {
  const rows: readonly (readonly [string, string, { readonly top?: string; readonly key?: string; readonly mode?: number }?])[] = [
    ['persona: Bee', 'skep.yaml:8: agents[0].persona: found "Bee", expected the slug of a definition: 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit'],
    ['teams: [a b]', 'skep.yaml:8: agents[0].teams[0]: found "a b", expected a team id: 1 to 64 characters without white space'],
    ['teams: [a, b, a]', 'skep.yaml:8: agents[0].teams[2]: found an earlier team again, expected each once'],
    ['team-instructions: hum', 'skep.yaml:8: agents[0].team-instructions: only with persona or teams', { top: 'relay: embedded\nlog: info' }],
    ['persona: bee\nsession: thread', 'skep.yaml:9: agents[0].session: only without persona: the definition says it (session_policy)'],
    ['teams: []\nsession: thread', 'skep.yaml:9: agents[0].session: only without teams: the definition says it (session_policy)'],
    ['persona: bee', 'skep.yaml:8: agents[0].persona: found without owner-key, expected the owner\'s key or signer beside agents, to read what the owner says', { top: 'relay: embedded\nlog: info' }],
    ['', 'skep.yaml:2: owner-key: only with an agent that has persona or teams'],
    ['persona: bee', 'skep.yaml:2: owner-key: found none.key, which does not exist', { top: 'relay: embedded\nowner-key: none.key' }],
    ['persona: bee', 'skep.yaml:2: owner-key: o.key has mode 0644, expected 0600: others can read or change it; chmod 600 o.key', { mode: 0o644 }],
    ['persona: bee', `skep.yaml:6: agents[0].owner: found ${OWNER_NPUB}, expected the owner that owner-key is of, with persona`, { key: OTHER_KEY }],
    ['persona: bee', 'skep.yaml:2: owner-key: found the address of a signer, expected the path of a file that holds it', { top: `relay: embedded\nowner-key: "${BUNKER}"` }],
    [`persona: bee\nenv: { A: "${HEX}" }`, 'skep.yaml:9: agents[0].env: A: found what looks like a Nostr secret key; agents hold no key'],
    [`persona: bee\ninstructions: my key is ${HEX}`, 'skep.yaml:9: agents[0].instructions: found the owner\'s secret key, agents hold no key'],
  ];

  it.each(rows.map(([extra, line, more = {}]) => ({ extra, line, more })))('$extra', ({ extra, line, more }) => {
    expect(lineOf(folder(extra, more))).toBe(line);
    expect(line).not.toContain('hush');
  });

  it('of two owners at one signer is told, and a key is never shown', () => {
    const other = `  - { name: other, key: b.key, owner: "${AGENT}", adapter: scripted, teams: [] }\n`;
    const directory = folder('persona: bee', { key: BUNKER });
    writeFileSync(join(directory, 'skep.yaml'), `${oneAgent('persona: bee', { top: TOP })}${other}`);
    expect(lineOf(directory)).toMatch(/^skep\.yaml:9: agents\[1\]\.owner: found npub1\w+, expected the owner that an earlier agent with persona or teams has, with teams$/);
    writeKey(directory, 'o.key', 'no key at all');
    expect(lineOf(directory)).toMatch(/^skep\.yaml:2: owner-key: o\.key: expected/);
  });
});
