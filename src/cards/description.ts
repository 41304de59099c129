/**
 * What a card says the agent wants to do: the tool call's title and what it is about, from the raw params of a
 * permission request. At most 200 bytes; null where the request says nothing.
 *
 * A card stands in the thread for every member to read: what has the form or the name of a secret is replaced, before
 * anything is cut. Characters that hide or turn text are shown as escapes: an owner decides by what they read.
 */
import { isSecretName, REDACTED, veiled } from '../model/index.ts';
import { CARD_LIMITS } from './card.ts';
import { shortenEnd, shortenToBytes, utf8Bytes } from './text.ts';

type Members = Readonly<Record<string, unknown>>;

/** Leaves room for a context of twelve bytes and its brackets. */
const MAX_TITLE_BYTES = 185;
const BRACKETS_BYTES = 3;
/** What a tool call is about, in the order in which it is looked for. */
const PLACES = ['file', 'path', 'filename', 'filepath', 'target', 'source', 'destination', 'url', 'cwd', 'reason'] as const;

export function describeRequest(params: Members): string | null {
  const inSubject = membersOf(membersOf(params['subject'])?.['toolCall']);
  const toolCall = membersOf(params['toolCall']);
  const title = firstText([params['title'], inSubject?.['title'], toolCall?.['title']]);
  if (title === undefined) {
    const reason = membersOf(membersOf(membersOf(params['_meta'])?.['codex'])?.['params'])?.['reason'];
    const bare = firstText([commandOf(membersOf(toolCall?.['rawInput'])), reason]);
    return bare === undefined ? null : shortenToBytes(veiled(bare), CARD_LIMITS.stringBytes);
  }
  const head = shortenEnd(veiled(title), MAX_TITLE_BYTES);
  const rawInput = membersOf(inSubject?.['rawInput']) ?? membersOf(toolCall?.['rawInput']);
  const context = rawInput === undefined ? undefined : contextOf(rawInput);
  if (context === undefined) return head;
  return `${head} (${shortenToBytes(veiled(context), CARD_LIMITS.stringBytes - utf8Bytes(head) - BRACKETS_BYTES)})`;
}

function contextOf(rawInput: Members): string | undefined {
  return firstText([commandOf(rawInput), ...PLACES.map((name) => rawInput[name])]) ?? scalarsOf(rawInput);
}

/** As one line, also where an agent gives the command word by word. */
function commandOf(rawInput: Members | undefined): string | undefined {
  const command = rawInput?.['command'];
  if (!Array.isArray(command)) return typeof command === 'string' ? command : undefined;
  return command.every((word) => typeof word === 'string') ? command.join(' ') : undefined;
}

function scalarsOf(rawInput: Members): string | undefined {
  const scalars = Object.entries(rawInput).filter(([, value]) => value !== null && ['string', 'number', 'boolean'].includes(typeof value));
  if (scalars.length === 0) return undefined;
  return JSON.stringify(Object.fromEntries(scalars.map(([name, value]) => [name, isSecretName(name) ? REDACTED : value])));
}

function firstText(values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '');
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
