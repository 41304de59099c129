/**
 * The profile of a managed agent (kind 0): its name, and the owner's word that it is theirs, so that everybody can see
 * whose it is. Made when there is none, and when the agent was given another name; what it wrote there itself stays.
 * Best effort: no action waits for it, and the next start looks again.
 */
import { seconds } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import { attestationIn, newestFirst } from '../nostr/index.ts';
import type { Tag, VerifiedEvent } from '../nostr/index.ts';
import type { ManagedAgent } from './ports.ts';
import type { Publisher } from './publish.ts';
import type { Upstream } from './upstream/index.ts';

export interface ProfileOptions {
  readonly agent: ManagedAgent;
  readonly attestation: Tag;
  readonly renamed: boolean;
  readonly publisher: Publisher;
  readonly upstream: Pick<Upstream, 'fetch'>;
  readonly log: Log;
}

const PROFILE_KIND = 0;
/** Long, so that a connection that is being made has time. */
const READ_TIMEOUT_MS = 30_000;

/** Resolves in bounded time. */
export async function introduce({ agent, attestation, renamed, publisher, upstream, log }: ProfileOptions): Promise<void> {
  const { pubkey, displayName } = agent;
  const { events, complete } = await upstream.fetch([{ kinds: [PROFILE_KIND], authors: [pubkey], limit: 1 }], { timeoutMs: READ_TIMEOUT_MS });
  // What could not be read is not replaced: something may be in it.
  if (!complete) return log.info('the profile of a managed agent could not be read', { agent: pubkey });
  const head = [...events].filter((event) => event.kind === PROFILE_KIND && event.pubkey === pubkey).sort(newestFirst)[0];
  if (head !== undefined && !renamed && attestationIn(head.tags, pubkey, head).ok) return;
  const profile = publisher.compose({
    kind: PROFILE_KIND,
    tags: [...(head?.tags.filter(([name]) => name !== 'auth') ?? []), attestation],
    content: JSON.stringify({ ...contentOf(head), name: displayName, display_name: displayName }),
    notBefore: seconds((head?.created_at ?? -1) + 1),
  });
  const published = await publisher.publish(profile);
  if (published.status !== 'accepted') log.info('the profile of a managed agent was not taken', { agent: pubkey, reason: published.reason });
}

function contentOf(head: VerifiedEvent | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(head?.content ?? '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
