/** A team's record as people edit it: a YAML mapping of name, description, personas and agents. */
import { excerpt, Failure } from '../../model/index.ts';
import type { Team } from '../../persona/index.ts';
import { mappingIn, mappingText } from './definition-file.ts';

const MEMBERS = ['name', 'description', 'personas', 'agents'] as const;

export interface WrittenTeam {
  readonly name: string;
  readonly description: string | undefined;
  readonly definitions: readonly string[];
  /** As written: names of the config, npubs, hex. */
  readonly agents: readonly string[];
}

export function teamText({ name, description, definitions, agents }: Team, nameOf: (pubkey: string) => string): string {
  return mappingText({ name, description, personas: definitions, agents: agents.map(nameOf) });
}

export function readTeamText(text: string, file: string): WrittenTeam {
  const members = mappingIn(text, file);
  const stray = Object.keys(members).find((member) => !MEMBERS.some((known) => known === member));
  if (stray !== undefined) throw refused(file, excerpt(stray), `one of ${MEMBERS.join(', ')}`);
  const { name, description } = members;
  if (typeof name !== 'string' || name.trim() === '') throw refused(file, 'name', 'a name');
  if (description !== undefined && description !== null && typeof description !== 'string') throw refused(file, 'description', 'a text');
  return { name, description: description ?? undefined, definitions: words(file, 'personas', members['personas']), agents: words(file, 'agents', members['agents']) };
}

function words(file: string, member: string, value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value;
  throw refused(file, member, 'a list of names');
}

function refused(file: string, member: string, expected: string): Failure {
  return new Failure('refused_input', `${file}: ${member}: expected ${expected}`);
}
