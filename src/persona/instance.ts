/**
 * An agent of a definition on one of the owner's devices (kind 30177, `d` the agent's pubkey): what belongs to this
 * agent alone. NIP-AP "Slimming"; member order as Buzz has it. Never carries a key, an attestation, an environment.
 *
 * Linked to a definition it says nothing that the definition says; without one it is its own definition and says it all.
 * Old writers said it all either way: then the definition's head is right wherever both say something.
 */
import { asPubkey, refuse } from '../model/index.ts';
import type { Pubkey, Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate, UnverifiedEvent } from '../nostr/index.ts';
import { addressTags, identifierOf } from './address.ts';
import { integer, listOf, NAME, oneOf, openBody, PUBKEY, TEXT } from './body.ts';
import { DEFINITION_MAX_BYTES, MAX_PARALLELISM, RESPOND_TO } from './definition.ts';
import type { Definition, RespondTo } from './definition.ts';
import { PERSONA_KIND } from './kinds.ts';

/** What a definition says, as an instance without one, or an old writer, says it itself. */
export interface OwnFields {
  readonly systemPrompt?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly sourceVersion?: string | undefined;
}

export interface Instance {
  readonly agent: Pubkey;
  readonly name: string;
  /** The id of the definition's record; its slug is `slugFrom` of it. */
  readonly definitionId?: string | undefined;
  readonly own: OwnFields;
  readonly parallelism?: number | undefined;
  readonly respondTo?: RespondTo | undefined;
  readonly respondToAllowlist: readonly Pubkey[];
}

/** `own` of an instance with a definition is not written. */
export function instanceTemplate(
  instance: Instance, createdAt: Seconds,
): { readonly ok: true; readonly template: EventTemplate } | Refusal<'size'> {
  const { agent, name, definitionId, own, parallelism, respondTo, respondToAllowlist } = instance;
  const content = JSON.stringify({
    name,
    persona_id: definitionId,
    ...(definitionId === undefined ? ownMembers(own) : {}),
    parallelism,
    respond_to: respondTo,
    respond_to_allowlist: respondToAllowlist.length === 0 ? undefined : respondToAllowlist,
  });
  if (Buffer.byteLength(content) > DEFINITION_MAX_BYTES) return refuse('size', `instance: expected at most ${DEFINITION_MAX_BYTES} bytes`);
  return { ok: true, template: { kind: PERSONA_KIND.instance, created_at: createdAt, tags: addressTags(agent, false), content } };
}

/** Slim or fat, as old writers have it. */
export function readInstance(event: UnverifiedEvent): { readonly ok: true; readonly instance: Instance } | Refusal<'envelope' | 'content'> {
  const agent = asPubkey(identifierOf(event.tags) ?? '');
  if (event.kind !== PERSONA_KIND.instance || agent === undefined) return refuse('envelope', 'd: expected exactly one, an agent\'s pubkey');
  const opened = openBody(event.content, DEFINITION_MAX_BYTES);
  if (!opened.ok) return opened;
  const { body } = opened;
  const name = body.required('name', NAME);
  const instance = {
    agent,
    definitionId: body.optional('persona_id', NAME),
    own: {
      systemPrompt: body.optional('system_prompt', TEXT),
      model: body.optional('model', TEXT),
      provider: body.optional('provider', TEXT),
      sourceVersion: body.optional('persona_source_version', TEXT),
    },
    parallelism: body.optional('parallelism', integer(0, MAX_PARALLELISM)),
    respondTo: body.optional('respond_to', oneOf(RESPOND_TO)),
    respondToAllowlist: body.optional('respond_to_allowlist', listOf(PUBKEY)) ?? [],
  };
  const fault = body.fault();
  if (fault !== undefined || name === undefined) return fault ?? refuse('content', 'name: expected a name');
  return { ok: true, instance: { ...instance, name } };
}

/**
 * The model that an instance runs on: its definition's, and where that says none, what a fat event says. Which prompt
 * holds is `launch.ts`'s question: an instance with a definition never takes it from here.
 */
export function resolveModel({ own }: Pick<Instance, 'own'>, definition: Definition | undefined): Pick<OwnFields, 'model' | 'provider'> {
  return { model: definition?.model ?? own.model, provider: definition?.provider ?? own.provider };
}

function ownMembers({ systemPrompt, model, provider, sourceVersion }: OwnFields): Readonly<Record<string, string | undefined>> {
  return { system_prompt: systemPrompt, model, provider, persona_source_version: sourceVersion };
}
