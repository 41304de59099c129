/**
 * Goal A2: from the relay's event to the prompt line on the agent's stdin, p50 no more than twice the sum of its parts
 * (verify, commit, compile, write). Goal M1: memory of an idle supervisor against the bare import of what it is made of,
 * and of each further agent. Everything real: WebSocket, SQLite with synchronous FULL, an agent process.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileTurn } from '../compiler/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { silentLog } from '../src/model/index.ts';
import { parseEvent, verifyEvent } from '../src/nostr/index.ts';
import type { VerifiedEvent } from '../src/nostr/index.ts';
import { start } from '../src/root.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../src/store/index.ts';
import type { Store } from '../src/store/index.ts';
import { BASE_PROMPT } from '../src/supervisor/base-prompt.ts';
import type { Note } from '../src/supervisor/index.ts';
import { steadyClock, systemClock, systemRandom } from '../src/system/index.ts';
import { openFakeRelay } from './fake-relay.ts';
import { CHANNEL, makeHouse } from './house.ts';
import type { BenchRow } from './row.ts';

const TURNS = 300;
const WARM_UP = 30;
const MORE_AGENTS = 8;

export async function run(): Promise<BenchRow[]> {
  return [await eventToPrompt(), ...(await memory())];
}

async function eventToPrompt(): Promise<BenchRow> {
  const plan = makeHouse(1, 'ws://127.0.0.1:1');
  const relay = await openFakeRelay(plan.stored);
  const house = makeHouse(1, relay.url);
  const waiting = new Map<Note['type'], (at: number) => void>();
  const next = (type: Note['type']): Promise<number> => new Promise((resolve) => { waiting.set(type, resolve); });
  const ready = next('process_started');
  const running = await start(loadConfig(house.configFile), {
    clock: systemClock, steadyClock, random: systemRandom, log: silentLog, version: '0', nodePath: process.execPath, environment: process.env,
    observe: ({ type }) => { waiting.get(type)?.(performance.now()); },
  });
  const parts = await openParts(join(house.directory, 'parts.db'));
  const whole: number[] = [];
  const sums: number[] = [];
  try {
    await ready;
    await followed(() => running.snapshot().agents[0]?.upstream.channels.length === 1);
    for (let turn = 0; turn < WARM_UP + TURNS; turn += 1) {
      const event = house.message(`turn ${turn}: what is the state of the garden, and who will water it tomorrow?`);
      const prompted = next('turn_started');
      const ended = next('turn_ended');
      const sentAt = relay.send(event);
      const tookMs = (await prompted) - sentAt;
      await ended;
      const sum = await parts.measure(event);
      if (turn < WARM_UP) continue;
      whole.push(tookMs);
      sums.push(sum);
    }
  } finally {
    await parts.close();
    await running.close(0);
    await relay.close();
    house.remove();
    plan.remove();
  }
  const [p50, floor] = [median(whole), median(sums)];
  return {
    goal: 'A2', name: 'relay event in → prompt on stdin, p50', ratio: p50 / floor, unit: 'times the floor',
    floor: 'verify + commit + compile + write of the same event; at most 2',
    detail: `${p50.toFixed(2)} ms against ${floor.toFixed(2)} ms, ${TURNS} turns; p95 ${percentile(whole, 0.95).toFixed(2)} ms`,
  };
}

interface Parts {
  measure(event: VerifiedEvent): Promise<number>;
  close(): Promise<void>;
}

/** The four things no road can do without, one after the other and nothing between. */
async function openParts(path: string): Promise<Parts> {
  const store = openSqlite(path, SUPERVISOR_SCHEMA);
  const sink = spawn('cat', [], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(sink, 'spawn');
  return {
    async measure(event) {
      const text = JSON.stringify(event);
      const startedAt = performance.now();
      const parsed = parseEvent(JSON.parse(text));
      if (!parsed.ok || !verifyEvent(parsed.event).ok) throw new Error('the event does not verify');
      await commit(store, event);
      const { envelope } = compileTurn({
        v: 1, channelId: CHANNEL, channel: { name: 'bench', type: 'stream' }, events: [{ event, rule: '@mention' }],
        historyDelivered: true, profiles: { [event.pubkey]: { displayName: 'Owner' } }, standing: { base: BASE_PROMPT }, standingRole: 'sent',
      });
      await write(sink, `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { prompt: [{ type: 'text', text: envelope }] } })}\n`);
      return performance.now() - startedAt;
    },
    async close() {
      await store.close();
      sink.stdin.end();
      await once(sink, 'exit');
    },
  };
}

async function commit(store: Store, event: VerifiedEvent): Promise<void> {
  await store.write(
    sql(
      `INSERT INTO inbox (agent, event_id, channel, lane, destination, author, rule, hops, received_at_ms, status, event)
       VALUES ('a', ?, ?, ?, ?, ?, '@mention', 0, 0, 'queued', ?)`,
      event.id, CHANNEL, CHANNEL, event.id, event.pubkey, JSON.stringify(event),
    ),
    sql("UPDATE inbox SET status = 'dispatched' WHERE agent = 'a' AND event_id = ?", event.id),
  );
}

function write({ stdin }: ChildProcess, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin?.write(line, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

async function memory(): Promise<BenchRow[]> {
  const bare = await residentOf('import-only', 0);
  const one = await residentOf('idle', 1);
  const many = await residentOf('idle', 1 + MORE_AGENTS);
  const each = (many - one) / MORE_AGENTS;
  return [
    {
      goal: 'M1', name: 'idle supervisor, one agent, RSS', ratio: one / bare, unit: 'times the floor',
      floor: 'the bare import of the same libraries; at most 1.25', detail: `${one.toFixed(1)} MB against ${bare.toFixed(1)} MB`,
    },
    {
      goal: 'M1', name: 'each further agent, RSS', ratio: each, unit: 'MB',
      floor: 'none; at most 1.5', detail: `${many.toFixed(1)} MB with ${1 + MORE_AGENTS} agents, median of three runs`,
    },
  ];
}

/** Megabytes resident after a collection, median of three fresh processes. */
async function residentOf(program: string, agents: number): Promise<number> {
  const plan = makeHouse(Math.max(agents, 1), 'ws://127.0.0.1:1');
  const relay = await openFakeRelay(plan.stored);
  const house = makeHouse(Math.max(agents, 1), relay.url);
  try {
    const runs: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const path = fileURLToPath(new URL(`programs/${program}.js`, import.meta.url));
      const child = spawn(process.execPath, ['--expose-gc', path, house.configFile], { stdio: ['ignore', 'pipe', 'inherit'] });
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => { printed += chunk.toString(); });
      await once(child, 'close');
      runs.push(Number(printed) / 1_048_576);
    }
    return median(runs);
  } finally {
    await relay.close();
    house.remove();
    plan.remove();
  }
}

async function followed(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => { setTimeout(resolve, 5); });
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}
