/** The events of turns and recorded streams: each must be what its author signed, or nothing that follows means anything. */
import type { TriggeredEvent, TurnInput } from '../../compiler/index.ts';
import { excerpt } from '../model/index.ts';
import { parseEvent, verifyEvent } from '../nostr/index.ts';

/** Where an event is not what it says, and what would be right. `path` like `events[3].event.sig`. */
export interface FalseEvent {
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

/** The first event of a turn whose id or signature is false; undefined when all are true. */
export function falseEvent(input: TurnInput, at = ''): FalseEvent | undefined {
  const { events, interrupted } = input;
  return falseAmong(events, `${at}events`) ?? falseAmong(interrupted?.events ?? [], `${at}interrupted.events`);
}

function falseAmong(events: readonly TriggeredEvent[], path: string): FalseEvent | undefined {
  for (const [index, { event }] of events.entries()) {
    const wrong = falseAt(event, `${path}[${index}].event`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** What is false about `event`, which stands at `path`; undefined when nothing is. */
export function falseAt(event: unknown, path: string): FalseEvent | undefined {
  const parsed = parseEvent(event);
  if (!parsed.ok) return { path, expected: 'an event', found: excerpt(parsed.detail) };
  const verified = verifyEvent(parsed.event);
  if (verified.ok) return undefined;
  const { id, sig } = parsed.event;
  switch (verified.code) {
    case 'bad_id':
      return { path: `${path}.id`, expected: 'the hash of the event', found: shortened(id) };
    case 'bad_signature':
      return { path: `${path}.sig`, expected: 'a signature of the author on the id', found: shortened(sig) };
  }
}

function shortened(hex: string): string {
  return `"${hex.slice(0, 16)}…"`;
}
