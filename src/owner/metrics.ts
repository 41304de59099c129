/** The turn metrics of an owner's agents, as the relay has them stored: read page by page, opened, what is none left out. */
import type { EventId, Seconds } from '../model/index.ts';
import type { Filter, VerifiedEvent } from '../nostr/index.ts';
import type { Desk } from './desk.ts';
import { MAX_METRICS, METRIC_PAGE } from './limits.ts';
import { METRIC_KIND, readMetric } from './view/index.ts';
import type { OfAgent } from './view/index.ts';

export interface Metrics {
  readonly metrics: readonly OfAgent[];
  /** Of agents that count, and no metric that can be read. */
  readonly unreadable: number;
  /** False where there are more than are read at once. */
  readonly complete: boolean;
}

/** Rejects with `Failure('relay')` when the relay does not answer. */
export async function readMetrics(desk: Pick<Desk, 'owner' | 'fetch' | 'knows' | 'open'>, since: Seconds): Promise<Metrics> {
  const seen = new Set<EventId>();
  const metrics: OfAgent[] = [];
  let unreadable = 0;
  let until: number | undefined;
  for (;;) {
    const filter: Filter = { kinds: [METRIC_KIND], tags: new Map([['p', [desk.owner]]]), since, limit: METRIC_PAGE, ...(until === undefined ? {} : { until }) };
    const page = await desk.fetch(filter);
    // A relay may give less than it is asked for: only a page without anything new is the end.
    const fresh = page.filter(({ id }) => !seen.has(id));
    const oldest = page.at(-1)?.created_at;
    if (fresh.length === 0 || oldest === undefined) {
      // A second may have more than a page holds, and a relay's page be shorter than ours: the next one begins before it.
      // A relay that does not keep to `until` says nothing new for ever.
      if (oldest === undefined || oldest <= since || (until !== undefined && oldest > until)) return { metrics, unreadable, complete: true };
      until = oldest - 1;
      continue;
    }
    for (const event of fresh) {
      seen.add(event.id);
      if (!isMetric(event, desk.owner) || !(await desk.knows(event.pubkey))) continue;
      const text = await desk.open(event);
      const read = text === undefined ? undefined : readMetric(text);
      if (read?.ok === true) metrics.push({ agent: event.pubkey, metric: read.metric });
      else unreadable += 1;
    }
    if (seen.size >= MAX_METRICS) return { metrics, unreadable, complete: false };
    until = oldest;
  }
}

/** From an agent about itself, to this owner. */
function isMetric({ pubkey, tags }: VerifiedEvent, owner: string): boolean {
  const says = (name: string, value: string): boolean => {
    const found = tags.filter((tag) => tag[0] === name);
    return found.length === 1 && found[0]?.[1] === value;
  };
  return says('p', owner) && says('agent', pubkey);
}
