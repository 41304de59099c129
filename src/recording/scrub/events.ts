/**
 * Every event of the fixtures, made anew: author, tags, text and time by their stand-ins, signed with the stand-in key.
 * What an event refers to is made before it, so that ids agree through tags, history and expectations.
 */
import type { TurnEvent } from '../../../compiler/index.ts';
import { seconds } from '../../model/index.ts';
import type { EventId } from '../../model/index.ts';
import { OWN_MARK, signEvent } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { OwnerCommand } from '../../supervisor/index.ts';
import { Book } from './book.ts';
import { cardIn, scrubCard, textsOfCard } from './card.ts';

/** Signatures of test keys need no chance, and the same input gives the same bytes. */
const NO_AUX = new Uint8Array(32);
/** The earliest moment of the fixtures becomes this one. */
const START_SEC = 1_700_000_000;
/** Names of tags that decide something, or are of no interest to anyone. Another's name is text. */
const TAG_NAMES: ReadonlySet<string> = new Set([
  OWN_MARK, 'auth', 'client', 'imeta', 'emoji', 'subject', 'alt', 'expiration', 'title', 'name', 'about', 'hidden', 'mention',
]);
const MARKERS: ReadonlySet<string> = new Set(['', 'root', 'reply', 'mention']);

/** What an owner orders: the gate looks for the very word. */
const COMMANDS: ReadonlySet<string> = new Set<OwnerCommand>(['!cancel', '!rotate', '!shutdown']);

export class Events {
  readonly book = new Book((id) => this.#idOf(id));
  readonly #originals = new Map<string, TurnEvent>();
  readonly #made = new Map<string, VerifiedEvent>();
  readonly #ids = new Set<string>();
  readonly #making = new Set<string>();
  #earliestSec = Number.MAX_SAFE_INTEGER;

  /** Before anything is scrubbed: an event of the fixtures. */
  tell(event: TurnEvent): void {
    this.#originals.set(event.id, event);
    this.tellTime(event.created_at);
    this.book.introduce(event.pubkey);
    for (const text of textsIn(event.content)) this.book.words.tell(text);
    for (const tag of event.tags) {
      if (tag[0] === 'p' && /^[0-9a-f]{64}$/i.test(tag[1] ?? '')) this.book.introduce((tag[1] ?? '').toLowerCase());
      for (const part of tag) this.book.words.tell(part);
    }
  }

  tellTime(atSec: number): void {
    this.#earliestSec = Math.min(this.#earliestSec, atSec);
  }

  /** Makes what was told, oldest first: then an event finds what it refers to. */
  makeAll(): void {
    const all = [...this.#originals.values()].sort((a, b) => a.created_at - b.created_at);
    for (const event of all) this.scrubbed(event);
  }

  scrubbed(event: TurnEvent): VerifiedEvent {
    const known = this.#made.get(event.id);
    if (known !== undefined) return known;
    this.#making.add(event.id);
    const { secretKey } = this.book.key(event.pubkey);
    const template = {
      created_at: seconds(this.time(event.created_at)),
      kind: event.kind,
      tags: event.tags.map((tag) => this.#tag(tag)),
      content: this.#content(event.content),
    };
    let made = signEvent(template, secretKey, NO_AUX);
    // Two that differed only in what is replaced by the same must not become one event.
    for (let nth = 1; this.#ids.has(made.id); nth += 1) {
      made = signEvent({ ...template, tags: [...template.tags, ['nonce', String(nth)]] }, secretKey, NO_AUX);
    }
    this.#ids.add(made.id);
    this.#making.delete(event.id);
    this.#made.set(event.id, made);
    return made;
  }

  /** A time, as far from the earliest as it was. */
  time(atSec: number): number {
    return Math.min(START_SEC + (atSec - this.#earliestSec), Number.MAX_SAFE_INTEGER);
  }

  /** What decides something by its form keeps it: commands, and cards. */
  #content(content: string): string {
    if (COMMANDS.has(content.trim())) return content;
    const card = cardIn(content);
    if (card === undefined) return this.book.text(content);
    return scrubCard(card, {
      text: (text) => this.book.text(text), time: (atSec) => this.time(atSec), eventId: (id) => this.book.eventId(id),
    });
  }

  #idOf(id: string): EventId | undefined {
    const event = this.#originals.get(id);
    // Of a circle, which only false ids can make, nobody is made before the other.
    return event === undefined || this.#making.has(id) ? undefined : this.scrubbed(event).id;
  }

  #tag(tag: readonly string[]): readonly string[] {
    const [name = ''] = tag;
    return tag.map((part, index) => {
      if (index === 0) return part.length <= 1 || TAG_NAMES.has(part) ? part : this.book.text(part);
      return name === 'e' && index === 3 && MARKERS.has(part) ? part : this.book.text(part);
    });
  }
}

/** What somebody wrote in a message. */
function textsIn(content: string): readonly string[] {
  if (COMMANDS.has(content.trim())) return [];
  const card = cardIn(content);
  return card === undefined ? [content] : textsOfCard(card);
}
