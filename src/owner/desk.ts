/**
 * The owner's desk: a relay connection as the owner, what comes over it read by the machine of `view`, and control frames
 * on their way out. Reads and decides nothing of its own.
 *
 * The connection is the broker's: it reconnects for ever, answers NIP-42, verifies and de-duplicates, and keeps to what a
 * relay says of its pace. A second one (nostr-tools) would have to learn all that again.
 */
import { normalizeRelayUrl, openUpstream } from '../broker/upstream/index.ts';
import type { Upstream } from '../broker/upstream/index.ts';
import { CARD_EDIT_KIND, CARD_KIND } from '../cards/index.ts';
import { Failure, later, secondsOf, within } from '../model/index.ts';
import type { Clock, Log, Pubkey, Random } from '../model/index.ts';
import type { Filter, VerifiedEvent } from '../nostr/index.ts';
import { controlTemplate } from './control.ts';
import type { Control } from './control.ts';
import type { OwnerKey } from './key.ts';
import { CARD_WINDOW_SEC, FETCH_TIMEOUT_MS, MAX_STORED_CARDS, OPEN_TIMEOUT_MS, PUBLISH_TIMEOUT_MS } from './limits.ts';
import { openTrust } from './trust.ts';
import { cardIn, editIn, FRAME_KIND, FRAME_WINDOW_SEC, INITIAL, isTelemetryFor, nextWakeMs, readTelemetry, step } from './view/index.ts';
import type { Input, Note, View } from './view/index.ts';

export interface DeskOptions {
  readonly relayUrl: string;
  readonly key: OwnerKey;
  readonly agents: readonly Pubkey[];
  /** Whether agents that prove to be this owner's count beside them. */
  readonly others: boolean;
  /** For stamps. */
  readonly clock: Clock;
  /** For deadlines. */
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Every note as it happens. Called from within the desk: does not throw. */
  readonly onNote?: (note: Note) => void;
}

export interface Desk {
  readonly owner: Pubkey;
  readonly relayUrl: string;
  view(): View;
  /** What was told last, oldest first. */
  notes(): readonly Note[];
  agents(): readonly Pubkey[];
  /** Resolves when the relay has handed over what it has stored; rejects with `Failure('relay')` when it does not. */
  ready(): Promise<void>;
  /** What `find` finds first, now or when something has happened; undefined after `timeoutMs`. */
  until<T>(find: (view: View) => T | undefined, timeoutMs: number): Promise<T | undefined>;
  /** Signs, seals and sends. Rejects with `Failure('relay')` when the relay says no; an answer that is lost is none. */
  send(agent: Pubkey, control: Control): Promise<void>;
  /** Whether that agent counts. */
  knows(agent: Pubkey): Promise<boolean>;
  /** Stored events, verified, newest first, of anybody. Rejects with `Failure('relay')` when the relay does not answer. */
  fetch(filter: Filter): Promise<readonly VerifiedEvent[]>;
  /** A sealed text of an agent. */
  open(event: VerifiedEvent): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Throws `Failure('usage')` for what is no URL of a relay. */
export function openDesk(options: DeskOptions): Desk {
  return new OpenDesk(options);
}

type PendingNote = Extract<Note, { readonly type: 'permission_pending' }>;

function createdAt({ permission: { card } }: PendingNote): number {
  return card?.createdAt ?? 0;
}

/** Notes kept for those who wait for an answer. */
const MAX_NOTES = 256;

class OpenDesk implements Desk {
  readonly owner: Pubkey;
  readonly #options: DeskOptions;
  readonly #upstream: Upstream;
  readonly #trust;
  readonly #caughtUp: Promise<unknown>;
  readonly #lookers = new Set<() => void>();
  #view: View = INITIAL;
  #notes: Note[] = [];
  /** Requests among what the relay has stored, which comes newest first; that one has ended is only known behind it. */
  #stored: PendingNote[] | undefined = [];
  #cancelWake = (): void => {};
  #followsEdits = false;
  #closed = false;

