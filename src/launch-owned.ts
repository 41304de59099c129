/**
 * Agents that are started with what their owner says on the relay: who they are to `src/launches`, how their owner's key is
 * reached, and the agent that is run of what was read. A part of the composition root.
 */
import type { Broker } from './broker/index.ts';
import type { Config } from './config/index.ts';
import type { Launch, Surroundings } from './launch.ts';
import { launchOrder } from './launch-order.ts';
import { openAccess } from './launches/index.ts';
import type { LaunchStart, LaunchTarget } from './launches/index.ts';
import { openSigner } from './owner-key.ts';
import type { Supervisor } from './supervisor/index.ts';

/** Undefined where no agent is started so. */
export function ownerAccess(
  { ownerKey, agents }: Config, { relayUrl, broker, options }: { readonly relayUrl: string; readonly broker: Broker; readonly options: Surroundings },
): ReturnType<typeof openAccess> | undefined {
  const owner = agents.find(({ launch }) => launch !== undefined)?.owner;
  if (ownerKey === undefined || owner === undefined) return undefined;
  const { clock, steadyClock, random, log } = options;
  const key = ownerKey.type === 'bunker'
    ? () => openSigner(ownerKey.address, {
      name: 'owner-key', clientFile: `${ownerKey.file}.client`, kinds: [], clock, steadyClock, random, log,
      onAuthUrl: (url) => { log.warn('the owner\'s signer asks to be allowed', { url }); },
    })
    : async () => broker.owner ?? noOwner();
  return openAccess({ owner, key, relayUrl, clock, steadyClock, random, log });
}

export function targetsOf({ agents }: Config, broker: Broker): readonly LaunchTarget[] {
  return agents.flatMap((agent): readonly LaunchTarget[] => {
    const { name, pubkey, observe } = agent;
    const order = launchOrder(agent);
    return order === undefined ? [] : [{ name, pubkey, order, observed: observe !== 'off', link: () => broker.link(pubkey) }];
  });
}

export interface LaunchedParts {
  readonly config: Config;
  readonly launch: Launch;
  readonly supervisor: Supervisor;
}

/** Runs the agent as the config says, with the two texts, the session policy and the model that its owner's word came to. */
export function startLaunched({ target, sessionPolicy, standing, model, onProcess }: LaunchStart, { config, launch, supervisor }: LaunchedParts): void {
  const agent = config.agents.find(({ pubkey }) => pubkey === target.pubkey);
  if (agent === undefined) throw new TypeError('launches: no such agent');
  const options = launch.configured(agent, { session: sessionPolicy, ...standing, ...(model !== undefined && { model }) });
  supervisor.start({
    ...options,
    observe: (note) => {
      options.observe(note);
      if (note.type === 'process_started') onProcess();
    },
  });
}

function noOwner(): never {
  throw new TypeError('the owner\'s key is not in the ring');
}
