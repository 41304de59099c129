/**
 * One stage with one stock agent program on it: the relay in the box, the broker, the supervisor, a played model, and the
 * agent in a home of its own, so that everything it starts can be told by it.
 */
import { mkdirSync, readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'nostr-tools/nip19';
import type { Event } from 'nostr-tools/pure';
import { parseCard } from '../../src/cards/index.ts';
import { OwnerDesk } from '../../src/cli/demo/owner-desk.ts';
import type { ShownCard } from '../../src/cli/demo/owner-desk.ts';
import type { Note } from '../../src/supervisor/index.ts';
import { openEye } from '../e2e/owner-eye.ts';
import type { SeenFrame } from '../e2e/owner-eye.ts';
import { openStage } from '../e2e/stage.ts';
import type { Stage } from '../e2e/stage.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { environmentLine } from './agents.ts';
import type { RealAgent } from './agents.ts';
import { installed } from './installed.ts';
import { BEGINNING, mindOf } from './model/mind.ts';
import { openModelServer } from './model/server.ts';
import type { ModelServer } from './model/server.ts';

/** An agent program starts in seconds; on a busy machine in many. */
const PATIENCE_MS = 120_000;

export interface Scene {
  readonly stage: Stage;
  readonly model: ModelServer;
  /** The agent's working directory. */
  readonly work: string;
  /** What happens from here on is told apart from what was. */
  beginAnew(): void;
  /** What the owner's client was told of the agent since; of the five that follow, too. */
  readonly frames: readonly SeenFrame[];
  readonly notes: readonly Note[];
  readonly ends: readonly Extract<Note, { readonly type: 'turn_ended' }>[];
  /** Messages of the agent that are no cards. */
  readonly answers: readonly Event[];
  readonly cards: readonly ShownCard[];
  ask(content: string): Promise<Event>;
  readonly until: <T>(what: string, find: () => T | undefined | false) => Promise<T>;
  /** A control frame of the owner's. */
  readonly order: (body: object) => Promise<Event>;
  /** The owner's client, where they are asked. */
  readonly desk: OwnerDesk;
  /** Every process that has the agent's home in its environment. */
  processes(): readonly AgentProcess[];
  close(): Promise<void>;
}

export interface AgentProcess {
  readonly pid: number;
  /** Its arguments and its environment. */
  readonly text: string;
}

export interface SceneOptions {
  /** Further members of the agent in skep.yaml. */
  readonly agent?: readonly string[];
}

export async function openScene(real: RealAgent, { agent = [] }: SceneOptions = {}): Promise<Scene> {
  const found = installed(real.name);
  if ('missing' in found) throw new Error(found.missing);
  const home = temporaryDirectory();
  const work = join(home, 'work');
  const scratch = join(home, 'tmp');
  for (const directory of [work, scratch]) mkdirSync(directory);
  const waiting: { look: () => void } = { look: () => undefined };
  const model = await openModelServer(mindOf((command) => real.shell(command)), () => waiting.look());
  const stage = await openStage({
    rules: [], adapter: real.name,
    // As it is unless skep.yaml says otherwise.
    agent: [environmentLine(real.prepare(home, model.url)), `cwd: ${work}`, 'mid-turn: steer', ...agent],
    environment: {
      PATH: `${join(found.modules, '.bin')}:${process.env['PATH'] ?? ''}`, HOME: home, TMPDIR: scratch,
      XDG_CONFIG_HOME: join(home, '.config'), XDG_DATA_HOME: join(home, '.local', 'share'), XDG_CACHE_HOME: join(home, '.cache'), XDG_STATE_HOME: join(home, '.local', 'state'),
    },
  });
  waiting.look = () => stage.watch.look();
  // What a tool does there, no frame may tell in the same moment.
  const files = watch(work, waiting.look);
  const frames = await openEye(stage);
  const desk = new OwnerDesk(stage.owner, stage, () => stage.watch.look());
  const answers = (): readonly Event[] => stage.answers.filter(({ content }) => !parseCard(content).ok);
  const past = { frames: 0, notes: 0, answers: 0, cards: 0 };
  return {
    stage, model, work, desk,
    beginAnew() {
      Object.assign(past, { frames: frames.length, notes: stage.notes.length, answers: answers().length, cards: desk.cards.length });
    },
    get frames() { return frames.slice(past.frames); },
    get notes() { return stage.notes.slice(past.notes); },
    get ends() { return stage.notes.slice(past.notes).filter((note) => note.type === 'turn_ended'); },
    get answers() { return answers().slice(past.answers); },
    get cards() { return desk.cards.slice(past.cards); },
    ask: (content) => stage.say(stage.owner, content),
    until: (what, find) => stage.watch.until(what, find, PATIENCE_MS),
    order: (body) => desk.order({ channelId: stage.channelId, ...body }),
    processes: () => processesOf(home),
    async close() {
      files.close();
      await stage.close();
      await model.close();
    },
  };
}

function processesOf(home: string): readonly AgentProcess[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const [environment, words] = ['environ', 'cmdline'].map((file) => readFileSync(join('/proc', name, file), 'utf8'));
      return environment?.includes(`HOME=${home}`) === true ? [{ pid: Number(name), text: `${words ?? ''}\0${environment}` }] : [];
    } catch {
      // It has ended, or is another user's.
      return [];
    }
  });
}

/** The agent's secret key in the forms in which it could lie about. */
export function keyTexts({ directory }: Stage): readonly string[] {
  const nsec = readFileSync(join(directory, 'agent.key'), 'utf8').trim();
  const { data } = decode(nsec as `nsec1${string}`); // the stage wrote it
  return [nsec, Buffer.from(data).toString('hex')];
}

/** The turn's first words have come. */
export function hasBegun({ frames }: Scene): boolean {
  return frames.some(({ kind, plaintext }) => kind === 'acp_read' && plaintext.includes(BEGINNING));
}
