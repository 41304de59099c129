/**
 * What an event must look like, by its kind, before the relay spends a signature check on it. Pure; knows no channel
 * and no reader. Whoever may publish it is `access.ts`'s question.
 */
import { asChannelId, asPubkey, refuse } from '../model/index.ts';
import type { Seconds } from '../model/index.ts';
import type { Tag, UnverifiedEvent } from '../nostr/index.ts';
import { isShared } from './access.ts';
import type { RelayRefusal } from './answers.ts';
import { CHANNEL_ONLY, KIND, NEVER_PUBLISHED, NOT_CARRIED_OUT, RELAY_ONLY, SHARED_GATED } from './kinds.ts';
import type { RelayLimits } from './limits.ts';

/** NIP-AP: an instructions version is at most this many bytes of NIP-44 text. */
const MAX_INSTRUCTIONS_BYTES = 218_548;
/** NIP-AP "Slugs": the envelope's section has the relay enforce it, and 30178's section forbids it there alone. */
const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** NIP-AP "Team identity": 1 to 64 scalars, none of them a control or white space. */
const TEAM_ID = /^[^\p{Cc}\p{White_Space}]{1,64}$/u;
/** Sizes of a NIP-44 payload: the shortest there is, and that of 65,535 bytes of plaintext. */
const MIN_SEALED_BYTES = 132;
const MAX_SEALED_BYTES = 87_472;

/** The first fault found, or undefined. */
export function checkForm(event: UnverifiedEvent, nowSec: Seconds, limits: RelayLimits): RelayRefusal | undefined {
  const { kind, tags, content } = event;
  if (NEVER_PUBLISHED.has(kind)) return invalid(`kind ${kind} is a credential and is never published`);
  if (RELAY_ONLY.has(kind)) return refuse('restricted', `kind ${kind} is signed by the relay alone`);
  if (NOT_CARRIED_OUT.has(kind)) return refuse('restricted', `kind ${kind} is a command this relay does not carry out`);
  if (event.created_at > nowSec + limits.maxFutureSec) {
    return invalid(`created_at: expected at most ${limits.maxFutureSec} s ahead of the relay's clock`);
  }
  if (tags.length > limits.maxTags) return invalid(`tags: expected at most ${limits.maxTags}, found ${tags.length}`);
  // A lone surrogate has no UTF-8 form, so two parties would not agree on the id (NIP-01 serialises to UTF-8).
  if (!content.isWellFormed() || !tags.every((tag) => tag.every((element) => element.isWellFormed()))) {
    return invalid('content and tags: expected well-formed Unicode');
  }
  return checkChannelTag(event) ?? checkKind(event, nowSec, limits);
}

function checkChannelTag(event: UnverifiedEvent): RelayRefusal | undefined {
  // NIP-AP "Event envelope": a tag beyond those it defines has no effect on validity.
  if (SHARED_GATED.has(event.kind)) return undefined;
  const found = named(event.tags, 'h');
  const [tag] = found;
  if (tag === undefined) {
    return CHANNEL_ONLY.has(event.kind) ? invalid(`h: kind ${event.kind} needs a channel`) : undefined;
  }
  // With two, a member of one channel could write into the feed of the other.
  if (found.length > 1) return invalid('h: expected at most one');
  return asChannelId(tag[1] ?? '') === undefined ? invalid('h: expected a lowercase UUID') : undefined;
}

function checkKind(event: UnverifiedEvent, nowSec: Seconds, limits: RelayLimits): RelayRefusal | undefined {
  switch (event.kind) {
    case KIND.message:
    case KIND.messageEdit:
      return Buffer.byteLength(event.content) > limits.maxContentBytes
        ? invalid(`content: expected at most ${limits.maxContentBytes} bytes`)
        : undefined;
    case KIND.observerFrame:
      return checkFrame(event, nowSec, limits);
    case KIND.persona:
      return checkShared(event.tags) ?? checkAddress(event.tags, SLUG, 'a slug of [a-z0-9_-], at most 64 characters');
    case KIND.teamCatalog:
      return checkShared(event.tags) ?? checkAddress(event.tags, TEAM_ID, 'a team id');
    case KIND.instructions:
      return checkInstructions(event);
    case KIND.turnMetric:
      return checkMetric(event);
    default:
      return undefined;
  }
}

