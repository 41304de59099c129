/** A card on its way and its one edit: with a relay that says yes, no, or nothing, and over a crash. */
import { describe, expect, it, vi } from 'vitest';
import { openCardRows } from '../../../src/broker/cards/index.ts';
import { openCards } from '../../../src/broker/cards/index.ts';
import type { Cards } from '../../../src/broker/cards/index.ts';
import type { PublishOutcome } from '../../../src/broker/index.ts';
import { parseCard } from '../../../src/cards/index.ts';
import type { CardFacts } from '../../../src/cards/index.ts';
import { channelId, silentLog } from '../../../src/model/index.ts';
import type { EventId } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { HandClock } from '../../supervisor/hand-clock.ts';
import { message, owner, agent } from '../../supervisor/people.ts';
import { openStore } from '../temp-store.ts';

const CHANNEL = channelId('00000000-0000-4000-8000-000000000001');
const CARD: CardFacts = {
  requestNonce: 'nonce', sessionId: 's', turnId: 't', expiresAt: 1_700_000_300 as CardFacts['expiresAt'], description: 'Run a command',
  options: [{ optionId: 'yes', label: 'Allow' }, { optionId: 'no', label: 'Deny' }],
};
const ORDER = { card: CARD, channelId: CHANNEL, trigger: 'd'.repeat(64) as EventId };
const CANCELLED = { outcome: 'cancelled', chosenOptionId: null } as const;

type Word = PublishOutcome['status'];

interface Bench {
  readonly cards: Cards;
  readonly clock: HandClock;
  readonly store: Store;
  /** Events as they were sent, and for how long each was waited for. */
  readonly sent: { readonly event: VerifiedEvent; readonly timeoutMs: number; readonly rows: number }[];
}

/** The relay's words in order; the last one stays. */
function bench(words: readonly Word[], store = openStore(), community = 'here'): Bench {
  const clock = new HandClock();
  const left = [...words];
  const sent: Bench['sent'] = [];
  const rows = openCardRows(store, { community, agent: agent.pubkey });
  const cards = openCards({
    owner: owner.pubkey, rows, steadyClock: clock, log: silentLog,
    publisher: { compose: ({ kind, tags, content }) => message({ by: agent, kind, tags, content }) },
    upstream: {
      async publish(event, { timeoutMs }) {
        sent.push({ event, timeoutMs, rows: (await rows.all()).length });
        const status = (left.length > 1 ? left.shift() : left[0]) ?? 'unknown';
        return { status, eventId: event.id, reason: 'because' };
      },
    },
  });
  return { cards, clock, store, sent };
}

async function rowsOf({ store }: Bench): Promise<number> {
  return (await openCardRows(store, { community: 'here', agent: agent.pubkey }).all()).length;
}

/** Pushes the clock until `holds`. */
async function until({ clock }: Bench, holds: () => boolean | Promise<boolean>, ms = 2_000): Promise<void> {
  await vi.waitFor(async () => {
    if (await holds()) return;
    clock.push(ms);
    throw new Error('not yet');
  }, { timeout: 30_000, interval: 1 });
}

describe('a card', () => {
  it('is stored before it is sent, and shown when the relay says so', async () => {
    const at = bench(['accepted']);
    expect(await at.cards.post(ORDER, 9_000)).toBe('shown');
    expect(at.sent).toMatchObject([{ timeoutMs: 9_000, rows: 1, event: { kind: 9, tags: [['h', CHANNEL], ['p', owner.pubkey], ['e', ORDER.trigger, '', 'reply']] } }]);
    expect(parseCard(at.sent[0]?.event.content ?? '')).toMatchObject({ ok: true, card: { state: 'pending', requestNonce: 'nonce' } });
    expect(await rowsOf(at)).toBe(1);
  });

  it('that the relay refuses is forgotten, and never edited', async () => {
    const at = bench(['rejected']);
    expect(await at.cards.post(ORDER, 9_000)).toBe('refused');
    at.cards.resolve('nonce', CANCELLED);
    expect(await rowsOf(at)).toBe(0);
    expect(at.sent).toHaveLength(1);
  });

  it('without an answer may be visible', async () => {
    expect(await bench(['unknown']).cards.post(ORDER, 9_000)).toBe('unanswered');
  });

  it('that cannot be stored is not sent', async () => {
    const store = openStore();
    await store.close();
    const at = bench(['accepted'], store);
    expect(await at.cards.post(ORDER, 9_000)).toBe('refused');
    expect(at.sent).toEqual([]);
  });

  it('for which no time is left is not sent', async () => {
    const at = bench(['accepted']);
    expect(await at.cards.post(ORDER, 0)).toBe('refused');
    expect([at.sent.length, await rowsOf(at)]).toEqual([0, 0]);
  });
});

