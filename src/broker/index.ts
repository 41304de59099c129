/**
 * The only room with keys, relay sockets and signatures.
 * in: src/model, src/nostr, src/store; identities, a relay URL, a data store. out: `openBroker` and, behind it, for
 * each agent a feed, reads, skep's own messages, and credentials for agent processes at the NIP-BA endpoint.
 */
export { openBroker } from './broker.ts';
export type { BrokerOptions } from './broker.ts';
export type {
  AgentIdentity,
  AgentLink,
  CanaryReport,
  CardFate,
  Broker,
  CommandReport,
  ControlConsumer,
  ControlCounts,
  ControlFrame,
  CredentialDesk,
  CredentialOrder,
  FeedConsumer,
  FeedItem,
  FetchResult,
  FrameAuthorization,
  IssuedCredential,
  ManagedAgent,
  ManagedChange,
  MemoryDesk,
  ObserverFrame,
  OwnerDoor,
  OwnMessage,
  PublishOutcome,
  PresenceStatus,
  ResumePoint,
  SessionCredential,
  SessionEntry,
  SignalReport,
  TelemetryStatus,
  TurnBinding,
  TurnPublications,
  TypingPlace,
  UpstreamPhase,
  UpstreamStatus,
} from './ports.ts';
