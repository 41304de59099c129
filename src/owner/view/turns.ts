/** Turns as their frames tell them: begun, what is streamed, tools, the end. A turn that has ended stays so. */
import { milliseconds } from '../../model/index.ts';
import type { Milliseconds, Pubkey } from '../../model/index.ts';
import { membersOf, textOf } from './telemetry.ts';
import type { Members, Telemetry } from './telemetry.ts';
import { keyOf, MAX_TOOLS, MAX_TURNS } from './view.ts';
import type { Note, Speaker, Step, Turn, View } from './view.ts';

/** Streamed text is told line by line; a line longer than this, or older, is told as far as it goes. */
const MAX_UNSAID_CHARACTERS = 400;
const UNSAID_MS = 1_000;

/** The rest of a line that waits, when nothing has ended it. */
export function flushDueMs({ unsaid }: Turn): Milliseconds | undefined {
  return unsaid === undefined ? undefined : milliseconds(unsaid.since + UNSAID_MS);
}

/** Everything a frame says of its turn. What is no frame of a turn, or of a kind that is not known, says nothing. */
export function inTurn(view: View, agent: Pubkey, event: Telemetry, now: Milliseconds): Step {
  const { turnId, kind } = event;
  if (turnId === null) return { view, notes: kind === 'session_resolved' ? [sessionNote(agent, event)] : [] };
  const known = view.turns.get(keyOf(agent, turnId));
  const before = known ?? begun(agent, turnId, event);
  const turn = { ...before, channelId: before.channelId ?? event.channelId, sessionId: before.sessionId ?? event.sessionId };
  const at = placeOf(agent, event);
  switch (kind) {
    case 'turn_started': {
      if (known !== undefined) return kept(view, turn, []);
      const { source, triggeringEventIds: events } = event.payload;
      return kept(view, turn, [{ ...at, type: 'turn_started', source: textOf(source) ?? null, events: Array.isArray(events) ? events.length : null }]);
    }
    case 'session_resolved':
      return kept(view, turn, [sessionNote(agent, event)]);
    case 'acp_read':
      return read(view, turn, event, now);
    case 'turn_error': {
      if (turn.error !== undefined) return kept(view, turn, []);
      const { outcome, error } = event.payload;
      const { turn: said, notes } = sayAll(turn, event.at);
      const told = { outcome: textOf(outcome) ?? null, error: textOf(error) ?? null };
      // It may come after the completion: their order is not fixed (a race of the runtime's).
      const failed: Turn = { ...said, status: said.status === 'completed' ? 'completed' : 'failed', error: told.error ?? told.outcome ?? '' };
      return kept(view, failed, [...notes, { ...at, type: 'turn_failed', ...told }]);
    }
    case 'turn_completed': {
      if (turn.status === 'completed') return kept(view, turn, []);
      const { turn: said, notes } = sayAll(turn, event.at);
      return kept(view, { ...said, status: 'completed' }, [...notes, { ...at, type: 'turn_completed', stopReason: said.stopReason ?? null }]);
    }
    default:
      return kept(view, turn, []);
  }
}

/** Lines that have waited long enough. */
export function flushTurns(view: View, now: Milliseconds): Step {
  const notes: Note[] = [];
  let turns: Map<string, Turn> | undefined;
  for (const [key, turn] of view.turns) {
    const due = flushDueMs(turn);
    if (due === undefined || due > now) continue;
    const said = sayAll(turn, now);
    notes.push(...said.notes);
    turns ??= new Map(view.turns);
    turns.set(key, said.turn);
  }
  return { view: turns === undefined ? view : { ...view, turns }, notes };
}

function read(view: View, turn: Turn, event: Telemetry, now: Milliseconds): Step {
  const { payload, at } = event;
  const stopReason = textOf(membersOf(payload['result'])?.['stopReason']);
  if (stopReason !== undefined) return kept(view, { ...turn, stopReason }, []);
  const update = payload['method'] === 'session/update' ? membersOf(membersOf(payload['params'])?.['update']) : undefined;
  switch (update?.['sessionUpdate']) {
    case 'agent_message_chunk':
      return kept(view, ...spoken(turn, 'agent', update, at, now));
    case 'agent_thought_chunk':
      return kept(view, ...spoken(turn, 'thought', update, at, now));
    case 'tool_call':
    case 'tool_call_update':
      return tool(view, turn, update, event);
    default:
      return kept(view, turn, []);
  }
}

