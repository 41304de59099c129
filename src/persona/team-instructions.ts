/**
 * Saving a team's instructions, and the move from a private record into versions: the text of until then becomes the
 * first version, and only when the relay shows that versions are there does the private copy go. NIP-AP "Team
 * instructions". A record that could not be read is not a team without one.
 */
import { refuse } from '../model/index.ts';
import type { OwnerPorts } from './ports.ts';
import { saveVersion } from './save.ts';
import type { SaveOrder, SaveOutcome } from './save.ts';
import { readTeam, teamGuard, writeTeam } from './team-book.ts';
import type { TeamId } from './team-id.ts';

export async function saveTeamInstructions(ports: OwnerPorts, id: TeamId, text: string, seen?: SaveOrder['seen']): Promise<SaveOutcome> {
  const found = await readTeam(ports, id);
  if (!found.ok) return { status: 'failed', refusal: refuse('unavailable', found.detail) };
  const { record } = found;
  if (record?.status === 'deleted') return { status: 'failed', refusal: refuse('deleted', 'team: expected one that is not deleted') };
  const outcome = await saveVersion(ports, { subject: { type: 'team', team: id }, guard: teamGuard(ports, id), text, earlier: record?.instructions, seen });
  const isSeen = outcome.status === 'current' || outcome.status === 'superseded';
  // Where no version can hold the private text, it stays where it is: it holds no longer, but it is not lost.
  if (record?.instructions !== undefined && isSeen && outcome.earlier !== 'unfit') await writeTeam(ports, { ...record, instructions: undefined }, record);
  return outcome;
}
