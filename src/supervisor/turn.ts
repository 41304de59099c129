/**
 * One turn, from a batch to its end: gather what the envelope says, compile it, prompt the process, see what was
 * published, say what is left to say. Everything in it is bounded in time; it always reports, whatever dies.
 */
import type { PromptOutcome, SessionRefused } from '../acp/index.ts';
import { compileTurn, standingText } from '../../compiler/index.ts';
import type { StandingRole, TurnInput } from '../../compiler/index.ts';
import type { EventId, Pubkey } from '../model/index.ts';
import { destinationOf, threadOf } from '../nostr/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { answerFor } from './answer.ts';
import { BASE_PROMPT } from './base-prompt.ts';
import type { Directory } from './directory.ts';
import type { Flight } from './flight.ts';
import { fetchHistory } from './history.ts';
import type { HistoryPlace } from './history.ts';
import type { Batch } from './inbox/entry.ts';
import type { Ending } from './inbox/machine.ts';
import type { LaneSession } from './life.ts';
import { decidedPublication } from './publication.ts';
import { settle } from './settle.ts';
import { peopleIn, turnInput } from './turn-input.ts';
import type { StandingTexts, TurnFacts } from './turn-input.ts';

export interface TurnWork {
  readonly options: AgentOptions;
  readonly directory: Directory;
  readonly flight: Flight;
  /** Aborts when the supervisor stops. */
  readonly signal: AbortSignal;
}

/** `ending` is absent when a stop came before it was known whether the turn had been answered. */
export interface TurnReport {
  readonly ending?: Ending;
  readonly outcome: string;
  readonly published: readonly EventId[];
}

export async function runTurn(work: TurnWork): Promise<TurnReport> {
  const { options, flight } = work;
  const { batch, life } = flight;
  const standing = standingOf(options);
  const opened = await openSession(work, standing);
  if (!opened.ok) return notOpened(opened);
  const { session } = opened;
  const facts = await gatherFacts(work, session);
  const input = turnInput(batch, facts, standing, standingRole(session));
  if (!flight.mayPrompt(session.sessionId)) return notBegun();
  life.bind({ turnId: batch.turnId, channelId: batch.channelId });
  const outcome = await prompt(work, session, input);
  life.bind(undefined);
  return conclude(work, session, input, outcome);
}

async function prompt({ options, flight: { batch, life: { process } } }: TurnWork, session: LaneSession, input: TurnInput): Promise<PromptOutcome> {
  const { blocks, envelope, manifest } = compileTurn(input);
  return process.prompt({
    sessionId: session.sessionId,
    blocks,
    idleTimeoutMs: options.idleTimeoutMs,
    hardTimeoutMs: options.hardTimeoutMs,
    onSent: () => {
      session.standingSent = true;
      options.observe({
        type: 'turn_started', agent: options.name, turnId: batch.turnId, channelId: batch.channelId,
        eventIds: batch.entries.map((entry) => entry.eventId), pid: process.pid,
        envelopeBytes: Buffer.byteLength(envelope), manifestHash: manifest.hash,
        interrupted: batch.entries.some((entry) => entry.interrupted),
      });
    },
  });
}

async function conclude(work: TurnWork, session: LaneSession, input: TurnInput, outcome: PromptOutcome): Promise<TurnReport> {
  const { options, flight: { batch, slot, life }, signal } = work;
  // A process whose turn did not end by its own word may still be at work. Nothing it does from here on may reach the
  // relay: the turn may be given to another, and a message is answered once.
  if (outcome.status === 'process_ended') life.revoke();
  else if (outcome.status !== 'ended' && outcome.status !== 'error') await life.retire();
  const published = await decidedPublication(options.link, batch.turnId, options.clock, signal);
  if (published === undefined) return { outcome: outcome.status, published: [] };
  const { ending, keepSession } = settle(outcome, published.length > 0);
  if (outcome.status === 'ended') {
    slot.ranWell(life);
    session.goodTurns += 1;
  }
  if (!keepSession) life.forget(batch.lane);
  const message = answerFor(outcome, batch, input, published.length);
  const word = outcome.status === 'ended' ? outcome.stopReason : outcome.status;
  if (message === undefined) return { ending, outcome: word, published };
  const said = await options.link.say(message);
  if (said.status === 'accepted') return { ending, outcome: word, published: [said.eventId] };
  options.log.warn('the answer did not reach the relay', { agent: options.name, turn: batch.turnId, status: said.status });
  return { ending, outcome: word, published };
}

type Opened = { readonly ok: true; readonly session: LaneSession } | SessionRefused;

/** The lane's session, or a fresh one. */
async function openSession({ options, flight: { batch, life } }: TurnWork, standing: StandingTexts): Promise<Opened> {
  const known = life.session(batch.lane);
  if (known !== undefined) return { ok: true, session: known };
  const { process } = life;
  const { takesSystemPrompt } = process;
  const systemPrompt = takesSystemPrompt ? standingText(standing) : '';
  const opened = await process.newSession({ cwd: options.cwd, ...(systemPrompt === '' ? {} : { systemPrompt }) });
  if (!opened.ok) return opened;
  const session: LaneSession = { sessionId: opened.sessionId, takesSystemPrompt, goodTurns: 0, standingSent: false };
  life.remember(batch.lane, session);
  return { ok: true, session };
}

function notOpened(refused: SessionRefused): TurnReport {
  const reason = `no session: ${refused.detail}`;
  const ending: Ending = { how: 'again', reason, interrupted: false, cause: 'failure' };
  return { ending, outcome: `session_${refused.code}`, published: [] };
}

/** Cut short before the agent read a word of it. */
function notBegun(): TurnReport {
  const ending: Ending = { how: 'again', reason: 'cut short by a stop', interrupted: false, cause: 'stop' };
  return { ending, outcome: 'not begun', published: [] };
}

/** History, channel and people, side by side and each in bounded time. */
async function gatherFacts({ options, directory, flight: { batch } }: TurnWork, session: LaneSession): Promise<TurnFacts> {
  const channel = await directory.channel(batch.channelId);
  const place = historyPlace(batch, channel?.type === 'dm');
  const history = place === undefined ? undefined : await fetchHistory(options.link, place);
  const self: Pubkey = options.link.pubkey;
  const profiles = await directory.profiles([...peopleIn(batch.entries, history), self]);
  // A conversation that was asked for and did not come is not "delivered", whatever the session saw before.
  const historyDelivered = place === undefined && session.goodTurns > 0;
  return { channel, history, historyDelivered, profiles };
}

/** A top-level message in a channel has no conversation behind it; a thread and a direct message have. */
function historyPlace(batch: Batch, isDm: boolean): HistoryPlace | undefined {
  const last = batch.entries.at(-1) ?? batch.entries[0];
  const without = new Set(batch.entries.map((entry) => entry.eventId));
  if (isDm) return { channelId: batch.channelId, scope: 'dm', without };
  if (threadOf(last.event.tags).at === 'top') return undefined;
  return { channelId: batch.channelId, scope: 'thread', root: destinationOf(last.event), without };
}

function standingOf({ instructions }: AgentOptions): StandingTexts {
  return { base: BASE_PROMPT, ...(instructions === undefined ? {} : { system: instructions }) };
}

function standingRole(session: LaneSession): StandingRole {
  if (session.takesSystemPrompt) return 'system';
  return session.standingSent ? 'sent' : 'prompt';
}
