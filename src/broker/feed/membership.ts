/**
 * Which channels the agent is a member of, from what the relay says about it: pure. Evidence has the stamp of the
 * relay's own event; the newest decides, whatever order it comes in, and on a tie being in wins. A channel that is
 * archived is not followed, though we are a member: nothing is to be answered there. On a tie it is open.
 *
 * While gathering (until the first answers are complete) nothing is decided, so that a channel's notice is known when
 * the channel is followed.
 *
 *                   gathering   deciding
 * listed, added     kept        kept; follow when it makes us a member
 * unlisted, removed kept        kept; leave when it makes us none
 * archived          kept        kept; leave
 * open              kept        kept; follow when we are a member
 * complete          follow all  -
 */
import { unreachable } from '../../model/index.ts';
import type { ChannelId, Seconds } from '../../model/index.ts';
import { MAX_FOLLOWED, MAX_KNOWN } from './limits.ts';

/** Kind 39002 with and without us; kinds 44100 and 44101; kind 39000. `stored` is false for what happens now. */
export type MembershipInput =
  | {
    readonly type: 'listed' | 'unlisted' | 'added' | 'removed' | 'archived' | 'open';
    readonly channelId: ChannelId; readonly atSec: Seconds; readonly stored: boolean;
  }
  | { readonly type: 'complete' };

interface Known {
  readonly inSec: Seconds | undefined;
  readonly outSec: Seconds | undefined;
  /** The newest `added` notice. */
  readonly noticeSec: Seconds | undefined;
  /** When it was seen to happen; undefined for what we were told afterwards. */
  readonly liveSec: Seconds | undefined;
  readonly archivedSec: Seconds | undefined;
  readonly openSec: Seconds | undefined;
}

export interface Membership {
  readonly status: 'gathering' | 'deciding';
  readonly known: ReadonlyMap<ChannelId, Known>;
  readonly followed: ReadonlySet<ChannelId>;
}

export type MembershipCommand =
  /** `joinedSec` is the relay's stamp of the joining, when it told us. `first`: known from the first answers. */
  | { readonly type: 'follow'; readonly channelId: ChannelId; readonly joinedSec: Seconds | undefined; readonly first: boolean }
  /** Also for a channel that was left while nobody was looking. */
  | { readonly type: 'leave'; readonly channelId: ChannelId }
  | { readonly type: 'too-many'; readonly channelId: ChannelId };

/** Whether the agent is a member, by the newest evidence; undefined where there is none. */
export function memberOf({ known }: Membership, channelId: ChannelId): boolean | undefined {
  const evidence = known.get(channelId);
  return evidence === undefined || !speaksOfUs(evidence) ? undefined : isMember(evidence);
}

/** The channels that would be followed, were they not archived. */
export function archivedOf({ known }: Membership): readonly ChannelId[] {
  return [...known].flatMap(([channelId, evidence]) => (isMember(evidence) && isArchived(evidence) ? [channelId] : []));
}

export interface MembershipStep {
  readonly state: Membership;
  readonly commands: readonly MembershipCommand[];
}

export const GATHERING: Membership = { status: 'gathering', known: new Map(), followed: new Set() };

export function step(state: Membership, input: MembershipInput): MembershipStep {
  if (input.type === 'complete') {
    if (state.status === 'deciding') return { state, commands: [] };
    return decided({ ...state, status: 'deciding' }, [...state.known.keys()], true);
  }
  const before = state.known.get(input.channelId);
  if (before === undefined && state.known.size >= MAX_KNOWN) {
    return { state, commands: [{ type: 'too-many', channelId: input.channelId }] };
  }
  const known = new Map(state.known).set(input.channelId, withEvidence(before, input));
  const next = { ...state, known };
  return state.status === 'gathering' ? { state: next, commands: [] } : decided(next, [input.channelId], false);
}

const NOTHING_KNOWN: Known = {
  inSec: undefined, outSec: undefined, noticeSec: undefined, liveSec: undefined, archivedSec: undefined, openSec: undefined,
};

function withEvidence(before: Known | undefined, input: Exclude<MembershipInput, { readonly type: 'complete' }>): Known {
  const known = before ?? NOTHING_KNOWN;
  const { atSec, stored } = input;
  const liveSec = stored ? known.liveSec : atSec;
  switch (input.type) {
    case 'listed':
      return { ...known, inSec: newer(known.inSec, atSec), liveSec };
    case 'added':
      return { ...known, inSec: newer(known.inSec, atSec), noticeSec: newer(known.noticeSec, atSec), liveSec };
    case 'unlisted':
    case 'removed':
      return {
        ...known, outSec: newer(known.outSec, atSec),
        noticeSec: unlessBefore(known.noticeSec, atSec), liveSec: unlessBefore(known.liveSec, atSec),
      };
    case 'archived':
      return { ...known, archivedSec: newer(known.archivedSec, atSec) };
    case 'open': {
      const opened = { ...known, openSec: newer(known.openSec, atSec) };
      // What was said before it was opened again is not new.
      return isArchived(known) && !isArchived(opened) ? { ...opened, noticeSec: newer(known.noticeSec, atSec) } : opened;
    }
    default:
      return unreachable(input.type);
  }
}

function decided(state: Membership, channels: readonly ChannelId[], first: boolean): MembershipStep {
  const followed = new Set(state.followed);
  const commands: MembershipCommand[] = [];
  for (const channelId of channels) {
    const known = state.known.get(channelId);
    if (known === undefined || !speaksOfUs(known)) continue;
    const member = isMember(known) && !isArchived(known);
    if (member && !followed.has(channelId)) {
      if (followed.size >= MAX_FOLLOWED) {
        commands.push({ type: 'too-many', channelId });
        continue;
      }
      followed.add(channelId);
      commands.push({ type: 'follow', channelId, joinedSec: known.noticeSec ?? known.liveSec, first });
    } else if (!member) {
      followed.delete(channelId);
      commands.push({ type: 'leave', channelId });
    }
  }
  return { state: { ...state, followed }, commands };
}

function isMember({ inSec, outSec }: Known): boolean {
  return inSec !== undefined && (outSec === undefined || inSec >= outSec);
}

function isArchived({ archivedSec, openSec }: Known): boolean {
  return archivedSec !== undefined && (openSec === undefined || archivedSec > openSec);
}

/** What a channel is called and whether it is archived says nothing of who is in it. */
function speaksOfUs({ inSec, outSec }: Known): boolean {
  return inSec !== undefined || outSec !== undefined;
}

function newer(one: Seconds | undefined, other: Seconds): Seconds {
  return one !== undefined && one > other ? one : other;
}

/** A joining that was followed by a leaving tells nothing about the next one. */
function unlessBefore(joinedSec: Seconds | undefined, leftSec: Seconds): Seconds | undefined {
  return joinedSec !== undefined && joinedSec >= leftSec ? joinedSec : undefined;
}
