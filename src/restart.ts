/**
 * One configured agent ended and started again, beside the others: with what its owner says now, or as the config that is
 * loaded says. What waits in its inbox waits for it. A part of the composition root.
 */
import type { Broker } from './broker/index.ts';
import type { AgentConfig, Config } from './config/index.ts';
import type { Restart } from './control/index.ts';
import type { Launch } from './launch.ts';
import type { Launches } from './launches/index.ts';
import { excerpt, refuse } from './model/index.ts';
import type { Refusal } from './model/index.ts';
import type { Supervisor } from './supervisor/index.ts';

export interface RestartParts {
  readonly config: Config;
  readonly broker: Broker;
  readonly launch: Launch;
  readonly supervisor: Supervisor;
  readonly launches: Launches | undefined;
}

/** One at a time. What could not be started as it would be now is left running. */
export function restarter(parts: RestartParts): Restart {
  let under = Promise.resolve<unknown>(undefined);
  return (name) => {
    const agent = parts.config.agents.find((one) => one.name === name || one.pubkey === name);
    if (agent === undefined) return Promise.resolve(refuse('agent', `agent: expected the name or the pubkey of one that is configured; there are ${parts.config.agents.map((one) => excerpt(one.name)).join(', ')}`));
    const done = under.then(() => restart(agent, parts));
    under = done.catch(() => undefined);
    return done;
  };
}

async function restart(agent: AgentConfig, { config, broker, launch, supervisor, launches }: RestartParts): Promise<{ readonly ok: true } | Refusal> {
  const { pubkey } = agent;
  const refusal = await launches?.refusalOf(pubkey);
  if (refusal !== undefined) return refusal;
  await supervisor.stop(pubkey, config.graceMs);
  await broker.renew(pubkey);
  if (agent.launch === undefined) supervisor.start(launch.configured(agent));
  else launches?.ended(pubkey);
  return { ok: true };
}
