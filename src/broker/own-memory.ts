/**
 * What skep itself remembers in an agent's memory, between the agent and its owner (NIP-AE): read and written as the
 * agent's own `storage.get` and `storage.put` are, under the same lock of a record. Writing what stands there already is
 * writing nothing, so that whoever does not know what became of a write may do it again.
 */
import { seconds } from '../model/index.ts';
import { ENGRAM_KIND, engramBody } from '../nostr/index.ts';
import { MAX_AHEAD_SEC, readEngramHead } from './actions/index.ts';
import type { ActionContext } from './actions/index.ts';
import type { Agent } from './agent.ts';
import type { MemoryDesk } from './owner-ports.ts';

export function openOwnMemory(agent: Agent): MemoryDesk {
  async function during<T>(work: (context: ActionContext) => Promise<T>): Promise<T> {
    const begun = agent.begin({ turn: () => undefined });
    try {
      return await work(begun.context);
    } finally {
      begun.end();
    }
  }

  return {
    read: (slug) => during(async (context) => {
      const dTag = context.withOwner.engramAddress(slug);
      const reading = dTag === undefined ? undefined : await readEngramHead(dTag, context);
      return reading?.status === 'read' ? { ok: true, value: reading.head?.value } : { ok: false };
    }),
    write: (slug, value) => during(async (context) => {
      const { withOwner, owner } = context;
      const dTag = withOwner.engramAddress(slug);
      if (dTag === undefined || !(await context.alone(`${ENGRAM_KIND}:${dTag}`))) return 'unknown';
      const reading = await readEngramHead(dTag, context);
      if (reading.status === 'unreadable') return 'unknown';
      if (reading.head?.value === value) return 'stored';
      const { newestSec = -1 } = reading;
      // Far ahead is a conflict and is not outrun, as for `storage.put`.
      const sealing = newestSec > context.now() + MAX_AHEAD_SEC ? undefined : withOwner.seal(engramBody(slug, value));
      if (sealing?.ok !== true) return 'unknown';
      const event = agent.publisher.compose({
        kind: ENGRAM_KIND, tags: [['d', dTag], ['p', owner]], content: sealing.payload, notBefore: seconds(newestSec + 1),
      });
      return (await agent.publisher.publish(event)).status === 'accepted' ? 'stored' : 'unknown';
    }),
  };
}
