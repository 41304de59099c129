/** The owner's definitions on the relay, and those that others show: found by slug or coordinate, published, deleted. */
import { Failure } from '../../model/index.ts';
import type { EventId, Pubkey } from '../../model/index.ts';
import { parsePubkey } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import {
  addressFilter, definitionTemplate, headAt, headsOf, isPersonaSlug, PERSONA_KIND, publishAt, readAll, readDefinition, readDefinitionBody, readForeignDefinition, writeDefinition,
} from '../../persona/index.ts';
import type { Definition, DefinitionReading, ReadDefinition, SecretWarning } from '../../persona/index.ts';
import { safe, tell } from '../print.ts';
import { failureOf, taken } from './open.ts';
import type { Personas } from './open.ts';

export interface Found extends ReadDefinition {
  readonly event: VerifiedEvent;
}

export function asSlug(text: string): string {
  if (isPersonaSlug(text)) return text;
  throw new Failure('usage', `slug: expected 1 to 64 of a-z, 0-9, _ and -, the first a letter or digit, found ${safe(text)}`);
}

/** Every head with its slug, those that cannot be read among them. */
export async function definitionHeads(
  { relay }: Personas, author: Pubkey,
): Promise<readonly { readonly slug: string; readonly event: VerifiedEvent; readonly reading: DefinitionReading }[]> {
  const { events } = taken(await readAll(relay, { kinds: [PERSONA_KIND.definition], authors: [author] }));
  return [...headsOf(PERSONA_KIND.definition, author, events)].sort(([one], [other]) => (one < other ? -1 : 1)).map(([slug, event]) => ({ slug, event, reading: readDefinition(event) }));
}

/** Undefined: the relay says that there is none. Rejects for one that cannot be read. */
export async function definitionAt({ key, relay }: Personas, slug: string): Promise<Found | undefined> {
  const event = await headOf(relay, key.pubkey, slug);
  if (event === undefined) return undefined;
  const read = readDefinition(event);
  if (!read.ok) throw failureOf({ ...read, detail: `persona ${slug}: ${read.detail}` });
  return { ...read, event };
}

export async function theDefinition(personas: Personas, slug: string): Promise<Found> {
  const found = await definitionAt(personas, asSlug(slug));
  if (found === undefined) throw new Failure('refused_input', `${slug}: there is no persona of that slug on the relay; see skep persona list`);
  return found;
}

async function headOf(relay: Personas['relay'], author: Pubkey, slug: string): Promise<VerifiedEvent | undefined> {
  const address = { kind: PERSONA_KIND.definition, author, d: slug };
  const { events, complete } = await relay.query([addressFilter(address)]);
  if (!complete) throw new Failure('relay', 'relay: expected an answer about a persona');
  return headAt(address, events);
}

/** `30175:<npub or hex>:<slug>`; undefined for what is no coordinate of this kind. */
export function coordinateIn(text: string, kind: number): { readonly author: Pubkey; readonly d: string } | undefined {
  const [, author = '', d = ''] = new RegExp(`^${kind}:([^:]+):(.+)$`, 's').exec(text) ?? [];
  if (author === '') return undefined;
  const parsed = parsePubkey(author);
  if (!parsed.ok) throw new Failure('usage', `${kind}:<author>: ${parsed.detail}`);
  return { author: parsed.pubkey, d };
}

/** What its owner shows; one's own also where it is not shared. */
export async function shown(personas: Personas, { author, d }: { readonly author: Pubkey; readonly d: string }): Promise<ReadDefinition> {
  const event = await headOf(personas.relay, author, d);
  if (event === undefined) throw new Failure('refused_input', `30175:${author}:${safe(d)}: there is none, or none that its owner shows`);
  return taken(author === personas.key.pubkey ? readDefinition(event) : readForeignDefinition(event));
}

/**
 * The body as it will stand on the relay in the place of `before`; what looks like a key is told by its place, and what
 * stays out of a catalog, before anybody is asked.
 */
export function bodyOf(definition: Definition, isShared: boolean, before?: Found): string {
  const { body, warnings } = taken(writeDefinition(definition, isShared, before && { found: before.definition.acpCommand, isShared: before.isShared }));
  warn(warnings);
  if (definition.acpCommand !== undefined && readBody(body).acpCommand === undefined) tell('its acp_command is one of this machine and stays out of what is shown: keep it elsewhere');
  return body;
}

export function readBody(body: string): Definition {
  return taken(readDefinitionBody(body)).definition;
}

export function warn(warnings: readonly SecretWarning[]): void {
  for (const { path, sort } of warnings) tell(`warning: ${safe(path)} looks like ${sort}, and will be plain text on the relay`);
}

export interface DefinitionToPublish {
  readonly body: string;
  readonly isShared: boolean;
  /** The head that it was made from, or that there was none; undefined: over whichever is there. */
  readonly seen: EventId | 'none' | undefined;
  /** What can be done where another one is there. */
  readonly hint?: string;
}

/** Rejects with `Failure('not_changed')` where another head is there than the one that was seen, or came at the same moment. */
export async function publishDefinition(personas: Personas, slug: string, { body, isShared, seen, hint = '' }: DefinitionToPublish): Promise<VerifiedEvent> {
  const address = { kind: PERSONA_KIND.definition, author: personas.key.pubkey, d: slug };
  const published = await publishAt(personas, address, (createdAt) => definitionTemplate({ slug, body, isShared, createdAt }), seen);
  if (!published.ok && (published.code === 'unseen' || published.code === 'overtaken')) {
    throw new Failure('not_changed', `nothing was saved: ${slug} was changed elsewhere meanwhile, and that was not seen${hint}`);
  }
  return taken(published).event;
}
