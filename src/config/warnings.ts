/** What a config may say and yet deserves a word at start. */
import { isSecretName } from '../model/index.ts';
import { dayOf, endOf } from './broker.ts';
import type { AgentConfig, Config } from './config.ts';

/** Agent programs wait for the network most of the time; beyond this many a core they wait for each other. */
const PROCESSES_A_CORE = 4;

/** Time enough to get another one. */
const EXPIRES_SOON_MS = 14 * 86_400_000;

/** A file that they may read. */
const OTHERS_READ = 0o044;

interface Circumstances {
  readonly cores: number;
  readonly nowMs: number;
  /** The permission bits of the file. */
  readonly mode: number;
}

export function warningsOf(config: Omit<Config, 'warnings'>, { cores, nowMs, mode }: Circumstances): readonly string[] {
  const processes = config.agents.reduce((sum, agent) => sum + agent.processes, 0);
  const most = cores * PROCESSES_A_CORE;
  const machine = `${cores} ${cores === 1 ? 'core' : 'cores'}`;
  const crowded = `${processes} agent processes on ${machine}: expect them to wait for each other beyond ${most}`;
  return [
    ...(processes > most ? [crowded] : []),
    ...relayWarnings(config.relay),
    ...brokerWarnings(config.broker, nowMs),
    ...config.agents.flatMap(agentWarnings),
    ...((mode & OTHERS_READ) === 0 ? [] : config.agents.flatMap(secretWarnings)),
  ];
}

function relayWarnings(relay: Config['relay']): readonly string[] {
  if (relay.type === 'embedded') {
    const open = `the relay listens on ${relay.host}: other machines can reach it, unencrypted`;
    return isLoopback(relay.host) ? [] : [open];
  }
  const { protocol, hostname } = new URL(relay.url);
  const plain = protocol === 'ws:' && !isLoopback(hostname);
  return plain ? ['the relay is reached over ws://, unencrypted; use wss://'] : [];
}

function brokerWarnings({ tls }: Config['broker'], nowMs: number): readonly string[] {
  const endMs = tls === undefined ? Infinity : endOf(tls.cert);
  return endMs - nowMs > EXPIRES_SOON_MS
    ? []
    : [`broker.tls: the certificate expires on ${dayOf(endMs)}; a new one is read at the next start`];
}

function agentWarnings({ name, respondTo, permission, heartbeat, idleSleepMs }: AgentConfig): readonly string[] {
  const sleepless = heartbeat !== undefined && idleSleepMs !== undefined && heartbeat.everyMs <= idleSleepMs;
  return [
    ...(respondTo === 'anyone' && permission === 'allow' ? [`agent ${name}: anyone may make it act (respond-to: anyone, permission: allow)`] : []),
    ...(sleepless ? [`agent ${name}: it never sleeps, because a heartbeat comes before (heartbeat.every, idle-sleep)`] : []),
  ];
}

/** Keys of model providers stand in the file itself. */
function secretWarnings({ name, env, adapter }: AgentConfig): readonly string[] {
  const secrets = Object.keys({ ...adapter.environment, ...env }).filter(isSecretName);
  return secrets.length === 0 ? [] : [`agent ${name}: other users of this machine can read its ${secrets.join(', ')} in the config file; chmod 600 the file`];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
