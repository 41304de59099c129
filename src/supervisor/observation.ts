/**
 * What the owner is told of one agent's work (NIP-AO telemetry): every line of its conversations, and the life of every
 * turn. It knows the place of each frame (process slot, channel, session, turn) and what must not be in it.
 *
 * Never: waits, throws, or changes what it watches. Permission requests and their answers are told by their desk.
 */
import type { Manifest } from '../../compiler/index.ts';
import { secretValues } from '../acp/index.ts';
import type { LineTap, PromptOutcome, SessionRefused } from '../acp/index.ts';
import type { AgentLink } from '../broker/index.ts';
import { later } from '../model/index.ts';
import type { ChannelId, Clock } from '../model/index.ts';
import {
  agentInitialized, lineFrame, promptDelivered, promptSteered, secretFilter, sessionConfigured, sessionResolved, turnCompleted, turnFailed, turnLiveness,
  turnStarted,
} from '../observer/index.ts';
import type { Delivery, SecretFilter, Told, TurnFailure } from '../observer/index.ts';
import type { Batch } from './inbox/entry.ts';
import { failureOf, refusalOf } from './turn-failure.ts';

export interface ObservationOptions {
  readonly link: Pick<AgentLink, 'tell' | 'packTelemetry'>;
  /** For the signs of life: nobody sets it. */
  readonly clock: Clock;
  readonly livenessMs: number;
  /** One frame a second, for relays that bill frames. */
  readonly packed: boolean;
}

/** One turn, as its driver tells of it. What comes after `close` is not told. */
export interface TurnWatch {
  resolved(sessionId: string, isNew: boolean): void;
  delivering(delivery: Delivery): void;
  /** The agent took a message into the turn; `contextManifest` is that of all it was given. */
  steered(contextManifest: Manifest): void;
  ended(outcome: PromptOutcome): void;
  refused(refusal: SessionRefused): void;
  /** Tells the end of `turn`, whatever it is, once it has settled; a rejection is told as a failure and passed on. */
  through<T>(turn: Promise<T>): Promise<T>;
}

interface TurnPlace {
  readonly turnId: string;
  /** Absent: no message asked for it. */
  readonly channelId?: ChannelId;
  sessionId?: string;
}

/** What opens a session, and is answered with what it offers. */
const OPENING: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume']);

const BUG: TurnFailure = { outcome: 'error', error: 'skep could not carry the turn to its end' };

export class Observation {
  readonly #options: ObservationOptions;
  /** The turn that each process slot is in. */
  readonly #turns = new Map<number, TurnPlace>();
  /** What the present process of each slot must not be heard to say. */
  readonly #secrets = new Map<number, readonly string[]>();
  /** From the answer to `initialize`, until the process is accepted. */
  readonly #introductions = new Map<number, Told>();
  #clean: SecretFilter = secretFilter([]);

  constructor(options: ObservationOptions) {
    this.#options = options;
    if (options.packed) options.link.packTelemetry();
  }

  /** Listens to a process that is about to start in that slot, with that environment. */
  tap(agentIndex: number, env: Readonly<Record<string, string>>): LineTap {
    this.#secrets.set(agentIndex, secretValues(env));
    this.#clean = secretFilter([...this.#secrets.values()].flat());
    this.#introductions.delete(agentIndex);
    return (direction, text, about) => {
      // What a session is loaded with was told when it was said.
      if (about.is === 'permission' || about.is === 'replayed') return;
      if (about.is === 'noise') return this.#tell(agentIndex, lineFrame({ direction, text, why: about.why }), this.#placeOf(agentIndex));
      const { method, sessionId, answers } = about;
      const place = this.#placeOf(agentIndex, method, sessionId);
      this.#tell(agentIndex, lineFrame({ direction, text, method }), place);
      if (direction === 'write' || !answers) return;
      const more = method === 'initialize' ? agentInitialized(agentIndex, text) : OPENING.has(method) ? sessionConfigured(text) : undefined;
      if (more === undefined) return;
      if (method === 'initialize') this.#introductions.set(agentIndex, more);
      else this.#tell(agentIndex, more, place);
    };
  }

