/**
 * What an owner knows of their agents, as a machine. It is told what known agents have signed and the owner's key has
 * opened, in any order and as often as a relay likes, and says what is now known and what there is to tell.
 *
 * | input | turns | permissions |
 * |---|---|---|
 * | telemetry heard before (in the last 800 frames) | - | - |
 * | telemetry | begun, streamed, ended; an end stays | challenged, or ended |
 * | card | - | pending, unless it has ended or is late; a second one: decided by nobody |
 * | edit | - | ended, unless it names another card |
 * | tick | lines that waited are told | counted down, expired |
 *
 * in: `Input`, now. out: `Step`. NIP-AO "Client Behavior": kinds that are not known are passed over.
 */
import { unreachable } from '../../model/index.ts';
import type { Milliseconds, Pubkey } from '../../model/index.ts';
import { authorized, carded, countDown, countDownDueMs, edited } from './permissions.ts';
import { count } from './sequence.ts';
import { textOf } from './telemetry.ts';
import type { Telemetry } from './telemetry.ts';
import { flushDueMs, flushTurns, inTurn, placeOf } from './turns.ts';
import type { Input, Note, Step, View } from './view.ts';

export function step(view: View, input: Input, now: Milliseconds): Step {
  switch (input.type) {
    case 'telemetry':
      return told(view, input.agent, input.event, now);
    case 'card':
      return carded(view, input, now);
    case 'edit':
      return edited(view, input);
    case 'tick': {
      const flushed = flushTurns(view, now);
      const counted = countDown(flushed.view, now);
      return { view: counted.view, notes: [...flushed.notes, ...counted.notes] };
    }
    default:
      return unreachable(input);
  }
}

/** The earliest moment at which a `tick` changes something. */
export function nextWakeMs(view: View): Milliseconds | undefined {
  const due = [...[...view.turns.values()].map(flushDueMs), ...[...view.permissions.values()].map(countDownDueMs)];
  return due.reduce((earliest, at) => (at !== undefined && (earliest === undefined || at < earliest) ? at : earliest), undefined);
}

function told(view: View, agent: Pubkey, event: Telemetry, now: Milliseconds): Step {
  const counted = count(view, agent, event);
  if (counted.again) return { view, notes: [] };
  const place = placeOf(agent, event);
  const notes: Note[] = counted.missing > 0 ? [{ ...place, type: 'gap', missing: counted.missing }] : [];
  const turned = inTurn(counted.view, agent, event, now);
  notes.push(...turned.notes);
  const { authorization } = event;
  const decided = authorization === undefined ? turned : authorized(turned.view, agent, event, authorization);
  if (authorization !== undefined) notes.push(...decided.notes);
  if (event.kind === 'control_result') notes.push({ ...place, type: 'control_result', payload: event.payload });
  if (event.kind === 'launch_refused') {
    const { code, detail } = event.payload;
    notes.push({ ...place, type: 'launch_refused', code: textOf(code) ?? null, detail: textOf(detail) ?? null });
  }
  return { view: decided.view, notes };
}
