/**
 * A team as its owner keeps it, for no other eyes (NIP-AP "Teams" leaves the form to the client): kind 30078, the
 * content sealed by the owner to themselves, `t` says `skep-team`, `d` is a hash of the team's id. A member is an agent
 * that the record names. A deleted team leaves its id behind, so that none is ever given it again.
 */
import { hash } from 'node:crypto';
import { refuse } from '../model/index.ts';
import type { Pubkey, Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate, Filter } from '../nostr/index.ts';
import { integer, listOf, NAME, oneOf, openBody, PUBKEY, TEXT } from './body.ts';
import { PERSONA_KIND } from './kinds.ts';
import { asTeamId } from './team-id.ts';
import type { TeamId } from './team-id.ts';

export interface Team {
  readonly status: 'live';
  readonly id: TeamId;
  readonly name: string;
  readonly description?: string | undefined;
  /** Instructions from before the team's first version; afterwards they hold no longer and are taken out. */
  readonly instructions?: string | undefined;
  /** Slugs of the definitions that belong to it, in order: what is embedded when the team is shared. */
  readonly definitions: readonly string[];
  /** The agents bound to it. */
  readonly agents: readonly Pubkey[];
}

/** `versions` says whether any of its versions may still be there: then the deletion is not over. */
export interface DeletedTeam {
  readonly status: 'deleted';
  readonly id: TeamId;
  readonly versions: 'left' | 'gone';
}

export type TeamRecord = Team | DeletedTeam;

/** NIP-44's short form, which every signer can seal. */
export const TEAM_RECORD_MAX_BYTES = 65_535;
const TAG = 'skep-team';
const FORM = 1;
const TEAM_ID = { expected: 'a team id', read: (value: unknown) => (typeof value === 'string' ? asTeamId(value) : undefined) };

/** Says nothing of an id that is a UUID; whoever knows a built-in id can find it. */
export function teamRecordAddress(owner: Pubkey, id: TeamId): string {
  return hash('sha256', `skep:team-record:v1\0${owner}\0${id}`, 'hex');
}

export function teamRecordFilter(owner: Pubkey, id?: TeamId): Filter {
  const tags = new Map([['t', [TAG]], ...(id === undefined ? [] : [['d', [teamRecordAddress(owner, id)]] as const])]);
  return { kinds: [PERSONA_KIND.privateRecord], authors: [owner], tags };
}

export function teamRecordTemplate(owner: Pubkey, id: TeamId, payload: string, createdAt: Seconds): EventTemplate {
  const tags = [['d', teamRecordAddress(owner, id)], ['t', TAG]];
  return { kind: PERSONA_KIND.privateRecord, created_at: createdAt, tags, content: payload };
}

/** What is sealed; refused where no reader would take it, because one record that cannot be read holds up every start. */
export function writeTeamRecord(record: TeamRecord): { readonly ok: true; readonly body: string } | Refusal<'team'> {
  const body = JSON.stringify(record.status === 'deleted' ? { v: FORM, id: record.id, deleted: record.versions } : {
    v: FORM,
    id: record.id,
    name: record.name,
    description: record.description,
    instructions: record.instructions,
    definitions: record.definitions,
    agents: record.agents,
  });
  const bytes = Buffer.byteLength(body);
  if (bytes > TEAM_RECORD_MAX_BYTES) return refuse('team', `team: expected at most ${TEAM_RECORD_MAX_BYTES} bytes, found ${bytes}`);
  const read = readBody(body);
  return read.ok ? { ok: true, body } : refuse('team', `team: ${read.detail}`);
}

/** What was sealed at `address`. Names its own id and what was expected, and nothing of what was found. */
export function readTeamRecord(
  plaintext: string, { owner, address }: { readonly owner: Pubkey; readonly address: string | undefined },
): { readonly ok: true; readonly record: TeamRecord } | Refusal<'content'> {
  const read = readBody(plaintext);
  // A record is only where its id says, or one team could stand in two places.
  const isHere = read.id !== undefined && teamRecordAddress(owner, read.id) === address;
  // By its id, for its owner to find it.
  if (!read.ok) return refuse('content', `team${isHere ? ` ${read.id}` : ''}: expected a record of form ${FORM}`);
  return isHere ? { ok: true, record: read.record } : refuse('content', 'd: expected the address of the team');
}

type BodyReading =
  | { readonly ok: true; readonly id: TeamId; readonly record: TeamRecord }
  | (Refusal<'content'> & { readonly id?: TeamId | undefined });

function readBody(plaintext: string): BodyReading {
  const opened = openBody(plaintext, TEAM_RECORD_MAX_BYTES);
  if (!opened.ok) return opened;
  const { body } = opened;
  body.required('v', integer(FORM, FORM));
  const id = body.required('id', TEAM_ID);
  const versions = body.optional('deleted', oneOf(['left', 'gone']));
  const name = versions === undefined ? body.required('name', NAME) : '';
  const rest = {
    description: body.optional('description', TEXT),
    instructions: body.optional('instructions', TEXT),
    definitions: body.optional('definitions', listOf(NAME)) ?? [],
    agents: body.optional('agents', listOf(PUBKEY)) ?? [],
  };
  const fault = body.fault();
  if (fault !== undefined || id === undefined || name === undefined) return { ...(fault ?? refuse('content', 'id: expected a team id')), id };
  return { ok: true, id, record: versions === undefined ? { status: 'live', id, name, ...rest } : { status: 'deleted', id, versions } };
}
