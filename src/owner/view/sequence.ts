/**
 * Numbers of frames: which frame was heard before, and how many never came (NIP-AO `seq`).
 *
 * The numbers rise in each session, and one counter for those without a session; some runtimes use one counter for all.
 * So a number that another session of the agent was heard with is not missed. A lower number with a later stamp is a
 * runtime that began anew; with an earlier one it is a frame that came late.
 */
import { MAX_RING, MAX_SESSIONS, keyOf } from './view.ts';
import type { Counter, Heard, View } from './view.ts';
import type { Pubkey } from '../../model/index.ts';
import type { Telemetry } from './telemetry.ts';

/** `again`: the very frame was heard before. `missing`: how many numbers were passed over. */
export function count(
  view: View, agent: Pubkey, event: Telemetry,
): { readonly view: View; readonly again: boolean; readonly missing: number } {
  const session = event.sessionId ?? '';
  const heard: Heard = { identity: identityOf(agent, event), agent, session, seq: event.seq };
  if (view.ring.some(({ identity }) => identity === heard.identity)) return { view, again: true, missing: 0 };
  const key = keyOf(agent, session);
  const before = view.counters.get(key);
  const missing = before === undefined ? 0 : missedBetween(view.ring, heard, before.last);
  const ring = [...view.ring.slice(1 - MAX_RING), heard];
  const counters = new Map(view.counters);
  counters.delete(key);
  counters.set(key, next(before, event, agent, missing));
  const [oldest] = counters.keys();
  if (counters.size > MAX_SESSIONS && oldest !== undefined) counters.delete(oldest);
  return { view: { ...view, ring, counters }, again: false, missing };
}

function next(before: Counter | undefined, { seq, at }: Telemetry, agent: Pubkey, missing: number): Counter {
  if (before === undefined) return { agent, last: seq, at, missing: 0 };
  if (seq > before.last) return { agent, last: seq, at, missing: before.missing + missing };
  return at > before.at ? { agent, last: seq, at, missing: before.missing } : before;
}

function missedBetween(ring: readonly Heard[], { agent, session, seq }: Heard, last: number): number {
  if (seq <= last + 1) return 0;
  const elsewhere = new Set(ring
    .filter((one) => one.agent === agent && one.session !== session && one.seq > last && one.seq < seq)
    .map((one) => one.seq));
  return seq - last - 1 - elsewhere.size;
}

/** What makes two frames one: an agent gives a number once, and one that begins anew does so at another time. */
function identityOf(agent: Pubkey, { seq, at, kind, sessionId, turnId }: Telemetry): string {
  return JSON.stringify([agent, sessionId, turnId, seq, at, kind]);
}
