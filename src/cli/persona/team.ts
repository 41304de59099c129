/**
 * `skep team`: agents that are told the same. A team is a record for its owner's eyes alone; sharing shows a copy of it,
 * its members' prompts included, and says so first. Its instructions are `skep instructions ... team <id>`.
 */
import type { Command } from 'commander';
import { launchOrder } from '../../launch-order.ts';
import { Failure } from '../../model/index.ts';
import {
  asTeamId, deleteAt, deleteTeam, newTeamId, PERSONA_KIND, planLaunch, readTeam, readTeams, saveTeamInstructions, textFault, writeTeam,
} from '../../persona/index.ts';
import type { Team, TeamId, TeamRecord } from '../../persona/index.ts';
import { systemRandom } from '../../system/index.ts';
import { placeOptions } from '../owner-open.ts';
import { jsonLine } from '../owner-text.ts';
import { plural, print, safe, tell } from '../print.ts';
import { readSource } from '../source.ts';
import { confirm } from './ask.ts';
import type { AskFlags } from './ask.ts';
import { asSlug, theDefinition } from './definitions.ts';
import { edited } from './editor.ts';
import { asPersonas, failureOf, taken } from './open.ts';
import type { PersonaFlags, Personas } from './open.ts';
import { patiently } from './patience.ts';
import { agentNamed, targetOf, teamNamed } from './subject.ts';
import type { NamedAgent } from './subject.ts';
import { adopt } from './team-adopting.ts';
import { readTeamText, teamText } from './team-file.ts';
import { draftShare, publishShare, shareAt } from './team-sharing.ts';
import { teamFacts, teamLines } from './team-view.ts';
import { diffLines } from './text-diff.ts';

type SureFlags = PersonaFlags & AskFlags;

interface NewFlags extends PersonaFlags {
  readonly description?: string;
  readonly instructions?: string;
}

interface EditFlags extends SureFlags {
  readonly name?: string;
  readonly description?: string;
}

interface MemberFlags extends PersonaFlags {
  readonly persona?: readonly string[];
}

export function teamVerb(program: Command): void {
  const team = program
    .command('team')
    .description('agents that share instructions: make teams, choose their members, share and adopt them');
  placeOptions(team.command('list').description('your teams'))
    .action((flags: PersonaFlags) => asPersonas(flags, (personas) => list(personas, flags)));
  named(team, 'show', 'a team, its members and what it is told')
    .action((name: string, flags: PersonaFlags) => asPersonas(flags, (personas) => show(personas, name, flags)));
  placeOptions(team.command('new').description('make a team, under a new id'))
    .argument('<name>', 'its name for people')
    .option('--description <text>', 'one line for people')
    .option('-i, --instructions <file>', 'its first instructions, from a text file; - is stdin')
    .action((name: string, flags: NewFlags) => asPersonas(flags, (personas) => create(personas, name, flags)));
  asking(named(team, 'edit', 'change its name, description and members; in $EDITOR unless it is told what'))
    .option('-n, --name <name>', 'its name for people')
    .option('--description <text>', 'one line for people')
    .action((name: string, flags: EditFlags) => asPersonas(flags, (personas) => edit(personas, name, flags)));
  for (const isAdding of [true, false]) {
    named(team, isAdding ? 'add' : 'remove', isAdding ? 'bind agents to a team: they are told its instructions from their next start' : 'unbind agents')
      .argument('[agents...]', 'names of the config, npubs or hex')
      .option('--persona <slug>', 'a persona that is shown with the team when it is shared, beside those of its agents; may be given again', also)
      .action((name: string, agents: readonly string[], flags: MemberFlags) => asPersonas(flags, (personas) => bind(personas, { name, agents, isAdding }, flags)));
  }
  asking(named(team, 'share', 'show the team, its instructions and its members\' prompts to everybody on the relay, as they are now'))
    .action((name: string, flags: SureFlags) => asPersonas(flags, (personas) => share(personas, name, flags)));
  asking(named(team, 'unshare', 'let nobody but you read what was shared'))
    .action((name: string, flags: SureFlags) => asPersonas(flags, (personas) => unshare(personas, name, flags)));
  asking(placeOptions(team.command('adopt').description('make a team of your own from one that another owner shares')))
    .argument('<team>', '30178:<owner>:<team id>')
    .action((text: string, flags: SureFlags) => asPersonas(flags, (personas) => adopt(personas, text, flags)));
  asking(named(team, 'delete', 'delete a team and every version of its instructions, until none is left'))
    .action((name: string, flags: SureFlags) => asPersonas(flags, (personas) => remove(personas, name, flags)));
}

