/**
 * `profile.set` (NIP-BA "Channel and messages"): kind 0, merged into the agent's present profile. Only the members that
 * were supplied are written; every other one stays as it was written and where it stood, and so do the tags, with the
 * agent's NIP-OA attestation among them. What the profile is now must be known: a relay that cannot be read fails.
 */
import { seconds } from '../../model/index.ts';
import { attestationIn, jsonMembers } from '../../nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../nostr/index.ts';
import { PROFILE_KIND, PROFILE_LINE, profileHead, profileText } from '../profile.ts';
import { MAX_AHEAD_SEC, refused, unanswered } from './action.ts';
import type { ActionContext, Plan } from './action.ts';

/** A relay keeps one profile of an author; more come from one that keeps them all. */
const MAX_EVENTS = 10;

export const planProfile: Plan<'profile.set'> = async ({ displayName, picture, about }, context) => {
  if (!(await context.alone(PROFILE_LINE))) {
    return refused('internal', 'another change of the profile is under way; nothing was sent');
  }
  const { events, complete, refusal } = await context.fetch([
    { kinds: [PROFILE_KIND], authors: [context.agent], limit: MAX_EVENTS },
  ]);
  if (!complete) return unanswered(refusal);
  const head = profileHead(events, context.agent);
  if (head !== undefined && head.created_at > context.now() + MAX_AHEAD_SEC) {
    return refused('action_failed', 'the present profile is stamped far in the future; nothing was sent');
  }
  const present = jsonMembers(head?.content ?? '{}');
  // Nothing could be merged into it, and what it means to others is not ours to say.
  if (present === undefined) return refused('action_failed', 'the present profile is no JSON object; nothing was sent');
  return {
    type: 'publish',
    action: 'profile.set',
    draft: {
      kind: PROFILE_KIND,
      tags: tagsOf(head, context),
      content: profileText(present.members, { display_name: displayName, picture, about }),
      notBefore: seconds((head?.created_at ?? -1) + 1),
    },
  };
};

/** Readers tell by it that the author is an agent, and whose (NIP-OA): ours where it holds, else what was there. */
function tagsOf(head: VerifiedEvent | undefined, { agent, attestation, now }: ActionContext): readonly Tag[] {
  const present = head?.tags ?? [];
  const facts = { kind: PROFILE_KIND, created_at: now() };
  if (attestation === undefined || !attestationIn([attestation], agent, facts).ok) return present;
  return [...present.filter(([name]) => name !== 'auth'), attestation];
}
