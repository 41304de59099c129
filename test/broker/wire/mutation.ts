/**
 * Seeded damage to JSON: data becomes a tree that can hold what JSON allows and NIP-BA does not, is changed in one to
 * three places, and is written with random spacing and escapes; some bodies are then broken as bytes.
 */
import { membersOf } from './samples.ts';

export class Dice {
  /** How often each kind of damage was done. */
  readonly damage = new Map<string, number>();
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A number in [0, 1); the mulberry32 generator. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }

  /** One of `count` ways to damage `what`, and notes which. */
  kind(what: string, count: number): number {
    const kind = this.below(count);
    const name = `${what} ${kind}`;
    this.damage.set(name, (this.damage.get(name) ?? 0) + 1);
    return kind;
  }

  one<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  happens(chance: number): boolean {
    return this.fraction() < chance;
  }
}

type Tree = string | boolean | null | Numeral | Entries | Tree[];
class Numeral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
class Entries {
  readonly list: { name: string; value: Tree }[] = [];
}
/** A place in a tree: its value can be changed, repeated or taken away. `name` is that of the nearest member. */
interface Place {
  readonly name: string;
  get(): Tree;
  set(value: Tree): void;
  repeat(value: Tree): void;
  remove(): void;
  rename(name: string): void;
}

function treeOf(data: unknown): Tree {
  if (typeof data === 'string' || typeof data === 'boolean' || data === null) return data;
  if (typeof data === 'number' || typeof data === 'bigint') return new Numeral(String(data));
  if (Array.isArray(data)) return data.map(treeOf);
  const entries = new Entries();
  for (const [name, value] of membersOf(data)) {
    entries.list.push({ name, value: treeOf(value) });
  }
  return entries;
}

function placesIn(tree: Tree, name = '', places: Place[] = []): Place[] {
  if (Array.isArray(tree)) {
    for (const [index, value] of tree.entries()) {
      places.push({
        name,
        get: () => tree[index] ?? null,
        set: (next) => void (tree[index] = next),
        repeat: (next) => void tree.push(next),
        remove: () => void tree.splice(index, 1),
        rename: () => undefined,
      });
      placesIn(value, name, places);
    }
  } else if (tree instanceof Entries) {
    for (const entry of tree.list) {
      places.push({
        name: entry.name,
        get: () => entry.value,
        set: (next) => void (entry.value = next),
        repeat: (next) => void tree.list.push({ name: entry.name, value: next }),
        remove: () => void tree.list.splice(tree.list.indexOf(entry), 1),
        rename: (name) => void (entry.name = name),
      });
      placesIn(entry.value, entry.name, places);
    }
  }
  return places;
}

