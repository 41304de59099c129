/**
 * A page of messages as compact lines: oldest first, each with number, time, author, id and thread on a line of its own,
 * the text below it behind a bar. Whatever a message says stays behind its bar, so that no text can pass for a line of
 * facts. Ids and keys are written in full where a tool needs them, and once.
 */
import type { VerifiedPage } from '../broker/client/index.ts';
import { excerpt } from '../model/index.ts';
import { threadOf } from '../nostr/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';

/** Characters of text for a whole page, shared by its messages; one message alone is always whole. */
const PAGE_CHARACTERS = 66_000;
const LEAST_CHARACTERS = 400;
/** What a terminal or a reader may take for a new line. */
const LINE_BREAKS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** Invisible characters that change how a line reads: controls, bidirectional marks, zero-width ones. */
const INVISIBLE = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

export function pageText({ messages, nextCursor, unverified }: VerifiedPage): string {
  const oldestFirst = messages.toReversed();
  const share = Math.max(LEAST_CHARACTERS, Math.floor(PAGE_CHARACTERS / Math.max(1, messages.length)));
  const authors = new Map<string, string>();
  for (const { pubkey } of oldestFirst) {
    if (!authors.has(pubkey)) authors.set(pubkey, `a${authors.size + 1}`);
  }
  const numbers = new Map<string, number>(oldestFirst.map(({ id }, index) => [id, index + 1]));
  const lines = [
    messages.length === 0 ? 'No messages.' : `${messages.length} message${messages.length === 1 ? '' : 's'}, oldest first, times in UTC.`,
    ...(nextCursor === undefined ? [] : [`There may be older ones: call channel_read again with cursor ${JSON.stringify(nextCursor)}.`]),
    ...(unverified === 0 ? [] : [`${unverified} left out: not signed by whom they name.`]),
    ...[...authors].map(([pubkey, name]) => `${name} = ${pubkey}`),
    ...oldestFirst.flatMap((message, index) => messageLines(message, index + 1, { authors, numbers, share })),
  ];
  return lines.join('\n');
}

interface Names {
  readonly authors: ReadonlyMap<string, string>;
  readonly numbers: ReadonlyMap<string, number>;
  readonly share: number;
}

function messageLines(message: VerifiedEvent, number: number, { authors, numbers, share }: Names): readonly string[] {
  const { id, pubkey, created_at: createdAt, content, tags } = message;
  const place = threadOf(tags);
  const named = (event: string): string => (numbers.has(event) ? `#${numbers.get(event) ?? 0}` : event);
  const thread = place.at === 'top' ? '' : ` in thread ${named(place.root)}, answers ${named(place.parent)}`;
  return [`#${number} ${timeText(createdAt)} ${authors.get(pubkey) ?? pubkey} id ${id}${thread}`, ...textLines(content, share)];
}

function textLines(text: string, share: number): readonly string[] {
  const scalars = Array.from(text);
  const shown = scalars.slice(0, share).join('');
  const lines = shown.split(LINE_BREAKS).map((line) => `| ${line.replace(INVISIBLE, escaped)}`);
  const left = scalars.length - share;
  return left > 0 ? [...lines, `(${left} more characters: a smaller limit shows more of each message)`] : lines;
}

function escaped(character: string): string {
  return character === '\t' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** `2026-01-01 00:00:00`, or the seconds where no calendar reaches. */
function timeText(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString().slice(0, 19).replace('T', ' ');
}

/** A text of the outside on the line it stands in. */
export function inline(text: string): string {
  return excerpt(text, 120);
}
