/**
 * From what is written to what is meant: paths against the file's folder, keys and texts read, and the rules that hold
 * between members. Every refusal names the member it is about.
 */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { MAX_SOCKET_PATH_BYTES, socketPathOf } from '../control/index.ts';
import type { Pubkey } from '../model/index.ts';
import type { Attestation } from '../nostr/index.ts';
import { checkAttestation } from '../nostr/index.ts';
import { resolveBroker } from './broker.ts';
import type { AgentConfig, Config, RelayConfig } from './config.ts';
import type { Path } from './document.ts';
import { formatDuration } from './duration.ts';
import type { Fail, Resolving } from './fail.ts';
import { resolveLaunch, resolveOwnerKey } from './launch.ts';
import { readKeyFile, readSmallFile, reasonOf } from './files.ts';
import { holdsSecretKey, shown } from './found.ts';
import { resolveOperator } from './operator.ts';
import { brokerDefaults, embeddedDefaults, MAX_INSTRUCTIONS_BYTES } from './schema.ts';
import type { Written, WrittenAgent } from './schema.ts';

export function resolveConfig(file: string, written: Written, { nowMs, fail }: Resolving): Omit<Config, 'warnings'> {
  const folder = dirname(file);
  const dataDirectory = resolve(folder, written.data);
  const socketBytes = Buffer.byteLength(socketPathOf(dataDirectory));
  if (socketBytes > MAX_SOCKET_PATH_BYTES) {
    const whole = `its control socket's path has ${socketBytes} bytes, expected at most ${MAX_SOCKET_PATH_BYTES}`;
    fail(['data'], `found ${shown(written.data)}, but ${whole}; use a shorter path`);
  }
  const agents = written.agents.map((agent, index) => resolveAgent(folder, agent, ['agents', index], fail));
  refuseTwins(agents, fail);
  const ownerKey = resolveOwnerKey(folder, written['owner-key'], agents, fail);
  const relay = resolveRelay(written, fail);
  return {
    file, relay, broker: resolveBroker(folder, written.broker ?? brokerDefaults, { nowMs, fail }), dataDirectory, logLevel: written.log, graceMs: written.grace, agents,
    ...(written.record === undefined ? {} : { recordDirectory: resolve(folder, written.record) }),
    ...(ownerKey && { ownerKey }),
  };
}

function resolveRelay({ relay, embedded }: Written, fail: Fail): RelayConfig {
  if (relay.type === 'remote') return embedded === undefined ? relay : fail(['embedded'], 'only with relay: embedded');
  const { host, port, url, channels } = embedded ?? embeddedDefaults;
  channels.forEach((channel, index) => {
    if (channels.findIndex((other) => other.id === channel.id) < index) {
      fail(['embedded', 'channels', index, 'id'], 'found the id of an earlier channel, expected one of its own');
    }
  });
  return { type: 'embedded', host, port, ...(url === undefined ? {} : { publicUrl: url }), channels };
}

function resolveAgent(folder: string, agent: WrittenAgent, path: Path, fail: Fail): AgentConfig {
  const at = (member: string): Path => [...path, member];
  const key = readKeyFile(resolve(folder, agent.key), agent.key);
  if (!key.ok) return fail(at('key'), key.sentence);
  const { secretKey, pubkey } = key;
  const attestation = agent.attestation === undefined
    ? undefined
    : resolveAttestation(folder, agent.attestation, pubkey, (sentence) => fail(at('attestation'), sentence));
  const owner = resolveOwner(agent, pubkey, attestation, at, fail);
  refuseContradictions(agent, at, fail);
  const instructions = resolveInstructions(folder, agent, at, fail);
  const operator = resolveOperator(folder, agent, at, fail);
  refuseOwnKey(agent, { secretKey, instructions, operator }, at, fail);
  const launch = resolveLaunch(agent, at, fail);
  return {
    name: agent.name,
    secretKey, pubkey, owner,
    ...(attestation === undefined ? {} : { attestation }),
    adapter: agent.adapter,
    args: agent.args,
    cwd: resolveDirectory(resolve(folder, agent.cwd), agent.cwd, (sentence) => fail(at('cwd'), sentence)),
    env: agent.env,
    respondTo: agent['respond-to'],
    allowlist: [...new Set(agent.allowlist ?? [])],
    subscribe: agent.subscribe,
    ...(agent.channels === undefined ? {} : { channels: [...new Set(agent.channels)] }),
    processes: agent.processes,
    lazyStart: agent['lazy-start'],
    ...(agent['idle-sleep'] !== undefined && { idleSleepMs: agent['idle-sleep'] }),
    session: agent.session ?? 'channel',
    sessionTurns: agent['session-turns'],
    sessionIdleMs: agent['session-idle'],
    maxSessions: agent['max-sessions'],
    wished: {
      ...(agent.model === undefined ? {} : { model: agent.model }),
      ...(agent.mode === undefined ? {} : { mode: agent.mode }),
      ...(agent.effort === undefined ? {} : { effort: agent.effort }),
    },
    gatherMs: agent.gather,
    midTurn: agent['mid-turn'],
    idleTimeoutMs: agent['idle-timeout'],
    hardTimeoutMs: agent['hard-timeout'],
    observe: agent.observe,
    livenessMs: agent.liveness,
    presence: agent.presence,
    typing: agent.typing,
    ...(agent.canary !== undefined && { canaryMs: agent.canary }),
    ...operator,
    permission: agent.permission,
    askTimeoutMs: agent['ask-timeout'],
    mcp: agent.mcp,
    manageAgents: agent['manage-agents'],
    ...(instructions === undefined ? {} : { instructions }),
    ...(launch && { launch }),
  };
}

