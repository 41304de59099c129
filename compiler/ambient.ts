/**
 * The fragments of `<ambient-context>`: what surrounds the events of a turn. Each is also the content of a manifest
 * layer, so each is made once, here, and used in both places.
 */
import { eventBlocks } from './events.ts';
import { attributes, escapeText } from './markup.ts';
import type { People } from './people.ts';
import type { Route } from './routing.ts';
import { firstScalars, trim } from './text.ts';
import type { Channel, History, Interrupted, TurnInput } from './turn.ts';
import { unreachable } from './unreachable.ts';

// A description is a hint, not a document; 500 scalars are Buzz's bound. Over it: cut, marked with an ellipsis.
const MAX_DESCRIPTION_SCALARS = 500;

/** `Scope: ...`, and how to fetch the history when it is not all here. */
export function statusFragment(input: TurnInput, route: Route): string {
  const scope = `Scope: ${route.scope}`;
  const { history } = input;
  if (history !== undefined && !history.truncated) return scope;
  const delivered = input.historyDelivered === true ? 'already delivered' : 'not loaded';
  const state = history === undefined ? delivered : 'truncated';
  const root = route.rootEventId === undefined ? '' : ` rootEventId=${route.rootEventId}`;
  return `${scope}\nHistory: ${state}; retrieve: channel.read channelId=${escapeText(input.channelId)}${root}`;
}

export interface ChannelFragment {
  readonly text: string;
  readonly truncated: boolean;
}

/** `Channel: ...`, and outside a DM `Description: ...` on one line. */
export function channelFragment(channel: Channel): ChannelFragment {
  const name = `Channel: ${escapeText(channel.name)}`;
  const description = channel.type === 'dm' ? '' : oneLine(channel.description ?? '');
  if (description === '') return { text: name, truncated: false };
  const head = firstScalars(description, MAX_DESCRIPTION_SCALARS);
  const truncated = head.length < description.length;
  return { text: `${name}\nDescription: ${escapeText(head)}${truncated ? '…' : ''}`, truncated };
}

function oneLine(text: string): string {
  return text
    .split(/[\n\r]/)
    .map(trim)
    .filter((line) => line !== '')
    .join(' ');
}

/** `<recent-thread-delta ...>`: one line a message. Ids and times stay out; the layer's version holds them. */
export function historyFragment(history: History, people: People): string {
  const counts = attributes([
    ['included', String(history.messages.length)],
    ['total', String(history.total)],
    ['truncated', String(history.truncated)],
  ]);
  const lines = history.messages.map(
    ({ pubkey, content }) => `${escapeText(people.label(pubkey) ?? pubkey)}: ${escapeText(content)}`,
  );
  return [`<recent-thread-delta${counts}>`, ...lines, '</recent-thread-delta>'].join('\n');
}

/** `<interrupted-turn ...>`: the events of the turn that was cut short, and what becomes of its work. */
export function interruptedFragment(interrupted: Interrupted, people: People): string {
  const opening = `<interrupted-turn${attributes([['disposition', disposition(interrupted)]])}>`;
  return `${opening}\n${eventBlocks(interrupted.events, people)}\n</interrupted-turn>`;
}

function disposition({ mode }: Interrupted): string {
  switch (mode) {
    case 'interrupt':
      return 'superseded';
    case 'steer':
      return 'continue_prior_work';
    default:
      return unreachable(mode);
  }
}
