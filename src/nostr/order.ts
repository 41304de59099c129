/** The order of events (NIP-01): newest first and, in one second, the lower id first. */
import type { EventId } from '../model/index.ts';

interface Placed {
  readonly id: EventId;
  readonly created_at: number;
}

/** For `sort`: as a relay answers. */
export function newestFirst(a: Placed, b: Placed): number {
  return b.created_at - a.created_at || (a.id < b.id ? -1 : 1);
}

/** For `sort`: as people read. In one second the lower id is first here, too, so that a conversation has one order. */
export function oldestFirst(a: Placed, b: Placed): number {
  return a.created_at - b.created_at || (a.id < b.id ? -1 : 1);
}
