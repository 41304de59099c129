/**
 * Whether a kind 24200 event is a control frame for this agent, and what it says. Pure. Cheap questions first: what a
 * stranger sends costs no decryption. NIP-AO "Event Structure", "Authorization", "Relay Behavior" (content length).
 */
import { refuse } from '../../model/index.ts';
import type { Pubkey, Refusal, Seconds } from '../../model/index.ts';
import { jsonMembers } from '../../nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../nostr/index.ts';

/** Why a frame is not taken. `replayed`, `too_many` and `not_kept` are the driver's. */
export type FrameFault =
  | 'sender' | 'tags' | 'recipient' | 'direction' | 'stale' | 'length' | 'sealed' | 'content' | 'replayed' | 'too_many' | 'not_kept';

/** NIP-AO: "a ±5-minute created_at freshness window on incoming control frames". */
export const FRESH_SEC = 300;
/** NIP-AO: a decrypted payload has at most 65,535 bytes; these are the lengths of what NIP-44 makes of 1 and of that many. */
const MAX_PLAINTEXT_BYTES = 65_535;
const MIN_CONTENT_CHARACTERS = 132;
const MAX_CONTENT_CHARACTERS = 87_472;

export interface Parties {
  readonly agent: Pubkey;
  readonly owner: Pubkey;
}

/** What keeps a frame from being opened; undefined where it may be. The signature was checked before. */
export function frameFault({ pubkey, tags, created_at, content }: VerifiedEvent, { agent, owner }: Parties, now: Seconds): FrameFault | undefined {
  if (pubkey !== owner) return 'sender';
  const [recipient, named, direction] = [onlyValue(tags, 'p'), onlyValue(tags, 'agent'), onlyValue(tags, 'frame')];
  if (recipient === undefined || named === undefined || direction === undefined) return 'tags';
  if (recipient !== agent || named !== agent) return 'recipient';
  // NIP-AO: "Clients MUST ignore events with unrecognized frame values"; telemetry is for owners.
  if (direction !== 'control') return 'direction';
  if (Math.abs(created_at - now) > FRESH_SEC) return 'stale';
  return content.length < MIN_CONTENT_CHARACTERS || content.length > MAX_CONTENT_CHARACTERS ? 'length' : undefined;
}

export interface FrameBody {
  readonly ok: true;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** NIP-AO "Control": a JSON object with a `type`. A member that is there twice has no one meaning, so there is none. */
export function readFrameBody(plaintext: string): FrameBody | Refusal<'content'> {
  if (Buffer.byteLength(plaintext, 'utf8') > MAX_PLAINTEXT_BYTES) return refuse('content', `payload: expected at most ${MAX_PLAINTEXT_BYTES} bytes`);
  if (jsonMembers(plaintext)?.repeats !== false) return refuse('content', 'payload: expected a JSON object that names no member twice');
  const body: unknown = JSON.parse(plaintext);
  if (!isMembers(body) || typeof body['type'] !== 'string') return refuse('content', 'type: expected a string');
  return { ok: true, type: body['type'], body };
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The value of the only tag of that name; undefined when there is none, or another. */
function onlyValue(tags: readonly Tag[], name: string): string | undefined {
  const [tag, ...others] = tags.filter((one) => one[0] === name);
  return others.length === 0 ? tag?.[1] : undefined;
}
