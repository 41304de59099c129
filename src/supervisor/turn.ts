/**
 * One turn, from a batch to its end: gather what the envelope says, compile it, prompt the process, see what was
 * published, say what is left to say. It always reports; a rejection is a bug or a dead disk.
 */
import type { PromptOutcome, RefusedSetting, SessionRefused } from '../acp/index.ts';
import { compileTurn } from '../../compiler/index.ts';
import type { StandingRole, TurnInput } from '../../compiler/index.ts';
import { asEventId } from '../model/index.ts';
import type { EventId } from '../model/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Directory } from './directory.ts';
import { gatherFacts } from './facts.ts';
import type { Flight } from './flight.ts';
import { entriesOf } from './inbox/entry.ts';
import type { Batch } from './inbox/entry.ts';
import type { Apart, Ending } from './inbox/machine.ts';
import { tellMetric } from './metrics.ts';
import type { ModelChoices } from './models.ts';
import type { TurnWatch } from './observation.ts';
import type { Permissions } from './permissions.ts';
import { decidedPublication } from './publication.ts';
import { DROPPED, NOT_BEGUN, NOT_BEGUN_FOR_OTHERS, processFate, providerWord, refusedFate, settle, settleDropped, settleMerged, settleRefused } from './settle.ts';
import type { ProcessFate, ProviderWord } from './settle.ts';
import { afterTurn } from './sessions/after-turn.ts';
import type { LaneSession, SessionOrigin } from './sessions/lane-session.ts';
import type { SessionMemory } from './sessions/memory.ts';
import { openSession } from './sessions/opening.ts';
import { typingPlace } from './signals.ts';
import { speak } from './speak.ts';
import { settleGiven } from './steering/settle-given.ts';
import type { Speech } from './steering/settle-given.ts';
import { reasonOf } from './turn-failure.ts';
import { turnInput } from './turn-input.ts';

export interface TurnWork {
  readonly options: AgentOptions;
  readonly directory: Directory;
  readonly permissions: Permissions;
  readonly flight: Flight;
  readonly models: ModelChoices;
  readonly memory: SessionMemory;
  /** Whether a process of the agent has the session open. */
  readonly isOpen: (sessionId: string) => boolean;
  /** A session was opened; what of the operator's settings it was not granted. */
  readonly onOpened: (refused: readonly RefusedSetting[]) => void;
  /** Events of the channel that wait for a turn of their own, or are in one, by now. */
  readonly held: () => ReadonlySet<EventId>;
  /** Tells the owner of the turn. */
  readonly watch?: TurnWatch;
  /** Aborts when the supervisor stops. */
  readonly signal: AbortSignal;
}

/** `ending` is absent when a stop came before it was known whether the turn had been answered. */
export interface TurnReport {
  readonly ending?: Ending;
  /** Of messages that it was given after its prompt and did not answer. */
  readonly apart?: Apart;
  readonly outcome: string;
  readonly published: readonly EventId[];
  /** Why it failed, for the log. */
  readonly reason?: string;
  /** What it showed of the provider of the agent's model. */
  readonly provider?: ProviderWord;
}

/** A prompt that has ended. */
interface Prompted {
  readonly session: LaneSession;
  readonly input: TurnInput;
  readonly outcome: PromptOutcome;
  /** It has left us. */
  readonly sent: boolean;
}

export async function runTurn(work: TurnWork): Promise<TurnReport> {
  const { options, directory, flight, held, watch } = work;
  const { batch, life } = flight;
  const opened = await openSession({ ...work, batch, life });
  if (!opened.ok) return notOpened(work, opened);
  const { session, origin } = opened;
  watch?.resolved(session.sessionId, origin === 'new');
  flight.opened();
  const facts = await gatherFacts({ link: options.link, directory, batch, session, held });
  const input = turnInput(batch, facts, session.standing, standingRole(session));
  if (!flight.mayPrompt(session.sessionId)) {
    if (flight.isLast) dropSession(work, session);
    return { ending: notBegun(flight), outcome: 'not begun', published: [] };
  }
  life.bind({ turnId: batch.turnId, channelId: batch.channelId });
  const prompted = await prompt(work, session, input, origin);
  life.bind(undefined);
  watch?.ended(prompted.outcome);
  const provider = providerWord(prompted.outcome);
  return { ...(await conclude(work, prompted)), ...(provider && { provider }), ...reasonOf(prompted.outcome) };
}

