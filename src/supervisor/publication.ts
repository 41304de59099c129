/**
 * Whether a turn has been answered: asked until it is known. While a signed message of the turn may be on the relay, or
 * on its way there, nobody is given the turn again; waiting costs time, guessing would answer twice.
 */
import type { AgentLink, TurnBinding, TurnPublications } from '../broker/index.ts';
import { pause } from '../model/index.ts';
import type { Clock, EventId } from '../model/index.ts';

/** Between two questions; each takes up to ten seconds itself while a relay is away. */
const ASK_AGAIN_MS = 2_000;

/** The messages published in the turn, or undefined when `signal` aborted before that was known. */
export async function decidedPublication(
  link: Pick<AgentLink, 'publishedIn'>, turn: TurnBinding, clock: Clock, signal: AbortSignal,
): Promise<readonly EventId[] | undefined> {
  return (await decidedEnd(link, turn, clock, signal))?.events;
}

/** The same of a turn of an earlier run, which may have had its notice already. */
export async function decidedEnd(
  link: Pick<AgentLink, 'publishedIn'>, turn: TurnBinding, clock: Clock, signal: AbortSignal,
): Promise<Pick<TurnPublications, 'events' | 'noticed'> | undefined> {
  for (;;) {
    const { events, noticed = false, undecided } = await link.publishedIn(turn);
    // One message that is there answers the turn, whatever becomes of another.
    if (!undecided || events.length > 0) return { events, noticed };
    if (signal.aborted) return undefined;
    await pauseBeforeAsking(clock, signal);
  }
}

/** A short while, or until `signal` aborts. */
export function pauseBeforeAsking(clock: Clock, signal: AbortSignal): Promise<void> {
  return pause(clock, ASK_AGAIN_MS, signal);
}
