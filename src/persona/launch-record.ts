/**
 * What is remembered of one start (NIP-AP "Launch records"), as the value of an engram: sealed between agent and owner,
 * at a slug of the run's own, so that writing it again is writing the same. And the agent's private copy of what it was
 * made from, at `mem/persona`. Hashes and ids stand nowhere but in these bodies.
 */
import { refuse } from '../model/index.ts';
import type { Refusal, Seconds } from '../model/index.ts';
import { ENGRAM_MAX_BYTES, engramBody, isEngramSlug } from '../nostr/index.ts';
import type { Definition } from './definition.ts';
import { writeDefinition } from './definition.ts';
import type { Delivered, Delivery, Layers } from './launch.ts';

export const SNAPSHOT_SLUG = 'mem/persona';
const RECORDS = 'mem/launches/';

export interface Engram {
  readonly slug: string;
  readonly value: string;
}

export interface Launch {
  /** Lowercase; a UUID. */
  readonly runId: string;
  readonly startedAt: Seconds;
  readonly layers: Layers;
  readonly delivery: Delivery;
}

export function launchRecord({ runId, startedAt, layers, delivery }: Launch): { readonly ok: true; readonly engram: Engram } | Refusal<'record'> {
  const { source } = layers.own;
  return engramOf(`${RECORDS}${runId}`, {
    v: 1,
    run_id: runId,
    started_at: startedAt,
    own: { source: source.type, version: source.type === 'version' ? source.id : undefined, empty: layers.own.text === '', ...deliveredBody(delivery.own) },
    team: { teams: layers.team.teams.map(({ id, version }) => ({ id, version: version ?? null })), ...deliveredBody(delivery.team) },
  });
}

/** `secrets` are for this place and no other: the definition itself is public. */
export function personaSnapshot(
  slug: string, definition: Definition, secrets: Readonly<Record<string, string>> = {},
): { readonly ok: true; readonly engram: Engram } | Refusal<'record'> {
  const written = writeDefinition(definition, false);
  if (!written.ok) return refuse('record', written.detail);
  const env = Object.keys(secrets).length === 0 ? undefined : secrets;
  return engramOf(SNAPSHOT_SLUG, { v: 1, persona: slug, definition: JSON.parse(written.body) as unknown, env_vars: env });
}

function deliveredBody({ sha256, override }: Delivered): Readonly<Record<string, unknown>> {
  return { sha256: sha256 ?? null, override };
}

function engramOf(slug: string, body: unknown): { readonly ok: true; readonly engram: Engram } | Refusal<'record'> {
  if (!isEngramSlug(slug)) return refuse('record', 'run id: expected 1 to 64 characters of a-z, 0-9, _ and -');
  const value = JSON.stringify(body);
  const bytes = Buffer.byteLength(engramBody(slug, value));
  if (bytes > ENGRAM_MAX_BYTES) return refuse('record', `record: expected at most ${ENGRAM_MAX_BYTES} bytes, found ${bytes}`);
  return { ok: true, engram: { slug, value } };
}
