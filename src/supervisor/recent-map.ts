/** A map that keeps the entries touched last, so that nothing a stranger can name makes us grow without end. */
export class RecentMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Does not count as a touch. */
  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Returns what had to give way. */
  set(key: Key, value: Value): Value | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return undefined;
    const [oldest] = this.#entries;
    if (oldest !== undefined) this.#entries.delete(oldest[0]);
    return oldest?.[1];
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  /** Not a touch either. */
  entries(): readonly (readonly [Key, Value])[] {
    return [...this.#entries];
  }

  clear(): void {
    this.#entries.clear();
  }

  get size(): number {
    return this.#entries.size;
  }
}
