/**
 * The agent's side of NIP-BA: a client that holds a credential and no key.
 * in: src/model, src/nostr (to verify), the wire codec; an endpoint and a credential. out: verdicts and transport
 * failures as values. Loads no database, no HTTP framework and no relay socket.
 */
export { openClientOn } from './open.ts';
export type { ClientOptions, ClientParts } from './open.ts';
export { CLIENT_LIMITS } from './limits.ts';
export type { ClientLimits } from './limits.ts';
export { readArgs } from './text-args.ts';
export { ACTION_NAMES } from '../wire/index.ts';
export type { ActionName } from '../wire/index.ts';
export type {
  ArgsOf,
  BrokerClient,
  CallOptions,
  CallResult,
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
} from './ports.ts';
