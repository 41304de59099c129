/**
 * Asking a relay for what comes behind a cursor (NIP-AP "Current version and history"), also one that does not know
 * `before_id`: it answers with what is already known, or refuses. Then the second of the cursor is read on its own, and
 * what is older after it. Nothing is said to be whole that this relay may have cut short.
 */
import type { FetchResult } from '../broker/ports.ts';
import { newestFirst } from '../nostr/index.ts';
import type { PagedFilter, VerifiedEvent } from '../nostr/index.ts';

/** One REQ, in bounded time; never rejects. */
export type Ask = (filters: readonly PagedFilter[]) => Promise<FetchResult>;

/** `isUnpageable`: the relay has answered, and more of one second than it gives at once may lie there. */
export type Answer = FetchResult & { readonly isUnpageable?: true };

/** Of one second; a subject that has more of them is not read to its end on a relay without the cursor. */
const MAX_TIES = 500;

export class Paging {
  /** The most this relay has given for one filter: it does not cut lower than that. */
  #most = 0;

  async query(filters: readonly PagedFilter[], ask: Ask): Promise<Answer> {
    const plain = filters.filter(({ beforeId }) => beforeId === undefined);
    const answers: Answer[] = plain.length === 0 ? [] : [await this.#look(plain, ask)];
    for (const filter of filters) if (filter.beforeId !== undefined) answers.push(await this.#behind(filter, ask));
    return {
      events: answers.flatMap(({ events }) => events),
      complete: answers.every(({ complete }) => complete),
      ...(answers.some(({ isUnpageable }) => isUnpageable) && { isUnpageable: true }),
    };
  }

  async #behind(filter: PagedFilter, ask: Ask): Promise<Answer> {
    const { beforeId, until = 0, ...rest } = filter;
    const isBehind = ({ created_at, id }: VerifiedEvent): boolean => created_at < until || (created_at === until && id > (beforeId ?? ''));
    const asked = await this.#look([filter], ask);
    const found = asked.events.filter(isBehind);
    if (asked.complete && (asked.events.length === 0 || found.length > 0)) return { events: found, complete: true };
    const ties = await this.#look([{ ...rest, since: until, until, limit: MAX_TIES }], ask);
    if (!ties.complete) return { events: [], complete: false };
    const older = until === 0 ? { events: [], complete: true } : await this.#look([{ ...rest, until: until - 1 }], ask);
    if (!older.complete) return { events: [], complete: false };
    // The answer as it came: where the relay has repeated itself for once, asking again helps.
    if (!await this.#gives(ties.events.length + 1, filter, ask)) return { ...asked, isUnpageable: true };
    return { events: [...ties.events.filter(isBehind), ...older.events].sort(newestFirst), complete: true };
  }

  /** Whether it is known that this relay gives as many for one filter; where it is not, whatever this author has tells. */
  async #gives(events: number, { authors }: PagedFilter, ask: Ask): Promise<boolean> {
    if (events > MAX_TIES) return false;
    if (this.#most < events && authors !== undefined) await this.#look([{ authors, limit: MAX_TIES }], ask);
    return this.#most >= events;
  }

  async #look(filters: readonly PagedFilter[], ask: Ask): Promise<FetchResult> {
    const answer = await ask(filters);
    if (filters.length === 1) this.#most = Math.max(this.#most, answer.events.length);
    // A page of nothing but what was not asked for is no empty one, and NIP-AP lets that alone be the end.
    return answer.unbounded === true && answer.events.length === 0 ? { ...answer, complete: false } : answer;
  }
}
