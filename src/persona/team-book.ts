/**
 * The owner's team records on the relay: read, written, ended. A record that cannot be read is never taken for none:
 * a team that nobody sees would be a team whose instructions nobody follows.
 */
import { refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import { matchesFilter, newestFirst } from '../nostr/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import { headsOf, identifierOf, nextStamp } from './address.ts';
import { PERSONA_KIND } from './kinds.ts';
import { readAll } from './pages.ts';
import type { OwnerPorts, ReadingPorts } from './ports.ts';
import type { TeamGuard } from './save.ts';
import type { TeamId } from './team-id.ts';
import { readTeamRecord, teamRecordFilter, teamRecordTemplate, writeTeamRecord } from './team-record.ts';
import type { DeletedTeam, Team, TeamRecord } from './team-record.ts';

/** `unseen`, `overtaken`: another device wrote the record, before or after. `unknown`: it was sent, and may be there. */
export type BookRefusal = 'unavailable' | 'refused' | 'rejected' | 'team' | 'content' | 'deleted' | 'unseen' | 'overtaken' | 'unknown';
type Written = { readonly ok: true } | Refusal<BookRefusal>;

/** Every record, deleted teams among them. */
export async function readTeams(
  { key, relay }: ReadingPorts,
): Promise<{ readonly ok: true; readonly records: readonly TeamRecord[] } | Refusal<'unavailable' | 'content'>> {
  const all = await readAll(relay, teamRecordFilter(key.pubkey));
  if (!all.ok) return all;
  const records: TeamRecord[] = [];
  for (const head of headsOf(PERSONA_KIND.privateRecord, key.pubkey, all.events).values()) {
    const read = await open(key, head);
    if (!read.ok) return read;
    records.push(read.record);
  }
  return { ok: true, records };
}

/** The teams an agent is a member of. */
export function teamsOf(records: readonly TeamRecord[], agent: Pubkey): readonly Team[] {
  return records.filter((record): record is Team => record.status === 'live' && record.agents.includes(agent));
}

/** `record` undefined: the relay says that there is none. */
export async function readTeam(
  { key, relay }: ReadingPorts, id: TeamId,
): Promise<{ readonly ok: true; readonly record: TeamRecord | undefined; readonly head: VerifiedEvent | undefined } | Refusal<'unavailable' | 'content'>> {
  const { head, complete } = await lookUp({ key, relay }, id);
  if (!complete) return refuse('unavailable', 'relay: expected an answer about a team');
  if (head === undefined) return { ok: true, record: undefined, head };
  const read = await open(key, head);
  return read.ok ? { ok: true, record: read.record, head } : read;
}

/**
 * A new record, or another one in place of what is there. A deleted team is never written over, nor anything but `before`
 * where that is told: what `team` was made from.
 */
export async function writeTeam(ports: OwnerPorts, team: Team, before?: Team): Promise<Written> {
  const found = await readTeam(ports, team.id);
  if (!found.ok) return found;
  if (found.record?.status === 'deleted') return refuse('deleted', 'team: expected an id that no deleted team had');
  if (before !== undefined && JSON.stringify(found.record) !== JSON.stringify(before)) return UNSEEN;
  return put(ports, team, found.head, () => unlessNewer(ports, team.id, found.head));
}

const UNSEEN = refuse('unseen', 'team: its record was written elsewhere meanwhile');

/** Asked behind the signature, because a signer far away takes its time. */
async function unlessNewer(ports: OwnerPorts, id: TeamId, head: VerifiedEvent | undefined): Promise<Written> {
  const now = await lookUp(ports, id);
  if (!now.complete) return refuse('unavailable', 'relay: expected an answer about a team');
  return now.head?.id === head?.id ? { ok: true } : UNSEEN;
}

/**
 * The end of a record, and later the end of its versions. Resolves with ok only when the relay shows it as the head.
 * A head that cannot be read is replaced all the same: a team must not be undeletable.
 */
export async function endTeam(ports: OwnerPorts, end: DeletedTeam): Promise<Written> {
  const found = await readTeam(ports, end.id);
  if (!found.ok && found.code === 'unavailable') return found;
  const [record, head] = found.ok ? [found.record, found.head] : [undefined, (await lookUp(ports, end.id)).head];
  if (record?.status === 'deleted' && (record.versions === end.versions || record.versions === 'gone')) return { ok: true };
  return put(ports, end, head);
}

/** For `saveVersion`: a team without a record may have versions, because only a record says that it was deleted. */
export function teamGuard(ports: ReadingPorts, id: TeamId): TeamGuard {
  return async () => {
    const found = await readTeam(ports, id);
    if (!found.ok) return 'unavailable';
    return found.record?.status === 'deleted' ? 'deleted' : 'live';
  };
}

async function lookUp({ key, relay }: ReadingPorts, id: TeamId): Promise<{ readonly head: VerifiedEvent | undefined; readonly complete: boolean }> {
  const filter = teamRecordFilter(key.pubkey, id);
  const { events, complete } = await relay.query([filter]);
  return { head: events.filter((one) => matchesFilter(filter, one)).sort(newestFirst)[0], complete };
}

async function open(
  key: ReadingPorts['key'], event: VerifiedEvent,
): Promise<{ readonly ok: true; readonly record: TeamRecord } | Refusal<'unavailable' | 'content'>> {
  const opened = await key.openFromSelf(event.content);
  if (!opened.ok) return opened.code === 'unavailable' ? refuse(opened.code, opened.detail) : refuse('content', `team record ${event.id}: ${opened.detail}`);
  const read = readTeamRecord(opened.plaintext, { owner: key.pubkey, address: identifierOf(event.tags) });
  // One that does not say its team holds up every start: its owner finds it by its event.
  return read.ok ? read : refuse(read.code, `team record ${event.id}: ${read.detail}`);
}

/** `mayStill` is asked when it is signed: the end of a record is written over whatever came. */
async function put(
  ports: OwnerPorts, record: TeamRecord, head: VerifiedEvent | undefined, mayStill: () => Promise<Written> = async () => ({ ok: true }),
): Promise<Written> {
  const written = writeTeamRecord(record);
  if (!written.ok) return written;
  const sealed = await ports.key.sealToSelf(written.body);
  if (!sealed.ok) return sealed;
  const createdAt = nextStamp(ports.nowSec(), head === undefined ? [] : [head]);
  const signed = await ports.key.sign(teamRecordTemplate(ports.key.pubkey, record.id, sealed.payload, createdAt));
  if (!signed.ok) return signed;
  const may = await mayStill();
  if (!may.ok) return may;
  const sent = await ports.relay.publish(signed.event);
  if (sent.status === 'rejected') return refuse('rejected', sent.reason);
  // An OK is a word, the head is a fact; and without an OK the head alone can tell.
  const after = await lookUp(ports, record.id);
  if (after.head?.id === signed.event.id) return { ok: true };
  if (!after.complete) {
    return refuse('unknown', `team ${record.id}: its ${record.status === 'deleted' ? 'deletion' : 'record'} was sent, and may be there; what holds could not be read${sent.status === 'unknown' ? `: ${sent.reason}` : ''}`);
  }
  return sent.status === 'unknown' ? refuse('unavailable', sent.reason) : refuse('overtaken', 'team: its record was written elsewhere meanwhile');
}
