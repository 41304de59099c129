/**
 * Observer frames (kind 24200, NIP-AO "Authorization"): which way a frame goes, and between whom. Its form has been
 * checked. Pure; whether the two belong together is `owners.ts`'s question.
 */
import { refuse } from '../model/index.ts';
import { firstValue } from '../nostr/index.ts';
import type { UnverifiedEvent } from '../nostr/index.ts';
import type { RelayRefusal } from './answers.ts';
import type { Bond } from './owners.ts';

export type FrameRoute =
  | { readonly ok: true; readonly direction: 'telemetry' | 'control'; readonly bond: Bond }
  /** A `frame` value we do not know, or that contradicts the pubkeys: dropped, and the publisher is told OK. */
  | { readonly ok: true; readonly direction: 'dropped' }
  | RelayRefusal;

export function routeFrame(event: UnverifiedEvent): FrameRoute {
  const agent = firstValue(event.tags, 'agent') ?? '';
  const recipient = firstValue(event.tags, 'p') ?? '';
  const frame = firstValue(event.tags, 'frame');
  // NIP-AO "Event Structure": a word of tomorrow is dropped for the sake of tomorrow's clients, whoever says it.
  if (frame !== 'telemetry' && frame !== 'control') return DROPPED;
  if (event.pubkey === agent) {
    return frame === 'telemetry' ? { ok: true, direction: frame, bond: { agent, owner: recipient } } : DROPPED;
  }
  if (recipient === agent) {
    return frame === 'control' ? { ok: true, direction: frame, bond: { agent, owner: event.pubkey } } : DROPPED;
  }
  return NOT_AUTHORIZED;
}

/** NIP-AO: a `p` tag alone proves nothing; the relay must know that the agent is the owner's. */
export const NOT_AUTHORIZED = refuse('restricted', 'observer frame is not authorized for this agent owner');

const DROPPED: FrameRoute = { ok: true, direction: 'dropped' };