function named(parent: Command, verb: string, description: string): Command {
  return placeOptions(parent.command(verb).description(description)).argument('<team>', 'its id, the beginning of it, or its name');
}

function asking(command: Command): Command {
  return command.option('-y, --yes', 'do not ask');
}

function also(slug: string, before: readonly string[] = []): readonly string[] {
  return [...before, slug];
}

function done(value: object, line: string, { json = false }: PersonaFlags): void {
  print(json ? jsonLine(value) : line);
}

function titleOf({ name, id }: Pick<Team, 'name' | 'id'>): string {
  return `team ${safe(name)} (${safe(id)})`;
}

async function list(personas: Personas, { json = false }: PersonaFlags): Promise<void> {
  const { records } = taken(await readTeams(personas));
  for (const record of [...records].sort((one, other) => (nameIn(one) < nameIn(other) ? -1 : 1))) {
    if (record.status === 'live') {
      const { id, name, agents, definitions } = record;
      if (json) print(jsonLine({ id, name, agents, definitions }));
      else print(`${safe(id)}  ${safe(name)}  ${plural(agents.length, 'agent')}, ${plural(definitions.length, 'persona')}`);
    } else if (record.versions === 'left') {
      tell(`team ${safe(record.id)} is deleted and versions of its instructions may be left: skep team delete goes on`);
    }
  }
  if (!json && records.every(({ status }) => status !== 'live')) print('no teams yet; skep team new makes one');
}

function nameIn(record: TeamRecord): string {
  return record.status === 'live' ? record.name : '';
}

async function show(personas: Personas, name: string, { json = false }: PersonaFlags): Promise<void> {
  const facts = await teamFacts(personas, await teamNamed(personas, name));
  if (json) print(jsonLine(facts));
  else for (const line of teamLines(facts)) print(line);
}

async function create(personas: Personas, name: string, flags: NewFlags): Promise<void> {
  if (name.trim() === '') throw new Failure('usage', 'team new: expected a name');
  const text = flags.instructions === undefined ? undefined : await readSource(flags.instructions);
  const fault = text === undefined ? undefined : textFault(text);
  if (fault !== undefined) throw new Failure('refused_input', fault);
  const team: Team = { status: 'live', id: newTeamId(systemRandom), name, description: flags.description, definitions: [], agents: [] };
  taken(await writeTeam(personas, team));
  if (text !== undefined) await firstInstructions(personas, team.id, text);
  done({ status: 'made', id: team.id, name }, `made: ${titleOf(team)}`, flags);
}

async function firstInstructions(personas: Personas, id: TeamId, text: string): Promise<void> {
  const outcome = await saveTeamInstructions(personas, id, text, 'none');
  if (outcome.status === 'failed') throw new Failure('partly_done', `team ${id} is made, and has no instructions yet: ${failureOf(outcome.refusal).message}`);
  if (outcome.status === 'unknown') throw new Failure('partly_done', `team ${id} is made; the relay gave no verdict on its instructions: ${outcome.detail}`);
}

async function edit(personas: Personas, name: string, flags: EditFlags): Promise<void> {
  const team = await teamNamed(personas, name);
  const { name: newName, description } = flags;
  if (newName !== undefined || description !== undefined) {
    return change(personas, team, { ...team, ...(newName === undefined ? {} : { name: newName }), ...(description === undefined ? {} : { description }) }, flags);
  }
  const nameOf = namesOf(personas);
  return edited(teamText(team, nameOf), 'team.yaml', async (text, agreed) => {
    const written = readTeamText(text, 'team.yaml');
    const agents = await Promise.all(written.agents.map(async (agent) => (await agentNamed(personas, agent)).pubkey));
    return change(personas, team, { ...team, ...written, definitions: written.definitions.map(asSlug), agents: [...new Set(agents)] }, { ...flags, agreed });
  });
}

function namesOf({ agents }: Personas): (pubkey: string) => string {
  return (pubkey) => agents.find((one) => one.pubkey === pubkey)?.name ?? pubkey;
}

