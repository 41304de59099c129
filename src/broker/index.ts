/**
 * The only room with keys, relay sockets and signatures.
 * in: src/model, src/nostr, src/store; identities, a relay URL, a data store. out: `openBroker` and, behind it, for
 * each agent a feed, reads, skep's own messages, and credentials for agent processes at the NIP-BA endpoint.
 */
export { openBroker } from './broker.ts';
export type { BrokerOptions } from './broker.ts';
export type {
  CredentialDesk,
  CredentialOrder,
  IssuedCredential,
  SessionCredential,
  SessionEntry,
  TurnBinding,
} from './credential-ports.ts';
export type {
  CardFate,
  ControlConsumer,
  ControlCounts,
  ControlFrame,
  FrameAuthorization,
  MemoryDesk,
  ObserverFrame,
  OwnerDoor,
  TelemetryStatus,
} from './owner-ports.ts';
export type {
  AgentIdentity,
  AgentLink,
  CanaryReport,
  Broker,
  CommandReport,
  FeedConsumer,
  FeedItem,
  FetchResult,
  ManagedAgent,
  ManagedChange,
  OwnMessage,
  PublishOutcome,
  PresenceStatus,
  ResumePoint,
  SignalReport,
  TurnPublications,
  TypingPlace,
  UpstreamPhase,
  UpstreamStatus,
} from './ports.ts';
