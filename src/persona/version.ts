/**
 * Instructions versions (kind 44300): one saved text of one agent's or one team's instructions, sealed by the owner to
 * themselves. NIP-AP "Instructions versions: kind:44300". An empty text is a value: no instructions. An invalid version
 * is one, too: nothing older takes its place.
 */
import { asPubkey, refuse, unreachable } from '../model/index.ts';
import type { EventId, Pubkey, Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate, Filter, Tag, UnverifiedEvent } from '../nostr/index.ts';
import { PERSONA_KIND } from './kinds.ts';
import type { OwnerKey } from './ports.ts';
import { asTeamId } from './team-id.ts';
import type { TeamId } from './team-id.ts';

export type Subject =
  | { readonly type: 'agent'; readonly agent: Pubkey }
  | { readonly type: 'team'; readonly team: TeamId };

/** UTF-8 bytes of a text. */
export const VERSION_MAX_TEXT_BYTES = 131_072;
/** Bytes of a content: that of the longest text, and of one that is a byte longer. */
export const VERSION_MAX_CONTENT_BYTES = 218_548;
/** It lets an empty text be sealed. */
const PREFIX = 'v1:';

/** Which check a version failed; looked at in this order. */
export type VersionFault = 'envelope' | 'size' | 'sealed' | 'prefix' | 'text';

export interface Version {
  readonly id: EventId;
  readonly createdAt: Seconds;
  readonly reading:
    | { readonly status: 'valid'; readonly text: string }
    | { readonly status: 'invalid'; readonly fault: VersionFault; readonly detail: string };
}

/** What is wrong with a text that is to be saved; undefined for nothing. Never repeats it. */
export function textFault(text: string): string | undefined {
  if (!text.isWellFormed()) return 'text: expected no unpaired surrogate';
  if (text.includes('\0')) return 'text: expected no U+0000';
  const bytes = Buffer.byteLength(text);
  return bytes > VERSION_MAX_TEXT_BYTES ? `text: expected at most ${VERSION_MAX_TEXT_BYTES} bytes, found ${bytes}` : undefined;
}

/** What is sealed for a text that has no fault. */
export function versionPlaintext(text: string): string {
  return `${PREFIX}${text}`;
}

export function versionTemplate(subject: Subject, payload: string, createdAt: Seconds): EventTemplate {
  return { kind: PERSONA_KIND.version, created_at: createdAt, tags: [subjectTag(subject)], content: payload };
}

/** One subject a filter, so that `limit: 1` is its current version. */
export function subjectFilter(owner: Pubkey, subject: Subject): Filter {
  const [name = '', value = ''] = subjectTag(subject);
  return { kinds: [PERSONA_KIND.version], authors: [owner], tags: new Map([[name, [value]]]) };
}

/** NIP-09, one version a request, with the `k` by which the relay keeps the request as private as the version. */
export function versionDeletion(id: EventId, nowSec: Seconds): EventTemplate {
  return { kind: PERSONA_KIND.deletion, created_at: nowSec, tags: [['e', id], ['k', String(PERSONA_KIND.version)]], content: '' };
}

/** The subject of a version, or what is wrong with its envelope. Tags count by their first element. */
export function subjectOf(tags: readonly Tag[]): { readonly ok: true; readonly subject: Subject } | Refusal<'envelope'> {
  const found = tags.filter(([name]) => name === 'p' || name === 't');
  const [name, value] = found[0] ?? [];
  if (found.length !== 1 || found[0]?.length !== 2 || value === undefined) {
    return refuse('envelope', 'p, t: expected exactly one subject tag, of two elements');
  }
  if (tags.some(([other]) => other === 'h')) return refuse('envelope', 'h: expected in no version');
  if (name === 'p') {
    const agent = asPubkey(value);
    return agent === undefined ? refuse('envelope', 'p: expected 64 lowercase hex characters') : { ok: true, subject: { type: 'agent', agent } };
  }
  const team = asTeamId(value);
  return team === undefined ? refuse('envelope', 't: expected a team id') : { ok: true, subject: { type: 'team', team } };
}

/** One event as the version it is, valid or not; `unavailable` where the key was not reached and nothing is known. */
export async function readVersion(
  event: UnverifiedEvent, key: Pick<OwnerKey, 'openFromSelf'>,
): Promise<{ readonly ok: true; readonly version: Version } | Refusal<'unavailable'>> {
  const reading = await readText(event, key);
  if (reading.ok) return versionOf(event, { status: 'valid', text: reading.text });
  const { code, detail } = reading;
  return code === 'unavailable' ? refuse(code, detail) : versionOf(event, { status: 'invalid', fault: code, detail });
}

/** NIP-AP "Content", the four checks of a reader in their order; before them, the envelope. */
async function readText(
  event: UnverifiedEvent, key: Pick<OwnerKey, 'openFromSelf'>,
): Promise<{ readonly ok: true; readonly text: string } | Refusal<VersionFault | 'unavailable'>> {
  const subject = subjectOf(event.tags);
  if (!subject.ok) return subject;
  const bytes = Buffer.byteLength(event.content);
  if (bytes > VERSION_MAX_CONTENT_BYTES) return refuse('size', `content: expected at most ${VERSION_MAX_CONTENT_BYTES} bytes, found ${bytes}`);
  const opened = await key.openFromSelf(event.content);
  if (!opened.ok) return opened.code === 'unavailable' ? refuse('unavailable', opened.detail) : refuse('sealed', opened.detail);
  if (!opened.plaintext.startsWith(PREFIX)) return refuse('prefix', `text: expected to begin with ${PREFIX}`);
  const text = opened.plaintext.slice(PREFIX.length);
  const fault = textFault(text);
  return fault === undefined ? { ok: true, text } : refuse('text', fault);
}

function versionOf({ id, created_at: createdAt }: UnverifiedEvent, reading: Version['reading']): { readonly ok: true; readonly version: Version } {
  return { ok: true, version: { id, createdAt, reading } };
}

function subjectTag(subject: Subject): Tag {
  switch (subject.type) {
    case 'agent':
      return ['p', subject.agent];
    case 'team':
      return ['t', subject.team];
    default:
      return unreachable(subject);
  }
}
