/**
 * What an inbox had done, as sightings: the saves of one turn, or of events in none, with one outcome are one line.
 * in: the commands of one commit. out: sightings, in order.
 */
import type { EventId } from '../model/index.ts';
import { unreachable } from '../model/index.ts';
import type { CutTurn, InboxCommand, Save } from '../supervisor/index.ts';
import type { SeenCut, Sighting } from './stream-fixture.ts';

/** Which turn an event is in, and which number a turn has. */
export interface Numbers {
  turnOf(eventId: EventId): number | undefined;
  numberOf(turnId: string): number;
}

export function sightingsOf(commands: readonly InboxCommand[], atMs: number, numbers: Numbers): readonly Sighting[] {
  const seen: Sighting[] = [];
  const toldOf = new Set(commands.flatMap((command) => (command.type === 'give_up' ? command.batch.entries.map(({ eventId }) => eventId) : [])));
  for (const command of commands) {
    const next = sightingOf(command, atMs, numbers, toldOf);
    if (next === undefined) continue;
    const joined = join(seen.at(-1), next);
    if (joined === undefined) seen.push(next);
    else seen.splice(-1, 1, joined);
  }
  return seen;
}

function sightingOf(command: InboxCommand, atMs: number, numbers: Numbers, toldOf: ReadonlySet<EventId>): Sighting | undefined {
  switch (command.type) {
    case 'save':
      return savedAs(command.save, atMs, numbers, toldOf);
    case 'dispatch': {
      const { turnId, lane, channelId, entries, merged, carried } = command.batch;
      return {
        atMs, saw: 'turn', turn: numbers.numberOf(turnId), lane, channelId, eventIds: entries.map(({ eventId }) => eventId),
        interrupted: entries.some(({ interrupted }) => interrupted),
        ...(merged && { merged: seenCut(merged) }), ...(carried && { carried: seenCut(carried) }),
      };
    }
    case 'cut_short':
      return { atMs, saw: 'cut_short', turn: numbers.numberOf(command.turnId) };
    case 'interrupt':
      return { atMs, saw: 'interrupt', turn: numbers.numberOf(command.turnId) };
    case 'offer':
      return { atMs, saw: 'offer', turn: numbers.numberOf(command.turnId), eventId: command.entry.eventId };
    case 'steer':
      // Seen as its `given`.
      return undefined;
    case 'give_up':
      // Told at its `dead`.
      return undefined;
    default:
      return unreachable(command);
  }
}

function seenCut({ mode, entries }: CutTurn): SeenCut {
  return { mode, eventIds: entries.map(({ eventId }) => eventId) };
}

function savedAs(save: Save, atMs: number, numbers: Numbers, toldOf: ReadonlySet<EventId>): Sighting | undefined {
  switch (save.change) {
    case 'insert': {
      const { eventId, rule, lane, hops } = save.entry;
      return { atMs, saw: 'queued', eventId, rule, lane, hops };
    }
    case 'consumed':
      return { atMs, saw: 'command', eventId: save.entry.eventId, command: save.entry.rule, outcome: save.outcome };
    case 'dispatched':
      // Seen as the turn that follows.
      return undefined;
    case 'given':
      return { atMs, saw: 'given', turn: numbers.numberOf(save.turnId), eventId: save.eventId, above: save.above };
    case 'queued': {
      const { eventId, attempts, notBeforeMs } = save.entry;
      return { atMs, saw: 'again', turn: numbers.turnOf(eventId) ?? 0, eventIds: [eventId], attempts, notBeforeMs, outcome: save.outcome };
    }
    case 'done':
      return { atMs, saw: 'done', turn: numbers.turnOf(save.eventId) ?? 0, eventIds: [save.eventId], outcome: save.outcome };
    case 'dead':
      return { atMs, saw: 'dead', eventIds: [save.eventId], outcome: save.outcome, ...(toldOf.has(save.eventId) ? { notice: true } : {}) };
    default:
      return unreachable(save);
  }
}

/** Two neighbours that say the same of different events. */
function join(before: Sighting | undefined, next: Sighting): Sighting | undefined {
  if (before === undefined || !('eventIds' in before) || !('eventIds' in next) || before.saw === 'turn') return undefined;
  const same = JSON.stringify({ ...before, eventIds: [] }) === JSON.stringify({ ...next, eventIds: [] });
  return same ? { ...before, eventIds: [...before.eventIds, ...next.eventIds] } : undefined;
}