async function change(personas: Personas, before: Team, next: Team, flags: EditFlags): Promise<void> {
  const nameOf = namesOf(personas);
  const lines = diffLines(teamText(before, nameOf), teamText(next, nameOf), ['now', 'next']);
  if (lines.length === 0) {
    done({ status: 'unchanged', id: before.id, name: before.name }, 'nothing to save: that is what it says', flags);
    return;
  }
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  await confirm(`Save this as ${titleOf(before)}?`, flags);
  await put(personas, before, next);
  done({ status: 'saved', id: next.id, name: next.name }, `saved: ${titleOf(next)}`, flags);
}

/** Not over what another device has written since `before` was read; and what it writes at the same moment takes the place of ours. */
async function put(personas: Personas, before: Team, next: Team): Promise<void> {
  const written = await writeTeam(personas, next, before);
  if (!written.ok && (written.code === 'unseen' || written.code === 'overtaken')) throw new Failure('not_changed', `nothing was saved: ${titleOf(before)} was changed elsewhere meanwhile`);
  taken(written);
}

interface Binding {
  readonly name: string;
  readonly agents: readonly string[];
  readonly isAdding: boolean;
}

async function bind(personas: Personas, { name, agents, isAdding }: Binding, flags: MemberFlags): Promise<void> {
  const { persona = [] } = flags;
  if (agents.length + persona.length === 0) throw new Failure('usage', `team ${isAdding ? 'add' : 'remove'}: expected an agent, or a --persona`);
  const team = await teamNamed(personas, name);
  const found: NamedAgent[] = [];
  for (const agent of agents) found.push(await agentNamed(personas, agent));
  const slugs = persona.map(asSlug);
  const next = isAdding ? await joined(personas, team, found, slugs) : left(team, found, slugs);
  await put(personas, team, next);
  const words = [...found.map((one) => safe(one.name)), ...slugs].join(', ');
  done({ status: isAdding ? 'added' : 'removed', id: team.id, name: team.name, agents: next.agents, definitions: next.definitions }, `${isAdding ? 'added to' : 'removed from'} ${titleOf(team)}: ${words}`, flags);
  for (const one of found) await tellLaunch(personas, one);
}

async function joined(personas: Personas, team: Team, agents: readonly NamedAgent[], slugs: readonly string[]): Promise<Team> {
  for (const slug of slugs) await theDefinition(personas, slug);
  return { ...team, agents: [...new Set([...team.agents, ...agents.map(({ pubkey }) => pubkey)])], definitions: [...new Set([...team.definitions, ...slugs])] };
}

function left(team: Team, agents: readonly NamedAgent[], slugs: readonly string[]): Team {
  const strayAgent = agents.find(({ pubkey }) => !team.agents.includes(pubkey));
  const straySlug = slugs.find((slug) => !team.definitions.includes(slug));
  const stray = strayAgent?.name ?? straySlug;
  if (stray !== undefined) throw new Failure('usage', `team remove: expected members of ${titleOf(team)}, found ${safe(stray)}`);
  const gone = new Set<string>(agents.map(({ pubkey }) => pubkey));
  return { ...team, agents: team.agents.filter((pubkey) => !gone.has(pubkey)), definitions: team.definitions.filter((slug) => !slugs.includes(slug)) };
}

/** Says at once what would keep the agent from its next start. */
async function tellLaunch(personas: Personas, { pubkey, name }: NamedAgent): Promise<void> {
  const configured = personas.agents.find((agent) => agent.pubkey === pubkey);
  const order = (configured && launchOrder(configured)) ?? { agent: pubkey, persona: undefined, teams: [], overrides: {} };
  const planning = await planLaunch(personas, order);
  if (!planning.ok) tell(`agent ${safe(name)} would not be started like this: ${safe(planning.detail)}`);
}

