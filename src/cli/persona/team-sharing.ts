/** What a team is to others (kind 30178): made from what holds now, compared with it later, read from another owner. */
import { Failure } from '../../model/index.ts';
import type { EventId, Pubkey } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { addressFilter, catalogMember, catalogTemplate, headAt, PERSONA_KIND, publishAt, readCatalog, slugFrom, writeCatalog } from '../../persona/index.ts';
import type { Catalog, CatalogReading, Team, TeamId } from '../../persona/index.ts';
import { safe } from '../print.ts';
import { definitionAt, warn } from './definitions.ts';
import type { Found } from './definitions.ts';
import { taken } from './open.ts';
import type { Personas } from './open.ts';
import { madeOf } from './subject.ts';
import type { Standing } from './subject.ts';

export interface Share {
  readonly event: VerifiedEvent;
  readonly reading: CatalogReading;
}

/** What lies at the team's coordinate; undefined: the relay says nothing does. */
export async function shareAt({ relay }: Personas, author: Pubkey, id: string): Promise<Share | undefined> {
  const address = { kind: PERSONA_KIND.teamCatalog, author, d: id };
  const { events, complete } = await relay.query([addressFilter(address)]);
  if (!complete) throw new Failure('relay', 'relay: expected an answer about a shared team');
  const event = headAt(address, events);
  return event === undefined ? undefined : { event, reading: readCatalog(event) };
}

export interface ShareToPublish {
  readonly body: string;
  readonly isShared: boolean;
  /** What lay at the coordinate when it was made, or that nothing did. */
  readonly seen: EventId | 'none';
}

/** Rejects with `Failure('not_changed')` where another share is there than the one that was seen, or came at the same moment. */
export async function publishShare(personas: Personas, id: TeamId, { body, isShared, seen }: ShareToPublish): Promise<VerifiedEvent> {
  const address = { kind: PERSONA_KIND.teamCatalog, author: personas.key.pubkey, d: id };
  const published = await publishAt(personas, address, (createdAt) => catalogTemplate({ id, body, isShared, createdAt }), seen);
  if (!published.ok && (published.code === 'unseen' || published.code === 'overtaken')) {
    throw new Failure('not_changed', `nothing was changed: team ${safe(id)} was shared, or unshared, elsewhere meanwhile`);
  }
  return taken(published).event;
}

export interface ShareDraft {
  readonly body: string;
  readonly instructions: string;
  readonly members: readonly Found[];
  /** Agents that are made from no persona: nothing of them is shown. */
  readonly left: readonly Pubkey[];
}

/** The personas of a team: those that its record names, and those that its agents are made from. */
export async function personasOf(personas: Personas, { definitions, agents }: Team): Promise<{ readonly slugs: readonly string[]; readonly left: readonly Pubkey[] }> {
  const slugs = new Set(definitions);
  const left: Pubkey[] = [];
  for (const agent of agents) {
    const { definitionId } = await madeOf(personas, agent);
    if (definitionId === undefined) left.push(agent);
    else slugs.add(slugFrom(definitionId));
  }
  return { slugs: [...slugs], left };
}

/** Rejects where its instructions are invalid, a member is not there, or the whole is too large. Warns of what looks like a key. */
export async function draftShare(personas: Personas, team: Team, standing: Standing): Promise<ShareDraft> {
  if (standing.text === undefined) throw new Failure('refused_input', safe(`the team's instructions: ${standing.fault ?? 'they cannot be read'}`));
  const { slugs, left } = await personasOf(personas, team);
  const members: Found[] = [];
  for (const slug of slugs) {
    const found = await definitionAt(personas, slug);
    if (found === undefined) throw new Failure('refused_input', `${safe(slug)}: there is no persona of that slug on the relay; skep team remove takes it, or the agent that is made from it, out of the team`);
    members.push(found);
  }
  const catalog: Catalog = {
    name: team.name, description: team.description, instructions: standing.text === '' ? undefined : standing.text,
    members: members.map(({ slug, definition }) => catalogMember(slug, definition)),
  };
  const { body, warnings } = taken(writeCatalog(catalog));
  warn(warnings);
  return { body, instructions: standing.text, members, left };
}

/** Whether a share says other instructions than hold now. Undefined where one of them cannot be read. */
export function isBehind({ reading }: Share, { text }: Standing): boolean | undefined {
  return reading.ok && text !== undefined ? (reading.catalog.instructions ?? '') !== text : undefined;
}
