/// <reference lib="es2024.string" />
/**
 * Goal P1: a turn compiled at no less than half the speed of concatenating, escaping and hashing the same text; and
 * twice the input in no more than 2.3 times the time. Floor and subject take turns; each figure is a median.
 */
import { hash } from 'node:crypto';
import { compileTurn } from '../compiler/index.ts';
import type { TurnInput } from '../compiler/index.ts';
import type { BenchRow } from './row.ts';

const PAIRS = 201;
const MIN_BATCH_MS = 4;

const PLAIN = 'The deploy of "billing" failed at step 3 <retry> & was rolled back; see the log. ';
const WORDS = 'Der Versuch <3> schlug fehl – siehe „Protokoll“ & Kanal; 失敗しました。🙂 ';

export async function run(): Promise<BenchRow[]> {
  return [
    againstFloor('ASCII', PLAIN),
    againstFloor('mixed scripts', WORDS),
    againstHalf(),
  ];
}

function againstFloor(name: string, words: string): BenchRow {
  const input = turnOf(words, 1);
  const texts = textsOf(input);
  const { subject, floor, ratio } = paired(
    () => compileTurn(input),
    () => escapeAndHash(texts),
  );
  return {
    goal: 'P1',
    name: `compile a turn, ${name}`,
    ratio: 1 / ratio,
    floor: 'concatenate + escape + hash of the same text; at least 0.5',
    unit: 'speed of the floor',
    detail: `${subject.toFixed(1)} µs against ${floor.toFixed(1)} µs, ${String(texts.join('').length)} characters`,
  };
}

// At sizes a turn has: beyond some 100 kB the floor itself takes more than twice the time for twice the text.
function againstHalf(): BenchRow {
  const half = turnOf(PLAIN, 2);
  const whole = turnOf(PLAIN, 4);
  const { subject, floor, ratio } = paired(
    () => compileTurn(whole),
    () => compileTurn(half),
  );
  return {
    goal: 'P1',
    name: 'twice the input',
    ratio,
    floor: 'the time for half of it; at most 2.3',
    unit: 'time of the floor',
    detail: `${subject.toFixed(1)} µs against ${floor.toFixed(1)} µs`,
  };
}

/** The floor: what no compiler can do without. */
function escapeAndHash(texts: readonly string[]): string {
  const text = texts.map(escape).join('\n');
  return hash('sha256', text, 'hex');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Eight layers, twenty messages of 300 characters and 10,000 characters of standing text, `scale` times over. */
function turnOf(words: string, scale: number): TurnInput {
  const text = (length: number): string =>
    words
      .repeat(Math.ceil(length / words.length))
      .slice(0, length)
      .toWellFormed();
  const author = 'a'.repeat(64);
  const event = (index: number): TurnInput['events'][number] => ({
    rule: '@mention',
    event: {
      id: index.toString(16).padStart(64, '0'),
      pubkey: author,
      created_at: 1_700_000_000 + index,
      kind: 9,
      tags: [
        ['h', CHANNEL_ID],
        ['e', 'b'.repeat(64), '', 'reply'],
        ['p', 'c'.repeat(64)],
      ],
      content: text(300),
      sig: 'd'.repeat(128),
    },
  });
  return {
    v: 1,
    channelId: CHANNEL_ID,
    channel: { name: 'engineering', type: 'stream', description: 'Builds and deploys' },
    events: Array.from({ length: scale }, (_, index) => event(index)),
    history: {
      scope: 'thread',
      messages: Array.from({ length: 20 * scale }, (_, index) => ({
        eventId: index.toString(16).padStart(64, 'e'),
        pubkey: author,
        timestamp: 1_700_000_000 + index,
        content: text(300),
      })),
      total: 20 * scale,
      truncated: false,
    },
    profiles: { [author]: { displayName: 'Morgan' }, ['c'.repeat(64)]: { displayName: 'Skep', isAgent: true } },
    standing: {
      base: text(4000 * scale),
      system: text(3000 * scale),
      coreMemory: text(2000 * scale),
      channelCanvas: text(1000 * scale),
    },
    standingRole: 'prompt',
  };
}

const CHANNEL_ID = '0b9c1f5e-6a53-4d0e-9a57-3f1f0f8f2c11';

/** Every text of the turn that is shown or hashed. */
function textsOf({ events, history, standing, channel }: TurnInput): readonly string[] {
  return [
    ...Object.values(standing ?? {}).filter((text) => typeof text === 'string'),
    channel?.name ?? '',
    channel?.description ?? '',
    ...(history?.messages ?? []).map(({ content }) => content),
    ...(history?.messages ?? []).flatMap(({ eventId, pubkey }) => [eventId, pubkey]),
    ...events.flatMap(({ event, rule }) => [rule, event.id, event.pubkey, event.content, ...event.tags.flat()]),
  ];
}

/** Medians of `PAIRS` measurements of both, in µs a call; the two are measured in turns, and swap who goes first. */
function paired(subject: () => unknown, floor: () => unknown): { subject: number; floor: number; ratio: number } {
  const calls = Math.max(batchSize(subject), batchSize(floor));
  const pairs = Array.from({ length: PAIRS }, (_, index) => {
    const first = timeOf(index % 2 === 0 ? subject : floor, calls);
    const second = timeOf(index % 2 === 0 ? floor : subject, calls);
    return index % 2 === 0 ? { subject: first, floor: second } : { subject: second, floor: first };
  });
  return {
    subject: median(pairs.map((pair) => pair.subject)),
    floor: median(pairs.map((pair) => pair.floor)),
    ratio: median(pairs.map((pair) => pair.subject / pair.floor)),
  };
}

/** How many calls take `MIN_BATCH_MS`, found by doubling, which also warms the code up. */
function batchSize(task: () => unknown): number {
  let calls = 1;
  while (timeOf(task, calls) * calls < MIN_BATCH_MS * 1000) calls *= 2;
  return calls;
}

function timeOf(task: () => unknown, calls: number): number {
  const startMs = performance.now();
  for (let call = 0; call < calls; call += 1) task();
  return ((performance.now() - startMs) * 1000) / calls;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