describe('its edit', () => {
  it('is one event, sent until the relay has it, and then forgotten', async () => {
    const at = bench(['accepted', 'unknown', 'unknown', 'accepted']);
    await at.cards.post(ORDER, 9_000);
    at.cards.resolve('nonce', { outcome: 'applied', chosenOptionId: 'yes' });
    at.cards.resolve('nonce', CANCELLED);
    await until(at, async () => at.sent.length === 4 && await rowsOf(at) === 0);
    const [card, ...edits] = at.sent.map(({ event }) => event);
    expect(new Set(edits.map(({ id }) => id)).size).toBe(1);
    expect(edits[0]).toMatchObject({ kind: 40_003, tags: [['h', CHANNEL], ['e', card?.id]] });
    expect(parseCard(edits[0]?.content ?? '')).toMatchObject({ card: { state: 'resolved', outcome: 'applied', chosenOptionId: 'yes', originalEventId: card?.id } });
    expect(at.sent[1]).toMatchObject({ timeoutMs: 10_000, rows: 1 });
  });

  it('that the relay refuses is not sent again', async () => {
    const at = bench(['accepted', 'rejected']);
    await at.cards.post(ORDER, 9_000);
    at.cards.resolve('nonce', CANCELLED);
    await until(at, async () => await rowsOf(at) === 0);
    expect(at.sent).toHaveLength(2);
  });

  it('waits for the word on its card, and is none when that is a no', async () => {
    const at = bench(['rejected']);
    const posted = at.cards.post(ORDER, 9_000);
    at.cards.resolve('nonce', CANCELLED);
    expect(await posted).toBe('refused');
    await until(at, async () => await rowsOf(at) === 0);
    expect(at.sent.map(({ event }) => event.kind)).toEqual([9]);
  });

  it('is tried for five minutes, and by the next start', async () => {
    const at = bench(['accepted', 'unknown']);
    await at.cards.post(ORDER, 9_000);
    at.cards.resolve('nonce', CANCELLED);
    await until(at, () => at.sent.length > 2);
    at.clock.push(300_000);
    await until(at, () => at.clock.armed === 0, 0);
    const tried = at.sent.length;
    expect(await rowsOf(at)).toBe(1);
    const next = bench(['accepted'], at.store);
    await next.cards.recover();
    await until(next, async () => await rowsOf(next) === 0);
    expect(next.sent.map(({ event }) => event.id)).toEqual([at.sent[1]?.event.id]);
    expect(at.sent).toHaveLength(tried);
  });
});

describe('the end of the connection', () => {
  it('is not waited for without grace, and nothing is sent after it', async () => {
    const at = bench(['accepted', 'unknown']);
    await at.cards.post(ORDER, 9_000);
    at.cards.resolve('nonce', CANCELLED);
    await until(at, () => at.sent.length === 2, 0);
    await at.cards.close(0);
    at.clock.push(60_000);
    await until(at, () => at.clock.armed === 0, 0);
    expect([at.sent.length, await rowsOf(at)]).toEqual([2, 1]);
  });
});

describe('after a crash', () => {
  it('a card left open is closed as cancelled, once', async () => {
    const at = bench(['accepted']);
    await at.cards.post(ORDER, 9_000);
    const next = bench(['unknown', 'accepted'], at.store);
    await next.cards.recover();
    await until(next, async () => await rowsOf(next) === 0);
    const [edit, again] = next.sent.map(({ event }) => event);
    expect(again?.id).toBe(edit?.id);
    expect(parseCard(edit?.content ?? '')).toMatchObject({ card: { state: 'resolved', outcome: 'cancelled', originalEventId: at.sent[0]?.event.id } });
  });

  it('between the edit and its sending the same edit is sent', async () => {
    const at = bench(['accepted', 'unknown']);
    await at.cards.post(ORDER, 9_000);
    at.cards.resolve('nonce', { outcome: 'applied', chosenOptionId: 'no' });
    await until(at, () => at.sent.length === 2, 0);
    const next = bench(['accepted'], at.store);
    await next.cards.recover();
    await until(next, async () => await rowsOf(next) === 0);
    expect(next.sent.map(({ event }) => event.id)).toEqual([at.sent[1]?.event.id]);
  });

  it('the cards of another community are left alone', async () => {
    const at = bench(['accepted']);
    await at.cards.post(ORDER, 9_000);
    const other = bench(['accepted'], at.store, 'elsewhere');
    await other.cards.recover();
    expect(other.sent).toEqual([]);
  });
});
