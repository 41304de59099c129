/**
 * One identity inside the broker: who it is, what it may, and how it reads and writes on the relay. No key is held
 * here; the publisher signs through the keyring.
 */
import { later } from '../model/index.ts';
import type { ChannelId, Clock } from '../model/index.ts';
import type { ActionContext, Cursors } from './actions/index.ts';
import type { Feed } from './feed/index.ts';
import type { Namespace } from './journal/index.ts';
import type { AgentIdentity } from './ports.ts';
import type { Publisher } from './publish.ts';
import type { Upstream } from './upstream/index.ts';

/** An identity without its key: what may be passed around. */
export type PublicIdentity = Omit<AgentIdentity, 'secretKey'>;

/** Named member by member, so that nothing secret can come along. */
export function publicIdentity({
  name,
  pubkey,
  owner,
  attestation,
  channels,
  subscribe,
}: AgentIdentity): PublicIdentity {
  return {
    name,
    pubkey,
    owner,
    subscribe,
    ...(attestation === undefined ? {} : { attestation }),
    ...(channels === undefined ? {} : { channels }),
  };
}

export interface Agent {
  readonly identity: PublicIdentity;
  readonly namespace: Namespace;
  readonly upstream: Upstream;
  readonly publisher: Publisher;
  /**
   * Configured, where channels are, and not known to be left. As long as membership is not known the relay decides, at
   * each read and publication.
   */
  permits(channelId: ChannelId): boolean;
  /** What one plan may read. All its questions together end within `PLAN_TIMEOUT_MS`. */
  context(): ActionContext;
}

export interface AgentOptions {
  readonly identity: PublicIdentity;
  readonly community: string;
  readonly upstream: Upstream;
  readonly publisher: Publisher;
  readonly cursors: Cursors;
  /** For deadlines. */
  readonly clock: Clock;
  readonly isMember: Feed['isMember'];
}

/** Planning and one publication (10 s) together stay below the time a caller waits for its flight (20 s). */
const PLAN_TIMEOUT_MS = 8_000;
const QUESTION_TIMEOUT_MS = 5_000;

export function openAgent(options: AgentOptions): Agent {
  const { identity, community, upstream, publisher, cursors, clock, isMember } = options;
  return {
    identity,
    namespace: { community, principal: identity.pubkey },
    upstream,
    publisher,
    // NIP-BA "Session and transport": authorization includes current membership, also for a stored result.
    permits: (channelId) => (identity.channels?.includes(channelId) ?? true) && isMember(channelId) !== false,
    context() {
      const endMs = later(clock.now(), PLAN_TIMEOUT_MS);
      return {
        agent: identity.pubkey,
        community,
        cursors,
        fetch(filters) {
          const timeoutMs = Math.min(QUESTION_TIMEOUT_MS, endMs - clock.now());
          return timeoutMs > 0
            ? upstream.fetch(filters, { timeoutMs })
            : Promise.resolve({ events: [], complete: false });
        },
      };
    },
  };
}
