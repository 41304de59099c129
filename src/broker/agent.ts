/**
 * One identity inside the broker: who it is, what it may, and how it reads and writes on the relay. No key is held
 * here; the publisher signs through the keyring.
 */
import { later, secondsOf } from '../model/index.ts';
import type { ChannelId, Clock, Log } from '../model/index.ts';
import type { ActionContext, Cursors } from './actions/index.ts';
import type { Feed } from './feed/index.ts';
import type { Namespace } from './journal/index.ts';
import type { Keyring } from './keyring.ts';
import { openLines } from './lines.ts';
import type { Registry } from './managed/index.ts';
import { openMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import type { AgentIdentity } from './ports.ts';
import type { Publisher } from './publish.ts';
import type { Session } from './sessions.ts';
import { openSignals } from './signals/index.ts';
import type { Signals } from './signals/index.ts';
import { openStoredMemory } from './stored-memory.ts';
import type { StoredMemory } from './stored-memory.ts';
import { openTelemetry } from './telemetry/index.ts';
import type { Telemetry } from './telemetry/index.ts';
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
  canaryMs,
}: AgentIdentity): PublicIdentity {
  return {
    name,
    pubkey,
    owner,
    subscribe,
    ...(attestation === undefined ? {} : { attestation }),
    ...(channels === undefined ? {} : { channels }),
    ...(canaryMs !== undefined && { canaryMs }),
  };
}

export interface Agent {
  readonly identity: PublicIdentity;
  readonly namespace: Namespace;
  readonly upstream: Upstream;
  readonly publisher: Publisher;
  readonly memory: StoredMemory;
  readonly telemetry: Telemetry;
  readonly metrics: Metrics;
  readonly signals: Signals;
  /**
   * Configured, where channels are, and not known to be left. As long as membership is not known the relay decides, at
   * each read and publication.
   */
  permits(channelId: ChannelId): boolean;
  /** An action of one session. */
  begin(session: Pick<Session, 'turn'>): Work;
}

/** One action under way. */
export interface Work {
  /** What its plan may know and read. All its questions together end within `PLAN_TIMEOUT_MS`. */
  readonly context: ActionContext;
  /** The plan has done its part: whatever is still to be asked has `QUESTION_TIMEOUT_MS` from now. */
  settled(): void;
  /** Others may work on the same record again. */
  end(): void;
}

export interface AgentOptions {
  readonly identity: PublicIdentity;
  readonly community: string;
  readonly upstream: Upstream;
  readonly publisher: Publisher;
  readonly keyring: Keyring;
  readonly cursors: Cursors;
  readonly managed: Registry;
  /** For stamps. */
  readonly clock: Clock;
  /** For deadlines. */
  readonly steadyClock: Clock;
  readonly log: Log;
  readonly isMember: Feed['isMember'];
}

/** Planning and one publication (10 s) together stay below the time a caller waits for its flight (20 s). */
const PLAN_TIMEOUT_MS = 8_000;
const QUESTION_TIMEOUT_MS = 5_000;

export function openAgent(options: AgentOptions): Agent {
  const { identity, community, upstream, publisher, keyring, cursors, managed, clock, steadyClock, log, isMember } = options;
  const { pubkey, owner, attestation } = identity;
  const lines = openLines(steadyClock);
  const withOwner = {
    seal: (plaintext: string) => keyring.seal(pubkey, owner, plaintext),
    open: (payload: string) => keyring.open(pubkey, owner, payload),
    engramAddress: (slug: string) => keyring.engramAddress(pubkey, owner, slug),
  };
  const telemetry = openTelemetry({
    pubkey, owner, seal: withOwner.seal, publisher, ready: () => upstream.phase() === 'ready', clock, steadyClock, log,
  });
  return {
    identity,
    namespace: { community, principal: pubkey },
    upstream,
    publisher,
    memory: openStoredMemory(keyring, pubkey),
    telemetry,
    metrics: openMetrics({
      pubkey, owner, seal: withOwner.seal, sign: (template) => keyring.sign(pubkey, template), upstream, steadyClock, log,
    }),
    signals: openSignals({ publisher, upstream, steadyClock }),
    // NIP-BA "Session and transport": authorization includes current membership, also for a stored result.
    permits: (channelId) => (identity.channels?.includes(channelId) ?? true) && isMember(channelId) !== false,
    begin(session) {
      let endMs = later(steadyClock.now(), PLAN_TIMEOUT_MS);
      const left = (): number => endMs - steadyClock.now();
      const exits: (() => void)[] = [];
      const context: ActionContext = {
        agent: pubkey,
        owner,
        ...(attestation === undefined ? {} : { attestation }),
        community,
        withOwner,
        turn: () => session.turn(),
        telemetry,
        cursors,
        managed,
        log,
        now: () => secondsOf(clock.now()),
        async alone(address) {
          const leave = await lines.enter(address, left());
          if (leave !== undefined) exits.push(leave);
          return leave !== undefined;
        },
        fetch(filters) {
          const timeoutMs = Math.min(QUESTION_TIMEOUT_MS, left());
          return timeoutMs > 0
            ? upstream.fetch(filters, { timeoutMs })
            : Promise.resolve({ events: [], complete: false });
        },
      };
      return {
        context,
        settled() {
          endMs = later(steadyClock.now(), QUESTION_TIMEOUT_MS);
        },
        end() {
          for (const leave of exits.splice(0)) leave();
        },
      };
    },
  };
}
