/**
 * What the owner of an agent orders, done: control frames of NIP-AO, each with a `control_result` where it was understood,
 * and commands in chat, each with a system message. Nothing is decided here but which turns and sessions an order is about.
 *
 *   order        | turns under way in the channel             | none
 *   cancel_turn  | cancelled, their messages dropped: sent    | no_active_turn
 *   switch_model | cancelled, their messages prompted again   | the sessions there get it at once: switched, or
 *                | with the model: sent, later switched or    | unsupported_model; without a session it is for the next
 *                | unsupported_model. All of them are being   | one, where the agent program is known to offer it;
 *                | ended already: turn_ending                 | no_active_turn where nothing is known of it yet
 *                |                                            | A channel that is left while it waits: no_active_turn
 *   !cancel      | as cancel_turn                             | no_active_turn
 *   !rotate      | as !cancel; sessions are forgotten         | sessions are forgotten
 */
import type { SettingChange } from '../acp/index.ts';
import type { ControlFrame } from '../broker/index.ts';
import { unreachable } from '../model/index.ts';
import type { ChannelId, Milliseconds } from '../model/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { isStale, reportOf, statusOf } from './commands.ts';
import { readControl } from './control-request.ts';
import type { ControlRequest } from './control-request.ts';
import type { Flight } from './flight.ts';
import type { OwnerCommand } from './gate.ts';
import type { Entry } from './inbox/entry.ts';
import type { InboxInput } from './inbox/machine.ts';
import type { ModelChoice, ModelChoices } from './models.ts';
import type { PermissionDecision, Permissions } from './permissions.ts';
import type { LaneInLife, OpenLane, Pool } from './pool.ts';
import { forgetSessions } from './sessions/forget.ts';
import type { SessionMemory } from './sessions/memory.ts';

/** What of the agent's driver an order may touch. */
export interface DriverDoors {
  readonly options: () => Pick<AgentOptions, 'link' | 'clock' | 'steadyClock' | 'log' | 'name' | 'onShutdown'>;
  readonly pool: Pick<Pool, 'sessionsOf' | 'forget'>;
  readonly permissions: Pick<Permissions, 'decide'>;
  readonly models: ModelChoices;
  readonly memory: Pick<SessionMemory, 'forgetChannel'>;
  readonly turnsIn: (channelId: ChannelId) => readonly Flight[];
  /** Steps the inbox; resolves with how many turns were cut short, when that is on disk. */
  readonly advance: (inputs: readonly InboxInput[]) => Promise<number>;
  /** Sees to it that the agent's end waits for this, and that its failure is loud. */
  readonly track: (work: Promise<unknown>) => void;
  /** A session was used, if only by its owner. */
  readonly used: () => void;
  /** A process may be free again. */
  readonly pump: () => void;
}

type SwitchModel = Extract<ControlRequest, { readonly type: 'switch_model' }>;
type SwitchStatus = 'sent' | 'turn_ending' | 'switched' | 'unsupported_model' | 'no_active_turn';

const CANCELLED = 'cancelled by the owner';

export class OwnerDesk {
  readonly #doors: DriverDoors;
  readonly #startedAtMs: Milliseconds;
  /** Sessions that are being put to another model. */
  readonly #held = new Set<OpenLane>();

  constructor(doors: DriverDoors) {
    this.#doors = doors;
    this.#startedAtMs = doors.options().clock.now();
  }

