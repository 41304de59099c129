/**
 * What an agent is run with: a configured one as `skep.yaml` says, one that an agent made as its root in the config is
 * run, with its own name, instructions and ears. A part of the composition root.
 */
import { commandLine } from '../adapters/index.ts';
import { childEnvironment, ENV_CREDENTIAL, ENV_ENDPOINT, ENV_PROCESS, findProgram } from './acp/index.ts';
import type { Leak } from './acp/index.ts';
import type { Broker, ManagedAgent, ManagedChange, SessionCredential } from './broker/index.ts';
import { buzzServer } from './buzz-server.ts';
import type { AgentConfig, Config } from './config/index.ts';
import { excerpt, unreachable } from './model/index.ts';
import type { Clock, Log, Pubkey, Random } from './model/index.ts';
import type { Recorder } from './recording/index.ts';
import type { Store } from './store/index.ts';
import { noteLogger } from './supervisor/index.ts';
import type { AgentOptions, GateSettings, Observer, ProfileFacts, Supervisor } from './supervisor/index.ts';

/** What comes from outside the program. */
export interface Surroundings {
  /** For stamps, and what is stored. */
  readonly clock: Clock;
  /** For deadlines in memory: nobody sets it. */
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Skep's own version. */
  readonly version: string;
  /** The Node that runs us, for adapters that are modules of this package. */
  readonly nodePath: string;
  /** The supervisor's own environment; a child gets the allowed part of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told what the supervisor does, beside the log. */
  readonly observe?: Observer;
}

export interface LaunchParts {
  readonly config: Config;
  readonly options: Surroundings;
  readonly broker: Broker;
  readonly store: Store;
  readonly recorder: Recorder | undefined;
  readonly onLeak: (leak: Leak) => void;
  readonly onFatal: (error: unknown) => void;
  /** An agent's owner wants it to stop. */
  readonly onShutdown: (agent: Pubkey) => void;
}

/** What an owner's word came to (NIP-AP "Launch composition"). */
export interface Told {
  readonly session: AgentConfig['session'];
  readonly system?: string;
  readonly teamInstructions?: string;
  readonly model?: string;
}

export interface Launch {
  /** `told` stands in the place of what the config says, texts that are absent too. */
  configured(agent: AgentConfig, told?: Told): AgentOptions;
  /** Undefined where its runtime is no longer configured. */
  managed(agent: ManagedAgent): AgentOptions | undefined;
}

/** What the agents that `agent` makes may run on: what it runs on, and what its owner's other agents do. */
export function runtimesOf(agent: AgentConfig, config: Config): readonly string[] {
  return [...new Set(relatives(agent, config).map(({ adapter }) => adapter.name))];
}

function relatives(agent: AgentConfig, { agents }: Config): readonly AgentConfig[] {
  return [agent, ...agents.filter(({ owner, pubkey }) => owner === agent.owner && pubkey !== agent.pubkey)];
}

export function openLaunch(parts: LaunchParts): Launch {
  const own = new Map<Pubkey, ProfileFacts>(
    parts.config.agents.map(({ pubkey, name, owner }) => [pubkey, { displayName: name, isAgent: true, owner }]),
  );
  return {
    configured(agent, told) {
      const gate = configuredGate(agent);
      const setup = told === undefined ? agent : toldSetup(agent, told);
      const tape = parts.recorder?.tapeOf(streamSettings(setup, gate));
      return { ...agentOptions(setup, gate, own, parts), ...operatorTurns(agent), ...(tape && { tape }) };
    },
    managed(agent) {
      const setup = managedSetup(agent, parts.config);
      if (setup === undefined) {
        parts.options.log.warn('the runtime of a managed agent is not configured; it does not run', { agent: agent.pubkey });
        return undefined;
      }
      own.set(agent.pubkey, { displayName: agent.displayName, isAgent: true, owner: agent.owner });
      const options = agentOptions(setup, managedGate(agent), own, parts);
      return { ...options, managedBy: agent.owner };
    },
  };
}

/** Starts, changes and ends what agents have made, as the broker tells it. */
export async function followManaged(change: ManagedChange, supervisor: Supervisor, launch: Launch, graceMs: number): Promise<void> {
  switch (change.type) {
    case 'live': {
      const options = launch.managed(change.agent);
      if (options !== undefined) supervisor.start(options);
      return;
    }
    case 'changed': {
      const { pubkey, displayName: name, systemPrompt: instructions } = change.agent;
      supervisor.change(pubkey, { name, instructions, gate: managedGate(change.agent) });
      return;
    }
    case 'gone':
      // What has lost its credentials can do nothing more that anybody sees.
      return supervisor.stop(change.pubkey, change.restarts ? graceMs : 0);
    default:
      return unreachable(change);
  }
}

/** No key is among it. */
type Setup = Omit<AgentConfig, 'secretKey' | 'attestation' | 'respondTo' | 'allowlist' | 'channels' | 'manageAgents' | 'launch' | 'instructions'> & {
  readonly instructions?: string | undefined;
  readonly teamInstructions?: string | undefined;
};

