/**
 * A card on its way to the channel and its edit after it (NIP-AO "Permission Sentinel Cards"). A card is stored before it
 * is sent, its edit before that is sent; the same edit is sent until the relay has it or says no. What a crash leaves
 * open is closed at the next start as `cancelled`: nobody waits for its answer any more.
 *
 * Never: two edits of a card; an edit of a card that the relay refused.
 */
import { CARD_EDIT_KIND, CARD_KIND, cardTags, editTags, parseCard, pendingContent, resolvedContent } from '../../cards/index.ts';
import type { CardFacts, CardResolution } from '../../cards/index.ts';
import { later, pause, within } from '../../model/index.ts';
import type { ChannelId, Clock, Log, Pubkey } from '../../model/index.ts';
import { channelOf } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { CardDesk, CardFate, CardOrder } from '../owner-ports.ts';
import type { Publisher } from '../publish.ts';
import type { Upstream } from '../upstream/index.ts';
import type { CardRows } from './rows.ts';

export interface Cards extends CardDesk {
  /** Closes what an earlier run left open. Resolves when it is known what that is; rejects with the store's `Failure`. */
  recover(): Promise<void>;
  /** Waits for edits on their way, for `graceMs` at most; the next start sends what is left. */
  close(graceMs: number): Promise<void>;
}

export interface CardsOptions {
  readonly owner: Pubkey;
  readonly rows: CardRows;
  readonly publisher: Pick<Publisher, 'compose'>;
  readonly upstream: Pick<Upstream, 'publish'>;
  /** For deadlines. */
  readonly steadyClock: Clock;
  readonly log: Log;
}

/** Buzz's: an attempt at an edit, the pause before the next, and for how long there are any. */
const ATTEMPT_MS = 10_000;
const PAUSE_MS = 2_000;
const WINDOW_MS = 300_000;

interface Shown {
  readonly event: VerifiedEvent;
  readonly channelId: ChannelId;
  readonly card: CardFacts;
  readonly fate: Promise<CardFate>;
}

export function openCards({ owner, rows, publisher, upstream, steadyClock, log }: CardsOptions): Cards {
  const open = new Map<string, Shown>();
  const running = new Set<Promise<void>>();
  const closing = new AbortController();

  /** What goes wrong here is the disk; the row is still there for the next start. */
  function run(work: Promise<void>): void {
    const tracked = work.catch((error: unknown) => {
      log.error('a permission card could not be closed; the next start does', { error: String(error) });
    }).finally(() => running.delete(tracked));
    running.add(tracked);
  }

  async function show(nonce: string, event: VerifiedEvent, byMs: number): Promise<CardFate> {
    try {
      await rows.open(nonce, event);
    } catch (error) {
      log.error('a permission card could not be stored and is not shown', { error: String(error) });
      return 'refused';
    }
    const timeoutMs = byMs - steadyClock.now();
    const outcome = timeoutMs > 0 ? await upstream.publish(event, { timeoutMs }) : undefined;
    if (outcome?.status === 'accepted') return 'shown';
    if (outcome?.status === 'unknown') return 'unanswered';
    if (outcome !== undefined) log.warn('the relay refuses a permission card', { reason: outcome.reason });
    await rows.forget(nonce).catch((error: unknown) => { log.error('a refused permission card could not be forgotten', { error: String(error) }); });
    return 'refused';
  }

  async function end(nonce: string, { event, channelId, card, fate }: Shown, resolution: CardResolution): Promise<void> {
    const edit = publisher.compose({
      kind: CARD_EDIT_KIND, tags: editTags(channelId, event.id), content: resolvedContent(card, event.id, resolution),
    });
    const isStored = await rows.close(nonce, edit);
    if (await fate === 'refused' || !isStored) return rows.forget(nonce);
    return deliver(nonce, edit);
  }

  async function deliver(nonce: string, edit: VerifiedEvent): Promise<void> {
    const endMs = later(steadyClock.now(), WINDOW_MS);
    for (let left = WINDOW_MS; left > 0 && !closing.signal.aborted; left = endMs - steadyClock.now()) {
      const outcome = await upstream.publish(edit, { timeoutMs: Math.min(ATTEMPT_MS, left) });
      if (outcome.status === 'rejected') log.warn('the relay refuses the edit of a permission card', { reason: outcome.reason });
      if (outcome.status !== 'unknown') return rows.forget(nonce);
      await pause(steadyClock, PAUSE_MS, closing.signal);
    }
    log.warn('a permission card may still look open; the next start closes it', { edit: edit.id });
  }

  return {
    async post({ card, channelId, trigger }: CardOrder, timeoutMs) {
      const place = { channelId, owner, ...(trigger === undefined ? {} : { trigger }) };
      const event = publisher.compose({ kind: CARD_KIND, tags: cardTags(place), content: pendingContent(card) });
      const fate = show(card.requestNonce, event, later(steadyClock.now(), timeoutMs));
      open.set(card.requestNonce, { event, channelId, card, fate });
      if (await fate === 'refused') open.delete(card.requestNonce);
      return fate;
    },
    resolve(nonce, resolution) {
      const shown = open.get(nonce);
      if (shown === undefined) return;
      open.delete(nonce);
      run(end(nonce, shown, resolution));
    },
    async recover() {
      for (const { nonce, card: event, edit } of await rows.all()) {
        const parsed = parseCard(event.content);
        const channelId = channelOf(event.tags);
        if (edit !== undefined) run(deliver(nonce, edit));
        else if (!parsed.ok || channelId === undefined) run(rows.forget(nonce));
        else run(end(nonce, { event, channelId, card: parsed.card, fate: Promise.resolve('unanswered') }, { outcome: 'cancelled', chosenOptionId: null }));
      }
    },
    async close(graceMs) {
      if (graceMs > 0) await within(steadyClock, graceMs, Promise.all(running));
      closing.abort();
    },
  };
}
