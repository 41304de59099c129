/**
 * Saving a text as a subject's next version (NIP-AP "Writing"): checked, stamped behind the current one, sealed, signed,
 * published, and then looked at again, because nothing stops another device from doing the same. Before the first
 * version the text of until then is published, so that it can be restored.
 */
import { refuse } from '../model/index.ts';
import type { EventId, Refusal } from '../model/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import { nextStamp } from './address.ts';
import type { Definition } from './definition.ts';
import { currentVersion, versionBehind } from './history.ts';
import type { OwnerPorts } from './ports.ts';
import { textFault, versionPlaintext, versionTemplate } from './version.ts';
import type { Subject, Version } from './version.ts';

/** Whether a team may still have a version, asked before each publication: none follows the deletion of its record. */
export type TeamGuard = () => Promise<'live' | 'deleted' | 'unavailable'>;

/** A team's save has a guard, an agent's has none. */
export type SaveSubject =
  | { readonly subject: Extract<Subject, { readonly type: 'agent' }> }
  | { readonly subject: Extract<Subject, { readonly type: 'team' }>; readonly guard: TeamGuard };

export type SaveOrder = SaveSubject & {
  readonly text: string;
  /** What the subject resolves to while it has no version; undefined where that is nothing. */
  readonly earlier?: string | undefined;
  /** The version that whoever saves has seen as the current one, or that there was none; another one is not saved over. */
  readonly seen?: EventId | 'none' | undefined;
};

export type SaveOutcome =
  /** It is stored, and it is the current version. `over` was saved elsewhere at the same moment, was not seen, and stands behind it. */
  | { readonly status: 'current'; readonly id: EventId; readonly earlier: Earlier; readonly over?: EventId }
  /** It is stored and in the history, but `by`, saved elsewhere, is current. */
  | { readonly status: 'superseded'; readonly id: EventId; readonly by: EventId; readonly earlier: Earlier }
  /** It is stored; whether it is current could not be read. */
  | { readonly status: 'stored'; readonly id: EventId; readonly earlier: Earlier }
  /** The relay gave no verdict: `event`, and no other one, is sent again with `sendAgain`. */
  | { readonly status: 'unknown'; readonly event: VerifiedEvent; readonly detail: string }
  | { readonly status: 'failed'; readonly refusal: Refusal<SaveRefusal> };

/** `unseen`: another version is current than the one that was seen. */
export type SaveRefusal = 'text' | 'unseen' | 'unavailable' | 'refused' | 'rejected' | 'deleted';

/** What became of the text from before the first version; `unfit`: no version can hold it. */
export type Earlier = 'kept' | 'unfit' | 'none';

export async function saveVersion(ports: OwnerPorts, order: SaveOrder): Promise<SaveOutcome> {
  const fault = textFault(order.text);
  if (fault !== undefined) return failed(refuse('text', fault));
  const current = await currentVersion(ports, order.subject);
  if (!current.ok) return failed(current);
  const { version } = current;
  const found = version?.id ?? 'none';
  if (order.seen !== undefined && order.seen !== found) return failed(refuse('unseen', `version: expected ${order.seen} as the current one, found ${found}`));
  if (version !== undefined) return publishText(ports, order, version, 'none');
  const { earlier } = order;
  if (earlier === undefined || earlier === order.text) return publishText(ports, order, undefined, 'none');
  if (textFault(earlier) !== undefined) return publishText(ports, order, undefined, 'unfit');
  const kept = await send(ports, order, earlier, undefined);
  // The edit would be the first version, and the text before it gone: the owner saves again.
  if (kept.status !== 'accepted') return kept.status === 'unknown' ? failed(refuse('unavailable', kept.detail)) : kept;
  return publishText(ports, order, { id: kept.event.id, createdAt: kept.event.created_at }, 'kept');
}