function toldSetup(agent: AgentConfig, { session, system, teamInstructions, model }: Told): Setup {
  return { ...agent, session, instructions: system, teamInstructions, wished: { ...agent.wished, ...(model !== undefined && { model }) } };
}

function managedSetup({ pubkey, owner, root, displayName, systemPrompt, runtime }: ManagedAgent, config: Config): Setup | undefined {
  const maker = config.agents.find((agent) => agent.pubkey === root);
  const model = maker && relatives(maker, config).find(({ adapter }) => runtime === undefined || adapter.name === runtime);
  if (model === undefined) return undefined;
  // Its owner is an agent, and no agent decides what another may do: nobody is asked.
  const permission = model.permission === 'ask' ? 'reject' : model.permission;
  // One program: how many of these there are is bounded, and what each may take with it.
  return { ...model, permission, pubkey, owner, name: displayName, instructions: systemPrompt, processes: 1, subscribe: 'mentions' };
}

function configuredGate({ pubkey, owner, respondTo, allowlist, subscribe }: AgentConfig): GateSettings {
  return { agent: pubkey, owner, respondTo, allowlist: new Set(allowlist), subscribe };
}

/** `owner-only` is who made it, and everyone above up to the person. */
function managedGate({ pubkey, owner, owners, respondTo }: ManagedAgent): GateSettings {
  return { agent: pubkey, owner, ancestors: new Set(owners), respondTo, allowlist: new Set(), subscribe: 'mentions' };
}

function agentOptions(
  agent: Setup, gate: GateSettings, ownAgents: ReadonlyMap<Pubkey, ProfileFacts>,
  { options, broker, store, recorder, onLeak, onFatal, onShutdown }: LaunchParts,
): AgentOptions {
  const { clock, steadyClock, random, log, version, nodePath, environment } = options;
  const toLog = noteLogger(log);
  const observe: Observer = (note) => {
    toLog(note);
    options.observe?.(note);
  };
  const { command, args } = commandLine(agent.adapter, nodePath, agent.args);
  const env = (own: Record<string, string>): Record<string, string> =>
    childEnvironment({ parent: environment, extra: { ...agent.adapter.environment, ...agent.env }, own });
  if (findProgram({ command, cwd: agent.cwd, env: env({}) }) === undefined) {
    log.warn(`agent ${agent.name}: there is no program ${excerpt(command, 200)}; it cannot answer before there is one`);
  }
  const own = (credential: SessionCredential): Record<string, string> => ({
    [ENV_ENDPOINT]: credential.endpoint, [ENV_CREDENTIAL]: credential.token,
    [ENV_PROCESS]: Buffer.from(random.bytes(16)).toString('hex'),
  });
  return {
    name: agent.name,
    version,
    gate,
    session: agent.session,
    sessionTurns: agent.sessionTurns,
    sessionIdleMs: agent.sessionIdleMs,
    maxSessions: agent.maxSessions,
    wished: agent.wished,
    gatherMs: agent.gatherMs,
    midTurn: agent.midTurn,
    idleTimeoutMs: agent.idleTimeoutMs,
    hardTimeoutMs: agent.hardTimeoutMs,
    processes: agent.processes,
    cwd: agent.cwd,
    ...(agent.instructions === undefined ? {} : { instructions: agent.instructions }),
    ...(agent.teamInstructions === undefined ? {} : { teamInstructions: agent.teamInstructions }),
    ...(agent.observe !== 'off' && { observation: { livenessMs: agent.livenessMs, packed: agent.observe === 'batch', program: { command, args } } }),
    rest: { lazy: agent.lazyStart, ...(agent.idleSleepMs !== undefined && { sleepAfterMs: agent.idleSleepMs }) },
    signals: { presence: agent.presence, typing: agent.typing },
    dialect: agent.adapter.dialect,
    ...(agent.adapter.needs.login !== undefined && { login: agent.adapter.needs.login }),
    permission: { policy: agent.permission, askMs: agent.askTimeoutMs },
    plan: (credential) => {
      recorder?.keepCredential(credential.token);
      const ours = own(credential);
      return {
        agentName: agent.name, command, args, cwd: agent.cwd,
        env: env(ours),
        ...(agent.mcp && { mcpServers: [buzzServer(nodePath, ours)] }),
      };
    },
    link: broker.link(agent.pubkey),
    store, clock, steadyClock, random, log, observe, onLeak, onFatal,
    onShutdown: () => { onShutdown(agent.pubkey); },
    ownAgents,
  };
}

/** Of a configured agent alone: what the operator asks of it, they have not asked of what it makes. */
function operatorTurns({ heartbeat, initialPrompt, operatorSession: session }: AgentConfig): Pick<AgentOptions, 'operator'> {
  if (heartbeat === undefined && initialPrompt === undefined) return {};
  return { operator: { session, ...(heartbeat && { heartbeat }), ...(initialPrompt && { initial: initialPrompt }) } };
}

function streamSettings({ session, gatherMs, midTurn }: Setup, gate: GateSettings): Parameters<Recorder['tapeOf']>[0] {
  const { agent, owner, respondTo, allowlist, subscribe } = gate;
  return { agent, owner, respondTo, allowlist: [...allowlist], subscribe, session, gatherMs, midTurn };
}