function resolveOwner(
  agent: WrittenAgent, pubkey: Pubkey, attestation: Attestation | undefined, at: (member: string) => Path, fail: Fail,
): Pubkey {
  const owner = agent.owner ?? attestation?.owner;
  if (owner === undefined) return fail(at('owner'), 'missing, expected owner or attestation');
  if (owner === pubkey) {
    return fail(at('owner'), 'found the agent\'s own key, expected the key of the person it belongs to');
  }
  if (attestation !== undefined && attestation.owner !== owner) {
    return fail(at('owner'), 'found another owner than the attestation names, expected the same');
  }
  return owner;
}

function resolveAttestation(
  folder: string, written: NonNullable<WrittenAgent['attestation']>, agent: Pubkey, fail: (sentence: string) => never,
): Attestation {
  const checked = checkAttestation('tag' in written ? written.tag : readTag(folder, written.file, fail), agent);
  return checked.ok ? checked.attestation : fail(`does not hold for this agent's key: ${checked.detail}`);
}

function readTag(folder: string, file: string, fail: (sentence: string) => never): readonly string[] {
  const read = readSmallFile(resolve(folder, file), file, 4_096);
  if (!read.ok) return fail(read.sentence);
  const value = parseJson(read.text);
  if (Array.isArray(value) && value.every((part): part is string => typeof part === 'string')) return value;
  return fail(`${shown(file)}: expected a JSON list ["auth", owner, conditions, signature]`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function resolveDirectory(path: string, label: string, fail: (sentence: string) => never): string {
  try {
    return statSync(path).isDirectory() ? path : fail(`found ${shown(label)}, which is not a directory`);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return fail(`found ${shown(label)}, which ${reasonOf(error)}`);
  }
}

function resolveInstructions(
  folder: string, agent: WrittenAgent, at: (member: string) => Path, fail: Fail,
): string | undefined {
  const file = agent['instructions-file'];
  if (file === undefined) return agent.instructions;
  if (agent.instructions !== undefined) {
    return fail(at('instructions-file'), 'found instructions, too, expected one of them');
  }
  const read = readSmallFile(resolve(folder, file), file, MAX_INSTRUCTIONS_BYTES);
  if (!read.ok) return fail(at('instructions-file'), read.sentence);
  if (holdsSecretKey(read.text)) return fail(at('instructions-file'), 'found a secret key in it, agents hold no key');
  return read.text;
}

/** Rules between two members of one agent. */
function refuseContradictions(agent: WrittenAgent, at: (member: string) => Path, fail: Fail): void {
  const { 'idle-timeout': idle, 'hard-timeout': hard, 'respond-to': respondTo, allowlist } = agent;
  if (idle >= hard) {
    const expected = `expected less than hard-timeout (${formatDuration(hard)})`;
    fail(at('idle-timeout'), `found ${formatDuration(idle)}, ${expected}`);
  }
  if (respondTo === 'allowlist' && allowlist === undefined) {
    fail(at('allowlist'), 'missing, expected with respond-to: allowlist');
  }
  if (respondTo !== 'allowlist' && allowlist !== undefined) fail(at('allowlist'), 'only with respond-to: allowlist');
}

/** What the agent program is told. */
interface Told {
  readonly secretKey: Uint8Array;
  readonly instructions?: string | undefined;
  readonly operator: Pick<AgentConfig, 'heartbeat' | 'initialPrompt'>;
}

/** No secret below the broker: the agent's key does not reach its program by way of the config, in any spelling. */
function refuseOwnKey(
  agent: WrittenAgent, { secretKey, instructions = '', operator: { heartbeat, initialPrompt } }: Told,
  at: (member: string) => Path, fail: Fail,
): void {
  const hex = Buffer.from(secretKey).toString('hex');
  const holds = (text: string): boolean => text.toLowerCase().includes(hex);
  const { launch } = agent.adapter;
  for (const [member, one] of [['heartbeat', heartbeat], ['initial-prompt', initialPrompt]] as const) {
    if (one !== undefined && holds(one.prompt)) fail(at(member), 'found the agent\'s secret key, agents hold no key');
  }
  if (agent.args.some(holds)) fail(at('args'), 'found the agent\'s secret key, agents hold no key');
  if (Object.values(agent.env).some(holds)) fail(at('env'), 'found the agent\'s secret key, agents hold no key');
  if (launch.args.some(holds)) fail(at('adapter'), 'found the agent\'s secret key, agents hold no key');
  const where = agent['instructions-file'] === undefined ? 'instructions' : 'instructions-file';
  if (holds(instructions)) fail(at(where), 'found the agent\'s secret key, agents hold no key');
}

function refuseTwins(agents: readonly AgentConfig[], fail: Fail): void {
  agents.forEach((agent, index) => {
    const earlier = agents.slice(0, index);
    if (earlier.some((other) => other.name === agent.name)) {
      fail(['agents', index, 'name'], `found "${agent.name}" again, expected a name of its own`);
    }
    const twin = earlier.find((other) => other.pubkey === agent.pubkey);
    if (twin !== undefined) {
      fail(['agents', index, 'key'], `found the key of agent ${twin.name}, expected one of its own`);
    }
  });
}
