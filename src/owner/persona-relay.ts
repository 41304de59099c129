/**
 * The relay of `src/persona` over the broker's connection, as the owner: what an owner's verbs and an agent's start read
 * and write. Every answer comes within `QUERY_TIMEOUT_MS` or `STORE_TIMEOUT_MS`, and nothing rejects.
 *
 * Over WebSocket and not Buzz's HTTP bridge: every relay has the one, `before_id` is asked for in both (NIP-AP), and the
 * connection already reconnects, authenticates, verifies, and keeps to a relay's pace.
 */
import { normalizeRelayUrl, openUpstream } from '../broker/upstream/index.ts';
import { Failure, later, secondsOf } from '../model/index.ts';
import type { Clock, Log, Random } from '../model/index.ts';
import type { Filter } from '../nostr/index.ts';
import type { PersonaRelay } from '../persona/index.ts';
import type { OwnerKey } from './key.ts';
import { QUERY_TIMEOUT_MS, STORE_TIMEOUT_MS } from './limits.ts';
import { Paging } from './paging.ts';

export interface PersonaRelayOptions {
  readonly relayUrl: string;
  /** Signs the AUTH event and nothing else here. Not closed with the relay. */
  readonly key: Pick<OwnerKey, 'pubkey' | 'sign'>;
  /** For stamps. */
  readonly clock: Clock;
  /** For deadlines. */
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface OwnerRelay extends PersonaRelay {
  readonly url: string;
  /** Calls back when the relay may have something new under the filter: a live event, or a connection made anew. */
  follow(filter: Filter, onNews: () => void): void;
  /** Why the relay did not answer in full, as far as it is known; for people. */
  trouble(): string | undefined;
  /** Settles what waits. Twice is once. */
  close(): Promise<void>;
}

const AUTH_KIND = 22_242;
const UNPAGEABLE = 'the relay does not know before_id, and may hold more events of one second than it gives at once';

/** Begins to connect at once. Throws `Failure('usage')` for what is no URL of a relay. */
export function openPersonaRelay({ relayUrl, key, clock, steadyClock, random, log }: PersonaRelayOptions): OwnerRelay {
  const relay = normalizeRelayUrl(relayUrl);
  if (!relay.ok) throw new Failure('usage', relay.detail);
  const upstream = openUpstream({
    url: relay.url, pubkey: key.pubkey, clock: steadyClock, random, log,
    signAuth: (challenge, url) => key.sign({ kind: AUTH_KIND, created_at: secondsOf(clock.now()), content: '', tags: [['relay', url], ['challenge', challenge]] }),
  });
  const paging = new Paging();
  let isUnpageable = false;
  return {
    url: upstream.url,
    async query(filters) {
      // The time is for all that one question takes.
      const endMs = later(steadyClock.now(), QUERY_TIMEOUT_MS);
      const answer = await paging.query(filters, (asked) => upstream.fetch(asked, { timeoutMs: Math.max(0, endMs - steadyClock.now()) }));
      isUnpageable = answer.isUnpageable === true;
      return { events: answer.events, complete: answer.complete };
    },
    publish: (event) => upstream.publish(event, { timeoutMs: STORE_TIMEOUT_MS }),
    follow(filter, onNews) {
      let isFirst = true;
      upstream.subscribe({
        id: 'persona-news',
        // What is stored is read when it is asked for; one event, because some relays take a limit of 0 for none.
        filters: () => [{ ...filter, limit: 1 }],
        onEvent: (_, stored) => { if (!stored) onNews(); },
        onEose: () => {
          if (!isFirst) onNews();
          isFirst = false;
        },
      });
    },
    trouble: () => (isUnpageable ? UNPAGEABLE : upstream.lastError()),
    close: () => upstream.close(),
  };
}
