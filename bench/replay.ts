/**
 * `skep replay` over recorded turns: read, verify, compile, compare. The floor verifies and hashes the same events and
 * does nothing else. The issue asks for 10,000 turns in under 20 s on two cores; the absolute figure stands beside.
 */
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileTurn } from '../compiler/index.ts';
import type { TurnInput } from '../compiler/index.ts';
import { parseEvent, verifyEvent } from '../src/nostr/index.ts';
import type { VerifiedEvent } from '../src/nostr/index.ts';
import { fixtureFiles, replayFile, turnFixtureText } from '../src/replay/index.ts';
import { CHANNEL, makeHouse } from './house.ts';
import type { BenchRow } from './row.ts';

const TURNS = 10_000;
const ROUNDS = 10;

export async function run(): Promise<BenchRow[]> {
  const house = makeHouse(1, 'ws://127.0.0.1:1');
  const folder = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  try {
    const events = Array.from({ length: TURNS }, (_, index) => house.message(`turn ${index}: who waters the garden, and what of the hives?`));
    events.forEach((event, index) => { writeTurn(folder, index, event); });
    const files = fixtureFiles([folder]);
    await replayed(files.slice(0, 500));
    verified(events.slice(0, 500));
    // In turns, so that a machine that is busy for a while slows both.
    let [subjectMs, floorMs] = [0, 0];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [from, to] = [round * TURNS / ROUNDS, (round + 1) * TURNS / ROUNDS];
      subjectMs += await replayed(files.slice(from, to));
      floorMs += verified(events.slice(from, to));
    }
    return [{
      goal: 'R1', name: `replay ${TURNS} recorded turns`, ratio: subjectMs / floorMs, unit: 'times the floor',
      floor: 'verifying and hashing the same events alone',
      detail: `${(subjectMs / 1_000).toFixed(1)} s against ${(floorMs / 1_000).toFixed(1)} s, one event a turn; under 20 s on two cores`,
    }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    house.remove();
  }
}

function writeTurn(folder: string, index: number, event: VerifiedEvent): void {
  const input: TurnInput = {
    v: 1, channelId: CHANNEL, channel: { name: 'bench', type: 'stream', description: 'Builds & deploys' }, events: [{ event, rule: '@mention' }],
    history: {
      scope: 'thread', total: 9, truncated: true,
      messages: Array.from({ length: 8 }, (_, at) => ({ eventId: event.id, pubkey: event.pubkey, timestamp: at, content: 'An earlier message of usual length, with <markup> & more.' })),
    },
    profiles: { [event.pubkey]: { displayName: 'Owner' } }, standing: { base: 'Answer in the thread. '.repeat(40), system: 'You look after the garden.' },
    standingRole: 'system',
  };
  // A thousand a folder, as people keep them.
  const inner = join(folder, String(index % 10));
  mkdirSync(inner, { recursive: true });
  writeFileSync(join(inner, `${index}.json`), turnFixtureText({ provenance: 'made: bench', input, output: compileTurn(input) }));
}

async function replayed(files: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  for (const file of files) {
    const { is } = await replayFile(file, { update: false });
    if (is !== 'same') throw new Error(`${file} is ${is}`);
  }
  return performance.now() - startedAt;
}

function verified(events: readonly VerifiedEvent[]): number {
  const startedAt = performance.now();
  for (const event of events) {
    const parsed = parseEvent(event);
    if (!parsed.ok || !verifyEvent(parsed.event).ok) throw new Error('the event does not verify');
    hash('sha256', event.content, 'hex');
  }
  return performance.now() - startedAt;
}
