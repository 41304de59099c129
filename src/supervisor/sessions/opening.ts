/**
 * The session of a turn: the lane's own where the process has one; one that an earlier process had, where the agent goes
 * on with it; else a fresh one. Then the model that was chosen for its channel.
 *
 * One that cannot be gone on with, for whatever reason, is tried no more, and a fresh one begins in the same process: it is
 * given its context again, and the envelope says so.
 */
import { createHash } from 'node:crypto';
import type { AgentProcess, RefusedSetting, SessionRefused } from '../../acp/index.ts';
import { standingText } from '../../../compiler/index.ts';
import type { AgentOptions } from '../agent-options.ts';
import { BASE_PROMPT } from '../base-prompt.ts';
import type { Batch } from '../inbox/entry.ts';
import type { Life } from '../life.ts';
import type { ModelChoices } from '../models.ts';
import type { StandingTexts } from '../turn-input.ts';
import { DeliveredEvents } from './delivered.ts';
import type { LaneSession, SessionOrigin } from './lane-session.ts';
import type { SessionMemory } from './memory.ts';

export interface OpeningWork {
  readonly options: Pick<AgentOptions, 'name' | 'cwd' | 'instructions' | 'teamInstructions' | 'wished' | 'steadyClock' | 'log'>;
  readonly batch: Batch;
  readonly life: Life;
  readonly models: ModelChoices;
  readonly memory: SessionMemory;
  /** In whatever process: two never have the same conversation. */
  readonly isOpen: (sessionId: string) => boolean;
  /** What was not granted of the settings that the operator wishes. */
  readonly onOpened: (refused: readonly RefusedSetting[]) => void;
}

export type Opened = { readonly ok: true; readonly session: LaneSession; readonly origin: SessionOrigin } | SessionRefused;

export async function openSession(work: OpeningWork): Promise<Opened> {
  const { models, batch: { lane, channelId }, life, options } = work;
  const known = life.session(lane);
  const opened: Opened = known === undefined ? (await goOn(work)) ?? (await begin(work)) : { ok: true, session: known, origin: 'kept' };
  if (!opened.ok) return opened;
  opened.session.usedAtMs = options.steadyClock.now();
  const chosen = await models.apply(channelId, life.process, opened.session.sessionId);
  return chosen.ok ? opened : chosen;
}

/** Undefined where there is nothing to go on with, or the agent would not. */
async function goOn(work: OpeningWork): Promise<Opened | undefined> {
  const { options, batch: { lane, channelId }, life, models, memory, isOpen, onOpened } = work;
  const { process } = life;
  if (process.reopens === 'none') return undefined;
  const standing = standingOf(options);
  const fingerprint = fingerprintOf(options, process, standing);
  const found = await memory.find(lane, fingerprint);
  if (found === undefined || isOpen(found.sessionId) || (found.inSystem && !process.takesSystemPrompt)) return undefined;
  const { sessionId, inSystem, turns, turnSeq, delivered } = found;
  await memory.trying(lane);
  const opened = await process.reopenSession({
    sessionId, turnSeq, cwd: options.cwd, wished: options.wished, ...(inSystem && { systemPrompt: standingText(standing) }),
  });
  if (!opened.ok) {
    // What kills its process is counted, what fails is not tried again.
    if (opened.code !== 'process_ended') memory.forget(lane, sessionId);
    if (opened.code !== 'error') return opened;
    options.log.info('an agent does not go on with a session; a fresh one begins, and is given its context', {
      agent: options.name, code: opened.rpcCode, detail: opened.detail,
    });
    return undefined;
  }
  if ((inSystem && !opened.tookSystemPrompt) || !models.fits(channelId, process.settings(sessionId))) {
    // Its standing text, or the model that was chosen for the channel, is to be had in a fresh session alone.
    memory.forget(lane, sessionId);
    process.closeSession(sessionId);
    return undefined;
  }
  const session: LaneSession = {
    sessionId, takesSystemPrompt: inSystem, standing, fingerprint, delivered, standingSent: true, turns, turnSeq, isKept: true,
    usedAtMs: options.steadyClock.now(),
  };
  life.remember(lane, session);
  models.saw(process.settings(sessionId));
  onOpened(opened.refused);
  return { ok: true, session, origin: process.reopens === 'resume' ? 'resumed' : 'loaded' };
}

async function begin({ options, batch: { lane }, life, models, onOpened }: OpeningWork): Promise<Opened> {
  const { process } = life;
  const standing = standingOf(options);
  const systemPrompt = process.takesSystemPrompt ? standingText(standing) : '';
  const opened = await process.newSession({ cwd: options.cwd, wished: options.wished, ...(systemPrompt !== '' && { systemPrompt }) });
  if (!opened.ok) return opened;
  const session: LaneSession = {
    sessionId: opened.sessionId, takesSystemPrompt: opened.tookSystemPrompt, standing, fingerprint: fingerprintOf(options, process, standing),
    delivered: new DeliveredEvents(), standingSent: false, turns: 0, turnSeq: 0, isKept: false, usedAtMs: options.steadyClock.now(),
  };
  life.remember(lane, session);
  models.saw(process.settings(opened.sessionId));
  onOpened(opened.refused);
  return { ok: true, session, origin: 'new' };
}

/** Under another `base` than that of turns about messages, where one is given. */
export function standingOf({ instructions, teamInstructions }: Pick<AgentOptions, 'instructions' | 'teamInstructions'>, base = BASE_PROMPT): StandingTexts {
  return { base, ...(instructions === undefined ? {} : { system: instructions }), ...(teamInstructions === undefined ? {} : { teamInstructions }) };
}

/** Of all that a session keeps from its opening. With other instructions, directory or program a fresh one begins. */
function fingerprintOf({ cwd }: Pick<AgentOptions, 'cwd'>, { agentInfo }: AgentProcess, standing: StandingTexts): string {
  return createHash('sha256').update(JSON.stringify([agentInfo.name, cwd, standingText(standing)])).digest('hex');
}