/** NIP-AO "Event Structure" and "Relay Behavior". */
function checkFrame(event: UnverifiedEvent, nowSec: Seconds, limits: RelayLimits): RelayRefusal | undefined {
  const missing = ['p', 'agent', 'frame'].find((name) => named(event.tags, name).length !== 1);
  if (missing !== undefined) return invalid(`${missing}: an observer frame has exactly one`);
  if (Math.abs(event.created_at - nowSec) > limits.frameWindowSec) {
    return invalid(`created_at: expected within ${limits.frameWindowSec} s of the relay's clock`);
  }
  return checkSealed(event.content);
}

/** NIP-AM: of the agent itself, to one owner; the channel stands in what is sealed. */
function checkMetric({ pubkey, tags, content }: UnverifiedEvent): RelayRefusal | undefined {
  const [owners, agents] = [named(tags, 'p'), named(tags, 'agent')];
  if (owners.length !== 1 || asPubkey(owners[0]?.[1] ?? '') === undefined) {
    return invalid('p: expected exactly one, 64 lowercase hex characters');
  }
  if (agents.length !== 1 || agents[0]?.[1] !== pubkey) return invalid('agent: expected exactly one, the author');
  if (named(tags, 'h').length > 0) return invalid('h: a turn metric belongs to no channel');
  return checkSealed(content);
}

function checkSealed(content: string): RelayRefusal | undefined {
  const bytes = Buffer.byteLength(content);
  return bytes < MIN_SEALED_BYTES || bytes > MAX_SEALED_BYTES
    ? invalid(`content: expected ${MIN_SEALED_BYTES} to ${MAX_SEALED_BYTES} bytes of NIP-44 text`)
    : undefined;
}

/** NIP-AP "Ingest validation": the tag that opens a definition to all is exactly `["shared","true"]`, or absent. */
function checkShared(tags: readonly Tag[]): RelayRefusal | undefined {
  const found = named(tags, 'shared');
  if (found.length === 0) return undefined;
  return found.length === 1 && isShared(found) ? undefined : invalid('shared: expected exactly ["shared","true"], once');
}

function checkAddress(tags: readonly Tag[], form: RegExp, expected: string): RelayRefusal | undefined {
  const found = named(tags, 'd');
  const fits = found.length === 1 && form.test(found[0]?.[1] ?? '');
  return fits ? undefined : invalid(`d: expected exactly one, ${expected}`);
}

/** NIP-AP "Ingest validation: kind:44300": one subject, `p` for an agent or `t` for a team, and no channel. */
function checkInstructions(event: UnverifiedEvent): RelayRefusal | undefined {
  const subjects = event.tags.filter((tag) => tag[0] === 'p' || tag[0] === 't');
  const [subject] = subjects;
  if (subject === undefined || subjects.length > 1 || subject.length !== 2) {
    return invalid('p, t: expected exactly one subject tag of two elements');
  }
  const value = subject[1] ?? '';
  if (subject[0] === 'p' && asPubkey(value) === undefined) return invalid('p: expected 64 lowercase hex characters');
  if (subject[0] === 't' && !TEAM_ID.test(value)) return invalid('t: expected a team id');
  if (named(event.tags, 'h').length > 0) return invalid('h: an instructions version belongs to no channel');
  const bytes = Buffer.byteLength(event.content);
  return bytes === 0 || bytes > MAX_INSTRUCTIONS_BYTES
    ? invalid(`content: expected 1 to ${MAX_INSTRUCTIONS_BYTES} bytes`)
    : undefined;
}

function named(tags: readonly Tag[], name: string): readonly Tag[] {
  return tags.filter((tag) => tag[0] === name);
}

function invalid(detail: string): RelayRefusal {
  return refuse('invalid', detail);
}
