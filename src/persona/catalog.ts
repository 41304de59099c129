/**
 * A team as its owner shows it to others (kind 30178): its instructions of this moment and its members' definitions,
 * embedded, without what is nobody else's business. NIP-AP "Team catalog projection"; members and hashes as Buzz has
 * them. A share is a snapshot: a version saved later does not change it.
 */
import { hash } from 'node:crypto';
import { excerpt, refuse } from '../model/index.ts';
import type { Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate } from '../nostr/index.ts';
import { addressTags } from './address.ts';
import type { Definition, RespondTo, SessionPolicy } from './definition.ts';
import { PERSONA_KIND } from './kinds.ts';
import { checkSecrets } from './secrets.ts';
import type { SecretWarning } from './secrets.ts';
import type { TeamId } from './team-id.ts';

/** UTF-8 bytes, and entries. */
export const CATALOG_MAX_BYTES = 196_608;
export const CATALOG_LIMITS = { avatarBytes: 32_768, names: 64, identifierBytes: 256, parallelism: 32 } as const;
export const CATALOG_FORM = 1;

/** Without an allowlist, a command, a description, an id of its own. */
export interface CatalogMember {
  readonly memberKey: string;
  readonly displayName: string;
  readonly systemPrompt: string;
  readonly avatarUrl?: string | undefined;
  readonly runtime?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly namePool: readonly string[];
  readonly respondTo?: Exclude<RespondTo, 'allowlist'> | undefined;
  readonly parallelism?: number | undefined;
  readonly sessionPolicy: SessionPolicy;
  /** Which built-in agent it is; with `projectionHash` a hint and no more. */
  readonly builtinSlug?: string | undefined;
  readonly projectionHash?: string | undefined;
}

export interface Catalog {
  readonly name: string;
  readonly description?: string | undefined;
  readonly instructions?: string | undefined;
  readonly members: readonly CatalogMember[];
}

/** A definition as a member; `recordId` is the id of its record here, which leaves this machine as a hash only. */
export function catalogMember(recordId: string, definition: Definition, builtinSlug?: string): CatalogMember {
  const { respondTo, parallelism, avatarUrl } = definition;
  const member: CatalogMember = {
    memberKey: hash('sha256', `buzz:team-catalog:member-key:v1\0${recordId}`, 'hex'),
    displayName: definition.displayName,
    systemPrompt: definition.systemPrompt ?? '',
    // An address of this machine shows its paths and leads nobody anywhere.
    avatarUrl: avatarUrl !== undefined && /^(?:https?:|data:image\/)/i.test(avatarUrl) ? avatarUrl : undefined,
    runtime: definition.runtime,
    model: definition.model,
    provider: definition.provider,
    namePool: definition.namePool,
    respondTo: respondTo === 'allowlist' ? 'owner-only' : respondTo,
    parallelism: parallelism === undefined ? undefined : Math.min(parallelism, CATALOG_LIMITS.parallelism),
    sessionPolicy: definition.sessionPolicy,
  };
  return builtinSlug === undefined ? member : { ...member, builtinSlug, projectionHash: projectionHash(member) };
}

/** SHA-256 over the member's compact JSON without the two hints. */
export function projectionHash(member: CatalogMember): string {
  return hash('sha256', JSON.stringify(memberBody({ ...member, builtinSlug: undefined, projectionHash: undefined })), 'hex');
}

export type CatalogWriting =
  | { readonly ok: true; readonly body: string; readonly warnings: readonly SecretWarning[] }
  | Refusal<'catalog' | 'secret' | 'size'>;

export function writeCatalog({ name, description, instructions, members }: Catalog): CatalogWriting {
  const fault = members.map(memberFault).find((one) => one !== undefined);
  if (name.trim() === '') return refuse('catalog', 'name: expected a name');
  if (fault !== undefined) return refuse('catalog', fault);
  const body = wellFormedJson({ v: CATALOG_FORM, name, description, instructions, members: members.map(memberBody) });
  if (body === undefined) return refuse('catalog', 'catalog: expected well-formed text');
  const bytes = Buffer.byteLength(body);
  if (bytes > CATALOG_MAX_BYTES) return refuse('size', `catalog: expected at most ${CATALOG_MAX_BYTES} bytes, found ${bytes}`);
  const checked = checkSecrets(body);
  return checked.ok ? { ok: true, body, warnings: checked.warnings } : checked;
}

/** Undefined where a text has a lone surrogate: JSON would carry it as an escape that other languages refuse. */
function wellFormedJson(value: unknown): string | undefined {
  const broken: unknown[] = [];
  const text = JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === 'string' && !one.isWellFormed()) broken.push(one);
    return one;
  });
  return broken.length === 0 ? text : undefined;
}

/** Unsharing is a newer head with `isShared` false. */
export function catalogTemplate(
  { id, body, isShared, createdAt }: { readonly id: TeamId; readonly body: string; readonly isShared: boolean; readonly createdAt: Seconds },
): EventTemplate {
  return { kind: PERSONA_KIND.teamCatalog, created_at: createdAt, tags: addressTags(id, isShared), content: body };
}

function memberBody(one: CatalogMember): Readonly<Record<string, unknown>> {
  return {
    member_key: one.memberKey,
    display_name: one.displayName,
    // Always there, if empty: a reader of old takes a member without one for none.
    system_prompt: one.systemPrompt,
    avatar_url: one.avatarUrl,
    runtime: one.runtime,
    model: one.model,
    provider: one.provider,
    name_pool: one.namePool.length === 0 ? undefined : one.namePool,
    respond_to: one.respondTo,
    parallelism: one.parallelism,
    session_policy: one.sessionPolicy === 'channel' ? undefined : one.sessionPolicy,
    builtin_slug: one.builtinSlug,
    projection_hash: one.projectionHash,
  };
}

function memberFault({ displayName, avatarUrl = '', namePool, runtime = '', model = '', provider = '', builtinSlug = '' }: CatalogMember): string | undefined {
  const who = `member "${excerpt(displayName, 24)}"`;
  const { avatarBytes, names, identifierBytes } = CATALOG_LIMITS;
  if (displayName.trim() === '') return 'member: expected a name';
  if (Buffer.byteLength(avatarUrl) > avatarBytes) return `${who}: avatar_url: expected at most ${avatarBytes} bytes`;
  if (namePool.length > names) return `${who}: name_pool: expected at most ${names} names, found ${namePool.length}`;
  const long = Object.entries({ runtime, model, provider, builtin_slug: builtinSlug }).find(([, text]) => Buffer.byteLength(text) > identifierBytes);
  return long === undefined ? undefined : `${who}: ${long[0]}: expected at most ${identifierBytes} bytes`;
}