async function prompt(
  { options, permissions, flight, watch, memory }: TurnWork, session: LaneSession, input: TurnInput, origin: SessionOrigin,
): Promise<Prompted> {
  const { sessionId } = session;
  const { batch, life: { process } } = flight;
  const output = compileTurn(input);
  const { blocks, envelope, manifest } = output;
  watch?.delivering({
    promptBytes: blocks.reduce((sum, block) => sum + Buffer.byteLength(block), 0),
    standingContextIncluded: input.standingRole === 'prompt',
    eventDeltaCount: input.events.length + (input.history?.messages.length ?? 0),
    contextManifest: manifest,
  });
  let sent = false;
  let stopTyping: (() => void) | undefined;
  const outcome = ofOurs(flight, await permissions.during(batch, () => process.prompt({
    sessionId,
    blocks,
    turnId: batch.turnId,
    idleTimeoutMs: options.idleTimeoutMs,
    hardTimeoutMs: options.hardTimeoutMs,
    onSent: () => {
      sent = true;
      flight.steers.sent(manifest, (given) => watch?.steered(given));
      options.tape?.sent({ turnId: batch.turnId, input, output });
      options.observe({
        type: 'turn_started', agent: options.name, turnId: batch.turnId, channelId: batch.channelId,
        eventIds: entriesOf(batch).map((entry) => entry.eventId), pid: process.pid, session: origin,
        envelopeBytes: Buffer.byteLength(envelope), manifestHash: manifest.hash,
        interrupted: entriesOf(batch).some((entry) => entry.interrupted),
      });
      // Only now: the agent would wait for its signature.
      if (options.signals?.typing === true) stopTyping = options.link.typing(typingPlace(batch));
    },
  })).finally(() => stopTyping?.()));
  await flight.steers.over();
  const { usage } = outcome.seen;
  const given = flight.steers.manifest ?? manifest;
  if (usage !== undefined) memory.count(batch.lane, session, usage.turnSeq, () => { tellMetric({ options, batch, sessionId, outcome, manifest: given }); });
  return { session, input, outcome, sent };
}

async function conclude(work: TurnWork, prompted: Prompted): Promise<TurnReport> {
  const { options, flight: { batch, slot, life }, signal } = work;
  const { input, outcome } = prompted;
  if (work.flight.isDropped) return drop(work, prompted);
  await work.flight.life.dispose(fateOf(work.flight, outcome));
  const published = await decidedPublication(options.link, batch, options.clock, signal);
  if (published === undefined) return { outcome: outcome.status, published: [] };
  const { ending, keepSession } = (work.flight.isMerged ? settleMerged : settle)(outcome, published.length > 0, options.login);
  const { apart, speech } = settleGiven(work.flight.steers.given, { outcome, published: published.length, ending });
  if (outcome.status === 'ended') slot.ranWell(life);
  const word = outcome.status === 'ended' ? outcome.stopReason : outcome.status;
  // The owner may have said so while it was looked for what was published.
  const isSaid = (published.length > 0 && speech === undefined) || isDropped(work.flight);
  const spoken = isSaid ? [] : await speak({ options, signal, ...(speech === undefined ? { batch, input, outcome } : speechOf(batch, outcome, speech)) });
  const all = [...published, ...(spoken ?? [])];
  leaveSession(work, prompted, keepSession || survives(work.flight, outcome), all);
  return spoken === undefined ? { outcome: word, published } : { ending, ...(apart && { apart }), outcome: word, published: all };
}

