/**
 * An agent's profile (kind 0) on its way to another: which one stands, and what it says with some members replaced.
 * Every other member stays as it was written and where it stood.
 */
import type { Pubkey } from '../model/index.ts';
import { newestFirst } from '../nostr/index.ts';
import type { JsonMember, VerifiedEvent } from '../nostr/index.ts';

export const PROFILE_KIND = 0;
/** The line in which changes of one agent's profile stand (`ActionContext.alone`). */
export const PROFILE_LINE = `${PROFILE_KIND}`;
/** The order in which Buzz writes the members it knows. */
const ORDER = ['display_name', 'name', 'picture', 'about', 'nip05'] as const;

/** The profile of `author` that stands, of what a relay gave. */
export function profileHead(events: readonly VerifiedEvent[], author: Pubkey): VerifiedEvent | undefined {
  return events.filter(({ kind, pubkey }) => kind === PROFILE_KIND && pubkey === author).toSorted(newestFirst)[0];
}

/** The content of a profile with the `present` members, and those that are `supplied` in their place. */
export function profileText(present: readonly JsonMember[], supplied: Readonly<Record<string, string | undefined>>): string {
  const members = Object.entries(supplied).reduce<readonly JsonMember[]>(replaced, present);
  return `{${members.map(({ name, raw }) => `${JSON.stringify(name)}:${raw}`).join(',')}}`;
}

function replaced(members: readonly JsonMember[], [name, text]: readonly [string, string | undefined]): readonly JsonMember[] {
  if (text === undefined) return members;
  const member = { name, raw: JSON.stringify(text) };
  if (members.some((one) => one.name === name)) return members.map((one) => (one.name === name ? member : one));
  const before = members.findIndex((one) => rankOf(one.name) > rankOf(name));
  return before < 0 ? [...members, member] : members.toSpliced(before, 0, member);
}

/** The place among the members that Buzz knows; -1 for another. */
function rankOf(name: string): number {
  return ORDER.findIndex((known) => known === name);
}
