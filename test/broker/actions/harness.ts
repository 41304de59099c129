/** Plans on a relay in memory. */
import { openKeyring } from '../../../src/broker/keyring.ts';
import { openCursors } from '../../../src/broker/actions/index.ts';
import type { ActionContext, Decision } from '../../../src/broker/actions/index.ts';
import { decide } from '../../../src/broker/actions/index.ts';
import type { Args } from '../../../src/broker/wire/index.ts';
import { secondsOf, silentLog } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { systemRandom } from '../../../src/system/index.ts';
import { HeldClock } from '../clock.ts';
import { FakeRelay, RELAY_URL } from '../fake-relay.ts';
import { AGENT, CHANNEL, OWNER, SIBLING } from '../people.ts';

export interface Bench {
  readonly relay: FakeRelay;
  readonly clock: HeldClock;
  readonly context: ActionContext;
}

export function bench(): Bench {
  const relay = new FakeRelay();
  const clock = new HeldClock();
  const upstream = relay.open();
  const keyring = openKeyring([AGENT, SIBLING], systemRandom);
  return {
    relay,
    clock,
    context: {
      agent: AGENT.pubkey,
      owner: OWNER.pubkey,
      withOwner: {
        seal: (plaintext) => keyring.seal(AGENT.pubkey, OWNER.pubkey, plaintext),
        open: (payload) => keyring.open(AGENT.pubkey, OWNER.pubkey, payload),
        engramAddress: (slug) => keyring.engramAddress(AGENT.pubkey, OWNER.pubkey, slug),
      },
      turn: () => undefined,
      telemetry: {
        draft: () => undefined,
        reserve: () => ({ accepted: 0, take: () => undefined, giveBack: () => undefined }),
      },
      now: () => secondsOf(clock.now()),
      log: silentLog,
      alone: () => Promise.resolve(true),
      community: RELAY_URL,
      cursors: openCursors({ clock, keyring }),
      managed: {
        hold: () => Promise.resolve('orphan'),
        provision: () => { throw new TypeError('nothing is made here'); },
        aftermath: () => [],
      },
      fetch: (filters) => upstream.fetch(filters, { timeoutMs: 1_000 }),
    },
  };
}

export interface Page {
  readonly ids: readonly string[];
  readonly nextCursor?: string;
}

/** One page, or the code of its refusal. */
export async function read(context: ActionContext, args: Partial<Args<'channel.read'>> = {}): Promise<Page | string> {
  const decision: Decision = await decide({ action: 'channel.read', requestId: 'r', args: { channelId: CHANNEL, ...args } }, context);
  if (decision.type === 'refuse') return decision.code;
  const { messages, nextCursor } = decision.verdict.outcome;
  return { ids: messages.map(({ id }) => id), ...(nextCursor === undefined ? {} : { nextCursor }) };
}

/** Every page of a traversal; throws for a refusal or one that does not end. */
export async function readAll(context: ActionContext, args: Partial<Args<'channel.read'>>): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | undefined; pages.length < 200;) {
    const page = await read(context, { ...args, ...(cursor === undefined ? {} : { cursor }) });
    if (typeof page === 'string') throw new TypeError(page);
    pages.push(page);
    cursor = page.nextCursor;
    if (cursor === undefined) return pages;
  }
  throw new TypeError('a traversal without end');
}

export function idsOf(events: readonly VerifiedEvent[]): readonly string[] {
  return [...events].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
}
