/**
 * Writes turns and streams as fixtures while the supervisor works. A tape gathers at no cost to the turn; everything
 * else is done afterwards, one piece at a time, from a queue that is bounded. Whatever goes wrong here, no turn is the
 * worse for it: the piece is dropped and counted, and one warning says why.
 */
import { mkdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { errorCode, unreachable, within } from '../model/index.ts';
import type { Clock, Log } from '../model/index.ts';
import type { StreamSettings } from '../replay/index.ts';
import type { Tape } from '../supervisor/index.ts';
import { checkEpisode, checkOperatorTurn, checkTurn } from './checked.ts';
import type { Checked, Secrecy } from './checked.ts';
import { KnownSecrets } from './secrets.ts';
import { contentName, isThere, putFile } from './shelf.ts';
import { AgentTape } from './tape.ts';

export interface RecorderOptions {
  /** Absolute. Made when it is not there. */
  readonly directory: string;
  /** Pubkeys of the house: 64 hex characters that are the secret key of one of them are never written. */
  readonly people: readonly string[];
  readonly log: Log;
  /** For the wait at the end. */
  readonly clock: Clock;
}

/** What `skep status` shows. */
export interface RecordingReport {
  readonly directory: string;
  readonly turns: number;
  readonly streams: number;
  /** Turns and streams that were not written, for whatever reason. */
  readonly dropped: number;
  /** Why nothing can be written at present. */
  readonly problem?: string;
}

/** Pieces that wait to be written. Beyond it the newest is dropped: the disk is slower than the agents. */
const MAX_WAITING = 256;
/** How long the end may wait for what is not written yet. */
const GRACE_MS = 2_000;

type Piece = () => Checked | Promise<Checked>;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #secrecy: Secrecy;
  readonly #tapes: AgentTape[] = [];
  readonly #waiting: Piece[] = [];
  readonly #counts = { turn: 0, stream: 0, dropped: 0 };
  #work: Promise<void> | undefined;
  #problem: string | undefined;
  #isCrowded = false;
  #isClosed = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#secrecy = { known: new KnownSecrets(), people: new Set(options.people) };
    try {
      mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.#failed(error);
    }
  }

  /** A token that must be in no fixture. Its digest is kept, not the token. */
  readonly keepSecret = (token: string): void => {
    this.#secrecy.known.tell(token);
  };

  /** The same of an agent process's credential; the oldest of thousands are forgotten. */
  readonly keepCredential = (token: string): void => {
    this.#secrecy.known.tellCredential(token);
  };

  /** The tape of one agent, whose settings its streams are recorded with. */
  tapeOf(settings: StreamSettings): Tape {
    const tape = new AgentTape({
      turn: (turn) => { this.#enqueue(() => checkTurn(turn, this.#secrecy)); },
      operatorTurn: (turn) => { this.#enqueue(() => checkOperatorTurn(turn, this.#secrecy)); },
      episode: (episode) => { this.#enqueue(() => checkEpisode(episode, settings, this.#secrecy)); },
    });
    this.#tapes.push(tape);
    return tape;
  }

  report(): RecordingReport {
    const { turn: turns, stream: streams, dropped } = this.#counts;
    return { directory: this.#options.directory, turns, streams, dropped, ...(this.#problem !== undefined && { problem: this.#problem }) };
  }

  /** Writes what is open, as far as it goes, and what waits, within two seconds; the rest is dropped. Twice is once. */
  async close(): Promise<void> {
    const { clock, log } = this.#options;
    for (const tape of this.#tapes.splice(0)) tape.close();
    await within(clock, GRACE_MS, this.#work ?? Promise.resolve());
    this.#isClosed = true;
    const left = this.#waiting.splice(0).length;
    this.#counts.dropped += left;
    if (left > 0) log.warn('recording ended with pieces unwritten', { pieces: left });
  }

  #enqueue(piece: Piece): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#counts.dropped += 1;
      if (!this.#isCrowded) this.#options.log.warn('recording cannot keep up; turns and streams are left out', { waiting: MAX_WAITING });
      this.#isCrowded = true;
      return;
    }
    this.#waiting.push(piece);
    this.#work ??= this.#drain();
  }

  async #drain(): Promise<void> {
    for (let piece = this.#waiting.shift(); piece !== undefined; piece = this.#waiting.shift()) {
      // Whatever is ready to go on, a turn above all, goes first.
      await setImmediate();
      try {
        await this.#shelve(await piece());
      } catch (error) {
        this.#counts.dropped += 1;
        this.#options.log.error('recording failed; please report this', { error });
      }
    }
    this.#isCrowded = false;
    this.#work = undefined;
  }

  async #shelve(checked: Checked): Promise<void> {
    const { log } = this.#options;
    if (checked.is === 'fixture') return this.#write(checked.kind, checked.text);
    this.#counts.dropped += 1;
    switch (checked.is) {
      case 'secret':
        return log.warn(`a ${checked.kind} is not recorded: it holds what looks like a secret`, checked.eventId === '' ? {} : { eventId: checked.eventId });
      case 'untimed':
        return log.warn('a stream is not recorded: the clock was set back meanwhile');
      case 'different':
        return log.warn(`a ${checked.kind} is not recorded: replayed, it differs; please report this`, { path: checked.path });
      default:
        return unreachable(checked);
    }
  }

  async #write(kind: 'turn' | 'stream', text: string): Promise<void> {
    const { directory, log } = this.#options;
    const name = contentName(kind, text);
    try {
      if (!await isThere(directory, name, text)) await putFile(directory, name, text);
    } catch (error) {
      this.#counts.dropped += 1;
      return this.#failed(error);
    }
    this.#counts[kind] += 1;
    if (this.#problem !== undefined) log.info('recording goes on', { directory });
    this.#problem = undefined;
  }

  /** Told once, until something could be written again. */
  #failed(error: unknown): void {
    const code = errorCode(error) || 'unknown error';
    const { directory, log } = this.#options;
    if (this.#problem === undefined) log.warn('recording cannot write; it goes on trying', { directory, code });
    this.#problem = code;
  }
}