  constructor(options: DeskOptions) {
    const { key, agents: named, others, clock, steadyClock, random, log } = options;
    const relay = normalizeRelayUrl(options.relayUrl);
    if (!relay.ok) throw new Failure('usage', relay.detail);
    this.#options = options;
    this.owner = key.pubkey;
    this.#upstream = openUpstream({
      url: relay.url, pubkey: key.pubkey, clock: steadyClock, random, log,
      signAuth: (challenge, relayUrl) => key.sign({
        kind: AUTH_KIND, created_at: secondsOf(clock.now()), content: '', tags: [['relay', relayUrl], ['challenge', challenge]],
      }),
    });
    const profile = async (agent: Pubkey): Promise<VerifiedEvent | undefined> => {
      const filter = { kinds: [PROFILE_KIND], authors: [agent], limit: 1 };
      return (await this.#upstream.fetch([filter], { timeoutMs: FETCH_TIMEOUT_MS })).events[0];
    };
    this.#trust = openTrust({ owner: key.pubkey, named, others, profile, clock: steadyClock });
    this.#caughtUp = this.#follow();
  }

  get relayUrl(): string {
    return this.#upstream.url;
  }

  view(): View {
    return this.#view;
  }

  notes(): readonly Note[] {
    return this.#notes;
  }

  agents(): readonly Pubkey[] {
    return this.#trust.agents();
  }

