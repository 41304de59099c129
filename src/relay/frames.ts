/**
 * Observer frames (kind 24200, NIP-AO "Authorization"): which way a frame goes, and between whom. Its form has been
 * checked. Pure; whether the two belong together is asked of the store by `ingest.ts`.
 */
import { refuse } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import { firstValue } from '../nostr/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';

export type FrameRoute =
  | { readonly ok: true; readonly direction: 'telemetry' | 'control'; readonly agent: string; readonly owner: string }
  /** A `frame` value we do not know, or that contradicts the pubkeys: dropped, and the publisher is told OK. */
  | { readonly ok: true; readonly direction: 'dropped' }
  | RelayRefusal;

export function routeFrame(event: UnverifiedEvent): FrameRoute {
  const agent = firstValue(event.tags, 'agent') ?? '';
  const recipient = firstValue(event.tags, 'p') ?? '';
  const frame = firstValue(event.tags, 'frame');
  if (event.pubkey === agent) {
    return frame === 'telemetry' ? { ok: true, direction: 'telemetry', agent, owner: recipient } : DROPPED;
  }
  if (recipient === agent) {
    return frame === 'control' ? { ok: true, direction: 'control', agent, owner: event.pubkey } : DROPPED;
  }
  return notAuthorized();
}

/** NIP-AO: a `p` tag alone proves nothing; the relay must know that the agent is the owner's. */
export function checkOwnership(
  route: { readonly owner: string }, known: Pubkey | undefined,
): RelayRefusal | undefined {
  return known === route.owner ? undefined : notAuthorized();
}

const DROPPED: FrameRoute = { ok: true, direction: 'dropped' };

function notAuthorized(): RelayRefusal {
  return refuse('restricted', 'observer frame is not authorized for this agent owner');
}
