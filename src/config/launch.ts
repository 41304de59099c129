/**
 * Agents that are started with what their owner says on the relay (NIP-AP): which members go with that, and the owner's
 * key that reads it.
 *
 * The key is in this process because an instructions version is sealed by the owner to the owner, the agent's key opens
 * none, and an agent that is started again at night must be started with what holds then (NIP-AP "Privacy", "Launch
 * composition"). At a remote signer it is not on this machine at all.
 */
import { resolve } from 'node:path';
import { toNpub } from '../nostr/index.ts';
import type { AgentConfig, LaunchConfig, OwnerKeyConfig } from './config.ts';
import type { Path } from './document.ts';
import type { Fail } from './fail.ts';
import { parseKeyText, readSecretFile } from './files.ts';
import type { WrittenAgent } from './schema.ts';

/** Undefined where this file says all. */
export function resolveLaunch(agent: WrittenAgent, at: (member: string) => Path, fail: Fail): LaunchConfig | undefined {
  const { persona, teams, 'team-instructions': teamInstructions } = agent;
  if (persona === undefined && teams === undefined) {
    return teamInstructions === undefined ? undefined : fail(at('team-instructions'), 'only with persona or teams');
  }
  if (agent.session !== undefined) fail(at('session'), `only without ${persona === undefined ? 'teams' : 'persona'}: the definition says it (session_policy)`);
  (teams ?? []).forEach((team, index) => {
    if (teams?.indexOf(team) !== index) fail([...at('teams'), index], 'found an earlier team again, expected each once');
  });
  return { ...(persona === undefined ? {} : { persona }), teams: teams ?? [], ...(teamInstructions === undefined ? {} : { teamInstructions }) };
}

export function resolveOwnerKey(folder: string, file: string | undefined, agents: readonly AgentConfig[], fail: Fail): OwnerKeyConfig | undefined {
  const first = agents.findIndex(({ launch }) => launch !== undefined);
  if (file === undefined) {
    if (first >= 0) fail(['agents', first, memberOf(agents[first])], 'found without owner-key, expected the owner\'s key or signer beside agents, to read what the owner says');
    return undefined;
  }
  // A key that is for nothing has no place in this process.
  if (first < 0) fail(['owner-key'], 'only with an agent that has persona or teams');
  const read = readSecretFile(resolve(folder, file), file);
  if (!read.ok) return fail(['owner-key'], read.sentence);
  if (/^\s*bunker:/i.test(read.text)) {
    refuseOwners(agents, undefined, fail);
    return { type: 'bunker', address: read.text.trim(), file: resolve(folder, file) };
  }
  const key = parseKeyText(read.text, file);
  if (!key.ok) return fail(['owner-key'], key.sentence);
  const { secretKey, pubkey } = key;
  refuseOwners(agents, pubkey, fail);
  refuseOwnerKey(agents, Buffer.from(secretKey).toString('hex'), fail);
  return { type: 'local', secretKey, pubkey };
}

/** No secret below the broker: neither does the owner's key reach a program by way of the config. */
function refuseOwnerKey(agents: readonly AgentConfig[], hex: string, fail: Fail): void {
  agents.forEach(({ args, adapter, env, instructions = '', launch }, index) => {
    const places = { args, adapter: adapter.launch.args, env: Object.values(env), instructions: [instructions], 'team-instructions': [launch?.teamInstructions ?? ''] };
    for (const [member, texts] of Object.entries(places)) {
      if (texts.some((text) => text.toLowerCase().includes(hex))) fail(['agents', index, member], 'found the owner\'s secret key, agents hold no key');
    }
  });
}

/** One key reads for one owner. Of a signer it is not known yet whose it holds. */
function refuseOwners(agents: readonly AgentConfig[], owner: string | undefined, fail: Fail): void {
  let expected = owner;
  agents.forEach((agent, index) => {
    if (agent.launch === undefined) return;
    expected ??= agent.owner;
    if (agent.owner === expected) return;
    const whose = owner === undefined ? 'an earlier agent with persona or teams has' : 'owner-key is of';
    fail(['agents', index, 'owner'], `found ${toNpub(agent.owner)}, expected the owner that ${whose}, with ${memberOf(agent)}`);
  });
}

function memberOf(agent: AgentConfig | undefined): string {
  return agent?.launch?.persona === undefined ? 'teams' : 'persona';
}
