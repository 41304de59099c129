/** A shared team as it is read and adopted: an event in, the catalog or why it is none; then a team of one's own. */
import { refuse } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import { identifierOf, isShared } from './address.ts';
import { ANYTHING, innerBody, integer, listOf, NAME, oneOf, openBody, TEXT, textUpTo } from './body.ts';
import { CATALOG_FORM, CATALOG_LIMITS, CATALOG_MAX_BYTES } from './catalog.ts';
import type { Catalog, CatalogMember } from './catalog.ts';
import { SESSION_POLICIES } from './definition.ts';
import type { Definition } from './definition.ts';
import { PERSONA_KIND } from './kinds.ts';
import { checkSecrets } from './secrets.ts';
import { freeSlug, slugFrom } from './slug.ts';
import { asTeamId } from './team-id.ts';
import type { TeamId } from './team-id.ts';
import type { Team } from './team-record.ts';
import { STOCK_COMMAND } from './transport.ts';

const IDENTIFIER = textUpTo(CATALOG_LIMITS.identifierBytes);
const HASH = { expected: '64 lowercase hex characters', read: (value: unknown) => (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value : undefined) };

export type CatalogReading =
  | { readonly ok: true; readonly id: TeamId; readonly catalog: Catalog; readonly isShared: boolean }
  | Refusal<'envelope' | 'content' | 'secret'>;

export function readCatalog(event: UnverifiedEvent): CatalogReading {
  const id = asTeamId(identifierOf(event.tags) ?? '');
  if (event.kind !== PERSONA_KIND.teamCatalog || id === undefined) return refuse('envelope', 'd: expected exactly one, a team id');
  const opened = openBody(event.content, CATALOG_MAX_BYTES);
  if (!opened.ok) return opened;
  const checked = checkSecrets(event.content);
  if (!checked.ok) return checked;
  const { body } = opened;
  body.required('v', integer(CATALOG_FORM, CATALOG_FORM));
  const name = body.required('name', NAME);
  const description = body.optional('description', TEXT);
  const instructions = body.optional('instructions', TEXT);
  const values = body.required('members', listOf(ANYTHING));
  const fault = body.fault();
  if (fault !== undefined || name === undefined || values === undefined) return fault ?? refuse('content', 'members: expected a list');
  const members: CatalogMember[] = [];
  for (const [at, value] of values.entries()) {
    const member = readMember(value, `members[${at}]`);
    if (!member.ok) return member;
    members.push(member.member);
  }
  return { ok: true, id, catalog: { name, description, instructions, members }, isShared: isShared(event.tags) };
}

function readMember(value: unknown, path: string): { readonly ok: true; readonly member: CatalogMember } | Refusal<'content'> {
  const opened = innerBody(value, path);
  if (!opened.ok) return opened;
  const { body } = opened;
  const memberKey = body.required('member_key', HASH);
  const displayName = body.required('display_name', NAME);
  const rest = {
    systemPrompt: body.optional('system_prompt', TEXT) ?? '',
    avatarUrl: body.optional('avatar_url', textUpTo(CATALOG_LIMITS.avatarBytes)),
    runtime: body.optional('runtime', IDENTIFIER),
    model: body.optional('model', IDENTIFIER),
    provider: body.optional('provider', IDENTIFIER),
    namePool: body.optional('name_pool', listOf(TEXT, CATALOG_LIMITS.names)) ?? [],
    respondTo: body.optional('respond_to', oneOf(['anyone', 'owner-only'])),
    parallelism: body.optional('parallelism', integer(1, CATALOG_LIMITS.parallelism)),
    sessionPolicy: body.optional('session_policy', oneOf(SESSION_POLICIES)) ?? 'channel',
    builtinSlug: body.optional('builtin_slug', IDENTIFIER),
    projectionHash: body.optional('projection_hash', HASH),
  } as const;
  const fault = body.fault();
  if (fault !== undefined || memberKey === undefined || displayName === undefined) return fault ?? refuse('content', `${path}: expected a member`);
  return { ok: true, member: { memberKey, displayName, ...rest } };
}

export interface Adoption {
  readonly team: Team;
  /** To be published as definitions of one's own, in the order of the team. */
  readonly definitions: readonly { readonly slug: string; readonly definition: Definition }[];
}

/**
 * A team of one's own, with an id of its own and a history that has not begun. `id` is new, `taken` are the slugs one
 * has; the hints about built-in agents are a stranger's word and select nothing.
 */
export function adoptTeam({ name, description, instructions, members }: Catalog, id: TeamId, taken: ReadonlySet<string>): Adoption {
  const used = new Set(taken);
  const definitions = members.map((member) => {
    const slug = freeSlug(slugFrom(member.displayName), used);
    used.add(slug);
    return { slug, definition: adopted(member) };
  });
  return {
    team: { status: 'live', id, name, description, instructions, definitions: definitions.map(({ slug }) => slug), agents: [] },
    definitions,
  };
}

function adopted({ displayName, systemPrompt, avatarUrl, runtime, model, provider, namePool, respondTo, parallelism, sessionPolicy }: CatalogMember): Definition {
  return {
    displayName, systemPrompt, acpCommand: STOCK_COMMAND, avatarUrl, runtime, model, provider, namePool, respondTo, respondToAllowlist: [], parallelism, sessionPolicy,
  };
}
