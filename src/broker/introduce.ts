/**
 * The profile of a managed agent (kind 0): its name, and the owner's word that it is theirs, so that everybody can see
 * whose it is. Made when there is none, and when the agent was given another name; what it wrote there itself stays.
 * Best effort: no action waits for it, and the next start looks again.
 */
import { seconds } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import { attestationIn, jsonMembers } from '../nostr/index.ts';
import type { Tag } from '../nostr/index.ts';
import type { Agent } from './agent.ts';
import type { ManagedAgent } from './ports.ts';
import { PROFILE_KIND, PROFILE_LINE, profileHead, profileText } from './profile.ts';

export interface ProfileOptions {
  readonly agent: ManagedAgent;
  readonly attestation: Tag;
  readonly renamed: boolean;
  readonly via: Pick<Agent, 'begin' | 'publisher' | 'upstream'>;
  readonly log: Log;
}

/** Long, so that a connection that is being made has time. */
const READ_TIMEOUT_MS = 30_000;

/**
 * True when the profile is as it should be. Resolves in bounded time. A `profile.set` of the agent's own waits for it, so
 * that neither undoes the other.
 */
export async function introduce(options: ProfileOptions): Promise<boolean> {
  const work = options.via.begin({ turn: () => undefined });
  try {
    if (await work.context.alone(PROFILE_LINE)) return await publishProfile(options);
    options.log.info('the profile of a managed agent is being changed by itself', { agent: options.agent.pubkey });
    return false;
  } finally {
    work.end();
  }
}

async function publishProfile({ agent, attestation, renamed, via: { upstream, publisher }, log }: ProfileOptions): Promise<boolean> {
  const { pubkey, displayName } = agent;
  const { events, complete } = await upstream.fetch([{ kinds: [PROFILE_KIND], authors: [pubkey], limit: 1 }], { timeoutMs: READ_TIMEOUT_MS });
  // What could not be read is not replaced: something may be in it.
  if (!complete) {
    log.info('the profile of a managed agent could not be read', { agent: pubkey });
    return false;
  }
  const head = profileHead(events, pubkey);
  if (head !== undefined && !renamed && attestationIn(head.tags, pubkey, head).ok) return true;
  const present = jsonMembers(head?.content ?? '{}')?.members ?? [];
  const profile = publisher.compose({
    kind: PROFILE_KIND,
    tags: [...(head?.tags.filter(([name]) => name !== 'auth') ?? []), attestation],
    content: profileText(present, { display_name: displayName, name: displayName }),
    notBefore: seconds((head?.created_at ?? -1) + 1),
  });
  const published = await publisher.publish(profile);
  if (published.status !== 'accepted') log.info('the profile of a managed agent was not taken', { agent: pubkey, reason: published.reason });
  return published.status === 'accepted';
}