function spoken(turn: Turn, speaker: Speaker, update: Members, at: Milliseconds, now: Milliseconds): [Turn, readonly Note[]] {
  const chunk = textOf(membersOf(update['content'])?.['text']) ?? '';
  if (chunk === '') return [turn, []];
  const other = turn.unsaid !== undefined && turn.unsaid.speaker !== speaker ? sayAll(turn, at) : { turn, notes: [] };
  const { unsaid, ...rest } = other.turn;
  const lines = `${unsaid?.text ?? ''}${chunk}`.split('\n');
  const tail = lines.pop() ?? '';
  const place = turnPlace(turn, at);
  const notes = lines.filter((line) => line.trim() !== '').map((text): Note => ({ ...place, type: 'text', speaker, text }));
  if (tail === '') return [rest, [...other.notes, ...notes]];
  const waiting: Turn = { ...rest, unsaid: { speaker, text: tail, since: unsaid !== undefined && lines.length === 0 ? unsaid.since : now } };
  if (tail.length <= MAX_UNSAID_CHARACTERS) return [waiting, [...other.notes, ...notes]];
  const long = sayAll(waiting, at);
  return [long.turn, [...other.notes, ...notes, ...long.notes]];
}

function tool(view: View, turn: Turn, update: Members, event: Telemetry): Step {
  const id = textOf(update['toolCallId']);
  if (id === undefined) return kept(view, turn, []);
  const known = turn.tools.get(id);
  const title = textOf(update['title']) ?? known?.title ?? id;
  const status = textOf(update['status']) ?? known?.status ?? 'pending';
  // An agent may send its output in a hundred updates: only a new title or status is news.
  if (known?.title === title && known.status === status) return kept(view, turn, []);
  const { turn: said, notes } = sayAll(turn, event.at);
  const tools = bounded(new Map(said.tools).set(id, { title, status }), MAX_TOOLS);
  return kept(view, { ...said, tools }, [...notes, { ...placeOf(turn.agent, event), type: 'tool', toolCallId: id, title, status }]);
}

function sayAll(turn: Turn, at: Milliseconds): { readonly turn: Turn; readonly notes: readonly Note[] } {
  const { unsaid, ...rest } = turn;
  if (unsaid === undefined) return { turn, notes: [] };
  return { turn: rest, notes: [{ ...turnPlace(turn, at), type: 'text', speaker: unsaid.speaker, text: unsaid.text }] };
}

function begun(agent: Pubkey, turnId: string, { channelId, sessionId, at }: Telemetry): Turn {
  return { agent, turnId, channelId, sessionId, status: 'running', since: at, tools: new Map() };
}

function kept(view: View, turn: Turn, notes: readonly Note[]): Step {
  const turns = new Map(view.turns).set(keyOf(turn.agent, turn.turnId), turn);
  return { view: { ...view, turns: bounded(turns, MAX_TURNS, ({ status }) => status === 'completed') }, notes };
}

/** Without the oldest beyond `most`, those that are over first. */
export function bounded<T>(map: ReadonlyMap<string, T>, most: number, isOver: (value: T) => boolean = () => true): ReadonlyMap<string, T> {
  if (map.size <= most) return map;
  const next = new Map(map);
  const first = [...next].find(([, value]) => isOver(value))?.[0] ?? next.keys().next().value;
  if (first !== undefined) next.delete(first);
  return next;
}

export function placeOf(agent: Pubkey, { at, channelId, sessionId, turnId }: Telemetry): { readonly at: Milliseconds; readonly agent: Pubkey; readonly channelId: Telemetry['channelId']; readonly sessionId: string | null; readonly turnId: string | null } {
  return { at, agent, channelId, sessionId, turnId };
}

function turnPlace({ agent, channelId, sessionId, turnId }: Turn, at: Milliseconds): ReturnType<typeof placeOf> {
  return { at, agent, channelId, sessionId, turnId };
}

function sessionNote(agent: Pubkey, event: Telemetry): Note {
  const { sessionId, isNewSession } = event.payload;
  const place = placeOf(agent, event);
  return {
    ...place, sessionId: place.sessionId ?? textOf(sessionId) ?? null, type: 'session_resolved',
    isNew: typeof isNewSession === 'boolean' ? isNewSession : null,
  };
}
