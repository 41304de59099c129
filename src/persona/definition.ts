/**
 * A persona definition (kind 30175) as a value and as the bytes that are published: members in Buzz's order, what says
 * nothing left out. NIP-AP "Content body", "Writing"; INTEROP: `description` stands before `session_policy`.
 * in: a definition. out: the body, the event to sign. Never: signs, asks a relay, or carries a secret.
 */
import { hash } from 'node:crypto';
import { excerpt, refuse } from '../model/index.ts';
import type { Pubkey, Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate, Tag } from '../nostr/index.ts';
import { addressTags } from './address.ts';
import { PERSONA_KIND } from './kinds.ts';
import { checkSecrets } from './secrets.ts';
import type { SecretWarning } from './secrets.ts';
import { isPersonaSlug } from './slug.ts';
import { catalogCommand } from './transport.ts';
import type { OwnHead } from './transport.ts';

export const RESPOND_TO = ['anyone', 'owner-only', 'allowlist'] as const;
export const SESSION_POLICIES = ['channel', 'thread'] as const;
export type RespondTo = (typeof RESPOND_TO)[number];
export type SessionPolicy = (typeof SESSION_POLICIES)[number];

/** UTF-8 bytes of a body (NIP-AP "Writing" 2). A larger one is neither written nor read. */
export const DEFINITION_MAX_BYTES = 65_535;
/** Scalars of `description`. */
export const DESCRIPTION_MAX_SCALARS = 280;
export const MAX_PARALLELISM = 2 ** 32 - 1;

/** Absent, null and undefined say the same: the definition leaves it open. */
export interface Definition {
  readonly displayName: string;
  /** Empty is a prompt, too: one that says nothing. */
  readonly systemPrompt?: string | undefined;
  /** As it is written, not yet what this device runs: see `transport.ts`. */
  readonly acpCommand?: string | undefined;
  readonly avatarUrl?: string | undefined;
  readonly runtime?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly namePool: readonly string[];
  readonly respondTo?: RespondTo | undefined;
  readonly respondToAllowlist: readonly Pubkey[];
  readonly parallelism?: number | undefined;
  /** Public, at most 280 characters. */
  readonly description?: string | undefined;
  readonly sessionPolicy: SessionPolicy;
}

/** A definition that says no more than its name. */
export function plainDefinition(displayName: string): Definition {
  return { displayName, namePool: [], respondToAllowlist: [], sessionPolicy: 'channel' };
}

/** `warnings` name places that look like secrets; whoever publishes asks the owner first. */
export type DefinitionWriting =
  | { readonly ok: true; readonly body: string; readonly warnings: readonly SecretWarning[] }
  | Refusal<'definition' | 'secret' | 'size'>;

/**
 * The content of a publication; `isShared` is that of its tag, because a catalog says another `acp_command`. `before` is
 * what the owner's head says of it.
 */
export function writeDefinition(definition: Definition, isShared: boolean, before?: OwnHead): DefinitionWriting {
  const fault = faultOf(definition);
  if (fault !== undefined) return refuse('definition', fault);
  const { acpCommand } = definition;
  const body = bodyOf(definition, isShared ? catalogCommand(acpCommand, before) : acpCommand);
  const bytes = Buffer.byteLength(body);
  if (bytes > DEFINITION_MAX_BYTES) return refuse('size', `definition: expected at most ${DEFINITION_MAX_BYTES} bytes, found ${bytes}`);
  const checked = checkSecrets(body);
  return checked.ok ? { ok: true, body, warnings: checked.warnings } : checked;
}

/** The event of a definition. `createdAt` comes from `nextStamp`; `body` from `writeDefinition` with the same `isShared`. */
export function definitionTemplate(
  { slug, body, isShared, createdAt }: { readonly slug: string; readonly body: string; readonly isShared: boolean; readonly createdAt: Seconds },
): EventTemplate {
  if (!isPersonaSlug(slug)) throw new TypeError('slug: expected one that was checked');
  const tags: readonly Tag[] = addressTags(slug, isShared);
  return { kind: PERSONA_KIND.definition, created_at: createdAt, tags, content: body };
}

/**
 * What a running instance is compared by: SHA-256 over the body as it stands on this device, without `description`,
 * which changes nothing that is run. Sharing changes neither.
 */
export function definitionHash(definition: Definition): string {
  return hash('sha256', bodyOf({ ...definition, description: undefined }, definition.acpCommand), 'hex');
}

function bodyOf(one: Definition, acpCommand: string | undefined): string {
  return JSON.stringify(definitionMembers({ ...one, acpCommand }));
}

/** Every member by its name in the body, in the order of the body; undefined for what says nothing. */
export function definitionMembers(one: Definition): Readonly<Record<string, unknown>> {
  return {
    display_name: one.displayName,
    system_prompt: one.systemPrompt,
    acp_command: one.acpCommand,
    avatar_url: one.avatarUrl,
    runtime: one.runtime,
    model: one.model,
    provider: one.provider,
    name_pool: unlessEmpty(one.namePool),
    respond_to: one.respondTo,
    respond_to_allowlist: unlessEmpty(one.respondToAllowlist),
    parallelism: one.parallelism,
    description: one.description,
    session_policy: one.sessionPolicy === 'channel' ? undefined : one.sessionPolicy,
  };
}

/** What no reader would take, with its member's name. */
function faultOf(one: Definition): string | undefined {
  if (one.displayName.trim() === '') return 'display_name: expected a name';
  const texts = [one.displayName, one.systemPrompt, one.acpCommand, one.avatarUrl, one.runtime, one.model, one.provider, one.description, ...one.namePool];
  // JSON would carry it as an escape that other languages refuse.
  if (texts.some((text) => text?.isWellFormed() === false)) return 'definition: expected well-formed text';
  if (one.acpCommand === '') return 'acp_command: expected a command, or none';
  const { parallelism, description = '' } = one;
  if (parallelism !== undefined && !(Number.isInteger(parallelism) && parallelism >= 1 && parallelism <= MAX_PARALLELISM)) {
    return `parallelism: expected an integer 1..${MAX_PARALLELISM}, found ${parallelism}`;
  }
  const scalars = Array.from(description).length;
  if (scalars > DESCRIPTION_MAX_SCALARS) {
    return `description: expected at most ${DESCRIPTION_MAX_SCALARS} characters, found ${scalars}: "${excerpt(description, 20)}"`;
  }
  return undefined;
}

function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
