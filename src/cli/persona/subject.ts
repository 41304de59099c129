/**
 * Whose instructions are meant: `agent <name>` or `team <id>`, as people write it, and what holds for them now.
 */
import type { AgentConfig } from '../../config/index.ts';
import { launchOrder } from '../../launch-order.ts';
import { Failure } from '../../model/index.ts';
import type { Pubkey } from '../../model/index.ts';
import { parsePubkey } from '../../nostr/index.ts';
import {
  asTeamId, currentVersion, headsOf, linkOf, ownFacts, PERSONA_KIND, readAll, readInstance, readTeam, readTeams, saveTeamInstructions, saveVersion,
} from '../../persona/index.ts';
import type { Instance, SaveOrder, SaveOutcome, Subject, Team, Version } from '../../persona/index.ts';
import { agentNamedIn } from '../agent-named.ts';
import { plural, safe } from '../print.ts';
import { taken } from './open.ts';
import type { Personas } from './open.ts';

export type Sort = Subject['type'];

/** What a subject is told at present. `text` is undefined where it is invalid, or cannot be read. */
export interface Standing {
  readonly source: 'version' | 'definition' | 'legacy' | 'record' | 'none' | 'unreadable';
  readonly version: Version | undefined;
  readonly text: string | undefined;
  /** Why there is no text. */
  readonly fault: string | undefined;
}

export interface Target {
  readonly subject: Subject;
  /** For a sentence; escaped. */
  readonly title: string;
  readonly name: string;
  standing(): Promise<Standing>;
  /** What "reset" saves; rejects where it cannot be read. An agent's alone. */
  template?(): Promise<string>;
  save(text: string, seen: SaveOrder['seen']): Promise<SaveOutcome>;
  /** What the config of this machine puts in the place of the text, for whom; escaped. */
  readonly overrides: readonly string[];
}

export async function targetOf(personas: Personas, sort: Sort, name: string): Promise<Target> {
  if (sort === 'agent') return agentTarget(personas, await agentNamed(personas, name));
  return teamTarget(personas, await strangeTeam(personas, name) ?? await teamNamed(personas, name));
}

/** A team of another client has no record that we can read, and yet versions. */
async function strangeTeam(personas: Personas, text: string): Promise<Pick<Team, 'id' | 'name' | 'agents'> | undefined> {
  const id = asTeamId(text);
  const found = id === undefined ? undefined : taken(await readTeam(personas, id));
  if (id === undefined || found?.record !== undefined) return undefined;
  const { version } = taken(await currentVersion(personas, { type: 'team', team: id }));
  return version === undefined ? undefined : { id, name: text, agents: [] };
}

export interface NamedAgent {
  readonly pubkey: Pubkey;
  readonly name: string;
}

/** An agent of the config, a key, or the name of one instance on the relay. */
export async function agentNamed(personas: Personas, text: string): Promise<NamedAgent> {
  const configured = agentNamedIn(personas.agents, text);
  if (configured !== undefined) return configured;
  const parsed = parsePubkey(text);
  if (parsed.ok) return { pubkey: parsed.pubkey, name: `${parsed.pubkey.slice(0, 8)}…` };
  const found = (await instances(personas)).filter(({ name }) => name === text);
  const [instance] = found;
  if (instance !== undefined && found.length === 1) return { pubkey: instance.agent, name: instance.name };
  const known = personas.agents.map(({ name }) => name).join(', ');
  const why = found.length > 1 ? `${plural(found.length, 'agent')} on the relay have that name` : `there is ${known === '' ? 'none in the config' : known}`;
  throw new Failure('usage', `agent: expected a name of the config, an npub or 64 hex characters, found ${safe(text)}; ${why}`);
}

async function instances({ key, relay }: Personas): Promise<readonly Instance[]> {
  const { events } = taken(await readAll(relay, { kinds: [PERSONA_KIND.instance], authors: [key.pubkey] }));
  return [...headsOf(PERSONA_KIND.instance, key.pubkey, events).values()].flatMap((head) => {
    const read = readInstance(head);
    return read.ok ? [read.instance] : [];
  });
}