/** A version of old as the next one; an invalid one has no text to restore. */
export async function restoreVersion(ports: OwnerPorts, order: SaveSubject, { reading }: Version): Promise<SaveOutcome> {
  if (reading.status === 'invalid') return failed(refuse('text', `version: expected a valid one to restore; ${reading.detail}`));
  return saveVersion(ports, { ...order, text: reading.text });
}

/** What "reset to template" saves for an agent. */
export function templateText(definition: Pick<Definition, 'systemPrompt'> | undefined): string {
  return definition?.systemPrompt ?? '';
}

/** The same event once more, after an unknown outcome: it is there once, however often it is sent. */
export async function sendAgain(ports: OwnerPorts, order: SaveSubject, event: VerifiedEvent): Promise<SaveOutcome> {
  const sent = await deliver(ports, order, event);
  return sent.status === 'accepted' ? lookAgain(ports, order.subject, event, 'none') : sent;
}

/** The version that a save is stamped behind. */
type Behind = Pick<Version, 'id' | 'createdAt'> | undefined;

async function publishText(ports: OwnerPorts, order: SaveOrder, behind: Behind, earlier: Earlier): Promise<SaveOutcome> {
  const sent = await send(ports, order, order.text, behind);
  if (sent.status !== 'accepted') return sent;
  const outcome = await lookAgain(ports, order.subject, sent.event, earlier);
  if (outcome.status !== 'current') return outcome;
  // Two may have looked at the same moment, and then both have saved.
  const over = await versionBehind(ports, order.subject, { id: sent.event.id, createdAt: sent.event.created_at });
  return over === undefined || over === behind?.id ? outcome : { ...outcome, over };
}

type Sent =
  | { readonly status: 'accepted'; readonly event: VerifiedEvent }
  | Extract<SaveOutcome, { readonly status: 'unknown' | 'failed' }>;

async function send(ports: OwnerPorts, order: SaveSubject, text: string, behind: Behind): Promise<Sent> {
  const sealed = await ports.key.sealToSelf(versionPlaintext(text));
  if (!sealed.ok) return failed(sealed);
  const signed = await ports.key.sign(versionTemplate(order.subject, sealed.payload, nextStamp(ports.nowSec(), behind === undefined ? [] : [{ created_at: behind.createdAt }])));
  return signed.ok ? deliver(ports, order, signed.event) : failed(signed);
}

/** Without a verdict, looks whether the event is there, and sends the same one a second time. */
async function deliver({ relay }: OwnerPorts, order: SaveSubject, event: VerifiedEvent): Promise<Sent> {
  let detail = '';
  for (const isLast of [false, true]) {
    // Between asking and sending nothing else is waited for: a save that was pending is not sent for a deleted team.
    const guarded = 'guard' in order ? await order.guard() : 'live';
    if (guarded !== 'live') return failed(refuse(guarded, guarded === 'deleted' ? 'team: expected one that is not deleted' : 'team: its record cannot be read'));
    const sent = await relay.publish(event);
    if (sent.status === 'accepted') return { status: 'accepted', event };
    if (sent.status === 'rejected') return failed(refuse('rejected', sent.reason));
    detail = sent.reason;
    const found = await relay.query([{ ids: [event.id] }]);
    if (found.events.some(({ id }) => id === event.id)) return { status: 'accepted', event };
    if (isLast || !found.complete) break;
  }
  return { status: 'unknown', event, detail };
}

async function lookAgain(ports: OwnerPorts, subject: Subject, { id }: VerifiedEvent, earlier: Earlier): Promise<SaveOutcome> {
  const current = await currentVersion(ports, subject);
  if (!current.ok || current.version === undefined) return { status: 'stored', id, earlier };
  return current.version.id === id ? { status: 'current', id, earlier } : { status: 'superseded', id, by: current.version.id, earlier };
}

function failed(refusal: Refusal<SaveRefusal>): Extract<SaveOutcome, { readonly status: 'failed' }> {
  return { status: 'failed', refusal };
}
