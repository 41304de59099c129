/**
 * The facts of a start, asked from the relay: the agent's version, its definition or what stands for one, and the teams
 * it is a member of with theirs. One answer that is missing is a refusal: nobody is started on half of what holds.
 */
import { refuse } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import { addressFilter, headAt } from './address.ts';
import type { Address } from './address.ts';
import { readDefinition } from './definition-reading.ts';
import { currentVersion } from './history.ts';
import type { Instance } from './instance.ts';
import { PERSONA_KIND } from './kinds.ts';
import type { LaunchFacts, TeamFacts } from './launch.ts';
import type { ReadingPorts } from './ports.ts';
import { slugFrom } from './slug.ts';
import { readTeams, teamsOf } from './team-book.ts';
import { readTeamEvent } from './team-event.ts';
import type { TeamId } from './team-id.ts';
import type { TeamRecord } from './team-record.ts';

type Known<T> = { readonly ok: true; readonly value: T } | Refusal<'unavailable' | 'content' | 'team_unknown'>;

export type Linked = Pick<Instance, 'agent' | 'definitionId' | 'own'>;

/** `team_unknown`: a binding of this machine names a team that neither a record nor an event nor a version speaks of. */
export type FactsRefusal = 'unavailable' | 'content' | 'team_unknown';

/** `bound` are teams by the word of this machine, beside those whose records name the agent; a deleted one counts no longer. */
export async function launchFacts(
  ports: ReadingPorts, linked: Linked, bound: readonly TeamId[] = [],
): Promise<{ readonly ok: true; readonly facts: LaunchFacts; readonly deletedTeams: readonly TeamId[] } | Refusal<FactsRefusal>> {
  const own = await ownFacts(ports, linked);
  if (!own.ok) return own;
  const book = await readTeams(ports);
  if (!book.ok) return book;
  const deletedTeams = bound.filter((id) => book.records.some((record) => record.status === 'deleted' && record.id === id));
  const teams: TeamFacts[] = [];
  for (const { id, name, instructions } of teamsOf(book.records, linked.agent)) {
    const current = await currentVersion(ports, { type: 'team', team: id });
    if (!current.ok) return current;
    teams.push({ id, name, instructions, version: current.version });
  }
  for (const id of bound) {
    if (deletedTeams.includes(id) || teams.some((team) => team.id === id)) continue;
    const team = await boundTeam(ports, id, book.records);
    if (!team.ok) return team;
    teams.push(team.value);
  }
  return { ok: true, facts: { ...own.facts, teams }, deletedTeams };
}

/** Those of the agent's own layer alone. */
export async function ownFacts(
  ports: ReadingPorts, { agent, definitionId, own }: Linked,
): Promise<{ readonly ok: true; readonly facts: Omit<LaunchFacts, 'teams'> } | Refusal<FactsRefusal>> {
  const current = await currentVersion(ports, { type: 'agent', agent });
  if (!current.ok) return current;
  const template = definitionId === undefined
    ? { ok: true, value: { type: 'legacy', systemPrompt: own.systemPrompt } } as const
    : await definitionTemplateOf(ports, definitionId);
  return template.ok ? { ok: true, facts: { version: current.version, template: template.value } } : template;
}

async function definitionTemplateOf({ key, relay }: ReadingPorts, definitionId: string): Promise<Known<LaunchFacts['template']>> {
  const slug = slugFrom(definitionId);
  const found = await headOf(relay, { kind: PERSONA_KIND.definition, author: key.pubkey, d: slug });
  if (!found.ok) return found;
  const head = found.value;
  if (head === undefined) return unusable(slug, `its owner has none on the relay; skep persona new ${slug} makes one`);
  const reading = readDefinition(head);
  if (!reading.ok) return unusable(slug, reading.detail);
  const { definition } = reading;
  return { ok: true, value: { type: 'definition', systemPrompt: definition.systemPrompt, head: { id: head.id, slug, definition } } };
}

function unusable(slug: string, detail: string): Known<LaunchFacts['template']> {
  return { ok: true, value: { type: 'definition_unusable', detail: `definition ${slug}: ${detail}` } };
}

/** Another client's team may have no record that we can read, and its event or its versions alone. */
async function boundTeam(ports: ReadingPorts, id: TeamId, records: readonly TeamRecord[]): Promise<Known<TeamFacts>> {
  const current = await currentVersion(ports, { type: 'team', team: id });
  if (!current.ok) return current;
  const { version } = current;
  const record = records.find((one) => one.id === id);
  if (record?.status === 'live') return { ok: true, value: { id, name: record.name, instructions: record.instructions, version } };
  const head = await headOf(ports.relay, { kind: PERSONA_KIND.teamEvent, author: ports.key.pubkey, d: id });
  if (!head.ok) return head;
  const event = head.value === undefined ? undefined : readTeamEvent(head.value);
  if (event?.ok === false) return refuse('content', `team ${id}: ${event.detail}`);
  if (event === undefined && version === undefined) return refuse('team_unknown', `teams: expected one that the owner has, found ${id}`);
  const instructions = event?.team.instructions;
  return { ok: true, value: { id, name: event?.team.name ?? id, instructions: instructions?.status === 'text' ? instructions.text : undefined, version } };
}

/** Undefined: the relay says that there is none. */
export async function headOf(relay: ReadingPorts['relay'], address: Address): Promise<{ readonly ok: true; readonly value: VerifiedEvent | undefined } | Refusal<'unavailable'>> {
  const { events, complete } = await relay.query([addressFilter(address)]);
  if (!complete) return refuse('unavailable', 'relay: expected an answer about a head');
  return { ok: true, value: headAt(address, events) };
}
