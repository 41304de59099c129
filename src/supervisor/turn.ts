/**
 * One turn, from a batch to its end: gather what the envelope says, compile it, prompt the process, see what was
 * published, say what is left to say. It always reports; a rejection is a bug or a dead disk.
 */
import type { PromptOutcome, SessionRefused } from '../acp/index.ts';
import { compileTurn, standingText } from '../../compiler/index.ts';
import type { StandingRole, TurnInput } from '../../compiler/index.ts';
import type { EventId } from '../model/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { BASE_PROMPT } from './base-prompt.ts';
import type { Directory } from './directory.ts';
import { gatherFacts } from './facts.ts';
import type { Flight } from './flight.ts';
import type { Ending } from './inbox/machine.ts';
import type { LaneSession } from './life.ts';
import { tellMetric } from './metrics.ts';
import type { ModelChoices } from './models.ts';
import type { TurnWatch } from './observation.ts';
import type { Permissions } from './permissions.ts';
import { decidedPublication } from './publication.ts';
import { DROPPED, NOT_BEGUN, processFate, providerWord, settle, settleDropped, settleRefused } from './settle.ts';
import type { ProcessFate, ProviderWord } from './settle.ts';
import { typingPlace } from './signals.ts';
import { speak } from './speak.ts';
import { turnInput } from './turn-input.ts';
import type { StandingTexts } from './turn-input.ts';

export interface TurnWork {
  readonly options: AgentOptions;
  readonly directory: Directory;
  readonly permissions: Permissions;
  readonly flight: Flight;
  readonly models: ModelChoices;
  /** Events of the channel that wait for a turn of their own, or are in one. */
  readonly held: ReadonlySet<EventId>;
  /** Tells the owner of the turn. */
  readonly watch?: TurnWatch;
  /** Aborts when the supervisor stops. */
  readonly signal: AbortSignal;
}

/** `ending` is absent when a stop came before it was known whether the turn had been answered. */
export interface TurnReport {
  readonly ending?: Ending;
  readonly outcome: string;
  readonly published: readonly EventId[];
  /** What it showed of the provider of the agent's model. */
  readonly provider?: ProviderWord;
}

export async function runTurn(work: TurnWork): Promise<TurnReport> {
  const { options, directory, flight, held, watch } = work;
  const { batch, life } = flight;
  const opened = await openSession(work, standingOf(options));
  if (!opened.ok) return notOpened(work, opened);
  const { session, isNew } = opened;
  watch?.resolved(session.sessionId, isNew);
  flight.opened();
  const facts = await gatherFacts({ link: options.link, directory, batch, session, held });
  const input = turnInput(batch, facts, session.standing, standingRole(session));
  if (!flight.mayPrompt(session.sessionId)) return { ending: NOT_BEGUN, outcome: 'not begun', published: [] };
  life.bind({ turnId: batch.turnId, channelId: batch.channelId });
  const stopTyping = options.signals?.typing === true ? options.link.typing(typingPlace(batch)) : undefined;
  const outcome = await prompt(work, session, input).finally(stopTyping);
  life.bind(undefined);
  watch?.ended(outcome);
  const provider = providerWord(outcome);
  return { ...(await conclude(work, session, input, outcome)), ...(provider && { provider }) };
}

async function prompt(
  { options, permissions, flight, watch }: TurnWork, session: LaneSession, input: TurnInput,
): Promise<PromptOutcome> {
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
  const outcome = ofOurs(flight, await permissions.during(batch, () => process.prompt({
    sessionId,
    blocks,
    turnId: batch.turnId,
    idleTimeoutMs: options.idleTimeoutMs,
    hardTimeoutMs: options.hardTimeoutMs,
    onSent: () => {
      session.standingSent = true;
      options.tape?.sent({ turnId: batch.turnId, input, output });
      options.observe({
        type: 'turn_started', agent: options.name, turnId: batch.turnId, channelId: batch.channelId,
        eventIds: batch.entries.map((entry) => entry.eventId), pid: process.pid,
        envelopeBytes: Buffer.byteLength(envelope), manifestHash: manifest.hash,
        interrupted: batch.entries.some((entry) => entry.interrupted),
      });
    },
  })));
  tellMetric({ options, batch, sessionId, outcome, manifest });
  return outcome;
}

