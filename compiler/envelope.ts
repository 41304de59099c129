/**
 * One turn as the `<buzz-turn>` envelope and the parts it is made of.
 * in: a turn. out: text that depends on nothing else; whatever the events, names or descriptions hold, the tags in it
 * are those written here. Compiler spec, the envelope; "Envelope, in order", rules version 1.
 * Never: looks at the standing text; the envelope is the same whatever role that takes.
 */
import { channelFragment, historyFragment, interruptedFragment, statusFragment } from './ambient.ts';
import type { ChannelFragment } from './ambient.ts';
import { eventBlocks } from './events.ts';
import { peopleOf } from './people.ts';
import { deliveryLine, routeOf } from './routing.ts';
import type { TurnInput } from './turn.ts';

/** The parts of an envelope as rendered; absent parts are `undefined`. */
export interface EnvelopeParts {
  readonly status: string;
  readonly channel: ChannelFragment | undefined;
  readonly history: string | undefined;
  readonly interrupted: string | undefined;
  readonly events: string;
  readonly delivery: string;
}

/** Renders every part of `input` once. */
export function partsOf(input: TurnInput): EnvelopeParts {
  const people = peopleOf(input.profiles);
  const route = routeOf(input, people);
  return {
    status: statusFragment(input, route),
    channel: input.channel && channelFragment(input.channel),
    history: input.history && historyFragment(input.history, people),
    interrupted: input.interrupted && interruptedFragment(input.interrupted, people),
    events: eventBlocks(input.events, people),
    delivery: deliveryLine(input, route),
  };
}

/** A stretch of whole lines, and the layer of the manifest that accounts for it; none for what frames the layers. */
export type Piece = readonly [text: string, layer?: string | undefined];

/** The envelope from its first line to its last, piece by piece. */
export function piecesOf({ status, channel, history, interrupted, events, delivery }: EnvelopeParts): readonly Piece[] {
  return [
    ['<buzz-turn>'],
    ['<ambient-context>'],
    [status, 'context_status'],
    ...(channel === undefined ? [] : [[channel.text, 'channel_snapshot'] as const]),
    ...(history === undefined ? [] : [[history, 'recent_thread_delta'] as const]),
    ...(interrupted === undefined ? [] : [[interrupted, 'interrupted_turn'] as const]),
    ['</ambient-context>'],
    [events, 'current_instruction'],
    [delivery, 'delivery_contract'],
    ['</buzz-turn>'],
  ];
}

/** The parts as one text: lines joined by LF, none at the end. */
export function envelopeOf(parts: EnvelopeParts): string {
  return piecesOf(parts).map(([text]) => text).join('\n');
}
