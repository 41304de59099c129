/**
 * What an owner's client does with permission cards: it reads them and their edits in the channel, and decides by a
 * sealed control frame (NIP-AO "Permission Sentinel Cards", `permission_decision`). It knows nothing of skep but
 * `skep/cards`, as any client may.
 */
import type { Event } from 'nostr-tools/pure';
import { CARD_EDIT_KIND, CARD_KIND, parseCard } from '../../cards/index.ts';
import type { ParsedCard } from '../../cards/index.ts';
import type { Client } from './client.ts';

type State<Name extends ParsedCard['state']> = Extract<ParsedCard, { readonly state: Name }>;

export interface ShownCard {
  readonly event: Event;
  readonly card: State<'pending'>;
}

export interface CardEdit {
  readonly event: Event;
  readonly card: State<'resolved'>;
}

/** One opened telemetry frame of the agent. */
export interface Telemetry {
  readonly kind: string;
  readonly authorization?: { readonly requestNonce: string; readonly actionable: boolean; readonly reason?: string };
  readonly payload: unknown;
}

const FRAME_KIND = 24_200;

export class OwnerDesk {
  readonly cards: ShownCard[] = [];
  readonly edits: CardEdit[] = [];
  readonly frames: Telemetry[] = [];
  readonly #client: Client;
  readonly #agent: string;
  readonly #onChange: () => void;
  readonly #seen = new Set<string>();

  constructor(client: Client, place: { readonly agent: string; readonly channelId: string }, onChange: () => void) {
    this.#client = client;
    this.#agent = place.agent;
    this.#onChange = onChange;
    client.follow({ 'kinds': [CARD_KIND, CARD_EDIT_KIND], '#h': [place.channelId] }, (event) => { this.#read(event); });
    // NIP-AO "Client Behavior": frames of the last five minutes.
    client.follow({ 'kinds': [FRAME_KIND], '#p': [client.pubkey], 'since': Math.floor(Date.now() / 1000) - 300 }, (event) => { this.#watch(event); });
  }

  /** The edit of a card, signed by the agent that posted it (NIP-AO "Sentinel authenticity"). */
  editOf({ event }: ShownCard): CardEdit | undefined {
    return this.edits.find(({ card, event: { tags } }) => card.originalEventId === event.id && tags.some(([name, id]) => name === 'e' && id === event.id));
  }

  decide(shown: ShownCard, choice: 'allow' | 'deny', createdAtSec?: number): Promise<Event> {
    const [allow, deny] = shown.card.options;
    const channelId = shown.event.tags.find(([name]) => name === 'h')?.[1] ?? '';
    const { optionId } = choice === 'allow' ? allow : deny;
    return this.order({ type: 'permission_decision', channelId, requestNonce: shown.card.requestNonce, optionId }, createdAtSec);
  }

  /** Any control frame. */
  order(body: object, createdAtSec?: number): Promise<Event> {
    const content = this.#client.seal(this.#agent, JSON.stringify(body));
    const tags = [['p', this.#agent], ['agent', this.#agent], ['frame', 'control']];
    return this.#client.publish(FRAME_KIND, { content, tags, ...(createdAtSec === undefined ? {} : { createdAtSec }) });
  }

  #read(event: Event): void {
    const parsed = parseCard(event.content);
    if (event.pubkey !== this.#agent || this.#seen.has(event.id) || !parsed.ok) return;
    this.#seen.add(event.id);
    if (parsed.card.state === 'pending' && event.kind === CARD_KIND) this.cards.push({ event, card: parsed.card });
    if (parsed.card.state === 'resolved' && event.kind === CARD_EDIT_KIND) this.edits.push({ event, card: parsed.card });
    this.#onChange();
  }

  #watch(event: Event): void {
    if (event.pubkey !== this.#agent || this.#seen.has(event.id)) return;
    this.#seen.add(event.id);
    this.frames.push(JSON.parse(this.#client.open(this.#agent, event.content)) as Telemetry);
    this.#onChange();
  }
}
