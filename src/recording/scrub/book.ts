/**
 * Who and what stands in for whom, throughout one scrubbing: keys, event ids, channels, other hex, names. Numbered in
 * the order of first appearance, so that the same fixtures give the same stand-ins. The keys are test keys: their
 * secrets are hashes of public words.
 */
import { hash } from 'node:crypto';
import { channelId, eventId, pubkey } from '../../model/index.ts';
import type { ChannelId, EventId, Pubkey } from '../../model/index.ts';
import { parsePubkey, publicKeyOf, toNpub } from '../../nostr/index.ts';
import { scrubText } from './text.ts';
import { Words } from './words.ts';

interface StandInKey {
  readonly pubkey: Pubkey;
  readonly secretKey: Uint8Array;
}

/** A name as people have them. Another's shape may be what its fixture is about, and is kept. */
const PLAIN_NAME = /^(?=\S)[\p{L}\p{N} .'_-]{1,64}(?<=\S)$/u;
const PLAIN_ADDRESS = /^[\w.-]{1,24}@[\w.-]{1,32}$/;
const PEOPLE = ['Person', 'Visitor', 'Neighbour', 'Passenger'];
const CHANNELS = ['Channel', 'Room', 'Place', 'Corner'];
const HOSTS = ['example', 'invalid', 'test'];

export class Book {
  readonly words = new Words();
  readonly #keys = new Map<string, StandInKey>();
  readonly #ids = new Map<string, EventId>();
  readonly #channels = new Map<string, ChannelId>();
  readonly #hex = new Map<string, string>();
  readonly #names = new Map<string, number>();
  readonly #channelNames = new Map<string, number>();
  /** No stand-in is one of these: what was scrubbed before holds stand-ins, and they may mean somebody else now. */
  readonly #avoided = new Set<string>();
  /** Pubkeys of the fixtures: hex that is one of them means that person wherever it stands. */
  readonly #people = new Set<string>();
  /** The event of an id is made anew by the caller, once. */
  readonly #remake: (id: string) => EventId | undefined;

  constructor(remake: (id: string) => EventId | undefined) {
    this.#remake = remake;
  }

  /** Says that `key` is a person's, before any text is scrubbed. */
  introduce(key: string): void {
    this.#people.add(key);
  }

  /** Says what the fixtures hold of keys, ids, UUIDs and npubs, before anything is scrubbed. */
  avoid(originals: Iterable<string>): void {
    for (const one of originals) this.#avoided.add(one);
  }

  key(key: string): StandInKey {
    return this.#remembered(this.#keys, key, (nth) => {
      const secretKey = new Uint8Array(hash('sha256', `skep stand-in key ${nth}`, 'buffer'));
      const xOnly = publicKeyOf(secretKey);
      if (xOnly === undefined) throw new TypeError('scrub: a hash that is no secret key');
      return { secretKey, pubkey: pubkey(Buffer.from(xOnly).toString('hex')) };
    });
  }

  pubkey(key: string): Pubkey {
    return this.key(key).pubkey;
  }

  eventId(id: string): EventId {
    return this.#remake(id) ?? this.#remembered(this.#ids, id, (nth) => eventId(hash('sha256', `skep stand-in event ${nth}`, 'hex')));
  }

  channel(id: string): ChannelId {
    return this.#remembered(this.#channels, id, (nth) => {
      const hex = hash('sha256', `skep stand-in channel ${nth}`, 'hex');
      return channelId([hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-'));
    });
  }

  text(text: string): string {
    return scrubText(text, this.words, {
      hex: (hex) => this.#hexStandIn(hex),
      uuid: (uuid) => this.channel(uuid),
      npub: (npub) => {
        const parsed = parsePubkey(npub);
        return parsed.ok ? toNpub(this.pubkey(parsed.pubkey)) : undefined;
      },
    });
  }

  personName(name: string): string {
    return this.#plainName(PLAIN_NAME, PEOPLE, this.#names, name);
  }

  channelName(name: string): string {
    return this.#plainName(PLAIN_NAME, CHANNELS, this.#channelNames, name);
  }

  address(nip05: string): string {
    const person = PEOPLE.find((word) => !this.words.has(word))?.toLowerCase();
    const host = HOSTS.find((word) => !this.words.has(word));
    if (person === undefined || host === undefined || !PLAIN_ADDRESS.test(nip05)) return this.text(nip05);
    return `${person}${numbered(this.#names, nip05.toLowerCase())}@${host}.org`;
  }

  #plainName(plain: RegExp, candidates: readonly string[], numbers: Map<string, number>, name: string): string {
    const word = candidates.find((candidate) => !this.words.has(candidate));
    return word === undefined || !plain.test(name) ? this.text(name) : `${word} ${numbered(numbers, name)}`;
  }

  #hexStandIn(hex: string): string {
    if (hex.length === 64 && this.#people.has(hex)) return this.pubkey(hex);
    if (hex.length === 64) return this.eventId(hex);
    return this.#remembered(this.#hex, hex, (nth) => {
      let chance = '';
      for (let block = 0; chance.length < hex.length; block += 1) chance += hash('sha256', `skep stand-in hex ${nth}.${block}`, 'hex');
      return Array.from(hex, (character, at) => {
        const value = Number.parseInt(chance.charAt(at), 16);
        return /\d/.test(character) ? String(value % 10) : 'abcdef'.charAt(value % 6);
      }).join('');
    });
  }

  #remembered<T extends StandInKey | string>(known: Map<string, T>, key: string, make: (nth: string) => T): T {
    const found = known.get(key);
    if (found !== undefined) return found;
    const nth = String(known.size + 1);
    let made = make(nth);
    for (let again = 1; this.#isAvoided(made); again += 1) made = make(`${nth}.${again}`);
    known.set(key, made);
    return made;
  }

  #isAvoided(made: StandInKey | string): boolean {
    if (typeof made === 'string') return this.#avoided.has(made);
    return this.#avoided.has(made.pubkey) || this.#avoided.has(toNpub(made.pubkey));
  }
}

function numbered(numbers: Map<string, number>, name: string): number {
  const number = numbers.get(name) ?? numbers.size + 1;
  numbers.set(name, number);
  return number;
}
