/**
 * The reader's side of a definition: an event in, the definition or why it is none. NIP-AP "Reading", "Content body".
 * What is not known is ignored, absent and null are one; a known member of another form is a fault, because acting on
 * half a definition is worse than not seeing it.
 */
import { refuse } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import { identifierOf, isShared } from './address.ts';
import { integer, listOf, NAME, oneOf, openBody, PUBKEY, TEXT } from './body.ts';
import { DEFINITION_MAX_BYTES, MAX_PARALLELISM, RESPOND_TO, SESSION_POLICIES } from './definition.ts';
import type { Definition } from './definition.ts';
import { PERSONA_KIND } from './kinds.ts';
import { checkSecrets } from './secrets.ts';
import { isPersonaSlug } from './slug.ts';
import { foreignCommand } from './transport.ts';

export interface ReadDefinition {
  readonly slug: string;
  readonly definition: Definition;
  readonly isShared: boolean;
}

export type DefinitionReading =
  | ({ readonly ok: true } & ReadDefinition)
  | Refusal<'envelope' | 'content' | 'secret' | 'not_shared' | 'transport'>;

/** A head of one's own. Whether it is the head is `headAt`'s question. */
export function readDefinition(event: UnverifiedEvent): DefinitionReading {
  if (event.kind !== PERSONA_KIND.definition) return refuse('envelope', `kind: expected ${PERSONA_KIND.definition}, found ${event.kind}`);
  const slug = identifierOf(event.tags);
  if (slug === undefined || !isPersonaSlug(slug)) return refuse('envelope', 'd: expected exactly one, a slug');
  const parsed = readDefinitionBody(event.content);
  return parsed.ok ? { ok: true, slug, definition: parsed.definition, isShared: isShared(event.tags) } : parsed;
}

/** A head in somebody else's catalog: shared, and its transport one that this device can look up, stock made explicit. */
export function readForeignDefinition(event: UnverifiedEvent): DefinitionReading {
  const reading = readDefinition(event);
  if (!reading.ok) return reading;
  if (!reading.isShared) return refuse('not_shared', 'shared: expected ["shared","true"] on what another owner offers');
  const transport = foreignCommand(reading.definition.acpCommand);
  if (!transport.ok) return transport;
  return { ...reading, definition: { ...reading.definition, acpCommand: transport.command } };
}

/** The body alone, as it also lies in files. */
export function readDefinitionBody(content: string): { readonly ok: true; readonly definition: Definition } | Refusal<'content' | 'secret'> {
  const opened = openBody(content, DEFINITION_MAX_BYTES);
  if (!opened.ok) return opened;
  const checked = checkSecrets(content);
  if (!checked.ok) return checked;
  const { body } = opened;
  const displayName = body.required('display_name', NAME);
  const definition = {
    systemPrompt: body.optional('system_prompt', TEXT),
    acpCommand: body.optional('acp_command', TEXT),
    avatarUrl: body.optional('avatar_url', TEXT),
    runtime: body.optional('runtime', TEXT),
    model: body.optional('model', TEXT),
    provider: body.optional('provider', TEXT),
    namePool: body.optional('name_pool', listOf(TEXT)) ?? [],
    respondTo: body.optional('respond_to', oneOf(RESPOND_TO)),
    respondToAllowlist: body.optional('respond_to_allowlist', listOf(PUBKEY)) ?? [],
    parallelism: body.optional('parallelism', integer(1, MAX_PARALLELISM)),
    description: body.optional('description', TEXT),
    sessionPolicy: body.optional('session_policy', oneOf(SESSION_POLICIES)) ?? 'channel',
  } as const;
  const fault = body.fault();
  if (fault !== undefined || displayName === undefined) return fault ?? refuse('content', 'display_name: expected a name');
  return { ok: true, definition: { displayName, ...definition } };
}