async function share(personas: Personas, name: string, flags: SureFlags): Promise<void> {
  const team = await teamNamed(personas, name);
  const standing = await (await targetOf(personas, 'team', team.id)).standing();
  const seen = (await shareAt(personas, personas.key.pubkey, team.id))?.event.id ?? 'none';
  const { body, instructions, members, left: others } = await draftShare(personas, team, standing);
  const nameOf = namesOf(personas);
  const lines = [
    `Sharing ${titleOf(team)} makes this readable by everybody whom the relay lets in, as it is now:`,
    instructions === '' ? '  the team has no instructions' : `  the team's instructions, ${plural(Buffer.byteLength(instructions), 'byte')}`,
    ...members.map(({ slug, definition, isShared }) => `  the prompt of ${slug} (${safe(definition.displayName)}), ${plural(Buffer.byteLength(definition.systemPrompt ?? ''), 'byte')}${isShared ? '' : ', which is not shared by itself'}`),
    ...others.map((agent) => `  nothing of ${safe(nameOf(agent))}, which is made from no persona`),
    'What is saved later is not shown before you share again.',
  ];
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  await confirm('Share it?', flags);
  const event = await publishShare(personas, team.id, { body, isShared: true, seen });
  const coordinate = `${PERSONA_KIND.teamCatalog}:${personas.key.pubkey}:${team.id}`;
  done({ status: 'shared', id: team.id, name: team.name, event: event.id, coordinate, members: members.map(({ slug }) => slug) }, `shared: ${coordinate}`, flags);
}

async function unshare(personas: Personas, name: string, flags: SureFlags): Promise<void> {
  const team = await teamNamed(personas, name);
  const found = await shareAt(personas, personas.key.pubkey, team.id);
  if (found === undefined || (found.reading.ok && !found.reading.isShared)) {
    done({ status: 'unchanged', id: team.id, name: team.name, event: found?.event.id ?? null }, `${titleOf(team)} is not shared`, flags);
    return;
  }
  await confirm(`Stop sharing ${titleOf(team)}? Copies that others have made stay with them.`, flags);
  const { content: body, id: seen } = found.event;
  const event = await publishShare(personas, team.id, { body, isShared: false, seen });
  done({ status: 'unshared', id: team.id, name: team.name, event: event.id }, `unshared: ${titleOf(team)}`, flags);
}

/** Also one whose deletion has begun: the same command goes on. */
async function remove(personas: Personas, name: string, flags: SureFlags): Promise<void> {
  const id = await toDelete(personas, name, flags);
  if (await shareAt(personas, personas.key.pubkey, id) !== undefined) taken(await deleteAt(personas, { kind: PERSONA_KIND.teamCatalog, author: personas.key.pubkey, d: id }));
  const deletion = await patiently((patience) => deleteTeam(personas, id, patience));
  if (deletion.status === 'failed') throw failureOf(deletion.refusal);
  if (flags.json === true) print(jsonLine({ status: deletion.status, id }));
  if (deletion.status === 'versions_left') throw new Failure('partly_done', `team ${safe(id)} is deleted, and versions of its instructions may be left: skep team delete ${safe(id)} goes on`);
  if (flags.json !== true) print(`deleted: team ${safe(id)}, and every version of its instructions`);
}

/**
 * The owner has been asked, unless it goes on, or what another client has saved since is to go. A record that cannot be
 * read keeps no team from being deleted: by its whole id.
 */
async function toDelete(personas: Personas, name: string, flags: SureFlags): Promise<TeamId> {
  const book = await readTeams(personas);
  const id = asTeamId(name);
  if (!book.ok && book.code === 'content' && id !== undefined) {
    const found = await readTeam(personas, id);
    if (found.ok && found.record?.status === 'live') return agreed(personas, found.record, flags);
    if (found.ok && found.record === undefined) throw new Failure('usage', `team: expected the whole id of a team, found ${safe(name)}; names are not known, because a record cannot be read: ${safe(book.detail)}`);
    await confirm(`A team record cannot be read. Delete the team ${safe(id)} and every version of its instructions?`, flags);
    return id;
  }
  const begun = taken(book).records.find((record) => record.status === 'deleted' && record.id === name);
  return begun === undefined ? agreed(personas, await teamNamed(personas, name), flags) : begun.id;
}

async function agreed(personas: Personas, team: Team, flags: SureFlags): Promise<TeamId> {
  const nameOf = namesOf(personas);
  const members = team.agents.length === 0 ? 'No agent is in it.' : `${team.agents.map((agent) => safe(nameOf(agent))).join(', ')} will be told nothing by it from the next start.`;
  await confirm(`Delete ${titleOf(team)} and every version of its instructions? ${members}`, flags);
  return team.id;
}