const NUMERALS: readonly [string, ...string[]] = [
  '0', '1', '2', '3', '99', '100', '101', '500', '501', '65535', '65536', '4294967295', '4294967296',
  '9007199254740993', '18446744073709551615', '18446744073709551616', '-0', '-1', '1.0', '1e0', '1E+0', '0.5', '1e400',
  '00', '01', '+1', '1.', '.5', 'NaN', '9'.repeat(400),
];
const LENGTHS: readonly [number, ...number[]] = [
  1, 63, 64, 65, 66, 67, 119, 120, 121, 127, 128, 129, 254, 255, 256, 257, 299, 300, 301, 1999, 2000, 2001,
];
/** For the members whose length is bounded: the bound. One past it is tried as often. */
const BOUNDS: Readonly<Record<string, readonly [number, ...number[]]>> = {
  requestId: [128],
  cursor: [256],
  nextCursor: [256],
  displayName: [120],
  name: [120],
  systemPrompt: [20_000],
  about: [2_000],
  reaction: [66],
  picture: [300],
  runtime: [300],
  provider: [300],
  model: [300],
  turnId: [300],
  kind: [300],
  content: [65_536],
  // With the sample around them: what fills its record, or its frames, to 65,535 bytes.
  value: [65_502, 65_507],
  payload: [65_462, 65_455],
};
const COUNTS: readonly [number, ...number[]] = [0, 1, 2, 3, 4, 49, 50, 51, 100, 101, 255, 256, 257];
const LONG: readonly [number, ...number[]] = [16_384, 16_385, 20_000, 65_534, 65_535, 65_536, 65_537];
const EDGES: readonly [string, ...string[]] = [
  ' ', '\t', '\n', '\u000b', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028', '\u202f', '\u205f', '\u3000',
  '\ufeff', '\u200b', '\u180e', '\u001c', '\u0000',
];
const FILLS: readonly [string, ...string[]] = ['a', 'é', '…', '🐝', '"', '\u0001', 'A', '~', '\u007f'];
const WORDS: readonly [string, ...string[]] = [
  '', ' ', 'core', 'mem/x', 'mem/', 'mem/A', 'online', 'offline', ' online', 'owner-only', 'anyone', 'broker_request',
  'broker_result', 'failed', 'succeeded', 'indeterminate', 'internal', 'outcome_unknown', 'unauthorized', 'sign',
  'publish', 'encrypt', 'decrypt', 'authenticate', 'message.post', 'agents.update', 'model', 'runtime', 'displayName',
  '\ud800', 'x\udc00', '\udc00\ud800', '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  'F'.repeat(64), '0'.repeat(64), '{0b5a8c1e-93d2-4f67-8a10-5e6f7a8b9c0d}', '0B5A8C1E93D24F678A105E6F7A8B9C0D',
  'urn:uuid:0b5a8c1e-93d2-4f67-8a10-5e6f7a8b9c0d', 'URN:UUID:0b5a8c1e-93d2-4f67-8a10-5e6f7a8b9c0d',
  '{0b5a8c1e93d24f678a105e6f7a8b9c0d}', '0b5a8c1e-93d24f67-8a10-5e6f7a8b9c0d',
];
const NAMES: readonly [string, ...string[]] = [
  'requestId', 'protocolVersion', 'action', 'args', 'limit', 'mentions', 'value', 'pubkey', 'name', 'displayName',
  'replayed', 'error', 'outcome', 'message', 'owner', '__proto__', 'constructor', 'toString', '', 'Type', 'x\udc00',
];

/** 255 bytes, the most a slug may have. */
const LONG_SLUG = `mem/${`${'a'.repeat(64)}/`.repeat(3)}${'a'.repeat(56)}`;

function damageText(text: string, dice: Dice): string {
  switch (dice.kind('text', 9)) {
    case 0:
      return dice.one(EDGES) + text;
    case 1:
      return text + dice.one(EDGES) + dice.one(EDGES);
    case 2:
      return text.toUpperCase();
    case 3:
      return text.slice(0, -1);
    case 4:
      return text + dice.one(FILLS);
    case 5:
      return dice.one(FILLS).repeat(dice.one(LENGTHS));
    case 6:
      return dice.happens(0.2) ? dice.one(FILLS).repeat(dice.one(LONG)) : dice.one(WORDS);
    case 7:
      return dice.happens(0.3) ? LONG_SLUG + dice.one(['', 'a']) : `mem/${dice.one(FILLS).repeat(dice.one(LENGTHS))}`;
    default:
      return dice.one(WORDS);
  }
}

function stray(dice: Dice): Tree {
  switch (dice.kind('stray', 7)) {
    case 0:
      return null;
    case 1:
      return dice.happens(0.5);
    case 2:
      return new Numeral(dice.one(NUMERALS));
    case 3:
      return dice.one(WORDS);
    case 4:
      return [];
    case 5:
      return new Entries();
    default: {
      let nest: Tree = 'deep';
      for (let depth = dice.below(30); depth > 0; depth -= 1) nest = [nest];
      return nest;
    }
  }
}

/** A text of the bound of `name`, or of one past it. */
function atBound(name: string, dice: Dice): string | undefined {
  const bounds = BOUNDS[name];
  if (bounds === undefined) return undefined;
  const length = dice.one(bounds) + dice.below(2);
  if (length > 10_000 && dice.happens(0.8)) return undefined;
  const fill = dice.one(['a', 'a', 'é', '🐝']);
  return length > 60_000 ? 'a'.repeat(length) : fill.repeat(length);
}

