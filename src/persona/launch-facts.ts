/**
 * The facts of a start, asked from the relay: the agent's version, its definition or what stands for one, and the teams
 * it is a member of with theirs. One answer that is missing is a refusal: nobody is started on half of what holds.
 */
import { refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import { addressFilter, headAt } from './address.ts';
import { readDefinition } from './definition-reading.ts';
import { currentVersion } from './history.ts';
import type { Instance } from './instance.ts';
import { PERSONA_KIND } from './kinds.ts';
import type { LaunchFacts, TeamFacts } from './launch.ts';
import type { OwnerPorts } from './ports.ts';
import { slugFrom } from './slug.ts';
import { readTeams, teamsOf } from './team-book.ts';

type Reading = Pick<OwnerPorts, 'key' | 'relay'>;
type Known<T> = { readonly ok: true; readonly value: T } | Refusal<'unavailable' | 'content'>;

type Linked = Pick<Instance, 'agent' | 'definitionId' | 'own'>;

export async function launchFacts(
  ports: Reading, linked: Linked,
): Promise<{ readonly ok: true; readonly facts: LaunchFacts } | Refusal<'unavailable' | 'content'>> {
  const own = await ownFacts(ports, linked);
  if (!own.ok) return own;
  const teams = await teamFacts(ports, linked.agent);
  return teams.ok ? { ok: true, facts: { ...own.facts, teams: teams.value } } : teams;
}

/** Those of the agent's own layer alone. */
export async function ownFacts(
  ports: Reading, { agent, definitionId, own }: Linked,
): Promise<{ readonly ok: true; readonly facts: Omit<LaunchFacts, 'teams'> } | Refusal<'unavailable' | 'content'>> {
  const current = await currentVersion(ports, { type: 'agent', agent });
  if (!current.ok) return current;
  const template = definitionId === undefined
    ? { ok: true, value: { type: 'legacy', systemPrompt: own.systemPrompt } } as const
    : await definitionTemplateOf(ports, definitionId);
  return template.ok ? { ok: true, facts: { version: current.version, template: template.value } } : template;
}

async function definitionTemplateOf({ key, relay }: Reading, definitionId: string): Promise<Known<LaunchFacts['template']>> {
  const address = { kind: PERSONA_KIND.definition, author: key.pubkey, d: slugFrom(definitionId) };
  const { events, complete } = await relay.query([addressFilter(address)]);
  if (!complete) return refuse('unavailable', 'relay: expected an answer about the definition');
  const head = headAt(address, events);
  const reading = head === undefined ? refuse('envelope', 'expected one on the relay') : readDefinition(head);
  if (reading.ok) return { ok: true, value: { type: 'definition', systemPrompt: reading.definition.systemPrompt } };
  return { ok: true, value: { type: 'definition_unusable', detail: `definition ${address.d}: ${reading.detail}` } };
}

async function teamFacts(ports: Reading, agent: Pubkey): Promise<Known<readonly TeamFacts[]>> {
  const book = await readTeams(ports);
  if (!book.ok) return book;
  const facts: TeamFacts[] = [];
  for (const { id, name, instructions } of teamsOf(book.records, agent)) {
    const current = await currentVersion(ports, { type: 'team', team: id });
    if (!current.ok) return current;
    facts.push({ id, name, instructions, version: current.version });
  }
  return { ok: true, value: facts };
}