  /** The process of that slot has answered `initialize`, and is taken. */
  started(agentIndex: number): void {
    const introduction = this.#introductions.get(agentIndex);
    this.#introductions.delete(agentIndex);
    if (introduction !== undefined) this.#tell(agentIndex, introduction, {});
  }

  /** A frame of the agent as a whole, and of none of its processes. */
  tellOfAgent({ kind, payload, rank }: Told): void {
    this.#options.link.tell({ kind, payload: this.#clean(payload), rank });
  }

  /** A text for the owner, without what no present process may be heard to say. */
  clean(text: string): string {
    return this.#clean(text);
  }

  begin(agentIndex: number, { turnId, channelId, entries }: Pick<Batch, 'turnId' | 'channelId' | 'entries'>): TurnWatch {
    return this.#begin(agentIndex, { turnId, channelId }, turnStarted('channel', entries.map(({ eventId }) => eventId)));
  }

  /** One that no message asked for. NIP-AO knows no other word for it than a heartbeat. */
  beginOperatorTurn(agentIndex: number, turnId: string): TurnWatch {
    return this.#begin(agentIndex, { turnId }, turnStarted('heartbeat', []));
  }

  #begin(agentIndex: number, place: TurnPlace, started: Told): TurnWatch {
    this.#turns.set(agentIndex, place);
    let state: 'open' | 'failed' | 'closed' = 'open';
    let disarm = this.#wake(beat);
    const tell = (told: Told): void => {
      if (state !== 'closed') this.#tell(agentIndex, told, place);
    };
    const fail = (failure: TurnFailure | undefined): void => {
      if (failure === undefined || state !== 'open') return;
      tell(turnFailed(failure));
      state = 'failed';
    };
    const close = (): void => {
      disarm();
      tell(turnCompleted());
      state = 'closed';
      if (this.#turns.get(agentIndex) === place) this.#turns.delete(agentIndex);
    };
    const wake = (): (() => void) => this.#wake(beat);
    function beat(): void {
      tell(turnLiveness());
      disarm = wake();
    }
    tell(started);
    return {
      resolved(sessionId, isNew) {
        place.sessionId = sessionId;
        tell(sessionResolved(sessionId, isNew));
      },
      delivering: (delivery) => { tell(promptDelivered(delivery)); },
      steered: (contextManifest) => { tell(promptSteered(contextManifest)); },
      ended: (outcome) => { fail(failureOf(outcome)); },
      refused: (refusal) => { fail(refusalOf(refusal)); },
      async through(turn) {
        try {
          return await turn;
        } catch (error) {
          fail(BUG);
          throw error;
        } finally {
          close();
        }
      },
    };
  }

  #wake(beat: () => void): () => void {
    const { clock, livenessMs } = this.#options;
    return clock.wake(later(clock.now(), livenessMs), beat);
  }

  /**
   * A process is in one turn at a time. A line that names another session than the turn's is late, and of no turn that is
   * known; while the turn's session is being opened, only what opens it is known to belong to it. What is no message is
   * of the session that the process is in.
   */
  #placeOf(agentIndex: number, method?: string, sessionId?: string): Partial<TurnPlace> {
    const here = this.#turns.get(agentIndex);
    const session = method === undefined ? here?.sessionId : sessionId;
    const named = session === undefined ? {} : { sessionId: session };
    const belongs = sessionId === undefined || sessionId === here?.sessionId || (method !== undefined && OPENING.has(method));
    return here !== undefined && belongs ? { turnId: here.turnId, ...(here.channelId !== undefined && { channelId: here.channelId }), ...named } : named;
  }

  #tell(agentIndex: number, { kind, payload, rank }: Told, { channelId, sessionId, turnId }: Partial<TurnPlace>): void {
    this.#options.link.tell({
      kind, payload: this.#clean(payload), rank, agentIndex,
      ...(channelId !== undefined && { channelId }),
      ...(sessionId !== undefined && { sessionId }),
      ...(turnId !== undefined && { turnId }),
    });
  }
}