async function conclude(work: TurnWork, session: LaneSession, input: TurnInput, outcome: PromptOutcome): Promise<TurnReport> {
  const { options, flight: { batch, slot, life }, signal } = work;
  if (work.flight.isDropped) return drop(work, outcome);
  await dispose(work.flight, processFate(outcome));
  const published = await decidedPublication(options.link, batch, options.clock, signal);
  if (published === undefined) return { outcome: outcome.status, published: [] };
  const { ending, keepSession } = settle(outcome, published.length > 0, options.login);
  if (outcome.status === 'ended') {
    slot.ranWell(life);
    session.goodTurns += 1;
  }
  if (!keepSession || work.flight.isLast) life.forget(batch.lane);
  const word = outcome.status === 'ended' ? outcome.stopReason : outcome.status;
  if (published.length > 0) return { ending, outcome: word, published };
  // The owner may have said so while it was looked for what was published.
  if (isDropped(work.flight)) return { ending, outcome: word, published };
  const spoken = await speak({ options, batch, input, outcome, signal });
  return spoken === undefined ? { outcome: word, published: [] } : { ending, outcome: word, published: spoken };
}

/** The owner wants it no more: nothing is said in its name, and what it has published is only told. */
async function drop({ options, flight }: TurnWork, outcome: PromptOutcome): Promise<TurnReport> {
  const { fate, keepSession } = settleDropped(outcome);
  await dispose(flight, fate);
  if (!keepSession || flight.isLast) flight.life.forget(flight.batch.lane);
  const { events } = await options.link.publishedIn(flight.batch);
  return { ending: DROPPED, outcome: outcome.status, published: events };
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

/**
 * A process whose turn did not end by its own word may still be at work. Nothing it does from here on may reach the
 * relay: the turn may be given to another, and a message is answered once.
 */
async function dispose({ life }: Flight, fate: ProcessFate): Promise<void> {
  if (fate === 'kept') return;
  if (fate === 'gone') life.revoke();
  else await life.retire(fate);
}

type Opened = { readonly ok: true; readonly session: LaneSession; readonly isNew: boolean } | SessionRefused;

/** The lane's session, or a fresh one, with the model that was chosen for its channel. */
async function openSession(work: TurnWork, standing: StandingTexts): Promise<Opened> {
  const { models, flight: { batch, life } } = work;
  const known = life.session(batch.lane);
  const opened: Opened = known === undefined ? await freshSession(work, standing) : { ok: true, session: known, isNew: false };
  if (!opened.ok) return opened;
  const chosen = await models.apply(batch.channelId, life.process, opened.session.sessionId);
  return chosen.ok ? opened : chosen;
}

async function freshSession({ options, models, flight: { batch, life } }: TurnWork, standing: StandingTexts): Promise<Opened> {
  const { process } = life;
  const { takesSystemPrompt } = process;
  const systemPrompt = takesSystemPrompt ? standingText(standing) : '';
  const opened = await process.newSession({ cwd: options.cwd, ...(systemPrompt === '' ? {} : { systemPrompt }) });
  if (!opened.ok) return opened;
  const session: LaneSession = {
    sessionId: opened.sessionId, takesSystemPrompt: opened.tookSystemPrompt, standing, goodTurns: 0, standingSent: false,
  };
  life.remember(batch.lane, session);
  models.saw(process.settings(opened.sessionId));
  return { ok: true, session, isNew: true };
}

async function notOpened({ options, flight: { life, isCutShort }, watch }: TurnWork, refused: SessionRefused): Promise<TurnReport> {
  if (!isCutShort) watch?.refused(refused);
  // A program that does not answer this will not answer the next; another process gets the retry.
  if (refused.code === 'timeout') await life.retire('crashed');
  const ending = isCutShort ? NOT_BEGUN : settleRefused(refused, options.login);
  const provider = providerWord(refused);
  return { ending, outcome: `session_${refused.code}`, published: [], ...(provider && { provider }) };
}

function standingOf({ instructions }: AgentOptions): StandingTexts {
  return { base: BASE_PROMPT, ...(instructions === undefined ? {} : { system: instructions }) };
}

function standingRole(session: LaneSession): StandingRole {
  if (session.takesSystemPrompt) return 'system';
  return session.standingSent ? 'sent' : 'prompt';
}
