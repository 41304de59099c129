/**
 * Writing and deleting what lies at an address (definitions, instances, shared teams): stamped behind the head and
 * behind the requests that deleted it, so that it counts whatever the clocks say. NIP-AP "Writing", "Deletion".
 */
import { refuse } from '../model/index.ts';
import type { Refusal, Seconds } from '../model/index.ts';
import type { EventTemplate, VerifiedEvent } from '../nostr/index.ts';
import { addressFilter, addressText, deletionFilter, deletionOf, headAt, nextStamp } from './address.ts';
import type { Address } from './address.ts';
import { PERSONA_KIND } from './kinds.ts';
import type { OwnerPorts } from './ports.ts';

export type AddressOutcome =
  | { readonly ok: true; readonly event: VerifiedEvent }
  /** `unknown`: the relay gave no verdict; the head tells. */
  | Refusal<'unavailable' | 'refused' | 'rejected' | 'unknown'>;

/** `template` is given the stamp. */
export async function publishAt(ports: OwnerPorts, address: Address, template: (createdAt: Seconds) => EventTemplate): Promise<AddressOutcome> {
  const place = await placeAt(ports, address);
  return place.ok ? send(ports, template(nextStamp(ports.nowSec(), place.earlier))) : place;
}

/** A request also where there is no head to be seen: another device may just have written one. */
export async function deleteAt(ports: OwnerPorts, address: Address): Promise<AddressOutcome> {
  const place = await placeAt(ports, address);
  return place.ok ? send(ports, deletionOf(address, ports.nowSec(), place.head)) : place;
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

async function send({ key, relay }: OwnerPorts, template: EventTemplate): Promise<AddressOutcome> {
  const signed = await key.sign(template);
  if (!signed.ok) return signed;
  const sent = await relay.publish(signed.event);
  if (sent.status === 'accepted') return signed;
  return refuse(sent.status, sent.status === 'unknown' ? `the relay gave no verdict on event ${signed.event.id}, which may be there: ${sent.reason}` : sent.reason);
}
