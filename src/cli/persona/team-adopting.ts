/** `skep team adopt`: another owner's shared team as a team and personas of one's own, under ids of one's own. */
import { Failure } from '../../model/index.ts';
import { adoptTeam, newTeamId, PERSONA_KIND, saveTeamInstructions, textFault, writeDefinition, writeTeam } from '../../persona/index.ts';
import { systemRandom } from '../../system/index.ts';
import { jsonLine } from '../owner-text.ts';
import { plural, print, safe } from '../print.ts';
import { confirm } from './ask.ts';
import type { AskFlags } from './ask.ts';
import { coordinateIn, definitionHeads, publishDefinition, warn } from './definitions.ts';
import { failureOf, taken } from './open.ts';
import type { PersonaFlags, Personas } from './open.ts';
import { shareAt } from './team-sharing.ts';
import { screenLines } from './text-diff.ts';

/** A stranger's words become those of one's own agents: all of them are shown before it is asked. */
export async function adopt(personas: Personas, text: string, flags: PersonaFlags & AskFlags): Promise<void> {
  const coordinate = coordinateIn(text, PERSONA_KIND.teamCatalog);
  if (coordinate === undefined) throw new Failure('usage', `team adopt: expected 30178:<owner>:<team id>, found ${safe(text)}`);
  const share = await shareAt(personas, coordinate.author, coordinate.d);
  if (share === undefined) throw new Failure('refused_input', `${safe(text)}: there is none, or none that its owner shows`);
  const { catalog, isShared } = taken(share.reading);
  if (!isShared && coordinate.author !== personas.key.pubkey) throw new Failure('refused_input', `${safe(text)}: its owner does not show it`);
  const { instructions = '' } = catalog;
  const fault = textFault(instructions);
  if (fault !== undefined) throw new Failure('refused_input', `${safe(text)}: instructions: ${fault}`);
  const slugs = new Set((await definitionHeads(personas, personas.key.pubkey)).map(({ slug }) => slug));
  const { team, definitions } = adoptTeam(catalog, newTeamId(systemRandom), slugs);
  const bodies = definitions.map(({ slug, definition }) => ({ slug, definition, ...taken(writeDefinition(definition, false)) }));
  const lines = [`team ${safe(team.name)}, ${plural(definitions.length, 'member')}; its instructions:`, ...indented(instructions),
    ...bodies.flatMap(({ slug, definition }) => [`persona ${slug} (${safe(definition.displayName)}):`, ...indented(definition.systemPrompt ?? '')])];
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  for (const { slug, warnings } of bodies) warn(warnings.map(({ path, sort }) => ({ path: `${slug}.${path}`, sort })));
  await confirm('Adopt this as a team of your own? Your agents will be told what stands above.', flags);

  const made: string[] = [];
  try {
    for (const { slug, body } of bodies) {
      await publishDefinition(personas, slug, { body, isShared: false, seen: 'none' });
      made.push(slug);
    }
    taken(await writeTeam(personas, { ...team, instructions: undefined }));
    made.push(`team ${team.id}`);
    if (instructions !== '') {
      const outcome = await saveTeamInstructions(personas, team.id, instructions);
      if (outcome.status === 'failed') throw failureOf(outcome.refusal);
      if (outcome.status === 'unknown') throw new Failure('unanswered', outcome.detail);
    }
  } catch (error) {
    if (!(error instanceof Failure) || made.length === 0) throw error;
    throw new Failure('partly_done', `adopted in part (${made.join(', ')}), then: ${error.message}`, { cause: error });
  }
  if (flags.json === true) print(jsonLine({ status: 'adopted', id: team.id, name: team.name, definitions: team.definitions }));
  else print(`adopted: team ${safe(team.name)} (${team.id})${team.definitions.length === 0 ? '' : `, personas ${team.definitions.join(', ')}`}`);
}

function indented(text: string): readonly string[] {
  return text === '' ? ['  (none)'] : screenLines(text).map((line) => `  ${line}`);
}