function damageValue(name: string, value: Tree, dice: Dice): Tree {
  if (dice.happens(0.15)) return stray(dice);
  if (typeof value === 'string') {
    const filled = dice.happens(0.3) ? atBound(name, dice) : undefined;
    return filled ?? damageText(value, dice);
  }
  if (typeof value === 'boolean') return !value;
  if (value instanceof Numeral) return new Numeral(dice.one(NUMERALS));
  if (Array.isArray(value)) {
    const [first = 'x'] = value;
    if (dice.happens(0.3)) return value.toReversed();
    return Array.from({ length: dice.one(COUNTS) }, () => first);
  }
  if (value instanceof Entries) value.list.sort(() => dice.fraction() - 0.5);
  return value;
}

function damage(tree: Tree, dice: Dice): void {
  const places = placesIn(tree);
  const place = places[dice.below(places.length)];
  if (place === undefined) return;
  switch (dice.kind('place', 12)) {
    case 0:
      place.remove();
      break;
    case 1:
      place.repeat(dice.happens(0.5) ? place.get() : stray(dice));
      break;
    case 2:
      place.rename(dice.one(NAMES));
      break;
    case 3:
      place.set(stray(dice));
      break;
    default:
      place.set(damageValue(place.name, place.get(), dice));
  }
}

function write(tree: Tree, dice: Dice, spaced: boolean): string {
  const gap = (): string => (spaced && dice.happens(0.1) ? dice.one([' ', '\n', '\t', '\r', '  ']) : '');
  if (typeof tree === 'string') return quote(tree, dice, spaced);
  if (tree instanceof Numeral) return tree.text;
  if (Array.isArray(tree)) return `[${tree.map((each) => gap() + write(each, dice, spaced) + gap()).join(',')}]`;
  if (!(tree instanceof Entries)) return String(tree);
  const members = tree.list.map(({ name, value }) => {
    return `${gap()}${quote(name, dice, spaced)}${gap()}:${gap()}${write(value, dice, spaced)}${gap()}`;
  });
  return `{${members.join(',')}}`;
}

function quote(text: string, dice: Dice, spaced: boolean): string {
  const plain = JSON.stringify(text);
  if (!spaced || text.length > 3_000 || !dice.happens(0.2)) return plain;
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const bare = (unit: string): string => JSON.stringify(unit).slice(1, -1);
  const units = text.split('').map((unit) => (dice.happens(0.3) ? escape(unit) : bare(unit)));
  return `"${units.join('')}"`;
}

/** At most a byte is wrong with `bytes`, or their encoding is. */
function damageBytes(bytes: Uint8Array, dice: Dice): Uint8Array {
  const at = dice.below(bytes.length);
  switch (dice.kind('bytes', 7)) {
    case 0:
      return Uint8Array.from(bytes, (byte, index) => (index === at ? dice.below(256) : byte));
    case 1:
      return bytes.slice(0, at);
    case 2:
      return Uint8Array.of(...bytes.slice(0, at), dice.below(256), ...bytes.slice(at));
    case 3:
      return Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes);
    case 4:
      return Uint8Array.of(...bytes, ...Buffer.from(dice.one(['x', ' ', '{}', '\0', ',', '}', '"'])));
    case 5:
      return new Uint8Array(Buffer.from(Buffer.from(bytes).toString('utf8'), 'utf16le'));
    default: {
      const bad = dice.one([[0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff], [0xe2, 0x82]]);
      return Uint8Array.of(...bytes.slice(0, at), ...bad, ...bytes.slice(at));
    }
  }
}

/** `data` as a body after up to three changes; one in seven keeps its meaning, one in twenty is broken as bytes. */
export function mutatedBody(data: unknown, dice: Dice): Uint8Array {
  const tree = treeOf(data);
  const changes = dice.happens(1 / 7) ? 0 : 1 + Math.floor(dice.fraction() ** 3 * 3);
  for (let change = 0; change < changes; change += 1) damage(tree, dice);
  const bytes = new TextEncoder().encode(write(tree, dice, dice.happens(0.5)));
  return bytes.length > 0 && bytes.length < 5_000 && dice.happens(1 / 20) ? damageBytes(bytes, dice) : bytes;
}
