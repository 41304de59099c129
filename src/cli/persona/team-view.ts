/** All that is to be said of a team: its record, what it is told, and what of it others see. */
import { shortId } from '../../model/index.ts';
import type { Pubkey } from '../../model/index.ts';
import type { Team } from '../../persona/index.ts';
import { plural, safe } from '../print.ts';
import type { Personas } from './open.ts';
import { textJson } from './saving.ts';
import { madeOf, targetOf } from './subject.ts';
import type { Standing } from './subject.ts';
import { isBehind, personasOf, shareAt } from './team-sharing.ts';

export interface TeamFacts {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly instructions: {
    readonly source: Standing['source'];
    readonly version: string | null;
    readonly bytes: number | null;
    readonly sha256: string | null;
    readonly fault: string | null;
  };
  readonly agents: readonly { readonly pubkey: Pubkey; readonly name: string | null; readonly persona: string | null }[];
  /** Slugs of what is shown with it where it is shared. */
  readonly definitions: readonly string[];
  /** `behind`: it says other instructions than hold now; null where that is not known. */
  readonly share: { readonly event: string; readonly shared: boolean; readonly behind: boolean | null } | null;
}

export async function teamFacts(personas: Personas, team: Team): Promise<TeamFacts> {
  const { id, name, description, agents } = team;
  const standing = await (await targetOf(personas, 'team', id)).standing();
  const share = await shareAt(personas, personas.key.pubkey, id);
  const members: TeamFacts['agents'][number][] = [];
  for (const pubkey of agents) {
    const { definitionId = null } = await madeOf(personas, pubkey);
    members.push({ pubkey, name: personas.agents.find((one) => one.pubkey === pubkey)?.name ?? null, persona: definitionId });
  }
  return {
    id, name, description: description ?? null,
    instructions: { source: standing.source, version: standing.version?.id ?? null, ...textJson(standing.text), fault: standing.fault ?? null },
    agents: members, definitions: (await personasOf(personas, team)).slugs,
    share: share === undefined ? null : { event: share.event.id, shared: share.reading.ok && share.reading.isShared, behind: isBehind(share, standing) ?? null },
  };
}

export function teamLines({ id, name, description, instructions, agents, definitions, share }: TeamFacts): readonly string[] {
  const { source, version, bytes, sha256, fault } = instructions;
  const told = fault ?? (source === 'none' ? 'none' : `${version === null ? 'of its record, no version yet' : `version ${shortId(version)}`}, ${plural(bytes ?? 0, 'byte')}, sha256 ${sha256?.slice(0, 12) ?? ''}`);
  const behind = share?.behind === true ? ', with other instructions than hold now' : '';
  return [
    `${safe(name)}  ${safe(id)}`,
    ...(description === null ? [] : [`  ${safe(description)}`]),
    `  instructions  ${safe(told)}`,
    `  agents        ${agents.length === 0 ? 'none' : agents.map((one) => `${safe(one.name ?? shortId(one.pubkey))}${one.persona === null ? '' : ` (${safe(one.persona)})`}`).join(', ')}`,
    `  personas      ${definitions.length === 0 ? 'none' : definitions.map(safe).join(', ')}`,
    `  shared        ${share?.shared === true ? `yes, event ${shortId(share.event)}${behind}` : 'no'}`,
  ];
}
