/**
 * The canary of one agent's connection: stands between the connection and those who subscribe, adds to each subscription a
 * filter for one event that is our own, and sounds them one after the other. Such an event is ephemeral, names its author and
 * nobody else, and has no content: no relay keeps it, no agent is woken by it, no client knows its kind.
 * in: the connection. out: the connection as subscribers see it; what is deaf, and since when.
 */
import { asChannelId, unreachable } from '../../model/index.ts';
import type { ChannelId, Clock, Log, Pubkey } from '../../model/index.ts';
import type { Filter, VerifiedEvent } from '../../nostr/index.ts';
import type { Publisher } from '../publish.ts';
import type { SubscriptionSpec, Upstream } from '../upstream/index.ts';
import { canaryDueMs, ECHO_MS, newCanary, stepCanary } from './machine.ts';
import type { CanaryCommand, CanaryInput } from './machine.ts';
import type { CanaryReport } from './report.ts';

/** Ephemeral by NIP-01, and of no other meaning that is known. */
export const CANARY_KIND = 26_017;

export interface CanaryOptions {
  readonly everyMs: number;
  readonly pubkey: Pubkey;
  readonly publisher: Pick<Publisher, 'compose'>;
  readonly upstream: Pick<Upstream, 'subscribe' | 'unsubscribe' | 'publish' | 'watch' | 'phase' | 'isLimited' | 'isReading' | 'reconnect'>;
  /** For deadlines, and the report. */
  readonly steadyClock: Clock;
  readonly log: Log;
}

export interface Canary {
  /** In the place of the connection, for those who subscribe. */
  readonly upstream: Pick<Upstream, 'subscribe' | 'unsubscribe'>;
  report(): CanaryReport;
  close(): void;
}

export function openCanary({ everyMs, pubkey, publisher, upstream, steadyClock: clock, log }: CanaryOptions): Canary {
  const specs = new Map<string, SubscriptionSpec>();
  let state = newCanary(everyMs, clock.now());
  let cancel: (() => void) | undefined;
  let closed = false;

  function feed(input: CanaryInput): void {
    if (closed) return;
    const { state: next, commands } = stepCanary(state, input, clock.now());
    state = next;
    for (const command of commands) perform(command);
    cancel?.();
    const dueMs = canaryDueMs(state);
    cancel = dueMs === undefined ? undefined : clock.wake(dueMs, () => {
      feed({ type: 'tick', isReading: upstream.isReading(), isLimited: upstream.isLimited() });
    });
  }

  function perform(command: CanaryCommand): void {
    switch (command.type) {
      case 'sound':
        return void sound(command.token, command.channelId);
      case 'reopen': {
        const spec = specs.get(command.id);
        if (spec === undefined) return;
        // Closed first: a relay that has lost it must not take the new one for the old.
        upstream.unsubscribe(command.id);
        return upstream.subscribe(spec);
      }
      case 'end_line':
        log.warn('canary: a subscription is deaf also when it was opened anew; the connection is made anew', { agent: pubkey });
        return upstream.reconnect('a subscription that does not deliver');
      case 'deaf':
        return log.warn('canary: a subscription does not deliver; it is opened anew', { agent: pubkey, subscription: command.id });
      case 'recovered':
        return log.info('canary: a subscription delivers again', { agent: pubkey, subscription: command.id, deafMs: command.deafMs });
      default:
        return unreachable(command);
    }
  }

  async function sound(token: number, channelId: ChannelId | undefined): Promise<void> {
    const tags = [...(channelId === undefined ? [] : [['h', channelId]]), ['p', pubkey]];
    const outcome = await upstream.publish(publisher.compose({ kind: CANARY_KIND, tags, content: '' }), { timeoutMs: ECHO_MS });
    feed({ type: 'answered', token, verdict: outcome.status, ...(outcome.status !== 'accepted' && { reason: outcome.reason }) });
  }

  function withEcho(spec: SubscriptionSpec): SubscriptionSpec {
    return {
      ...spec,
      filters: () => {
        const asked = spec.filters();
        return asked.length === 0 ? asked : [...asked, echoFilter(pubkey, channelAsked(asked))];
      },
      glance: (event) => {
        if (!isCanary(event, pubkey)) return spec.glance?.(event) ?? false;
        feed({ type: 'echo', id: spec.id });
        return true;
      },
    };
  }

  upstream.watch((phase) => { feed({ type: 'line', isUp: phase === 'ready' }); });
  if (upstream.phase() === 'ready') feed({ type: 'line', isUp: true });

  return {
    upstream: {
      subscribe(spec) {
        const sounded = withEcho(spec);
        specs.set(spec.id, sounded);
        upstream.subscribe(sounded);
        const channelId = channelAsked(spec.filters());
        feed({ type: 'opened', id: spec.id, ...(channelId !== undefined && { channelId }) });
      },
      unsubscribe(id) {
        specs.delete(id);
        upstream.unsubscribe(id);
        feed({ type: 'gone', id });
      },
    },
    report() {
      const subs = [...state.subs];
      const refusal = subs.find(([, sub]) => sub.refusal !== undefined)?.[1].refusal;
      return {
        subscriptions: subs.length,
        hearing: subs.filter(([, { heardMs, deaf }]) => heardMs !== undefined && deaf === undefined).length,
        deaf: subs.flatMap(([id, { deaf }]) => (deaf === undefined ? [] : [{ subscription: id, sinceMs: deaf.sinceMs }])),
        deafened: state.deafened, recovered: state.recovered,
        ...(refusal !== undefined && { refusal }),
      };
    },
    close() {
      closed = true;
      cancel?.();
    },
  };
}

/** Alone in its filter, and of our own: a relay that gates kinds by `p` or author lets it pass (Buzz). */
function echoFilter(pubkey: Pubkey, channelId: ChannelId | undefined): Filter {
  return { kinds: [CANARY_KIND], authors: [pubkey], tags: new Map([['p', [pubkey]], ...(channelId === undefined ? [] : [['h', [channelId]] as const])]) };
}

/** The one channel that every filter asks for, where it is one: a relay may serve such a subscription in another way. */
function channelAsked(filters: readonly Filter[]): ChannelId | undefined {
  const channels = filters.map(({ tags }) => tags?.get('h'));
  const [first] = channels;
  return first?.length === 1 && channels.every((one) => one?.length === 1 && one[0] === first[0]) ? asChannelId(first[0] ?? '') : undefined;
}

function isCanary({ kind, pubkey: author }: VerifiedEvent, pubkey: Pubkey): boolean {
  return kind === CANARY_KIND && author === pubkey;
}