/** A team by its id, the one of that name, or the one whose id begins so. Deleted ones are none. */
export async function teamNamed(personas: Personas, text: string): Promise<Team> {
  const { records } = taken(await readTeams(personas));
  const teams = records.filter((record): record is Team => record.status === 'live');
  const exact = teams.find(({ id }) => id === text);
  if (exact !== undefined) return exact;
  const found = [teams.filter(({ name }) => name === text), text.length < MIN_ID_PREFIX ? [] : teams.filter(({ id }) => id.startsWith(text))].find((some) => some.length > 0) ?? [];
  const [team] = found;
  if (team !== undefined && found.length === 1) return team;
  const why = found.length > 1 ? `${plural(found.length, 'team')} are called so: ${found.map(({ id }) => id).join(', ')}` : 'there is no such team, see skep team list';
  throw new Failure('usage', `team: expected the id of a team, its beginning, or a name, found ${safe(text)}; ${safe(why)}`);
}

const MIN_ID_PREFIX = 4;

/** What an agent is made of: by the config, else by its own event on the relay. */
export async function madeOf(personas: Personas, agent: Pubkey): Promise<Pick<Instance, 'agent' | 'definitionId' | 'own'>> {
  const persona = personas.agents.find(({ pubkey }) => pubkey === agent)?.launch?.persona;
  return persona === undefined ? taken(await linkOf(personas, agent)).linked : { agent, definitionId: persona, own: {} };
}

function agentTarget(personas: Personas, { pubkey, name }: NamedAgent): Target {
  const subject = { type: 'agent', agent: pubkey } as const;
  const facts = async () => taken(await ownFacts(personas, await madeOf(personas, pubkey))).facts;
  return {
    subject, name, title: `agent ${safe(name)}`,
    overrides: overridesIn(personas, 'own', (agent) => agent.pubkey === pubkey),
    async standing() {
      const { version, template } = await facts();
      if (version !== undefined) return ofVersion(version);
      if (template.type === 'definition_unusable') return { source: 'unreadable', version, text: undefined, fault: template.detail };
      const { type, systemPrompt: text } = template;
      return { source: text === undefined ? 'none' : type, version, text: text ?? '', fault: undefined };
    },
    async template() {
      const { template } = await facts();
      if (template.type === 'definition_unusable') throw new Failure('refused_input', safe(template.detail));
      // What an instance of old says itself is no definition's template.
      return template.type === 'definition' ? template.systemPrompt ?? '' : '';
    },
    async save(text, seen) {
      const { template } = await facts();
      const earlier = template.type === 'definition_unusable' ? undefined : template.systemPrompt;
      return saveVersion(personas, { subject, text, earlier, seen });
    },
  };
}

/** An override is shown to the owner (NIP-AP "Launch composition"): what they save does not reach that agent here. */
function overridesIn({ agents }: Personas, layer: 'own' | 'team', isMeant: (agent: AgentConfig) => boolean): readonly string[] {
  return agents.filter(isMeant).flatMap((agent) => {
    const source = launchOrder(agent)?.overrides[layer]?.source;
    return source === undefined ? [] : [safe(source)];
  });
}

function teamTarget(personas: Personas, { id, name, agents }: Pick<Team, 'id' | 'name' | 'agents'>): Target {
  const subject = { type: 'team', team: id } as const;
  return {
    subject, name, title: `team ${safe(name)} (${safe(id)})`,
    overrides: overridesIn(personas, 'team', ({ pubkey, launch }) => agents.includes(pubkey) || launch?.teams.includes(id) === true),
    async standing() {
      const { version } = taken(await currentVersion(personas, subject));
      if (version !== undefined) return ofVersion(version);
      const { record } = taken(await readTeam(personas, id));
      const text = record?.status === 'live' ? record.instructions : undefined;
      return { source: text === undefined ? 'none' : 'record', version, text: text ?? '', fault: undefined };
    },
    save: (text, seen) => saveTeamInstructions(personas, id, text, seen),
  };
}

function ofVersion(version: Version): Standing {
  const { reading } = version;
  return reading.status === 'valid'
    ? { source: 'version', version, text: reading.text, fault: undefined }
    : { source: 'version', version, text: undefined, fault: `version ${version.id} is invalid; ${reading.detail}` };
}
