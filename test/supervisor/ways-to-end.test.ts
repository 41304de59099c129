/**
 * Every way in which a turn ends, and what follows: whether its messages are tried again, what the owner's telemetry and
 * the metric say, what the thread is told, what becomes of the process. docs/operations.md has the same table.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PromptOutcome, SessionRefused } from '../../src/acp/index.ts';
import { answerFor } from '../../src/supervisor/answer.ts';
import type { Batch } from '../../src/supervisor/inbox/entry.ts';
import { MAX_ATTEMPTS } from '../../src/supervisor/inbox/entry.ts';
import type { Ending } from '../../src/supervisor/inbox/machine.ts';
import { stopReasonOf } from '../../src/supervisor/metrics.ts';
import { DROPPED, processFate, refusedFate, settle, settleDropped, settleRefused } from '../../src/supervisor/settle.ts';
import { failureOf, refusalOf } from '../../src/supervisor/turn-failure.ts';
import { turnInput } from '../../src/supervisor/turn-input.ts';
import { ROOT } from '../house/imports.ts';
import { channel, entryOf, message } from './people.ts';

const seen = { text: '', textCut: false, thoughts: 0, toolCalls: 0, updates: 0 };
const batch: Batch = { turnId: 't', lane: channel, channelId: channel, entries: [entryOf(message(), 0)] };
/** Of a person: somebody waits for an answer. */
const input = turnInput(batch, { channel: { name: 'c', type: 'stream' }, history: undefined, historyDelivered: false, profiles: new Map() }, { base: 'b' }, 'sent');

type Way =
  | { readonly prompted: PromptOutcome }
  | { readonly refused: SessionRefused }
  | { readonly dropped: PromptOutcome };

const error = (trouble?: Extract<PromptOutcome, { status: 'error' }>['trouble']): Way => ({ prompted: { status: 'error', code: 1, message: 'no', seen, ...(trouble && { trouble }) } });
const refused = (trouble?: Extract<SessionRefused, { code: 'error' }>['trouble']): Way => ({ refused: { ok: false, code: 'error', rpcCode: 1, detail: 'no', ...(trouble && { trouble }) } });
const ended = { how: 'exited', exitCode: 1, stderrTail: '' } as const;

const WAYS: Readonly<Record<string, Way>> = {
  '`end_turn`': { prompted: { status: 'ended', stopReason: 'end_turn', seen } },
  '`max_tokens`': { prompted: { status: 'ended', stopReason: 'max_tokens', seen } },
  '`max_turn_requests`': { prompted: { status: 'ended', stopReason: 'max_turn_requests', seen } },
  '`refusal`': { prompted: { status: 'ended', stopReason: 'refusal', seen } },
  '`cancelled`, by its own word': { prompted: { status: 'ended', stopReason: 'cancelled', seen } },
  'an error': error(),
  'an error: no login': error({ is: 'login' }),
  'an error: a limit of the provider': error({ is: 'limit' }),
  'the idle timeout, heeded': { prompted: { status: 'idle_timeout', afterMs: 900_000, processAlive: true, seen } },
  'the idle timeout, and the cancel grace': { prompted: { status: 'idle_timeout', afterMs: 900_000, processAlive: false, seen } },
  'the hard timeout, heeded': { prompted: { status: 'hard_timeout', afterMs: 7_200_000, processAlive: true, seen } },
  'the hard timeout, and the cancel grace': { prompted: { status: 'hard_timeout', afterMs: 7_200_000, processAlive: false, seen } },
  'cut short by a stop of skep': { prompted: { status: 'cancelled', processAlive: true, seen } },
  'cut short by a stop of skep, and the cancel grace': { prompted: { status: 'cancelled', processAlive: false, seen } },
  'cancelled by the owner': { dropped: { status: 'cancelled', processAlive: true, seen } },
  'cancelled by the owner, and the cancel grace': { dropped: { status: 'cancelled', processAlive: false, seen } },
  'a permission answer that met a cancel': { prompted: { status: 'permission_poisoned', cause: 'cancelled', seen } },
  'a permission answer left unread': { prompted: { status: 'permission_poisoned', cause: 'unread', seen } },
  'the end of the process': { prompted: { status: 'process_ended', end: ended, seen } },
  'no session: an error': refused(),
  'no session: no login': refused({ is: 'login' }),
  'no session: a limit of the provider': refused({ is: 'limit' }),
  'no session: an id that it gave before': { refused: { ok: false, code: 'id_taken', detail: 'no' } },
  'no session within 60 s': { refused: { ok: false, code: 'timeout', detail: 'no' } },
  'no session: the end of the process': { refused: { ok: false, code: 'process_ended', detail: 'no', end: ended } },
};

function row(way: Way): readonly string[] {
  if ('refused' in way) {
    const { refused: end } = way;
    return [again(settleRefused(end)), refusalOf(end).outcome, 'none', notice(settleRefused(end)), fateWord(refusedFate(end))];
  }
  if ('dropped' in way) {
    const { dropped: end } = way;
    return [again(DROPPED), failureOf(end)?.outcome ?? 'none', stopReasonOf(end), 'none', fateWord(settleDropped(end).fate)];
  }
  const { prompted: end } = way;
  const { ending } = settle(end, false);
  return [again(ending), failureOf(end)?.outcome ?? 'none', stopReasonOf(end), notice(ending, end), fateWord(processFate(end))];
}

function again(ending: Ending): string {
  if (ending.how !== 'again') return 'no';
  switch (ending.cause) {
    case 'failure':
      return `after 5 s, doubling, ${MAX_ATTEMPTS} times`;
    case 'limit':
      return `after minutes, then hours, ${MAX_ATTEMPTS} times`;
    case 'restart':
    case 'stop':
      return 'at once, not counted';
  }
}

function notice(ending: Ending, outcome?: PromptOutcome): string {
  if (ending.how === 'dead') return 'given up, why';
  if (ending.how === 'again') return ending.cause === 'limit' ? 'one, at the first' : 'none';
  const said = outcome && answerFor(outcome, batch, input);
  return said?.kind === 'notice' ? 'no answer' : 'none';
}

function fateWord(fate: ReturnType<typeof processFate>): string {
  return { kept: 'kept', gone: 'gone', retired: 'replaced', crashed: 'replaced, a crash' }[fate];
}

/** The rows of the page's table by their first cell. */
function told(): ReadonlyMap<string, readonly string[]> {
  const lines = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8').split('\n');
  const rows = lines.slice(lines.indexOf('## How a turn ends')).filter((line) => line.startsWith('| '));
  return new Map(rows.map((line) => line.slice(2, -2).split(' | ')).map(([name = '', ...rest]) => [name, rest]));
}

it.each(Object.entries(WAYS))('%s: what follows is as the page has it', (name, way) => {
  const [tries, telemetry, metric, ...rest] = row(way);
  expect(told().get(name)).toEqual([tries, ...[telemetry, metric].map((word) => (word === 'none' ? word : `\`${word}\``)), ...rest]);
});
