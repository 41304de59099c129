/**
 * Where the turn happens and where its answer belongs. The last event of the batch decides both.
 * in: a turn. out: its route, and the `<delivery ... />` line that tells the agent.
 */
import { attributes } from './markup.ts';
import { peopleOf } from './people.ts';
import type { People } from './people.ts';
import { mentionsOf, threadOf } from './threads.ts';
import type { Interrupted, TurnEvent, TurnInput } from './turn.ts';
import { unreachable } from './unreachable.ts';

export type Scope = 'dm' | 'thread' | 'channel';

/** `rootEventId` is set in a thread; `replyTo` is absent where no reply anchor is wanted. */
export interface Route {
  readonly scope: Scope;
  readonly rootEventId: string | undefined;
  readonly replyTo: string | undefined;
}

/** The route that the envelope of `input` tells, for a caller that answers in the agent's place. */
export function turnRoute(input: TurnInput): Route {
  return routeOf(input, peopleOf(input.profiles));
}

/** The route of `input`. */
export function routeOf(input: TurnInput, people: People): Route {
  const last = input.events.at(-1)?.event;
  if (last === undefined) throw new TypeError('a turn holds at least one event');
  const root = threadOf(last)?.root;
  if (input.channel?.type === 'dm') {
    return { scope: 'dm', rootEventId: undefined, replyTo: root === undefined ? undefined : last.id };
  }
  const replyTo = facesHuman(last, people) ? (root ?? last.id) : undefined;
  return { scope: root === undefined ? 'channel' : 'thread', rootEventId: root, replyTo };
}

// Agents among themselves get no anchor, so that their talk does not fill a person's thread.
function facesHuman(event: TurnEvent, people: People): boolean {
  return !people.isAgent(event.pubkey) || mentionsOf(event).some((pubkey) => !people.isAgent(pubkey));
}

/** The one line that says where an answer goes. */
export function deliveryLine(input: TurnInput, route: Route): string {
  return `<delivery${attributes([
    ['channel_id', input.channelId],
    ['scope', route.scope],
    ['reply_to', route.replyTo],
    ['merge_disposition', input.interrupted && mergeDisposition(input.interrupted)],
  ])} />`;
}

function mergeDisposition({ mode }: Interrupted): string {
  switch (mode) {
    case 'interrupt':
      return 'supersede_prior_work';
    case 'steer':
      return 'continue_prior_work';
    default:
      return unreachable(mode);
  }
}