  /** The lanes whose sessions an order is at work in: they are in use. */
  heldLanes(): readonly LaneInLife[] {
    return [...this.#held];
  }

  order(frame: ControlFrame): void {
    const { log, name: agent } = this.#doors.options();
    const request = readControl(frame);
    if (request === undefined) return log.debug('a control frame asks for nothing that is known', { agent, eventId: frame.eventId });
    log.info('the owner orders', { agent, eventId: frame.eventId });
    // NIP-AO "Operational persistence vectors": what was sealed is for no log at info or above.
    log.debug('what the owner orders', { agent, eventId: frame.eventId, order: request.type, channelId: request.channelId });
    // At once: what waits for it may be over time meanwhile.
    if (request.type === 'permission_decision') return this.#doors.permissions.decide(frame, request);
    this.#doors.track(this.#obey(request));
  }

  /** Consumes the command: it is on disk, and never to be prompted, when this resolves. */
  async command(command: OwnerCommand, entry: Entry): Promise<void> {
    const { link, clock, log, name: agent, onShutdown } = this.#doors.options();
    const { channelId, eventId } = entry;
    const stale = isStale(command, entry, clock.now(), this.#startedAtMs);
    const cancels: readonly InboxInput[] = stale || command === '!shutdown' ? [] : [{ type: 'cancelled', channelId, outcome: CANCELLED }];
    const turns = await this.#doors.advance([...cancels, { type: 'commanded', entry, outcome: stale ? 'stale' : 'taken' }]);
    if (command === '!rotate' && !stale) forgetSessions(this.#doors, channelId);
    const status = stale ? 'stale' : statusOf(command, turns);
    log.info('a command of the owner', { agent, eventId, command, status });
    this.#doors.track(link.report(reportOf(command, entry, status)));
    if (status === 'stopping') onShutdown?.();
  }

  async #obey(request: Exclude<ControlRequest, PermissionDecision>): Promise<void> {
    switch (request.type) {
      case 'cancel_turn': {
        const { channelId, type } = request;
        const turns = await this.#doors.advance([{ type: 'cancelled', channelId, outcome: CANCELLED }]);
        return this.#tell(channelId, { type, status: turns > 0 ? 'sent' : 'no_active_turn' });
      }
      case 'switch_model':
        return this.#told(request, await this.#switchModel(request));
      default:
        return unreachable(request);
    }
  }

  async #switchModel(request: SwitchModel): Promise<SwitchStatus> {
    const { models, turnsIn, advance } = this.#doors;
    const { channelId, modelId } = request;
    // After what was ordered before it: a cancel is under way once it is on disk.
    await advance([]);
    const turns = turnsIn(channelId);
    if (turns.length === 0) return this.#switchIdle(request);
    const running = turns.filter(({ isCutShort }) => !isCutShort);
    if (running.length === 0) return 'turn_ending';
    const before = models.of(channelId);
    models.choose(channelId, { modelId, answer: (status) => { this.#told(request, status); } });
    models.followed(before);
    for (const flight of running) flight.cutShort('again');
    return 'sent';
  }

  async #switchIdle(request: SwitchModel): Promise<SwitchStatus> {
    const { models, pool, pump, used } = this.#doors;
    const { channelId, modelId } = request;
    const sessions = pool.sessionsOf(channelId);
    const before = models.of(channelId);
    if (sessions.length === 0) {
      const offered = models.offers(modelId);
      if (offered === undefined) return 'no_active_turn';
      if (!offered) return 'unsupported_model';
      models.choose(channelId, { modelId });
      models.followed(before);
      return 'switched';
    }
    let end: SwitchStatus | undefined;
    const choice: ModelChoice = { modelId, answer: (status) => { end = status; } };
    // Before it is asked for: a turn that begins meanwhile in another process has the model, too.
    models.choose(channelId, choice);
    const changes = await Promise.all(sessions.map((open) => this.#setModel(open, modelId)));
    used();
    pump();
    const isDone = changes.some(({ ok }) => ok);
    if (end !== 'no_active_turn' && !isDone && changes.some((change) => !change.ok && change.code === 'unsupported')) {
      models.takeBack(channelId, choice, before);
      return 'unsupported_model';
    }
    models.followed(before);
    if (end === 'no_active_turn') return end;
    if (isDone) return 'switched';
    // A turn has come to its end with it meanwhile, or another choice has taken its place.
    if (models.of(channelId) !== choice) return end ?? 'no_active_turn';
    // The sessions are lost with their processes, or slow; the next turn gets the model, and then it is told.
    models.choose(channelId, { modelId, answer: (status) => { this.#told(request, status); } });
    return 'sent';
  }

  async #setModel(open: OpenLane, modelId: string): Promise<SettingChange> {
    const { life, session } = open;
    const { sessionId } = session;
    // No turn begins in the process meanwhile; one of another channel goes on beside it.
    const holder = life.status === 'idle' ? `model:${sessionId}` : undefined;
    this.#held.add(open);
    if (holder !== undefined) life.take(holder);
    try {
      const change = await life.process.setModel(sessionId, modelId);
      // As in a turn: a program that does not answer this will not answer the next. One that is in a turn may be slow for
      // it, and has the deadlines of that turn.
      if (holder !== undefined && !change.ok && change.code === 'timeout') await life.retire('crashed');
      return change;
    } finally {
      if (holder !== undefined) life.release(holder);
      this.#held.delete(open);
      session.usedAtMs = this.#doors.options().steadyClock.now();
    }
  }

  #told({ channelId, type, modelId, requestId }: SwitchModel, status: SwitchStatus): void {
    this.#tell(channelId, { type, status, modelId, requestId });
  }

  /** NIP-AO "control_result Telemetry"; session and turn are null, as Buzz has them. */
  #tell(channelId: ChannelId, payload: Readonly<Record<string, string | null>>): void {
    this.#doors.options().link.tell({ kind: 'control_result', payload: JSON.stringify(payload), channelId, rank: 'lifecycle' });
  }
}