  async ready(): Promise<void> {
    const waited = await within(this.#options.steadyClock, OPEN_TIMEOUT_MS, this.#caughtUp);
    if (waited.status === 'settled') return;
    const why = this.#upstream.lastError();
    throw new Failure('relay', `${this.relayUrl}: the relay did not answer within ${OPEN_TIMEOUT_MS / 1_000} s${why === undefined ? '' : `: ${why}`}`);
  }

  until<T>(find: (view: View) => T | undefined, timeoutMs: number): Promise<T | undefined> {
    let look = (): void => {};
    const found = new Promise<T>((resolve) => {
      look = () => {
        const value = find(this.#view);
        if (value !== undefined) resolve(value);
      };
    });
    this.#lookers.add(look);
    look();
    return within(this.#options.steadyClock, timeoutMs, found)
      .then((waited) => (waited.status === 'settled' ? waited.value : undefined))
      .finally(() => this.#lookers.delete(look));
  }

  async send(agent: Pubkey, control: Control): Promise<void> {
    const { key, clock } = this.#options;
    const sealed = await key.seal(agent, JSON.stringify(control));
    const event = await key.sign(controlTemplate(agent, sealed, secondsOf(clock.now())));
    const outcome = await this.#upstream.publish(event, { timeoutMs: PUBLISH_TIMEOUT_MS });
    if (outcome.status === 'rejected') throw new Failure('relay', `${this.relayUrl}: the relay refuses the ${control.type}: ${outcome.reason}`);
  }

  knows(agent: Pubkey): Promise<boolean> {
    return this.#trust.knows(agent);
  }

  async fetch(filter: Filter): Promise<readonly VerifiedEvent[]> {
    const { events, complete } = await this.#upstream.fetch([filter], { timeoutMs: OPEN_TIMEOUT_MS });
    if (!complete) throw new Failure('relay', `${this.relayUrl}: the relay did not answer`);
    return events;
  }

  open(event: VerifiedEvent): Promise<string | undefined> {
    return this.#options.key.open(event.pubkey, event.content);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelWake();
    await this.#upstream.close();
  }

  /** What is for one reader alone is never asked for together with what belongs to channels. */
  async #follow(): Promise<void> {
    const { clock, agents, others } = this.#options;
    const since = (windowSec: number): number => secondsOf(clock.now()) - windowSec;
    const toMe = new Map([['p', [this.owner]]]);
    const authors = others ? {} : { authors: agents };
    await Promise.all([
      // NIP-AO "Client Behavior", to the letter.
      this.#subscribe('owner-frames', () => [{ kinds: [FRAME_KIND], tags: toMe, since: since(FRAME_WINDOW_SEC) }], (event) => this.#frame(event)),
      this.#subscribe('owner-cards', () => [{ kinds: [CARD_KIND], ...authors, tags: toMe, since: since(CARD_WINDOW_SEC), limit: MAX_STORED_CARDS }], (event) => this.#card(event)),
    ]);
    this.#followsEdits = true;
    await this.#followEdits();
    const stored = (this.#stored ?? []).toSorted((one, other) => createdAt(one) - createdAt(other));
    this.#stored = undefined;
    const waiting = [...this.#view.permissions.values()].filter(({ status }) => status === 'pending');
    for (const note of stored) {
      const { agent, nonce } = note.permission;
      if (waiting.some((one) => one.agent === agent && one.nonce === nonce)) this.#options.onNote?.(note);
    }
  }

  /** The edits of the cards that wait, asked for by name; anew with each card: one that came before is stored. */
  async #followEdits(): Promise<void> {
    const waiting = [...this.#view.permissions.values()].flatMap(({ status, card }) => (status === 'pending' && card !== undefined ? [card.eventId] : []));
    if (waiting.length === 0) return;
    await this.#subscribe('owner-edits', () => [{ kinds: [CARD_EDIT_KIND], tags: new Map([['e', waiting]]) }], async (event) => {
      const edit = editIn(event);
      if (edit !== undefined && await this.#trust.knows(edit.agent)) this.#feed(edit);
    });
  }

  /** Resolves at the first EOSE. */
  #subscribe(id: string, filters: () => readonly Filter[], onEvent: (event: VerifiedEvent) => Promise<void>): Promise<void> {
    return new Promise((onEose) => {
      this.#upstream.subscribe({ id, filters, onEvent, onEose });
    });
  }

  async #frame(event: VerifiedEvent): Promise<void> {
    const { clock, key, log } = this.#options;
    if (!isTelemetryFor(event, this.owner, secondsOf(clock.now())) || !(await this.#trust.knows(event.pubkey))) return;
    const plaintext = await key.open(event.pubkey, event.content).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      log.warn('owner: a frame could not be opened', { agent: event.pubkey, reason: error.message });
      return undefined;
    });
    const read = plaintext === undefined ? undefined : readTelemetry(plaintext);
    if (read?.ok !== true) {
      log.debug('owner: a frame that cannot be read', { agent: event.pubkey });
      return;
    }
    for (const one of read.events) this.#feed({ type: 'telemetry', agent: event.pubkey, event: one });
  }

  async #card(event: VerifiedEvent): Promise<void> {
    const card = cardIn(event, this.owner);
    if (card === undefined || !(await this.#trust.knows(card.agent))) return;
    this.#feed(card);
    if (this.#followsEdits) void this.#followEdits();
  }

  #tell(note: Note): void {
    if (this.#stored !== undefined && note.type === 'permission_pending') this.#stored.push(note);
    else this.#options.onNote?.(note);
  }

  #feed(input: Input): void {
    if (this.#closed) return;
    const { clock, steadyClock } = this.#options;
    const { view, notes } = step(this.#view, input, clock.now());
    this.#view = view;
    this.#notes = [...this.#notes, ...notes].slice(-MAX_NOTES);
    for (const note of notes) this.#tell(note);
    for (const look of this.#lookers) look();
    this.#cancelWake();
    const wakeMs = nextWakeMs(view);
    // Deadlines are stamps of agents: how long is left is asked of the clock they are compared with.
    if (wakeMs !== undefined) this.#cancelWake = steadyClock.wake(later(steadyClock.now(), Math.max(wakeMs - clock.now(), 0)), () => this.#feed({ type: 'tick' }));
  }
}

const PROFILE_KIND = 0;
const AUTH_KIND = 22_242;
