/**
 * Signed events as blocks of the envelope. The facts stand in attributes and come from the event and the profiles
 * alone; what the author wrote stands between the tags, escaped.
 */
import { attributes, escapeText } from './markup.ts';
import type { People } from './people.ts';
import { mentionsOf, threadOf } from './threads.ts';
import type { TriggeredEvent } from './turn.ts';

const LEADING_ATS = /^@+/;

/** One block an event, joined by LF. */
export function eventBlocks(events: readonly TriggeredEvent[], people: People): string {
  return events.map((entry) => eventBlock(entry, people)).join('\n');
}

function eventBlock({ event, rule }: TriggeredEvent, people: People): string {
  const thread = threadOf(event);
  const facts = attributes([
    ['type', rule.replace(LEADING_ATS, '')],
    ['author', people.label(event.pubkey)],
    ['actor', event.pubkey],
    ['event_id', event.id],
    ['parent', thread?.parent === thread?.root ? undefined : thread?.parent],
    ['thread_root', thread?.root],
    ['mentions', mentionList(mentionsOf(event), people)],
  ]);
  return `<event${facts}>\nContent: ${escapeText(event.content)}\n</event>`;
}

function mentionList(mentions: readonly string[], people: People): string | undefined {
  if (mentions.length === 0) return undefined;
  return mentions
    .map((pubkey) => {
      const label = people.label(pubkey);
      return label === undefined ? pubkey : `${label} (${pubkey})`;
    })
    .join(', ');
}
