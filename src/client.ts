/**
 * `skep/client`: the client with the real clock and the real randomness, for agents and tools that are no part of skep.
 * A composition root of its own, since a library has none above it; nothing is decided here.
 */
import { openClientOn } from './broker/client/index.ts';
import type { BrokerClient, ClientOptions } from './broker/client/index.ts';
import { steadyClock, systemRandom } from './system/index.ts';

export { ACTION_NAMES, CLIENT_LIMITS } from './broker/client/index.ts';
export type {
  ActionName,
  ArgsOf,
  BrokerClient,
  CallOptions,
  CallResult,
  ClientLimits,
  ClientOptions,
  Failed,
  FreezeOptions,
  FrozenRequest,
  Indeterminate,
  OutcomeOf,
  Refused,
  SendOptions,
  SendResult,
  Succeeded,
  TransportFailure,
  TransportReason,
  VerifiedPage,
} from './broker/client/index.ts';

/** Connects to nothing yet. Throws an error with `code: 'config'` for an endpoint, a credential or a limit that cannot be used. */
export function openClient(options: ClientOptions): BrokerClient {
  return openClientOn({ clock: steadyClock, random: systemRandom }, options);
}
