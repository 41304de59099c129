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
import { integer, openBody } from './body.ts';
import type { DefinitionHead, Delivered, Delivery, Layers } from './launch.ts';

export const SNAPSHOT_SLUG = 'mem/persona';
const RECORDS = 'mem/launches/';

export interface Engram {
  readonly slug: string;
  readonly value: string;
}

export interface Launch {
  /** 1 to 64 of a-z, 0-9, _ and -; of its own for each run. */
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

/**
 * The copy that follows `stored`: of this definition, with the secrets that lie there. Undefined where it would be the
 * same, where the agent keeps something else in this place, and where it would be too long.
 */
export function mergeSnapshot(stored: string | undefined, { slug, definition }: DefinitionHead): string | undefined {
  const secrets = stored === undefined ? {} : secretsIn(stored);
  const made = secrets === undefined ? undefined : personaSnapshot(slug, definition, secrets);
  return made?.ok === true && made.engram.value !== stored ? made.engram.value : undefined;
}

function secretsIn(snapshot: string): Readonly<Record<string, string>> | undefined {
  const opened = openBody(snapshot, ENGRAM_MAX_BYTES);
  if (!opened.ok) return undefined;
  opened.body.required('v', integer(1, 1));
  const secrets = opened.body.optional('env_vars', TEXTS) ?? {};
  return opened.body.fault() === undefined ? secrets : undefined;
}

const TEXTS = {
  expected: 'a mapping of names to texts',
  read: (value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries(value).flatMap(([name, text]: [string, unknown]) => (typeof text === 'string' ? [[name, text] as const] : []));
    return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : undefined;
  },
};

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