/** The answer to what came meanwhile, in its place. */
function speechOf(batch: Batch, outcome: PromptOutcome, { entry, input, text }: Speech): Pick<Parameters<typeof speak>[0], 'batch' | 'input' | 'outcome'> {
  return { batch: { ...batch, entries: [entry] }, input, outcome: { ...outcome, seen: { ...outcome.seen, text } } };
}

/** An agent that has heeded the cancel goes on with the turn that its own was cut short for, in the same session. */
function survives({ isMerged, steers }: Flight, outcome: PromptOutcome): boolean {
  return isMerged && outcome.status === 'cancelled' && outcome.processAlive && !steers.isDoubtful;
}

function fateOf(flight: Flight, outcome: PromptOutcome): ProcessFate {
  return withDoubt(flight, survives(flight, outcome) ? 'kept' : processFate(outcome));
}

/** What may still act on a message that it did not say it has goes: in another turn's name it would answer for that one. */
function withDoubt({ steers }: Flight, fate: ProcessFate): ProcessFate {
  return fate === 'kept' && steers.isDoubtful ? 'retired' : fate;
}

/** The owner wants it no more: nothing is said in its name, and what it has published is only told. */
async function drop(work: TurnWork, prompted: Prompted): Promise<TurnReport> {
  const { options, flight } = work;
  const { outcome } = prompted;
  const { fate, keepSession } = settleDropped(outcome);
  await flight.life.dispose(withDoubt(flight, fate));
  const { events } = await options.link.publishedIn(flight.batch);
  leaveSession(work, prompted, keepSession, events);
  return { ending: DROPPED, outcome: outcome.status, published: events };
}

function leaveSession({ options, memory, flight, signal }: TurnWork, { session, input, outcome, sent }: Prompted, isKept: boolean, published: readonly EventId[]): void {
  const { batch, life, isLast, steers } = flight;
  // Of events that we have fetched, and so ids.
  const shown = [...(input.history?.messages ?? []).map(({ eventId }) => eventId), ...(input.interrupted?.events ?? []).map(({ event }) => event.id)];
  afterTurn({
    life, memory, batch, session, outcome, sent, isKept, isLast: isLast || steers.isDoubtful, isStopping: signal.aborted,
    known: [...shown.map(asEventId).filter((id) => id !== undefined), ...published, ...steers.given.map(({ entry }) => entry.eventId)],
    maxTurns: options.sessionTurns, now: options.steadyClock.now(),
  });
}

/** Nobody goes on with it. */
function dropSession({ memory, flight: { batch: { lane }, life } }: TurnWork, { sessionId }: LaneSession): void {
  life.forget(lane);
  memory.forget(lane, sessionId);
}

/** Asked through a function, because it changes while something is awaited. */
function isDropped(flight: Flight): boolean {
  return flight.isDropped;
}

/** A process that ended because we cut the turn short is no failure of the turn. */
function ofOurs({ isCutShort }: Flight, outcome: PromptOutcome): PromptOutcome {
  if (!isCutShort || outcome.status !== 'process_ended') return outcome;
  return { status: 'cancelled', processAlive: false, seen: outcome.seen };
}

async function notOpened({ options, flight, watch }: TurnWork, refused: SessionRefused): Promise<TurnReport> {
  const { life, isCutShort } = flight;
  if (!isCutShort) watch?.refused(refused);
  await life.dispose(refusedFate(refused));
  const ending = isCutShort ? notBegun(flight) : settleRefused(refused, options.login);
  const provider = providerWord(refused);
  return { ending, outcome: `session_${refused.code}`, published: [], ...(provider && { provider }), ...reasonOf(refused) };
}

function notBegun({ isMerged }: Flight): Ending {
  return isMerged ? NOT_BEGUN_FOR_OTHERS : NOT_BEGUN;
}

function standingRole(session: LaneSession): StandingRole {
  if (session.takesSystemPrompt) return 'system';
  return session.standingSent ? 'sent' : 'prompt';
}
