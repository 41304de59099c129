/** Where the broker is and by what credential: from the environment alone, as the supervisor sets it for an agent. */
import { ENV_CREDENTIAL, ENV_ENDPOINT } from '../acp/ports.ts';
import { openClient } from '../client.ts';
import type { BrokerClient } from '../client.ts';
import { Failure } from '../model/index.ts';

/** Throws `config` with the name of what is missing or wrong, never with its value. */
export function clientFromEnvironment(environment: Readonly<Record<string, string | undefined>>): BrokerClient {
  return openClient({ endpoint: set(environment, ENV_ENDPOINT), credential: set(environment, ENV_CREDENTIAL) });
}

function set(environment: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = environment[name] ?? '';
  if (value === '') throw new Failure('config', `${name} is not set; skep up sets it for the agents it runs, skep session issue tells it for other programs`);
  return value;
}
