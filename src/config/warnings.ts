/** What a config may say and yet deserves a word at start. */
import type { AgentConfig, Config } from './config.ts';

/** Agent programs wait for the network most of the time; beyond this many a core they wait for each other. */
const PROCESSES_A_CORE = 4;

export function warningsOf(config: Omit<Config, 'warnings'>, cores: number): readonly string[] {
  const processes = config.agents.reduce((sum, agent) => sum + agent.processes, 0);
  const most = cores * PROCESSES_A_CORE;
  return [
    ...(processes > most
      ? [`${processes} agent processes on ${cores} ${cores === 1 ? 'core' : 'cores'}: expect them to wait for each other beyond ${most}`]
      : []),
    ...relayWarnings(config.relay),
    ...config.agents.flatMap(agentWarnings),
  ];
}

function relayWarnings(relay: Config['relay']): readonly string[] {
  if (relay.type === 'embedded') {
    return isLoopback(relay.host) ? [] : [`the relay listens on ${relay.host}: other machines can reach it, unencrypted`];
  }
  const { protocol, hostname } = new URL(relay.url);
  return protocol === 'ws:' && !isLoopback(hostname) ? [`the relay is reached over ws://, unencrypted; use wss://`] : [];
}

function agentWarnings({ name, respondTo, permission }: AgentConfig): readonly string[] {
  return respondTo === 'anyone' && permission === 'allow'
    ? [`agent ${name}: anyone may make it act (respond-to: anyone, permission: allow)`]
    : [];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
