/**
 * Stand-ins for words. A stand-in has the shape of its word and holds no word of four letters or more of any text that
 * is scrubbed with it: so all texts are told first.
 */
import { classOf } from './classes.ts';

/** A word is a run of letters, of digits, or of pictures; as the source of a pattern. */
export const WORD = '\\p{L}+|\\p{N}+|(?:(?=\\p{S})[\\u{10000}-\\u{10ffff}])+';
const WORDS = new RegExp(WORD, 'gu');
/** A shorter word is in every text; a longer one cannot be met by chance. */
const SHORTEST = 4;
const LONGEST = 32;
/** Tries for a stand-in that is not taken, not the word itself, and no other of the texts. */
const TRIES = 64;
const BEST = 7;

export class Words {
  readonly #original = new Set<string>();
  readonly #standIns = new Map<string, string>();
  /** Different words have different stand-ins, as far as there are any: or two messages might become the same. */
  readonly #taken = new Set<string>();

  /** Words of `text` will not be in any stand-in. */
  tell(text: string): void {
    for (const [word] of text.matchAll(WORDS)) this.#original.add(word.toLowerCase());
  }

  /** Whether a told text has this word, in any case. */
  has(word: string): boolean {
    return this.#original.has(word.toLowerCase());
  }

  /** The same for the same word in whatever case; each letter in the case of the word's. */
  standIn(word: string): string {
    const key = word.toLowerCase().length === word.length ? word.toLowerCase() : word;
    const shape = Array.from(word, (scalar) => (classOf(scalar)?.letters ?? [scalar]));
    const lowerShape = Array.from(key, (scalar) => (classOf(scalar)?.letters ?? [scalar]));
    const known = this.#standIns.get(key) ?? this.#make(key, lowerShape);
    this.#standIns.set(key, known);
    this.#taken.add(known);
    // A capital's letters are in the order of the small ones.
    return Array.from(known, (scalar, index) => {
      const place = lowerShape[index]?.indexOf(scalar) ?? -1;
      const letters = shape[index] ?? [];
      return place < 0 ? scalar : (letters[place % letters.length] ?? scalar);
    }).join('');
  }

  #make(key: string, shape: readonly (readonly string[])[]): string {
    const seed = this.#standIns.size + 1;
    let best = { made: '', merit: -1 };
    for (let attempt = 0; attempt < TRIES && best.merit < BEST; attempt += 1) {
      const made = this.#compose(shape, seed + attempt * 0x9e37);
      const merit = (this.#taken.has(made) ? 0 : 4) + (made === key ? 0 : 2) + (this.#original.has(made) ? 0 : 1);
      if (merit > best.merit) best = { made, merit };
    }
    // A short one may have to be another short one; a long one is never what anybody wrote.
    if (shape.length >= SHORTEST && this.#original.has(best.made)) throw new TypeError('scrub: found no stand-in for a word');
    return best.made;
  }

  /** Letter by letter, so that no told word stands at the end of what there is so far. */
  #compose(shape: readonly (readonly string[])[], seed: number): string {
    const made: string[] = [];
    let state = seed >>> 0;
    for (const [position, letters] of shape.entries()) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const first = pick(letters, position, state);
      for (let step = 0; step < letters.length; step += 1) {
        made[position] = letters[(first + step) % letters.length] ?? '';
        if (!this.#endsInWord(made)) break;
      }
    }
    return made.join('');
  }

  #endsInWord(made: readonly string[]): boolean {
    let tail = '';
    for (let back = 1; back <= Math.min(made.length, LONGEST); back += 1) {
      tail = `${made[made.length - back] ?? ''}${tail}`;
      if (back >= SHORTEST && this.#original.has(tail)) return true;
    }
    return false;
  }
}

/** Consonants and vowels in turn, so that people can read a scrubbed text aloud and compare. */
function pick(letters: readonly string[], position: number, chance: number): number {
  const vowels = 5;
  const consonants = letters.length - vowels;
  if (letters.length < 15) return (chance >>> 8) % letters.length;
  return position % 2 === 0 ? (chance >>> 8) % consonants : consonants + ((chance >>> 8) % vowels);
}
