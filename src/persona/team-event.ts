/** The older public form of a team (kind 30176), read for what other clients have written. skep writes none. */
import { refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import { identifierOf } from './address.ts';
import { listOf, NAME, openBody, PUBKEY, TEXT } from './body.ts';
import { CATALOG_MAX_BYTES } from './catalog.ts';
import { PERSONA_KIND } from './kinds.ts';
import { asTeamId } from './team-id.ts';
import type { TeamId } from './team-id.ts';

export interface TeamEvent {
  readonly id: TeamId;
  readonly name: string;
  readonly description?: string | undefined;
  /** Absent says nothing about them; null, that they were taken away. */
  readonly instructions: { readonly status: 'unknown' | 'cleared' } | { readonly status: 'text'; readonly text: string };
  /** Ids of definitions' records. */
  readonly definitionIds: readonly string[];
  readonly agents: readonly Pubkey[];
}

export function readTeamEvent(event: UnverifiedEvent): { readonly ok: true; readonly team: TeamEvent } | Refusal<'envelope' | 'content'> {
  const id = asTeamId(identifierOf(event.tags) ?? '');
  if (event.kind !== PERSONA_KIND.teamEvent || id === undefined) return refuse('envelope', 'd: expected exactly one, a team id');
  const opened = openBody(event.content, CATALOG_MAX_BYTES);
  if (!opened.ok) return opened;
  const { body } = opened;
  const name = body.required('name', NAME);
  const text = body.optional('instructions', TEXT);
  const team = {
    id,
    description: body.optional('description', TEXT),
    instructions: text === undefined ? { status: body.names('instructions') ? 'cleared' : 'unknown' } as const : { status: 'text', text } as const,
    definitionIds: body.optional('persona_ids', listOf(NAME)) ?? [],
    agents: body.optional('agent_pubkeys', listOf(PUBKEY)) ?? [],
  };
  const fault = body.fault();
  if (fault !== undefined || name === undefined) return fault ?? refuse('content', 'name: expected a name');
  return { ok: true, team: { ...team, name } };
}
