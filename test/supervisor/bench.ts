/**
 * One agent's driver with everything real but the relay: its slots, agent processes that play scripts, SQLite. Time
 * stands still until a test pushes it, but for the short waits in which a process is seen to be gone.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { scriptedModule, USAGE_BY_LOOKING } from '../../adapters/index.ts';
import { childEnvironment } from '../../src/acp/index.ts';
import { later, silentLog } from '../../src/model/index.ts';
import type { Milliseconds, Random } from '../../src/model/index.ts';
import { channelOf } from '../../src/nostr/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import { Agent } from '../../src/supervisor/agent.ts';
import type { AgentOptions } from '../../src/supervisor/agent-options.ts';
import type { Note } from '../../src/supervisor/index.ts';
import { systemClock } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { fakeLink } from './fake-link.ts';
import type { FakeLink } from './fake-link.ts';
import { HandClock } from './hand-clock.ts';
import { HeldStore } from './held-store.ts';
import { agent, channel, owner } from './people.ts';

/** `link` and `store` are those of an earlier bench, for a new start on what it left. */
export interface BenchOptions extends Partial<Pick<
  AgentOptions,
  'session' | 'processes' | 'gatherMs' | 'midTurn' | 'observation' | 'signals' | 'rest' | 'operator' | 'permission' | 'idleTimeoutMs' | 'log' | 'dialect' | 'login' | 'instructions' | 'wished' | 'sessionTurns' | 'sessionIdleMs' | 'maxSessions'
>> {
  /** Of an earlier bench: what its processes have written is there. */
  readonly directory?: string;
  readonly script?: Script;
  readonly store?: HeldStore;
  readonly stored?: readonly VerifiedEvent[];
  /** Answers of the journal, in order; the last one stays. */
  readonly publications?: FakeLink['publications'];
}

/** What the agent's processes play; members as docs/scripted-agent.md has them. */
export type Script = object;

export interface InboxRow {
  readonly status: unknown;
  readonly attempts: unknown;
  readonly interrupted: unknown;
  readonly lane: unknown;
  readonly outcome: unknown;
}

type NoteOf<Type extends Note['type']> = Extract<Note, { readonly type: Type }>;

export const IDLE_MS = 60_000;
export const HARD_MS = 600_000;
/** Waits shorter than this are those of the end of a process, and pass by themselves. */
const SHORT_WAIT_MS = 300;

class BenchClock extends HandClock {
  override wake(atMs: Milliseconds, callback: () => void): () => void {
    const waitMs = atMs - this.now();
    return waitMs < SHORT_WAIT_MS ? systemClock.wake(later(systemClock.now(), waitMs), callback) : super.wake(atMs, callback);
  }
}

export class Bench {
  readonly agent: Agent;
  readonly link: FakeLink;
  readonly store: HeldStore;
  readonly clock: HandClock = new BenchClock();
  readonly notes: Note[] = [];
  readonly fatal: unknown[] = [];
  /** How often the owner wanted it to stop. */
  shutdowns = 0;
  /** The program that the next process runs. */
  command = process.execPath;
  readonly directory: string;

