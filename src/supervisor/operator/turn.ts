/**
 * One turn that no message asked for: a session of its own, the operator's prompt compiled, the process prompted. What the
 * agent publishes in it by the broker is published; the text it writes is sent nowhere, for nobody asked. It is never
 * given again, and no notice is said of it: how it ended is told to the owner, the log and `skep status`.
 *
 *   outcome                           | session (where it is kept) | process
 *   ended                             | kept; full: dropped        | kept
 *   error                             | dropped                    | kept
 *   gave way to a message             | kept                       | kept; replaced, as no crash, where it does not heed the cancel
 *   cancelled (a stop), timeouts, ... | dropped                    | as after a message's turn (settle.ts)
 *   session refused, session timeout  | none                       | kept; replaced, as a crash
 */
import { compileOperatorTurn, standingText } from '../../../compiler/index.ts';
import type { OperatorTurnInput } from '../../../compiler/index.ts';
import type { PromptOutcome, SessionRefused } from '../../acp/index.ts';
import type { AgentOptions } from '../agent-options.ts';
import { BASE_PROMPT } from '../base-prompt.ts';
import { standingOf } from '../sessions/opening.ts';
import type { Life } from '../life.ts';
import { tellMetric } from '../metrics.ts';
import type { TurnWatch } from '../observation.ts';
import type { Permissions } from '../permissions.ts';
import type { FreeProcess } from '../pool.ts';
import { processFate, providerWord, refusedFate } from '../settle.ts';
import type { ProviderWord } from '../settle.ts';
import { reasonOf } from '../turn-failure.ts';
import type { StandingTexts } from '../turn-input.ts';
import type { OperatorSource } from './machine.ts';

/** The conversation that the operator's turns of one process have. */
export interface OperatorSession {
  readonly life: Life;
  readonly sessionId: string;
  readonly takesSystemPrompt: boolean;
  readonly standing: StandingTexts;
  standingSent: boolean;
}

export interface OperatorWork {
  readonly options: AgentOptions;
  readonly permissions: Permissions;
  readonly free: FreeProcess;
  readonly turnId: string;
  readonly source: OperatorSource;
  readonly prompt: string;
  /** Of an earlier turn in this very process. */
  readonly session?: OperatorSession;
  /** There is a session and the prompt is about to be sent in it. False: it is not to be sent any more. */
  readonly mayPrompt: (session: OperatorSession) => Promise<boolean>;
  /** It was cut short for a message: that is no fault of anybody's. */
  readonly gaveWay: () => boolean;
  readonly watch?: TurnWatch;
}

const GAVE_WAY = 'gave_way';

/** `end` in a word: the agent's own stop reason, or what else ended it. `session` is there where it may go on. */
export interface OperatorReport {
  readonly end: string;
  /** Why it failed, for the log. */
  readonly reason?: string;
  readonly session?: OperatorSession;
  /** What it showed of the provider of the agent's model. */
  readonly provider?: ProviderWord;
}

/** What an agent is told beside what it is told of messages: there is none here, and those of its channels are not for it. */
const OPERATOR_BASE = `${BASE_PROMPT}

A turn with <operator-prompt> and without <event> comes from your operator and answers nobody: the text you write in it is sent nowhere, so publish by the tools what is to be read. Messages in your channels have turns of their own: do not answer them here.`;

export async function runOperatorTurn(work: OperatorWork): Promise<OperatorReport> {
  const { options, free: { life, slot }, watch } = work;
  const opened = work.session === undefined ? await open(work) : { ok: true as const, session: work.session };
  if (!opened.ok) {
    watch?.refused(opened);
    await life.dispose(refusedFate(opened));
    const refused = providerWord(opened);
    return { end: `session_${opened.code}`, ...(refused && { provider: refused }), ...reasonOf(opened) };
  }
  const { session } = opened;
  watch?.resolved(session.sessionId, work.session === undefined);
  const leave = (end: string, isGood: boolean): OperatorReport => {
    const isKept = isGood && options.operator?.session !== 'fresh';
    if (!isKept) life.process.closeSession(session.sessionId);
    return { end, ...(isKept && { session }) };
  };
  if (!await work.mayPrompt(session)) return work.gaveWay() ? leave(GAVE_WAY, true) : { end: 'not begun' };
  const outcome = await prompt(work, session);
  watch?.ended(outcome);
  const hasMadeRoom = work.gaveWay() && outcome.status === 'cancelled';
  const isHeeded = hasMadeRoom && outcome.processAlive;
  await life.dispose(isHeeded ? 'kept' : processFate(outcome));
  if (outcome.status === 'ended') slot.ranWell(life);
  const word = outcome.status === 'ended' ? outcome.stopReason : outcome.status;
  const provider = providerWord(outcome);
  return { ...leave(hasMadeRoom ? GAVE_WAY : word, isHeeded || isGood(outcome)), ...(provider && { provider }), ...reasonOf(outcome) };
}

/** It ended by its own word, and its session is not full. */
function isGood(outcome: PromptOutcome): boolean {
  return outcome.status === 'ended' && outcome.stopReason !== 'max_tokens' && outcome.stopReason !== 'max_turn_requests';
}

async function open({ options, free: { life } }: OperatorWork): Promise<{ readonly ok: true; readonly session: OperatorSession } | SessionRefused> {
  const { process } = life;
  const standing = standingOf(options, OPERATOR_BASE);
  const opened = await process.newSession({ cwd: options.cwd, wished: options.wished, ...(process.takesSystemPrompt && { systemPrompt: standingText(standing) }) });
  if (!opened.ok) return opened;
  return { ok: true, session: { life, sessionId: opened.sessionId, takesSystemPrompt: opened.tookSystemPrompt, standing, standingSent: false } };
}

async function prompt({ options, permissions, free: { life: { process } }, turnId, source, prompt: text, watch }: OperatorWork, session: OperatorSession): Promise<PromptOutcome> {
  const { sessionId, standing, standingSent, takesSystemPrompt } = session;
  const input: OperatorTurnInput = { v: 1, source, prompt: text, standing, standingRole: takesSystemPrompt ? 'system' : standingSent ? 'sent' : 'prompt' };
  const output = compileOperatorTurn(input);
  const { blocks, envelope, manifest } = output;
  watch?.delivering({
    promptBytes: blocks.reduce((sum, block) => sum + Buffer.byteLength(block), 0),
    standingContextIncluded: input.standingRole === 'prompt', eventDeltaCount: 0, contextManifest: manifest,
  });
  const { idleTimeoutMs, hardTimeoutMs } = options;
  const outcome = await permissions.ofNobody(turnId, () => process.prompt({
    sessionId, blocks, turnId, idleTimeoutMs, hardTimeoutMs,
    onSent: () => {
      session.standingSent = true;
      options.tape?.prompted({ input, output });
      options.observe({
        type: 'operator_turn_started', agent: options.name, turnId, source, pid: process.pid,
        envelopeBytes: Buffer.byteLength(envelope), manifestHash: manifest.hash,
      });
    },
  }));
  tellMetric({ options, batch: { turnId }, sessionId, outcome, manifest });
  return outcome;
}
