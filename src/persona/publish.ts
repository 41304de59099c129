/**
 * Writing and deleting what lies at an address (definitions, instances, shared teams): stamped behind the head and
 * behind the requests that deleted it, so that it counts whatever the clocks say. NIP-AP "Writing", "Deletion".
 */
import { refuse } from '../model/index.ts';
import type { EventId, Refusal, Seconds } from '../model/index.ts';
import { newestFirst } from '../nostr/index.ts';
import type { EventTemplate, VerifiedEvent } from '../nostr/index.ts';
import { addressFilter, addressText, deletionFilter, deletionOf, headAt, nextStamp } from './address.ts';
import type { Address } from './address.ts';
import { PERSONA_KIND } from './kinds.ts';
import type { OwnerPorts } from './ports.ts';

export type AddressOutcome =
  | { readonly ok: true; readonly event: VerifiedEvent }
  /** `unknown`: the relay gave no verdict; the head tells. `unseen`, `overtaken`: another device wrote, before or after. */
  | Refusal<'unavailable' | 'refused' | 'rejected' | 'unknown' | 'unseen' | 'overtaken'>;

/** `template` is given the stamp. `seen` is the head that it was made from, or that there was none; another one is not written over. */
export async function publishAt(
  ports: OwnerPorts, address: Address, template: (createdAt: Seconds) => EventTemplate, seen?: EventId | 'none',
): Promise<AddressOutcome> {
  const place = await placeAt(ports, address);
  if (!place.ok) return place;
  const signed = await ports.key.sign(template(nextStamp(ports.nowSec(), place.earlier)));
  if (!signed.ok) return signed;
  const { event } = signed;
  if (seen !== undefined) {
    // Behind the signature, because a signer far away takes its time.
    const now = await placeAt(ports, address);
    if (!now.ok) return now;
    const found = now.head?.id ?? 'none';
    if (found !== seen) return refuse('unseen', `head: expected ${seen}, found ${found}`);
  }
  const sent = await send(ports, event);
  const after = sent.ok ? await placeAt(ports, address) : sent;
  // An OK is a relay's word for one that it has no use for, too.
  if (after.ok && after.head !== undefined && newestFirst(after.head, event) < 0) return refuse('overtaken', `event ${event.id} was sent, and ${after.head.id}, written elsewhere, is in its place`);
  return sent;
}

/** A request also where there is no head to be seen: another device may just have written one. */
export async function deleteAt(ports: OwnerPorts, address: Address): Promise<AddressOutcome> {
  const place = await placeAt(ports, address);
  if (!place.ok) return place;
  const signed = await ports.key.sign(deletionOf(address, ports.nowSec(), place.head));
  return signed.ok ? send(ports, signed.event) : signed;
}

async function placeAt(
  { relay }: OwnerPorts, address: Address,
): Promise<{ readonly ok: true; readonly head: VerifiedEvent | undefined; readonly earlier: readonly VerifiedEvent[] } | Refusal<'unavailable'>> {
  const { events, complete } = await relay.query([addressFilter(address), deletionFilter(address)]);
  if (!complete) return refuse('unavailable', 'relay: expected an answer about the head');
  const head = headAt(address, events);
  const requests = events.filter(({ kind, pubkey, tags }) => kind === PERSONA_KIND.deletion && pubkey === address.author
    && tags.some(([name, value]) => name === 'a' && value === addressText(address)));
  return { ok: true, head, earlier: head === undefined ? requests : [head, ...requests] };
}

async function send({ relay }: OwnerPorts, event: VerifiedEvent): Promise<AddressOutcome> {
  const sent = await relay.publish(event);
  if (sent.status === 'accepted') return { ok: true, event };
  return refuse(sent.status, sent.status === 'unknown' ? `the relay gave no verdict on event ${event.id}, which may be there: ${sent.reason}` : sent.reason);
}
