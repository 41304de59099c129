/**
 * What `{{name}}` can mean before any step has captured anything: the facts of one prompt.
 * in: the prompt and where it was received. out: the variables of a turn, and the list of their names, which the
 * reader of a script checks templates against. Facts that name one event are those of the last event, which also
 * decides scope and reply anchor (compiler spec).
 */
import { createHash } from 'node:crypto';
import { readEnvelope } from './envelope.ts';
import type { EnvelopeEvent } from './envelope.ts';
import type { Json } from './json.ts';

export interface Prompt {
  /** The text blocks, in order. */
  readonly blocks: readonly string[];
  readonly sessionId: string;
  readonly cwd: string;
  /** The standing text that session/new brought, or ''. */
  readonly system: string;
  /** The model of the session, or ''. */
  readonly model: string;
  /** Its mode and its effort, or ''. */
  readonly mode: string;
  readonly effort: string;
  /** The how-manieth prompt of this session, from 1, in whatever process. */
  readonly turns: number;
  readonly pid: number;
  /** The how-manieth prompt of this process, from 1. */
  readonly number: number;
}

/** A quote longer than this is cut, so that an answer to fifty long messages still fits one message. */
const QUOTE_SCALARS = 200;

export const VARIABLE_NAMES = [
  'actor', 'author', 'channel', 'content', 'count', 'cwd', 'effort', 'event_id', 'event_ids', 'instructions', 'interrupted', 'match', 'mentions',
  'merge_disposition', 'mode', 'model', 'n', 'parent', 'pid', 'prompt', 'quoted', 'reply_to', 'scope', 'session', 'steered',
  'system', 'thread_root', 'turn', 'turns', 'type',
] as const;

type VariableName = (typeof VARIABLE_NAMES)[number];

/** `match` is left to the rule that matched, `steered` to the steers of the turn. */
export function variablesOf(prompt: Prompt): Map<string, Json> {
  const text = prompt.blocks.join('\n');
  const envelope = readEnvelope(prompt.blocks);
  const events = envelope?.events ?? [];
  const last: EnvelopeEvent | undefined = events.at(-1);
  const contents = envelope === undefined ? [text] : events.map((event) => event.content);
  const eventIds = events.map((event) => event.eventId);
  const channel = envelope?.channelId ?? '';
  const values: Readonly<Record<Exclude<VariableName, 'match' | 'steered'>, Json>> = {
    actor: last?.actor ?? '',
    author: last?.author ?? '',
    channel,
    content: contents.join('\n'),
    count: events.length,
    cwd: prompt.cwd,
    effort: prompt.effort,
    event_id: last?.eventId ?? '',
    event_ids: eventIds,
    instructions: instructionsIn(prompt.system) ?? instructionsIn(text) ?? '',
    interrupted: envelope?.interrupted.map((event) => event.content).join('\n') ?? '',
    mentions: last?.mentions ?? '',
    merge_disposition: envelope?.mergeDisposition ?? '',
    mode: prompt.mode,
    model: prompt.model,
    n: prompt.number,
    parent: last?.parent ?? '',
    pid: prompt.pid,
    prompt: text,
    quoted: contents.map(quote).join(', '),
    reply_to: envelope?.replyTo ?? '',
    scope: envelope?.scope ?? '',
    session: prompt.sessionId,
    system: prompt.system,
    thread_root: last?.threadRoot ?? '',
    turn: createHash('sha256').update([channel, ...eventIds].join(' ')).digest('hex').slice(0, 16),
    turns: prompt.turns,
    type: last?.type ?? '',
  };
  // An absent fact is no variable at all: an argument that is one template alone is then left out.
  return new Map(Object.entries(values).filter(([, value]) => value !== ''));
}

function quote(content: string): string {
  const scalars = Array.from(content.trim());
  return scalars.length > QUOTE_SCALARS ? `“${scalars.slice(0, QUOTE_SCALARS).join('')}…”` : `“${scalars.join('')}”`;
}

/** What is of the agent alone in a standing text, whichever way that came. */
function instructionsIn(text: string): string | undefined {
  return /<system>\n([^]*?)\n<\/system>/.exec(text)?.[1];
}
