/**
 * Says what is left to say at the end of a turn, and does not let go of an answer before its fate is known: while the
 * relay is away the journal goes on sending it, and one that was lost for good is signed anew.
 */
import type { PromptOutcome } from '../acp/index.ts';
import type { TurnInput } from '../../compiler/index.ts';
import { excerpt } from '../model/index.ts';
import type { EventId } from '../model/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { answerFor } from './answer.ts';
import type { Batch } from './inbox/entry.ts';
import { decidedPublication, pauseBeforeAsking } from './publication.ts';

export interface Speech {
  readonly options: Pick<AgentOptions, 'link' | 'clock' | 'log' | 'name'>;
  readonly batch: Batch;
  readonly input: TurnInput;
  readonly outcome: PromptOutcome;
  readonly signal: AbortSignal;
}

/** What reached the relay; undefined when `signal` aborted before that was known. */
export async function speak({ options, batch, input, outcome, signal }: Speech): Promise<readonly EventId[] | undefined> {
  const { link, clock, log, name: agent } = options;
  for (let attempt = 1; ; attempt += 1) {
    const message = answerFor(outcome, batch, input, attempt);
    if (message === undefined) return [];
    const said = await link.say(message);
    if (said.status === 'accepted') return [said.eventId];
    log.warn('what the agent said did not reach the relay', {
      agent, turn: batch.turnId, kind: message.kind, status: said.status, reason: excerpt(said.reason, 200),
    });
    // A notice is a courtesy; a refusal is the relay's last word.
    if (message.kind === 'notice' || said.status === 'rejected') return [];
    const published = await decidedPublication(link, batch, clock, signal);
    if (published === undefined || published.length > 0) return published;
    await pauseBeforeAsking(clock, signal);
    if (signal.aborted) return undefined;
  }
}