  constructor({ script = { rules: [{ do: [{ say: 'answer' }] }] }, store, directory, stored, publications, log = silentLog, ...more }: BenchOptions) {
    this.directory = directory ?? temporaryDirectory();
    this.store = store ?? openStore();
    this.link = fakeLink(stored);
    if (publications !== undefined) this.link.publications.splice(0, 1, ...publications);
    mkdirSync(join(this.directory, 'gates'), { recursive: true });
    this.play(script);
    this.agent = new Agent({
      name: 'helper', version: '0.0.0', session: 'channel', gatherMs: 0, midTurn: 'queue', idleTimeoutMs: IDLE_MS, hardTimeoutMs: HARD_MS, processes: 1,
      sessionTurns: 0, sessionIdleMs: 0, maxSessions: 256, wished: {},
      gate: { agent: agent.pubkey, owner: owner.pubkey, respondTo: 'anyone', allowlist: new Set(), subscribe: 'mentions' },
      cwd: this.directory, dialect: { standing: 'capability', usage: USAGE_BY_LOOKING }, permission: { policy: 'reject', askMs: 300_000 }, ownAgents: new Map(), ...more,
      link: this.link, store: this.store, clock: this.clock, steadyClock: this.clock, random: counting(), log,
      plan: () => ({
        agentName: 'helper', command: this.command, args: [scriptedModule(), join(this.directory, 'script.json')],
        cwd: this.directory, env: childEnvironment({ parent: { PATH: process.env['PATH'] }, extra: {} }),
      }),
      observe: (note) => { this.notes.push(note); },
      onFatal: (error) => { this.fatal.push(error); },
      onShutdown: () => { this.shutdowns += 1; },
    });
  }

  /** What processes that start from now on play. */
  play(script: Script): void {
    writeFileSync(join(this.directory, 'script.json'), JSON.stringify({ v: 1, gates: 'gates', ...script }));
  }

  /** Whether a script has left that mark. */
  isMarked(name: string): boolean {
    return existsSync(join(this.directory, 'gates', name));
  }

  openGate(name: string): void {
    writeFileSync(join(this.directory, 'gates', name), '');
  }

  /** Resolves when the message is on disk, or was refused. */
  hear(event: VerifiedEvent): Promise<void> {
    return this.link.give({ type: 'event', channelId: channelOf(event.tags) ?? channel, event });
  }

  seen<Type extends Note['type']>(type: Type): readonly NoteOf<Type>[] {
    return this.notes.filter((note): note is NoteOf<Type> => note.type === type);
  }

  /** Waits for the `count`th note of this type. */
  async nth<Type extends Note['type']>(type: Type, count = 1): Promise<NoteOf<Type>> {
    return this.until(() => this.seen(type)[count - 1]);
  }

  async until<T>(find: () => T | undefined | false): Promise<T> {
    return vi.waitFor(() => {
      const found = find();
      if (found !== undefined && found !== false) return found;
      throw new Error(`not there; there is ${JSON.stringify({ notes: this.notes, said: this.link.said.map(({ content }) => content), fatal: this.fatal.map(String) })}`);
    }, { timeout: 30_000, interval: 5 });
  }

  /** Contents of the answers that skep sent for the agent. */
  get answers(): readonly string[] {
    return this.link.said.filter(({ kind }) => kind === 'answer').map(({ content }) => content);
  }

  get notices(): readonly string[] {
    return this.link.said.filter(({ kind }) => kind === 'notice').map(({ content }) => content);
  }

  async row(event: VerifiedEvent): Promise<InboxRow | undefined> {
    const [row] = await this.store.read(sql('SELECT status, attempts, interrupted, lane, outcome FROM inbox WHERE event_id = ?', event.id));
    return row && { status: row['status'], attempts: row['attempts'], interrupted: row['interrupted'], lane: row['lane'], outcome: row['outcome'] };
  }
}

/** Opens an agent; it is stopped after the test, and must not have met a fatal error that the test did not take away. */
export function openBench(options: BenchOptions = {}): Bench {
  const bench = new Bench(options);
  onTestFinished(async () => {
    await bench.agent.stop(0);
    expect(bench.fatal).toEqual([]);
  });
  bench.agent.open();
  return bench;
}

function openStore(): HeldStore {
  const store = new HeldStore(openSqlite(':memory:', SUPERVISOR_SCHEMA));
  onTestFinished(() => store.close());
  return store;
}

/** Bytes that differ each time; never any jitter. */
function counting(): Random {
  let count = 0;
  return {
    bytes(length) {
      count += 1;
      const bytes = new Uint8Array(length);
      new DataView(bytes.buffer).setUint32(0, count);
      return bytes;
    },
    fraction: () => 0.5,
  };
}
