/**
 * One prompt, from its rule to its answer.
 * in: the steps to play, the stage to play them on, what a cancel does. out: exactly one answer to the prompt; `cancel`
 * for session/cancel. Steps after the answer are still played: agents do talk after end_turn.
 *
 * | status    | a step ends the list | `stop` or `error`  | a step fails   | cancel                                  |
 * | playing   | end_turn             | answered, goes on  | error -32603   | onCancel's steps, then `cancelled`      |
 * | deaf      | end_turn             | answered, goes on  | error -32603   | not heard                               |
 * | answered  | -                    | nothing            | nothing        | stops what is still played              |
 */
import type { Json } from './json.ts';
import { Cancelled } from './pause.ts';
import type { OnCancel, Step } from './script.ts';
import type { Outside, PromptAnswer, Stage } from './stage.ts';
import { playStep } from './steps.ts';
import { holds } from './template.ts';

export interface TurnOptions {
  readonly outside: Outside;
  readonly sessionId: string;
  readonly variables: Map<string, Json>;
  readonly steps: readonly Step[];
  readonly onCancel: OnCancel;
  /** Writes the one answer. Called once. */
  readonly answer: (answer: PromptAnswer) => Promise<void>;
}

export interface Turn {
  readonly variables: Map<string, Json>;
  readonly cancel: () => Promise<void>;
  /** Plays more steps beside the turn's own; a cancel ends them. */
  readonly play: (steps: readonly Step[]) => Promise<void>;
  /** Answered, or being cancelled. */
  readonly isOver: () => boolean;
}

export function startTurn(options: TurnOptions): Turn {
  const { outside, sessionId, variables, onCancel } = options;
  const playing = new AbortController();
  const owed = new Set<Promise<unknown>>();
  let isAnswered = false;
  let isDeaf = false;
  let isCancelling = false;

  const answer = async (given: PromptAnswer): Promise<void> => {
    if (isAnswered) return;
    isAnswered = true;
    await options.answer(given);
  };

  const stageWith = (signal: AbortSignal): Stage => ({
    outside,
    sessionId,
    variables,
    signal,
    answer,
    ignoreCancel: () => {
      isDeaf = true;
    },
    owed: (reply) => {
      owed.add(reply);
      void reply.finally(() => owed.delete(reply));
    },
  });

  const play = async (steps: readonly Step[], stage: Stage, halted: () => boolean): Promise<void> => {
    try {
      for (const step of steps) {
        if (halted()) return;
        if (!holds(step.when, variables)) continue;
        if (step.unless.size > 0 && holds(step.unless, variables)) continue;
        await playStep(step, stage);
      }
    } catch (error) {
      if (error instanceof Cancelled) return;
      const message = error instanceof Error ? error.message : String(error);
      await outside.stderr.write(`scripted agent: ${message}\n`);
      await answer({ type: 'error', error: { code: -32603, message, data: undefined } });
    }
  };

  const run = async (): Promise<void> => {
    const halted = (): boolean => isCancelling;
    await play(options.steps, stageWith(playing.signal), halted);
    if (!halted()) await answer({ type: 'result', result: { stopReason: 'end_turn' } });
  };

  const cancel = async (): Promise<void> => {
    if (isDeaf || isCancelling) return;
    isCancelling = true;
    const wasAnswered = isAnswered;
    if (onCancel.waitForAsks) await Promise.allSettled(owed);
    playing.abort();
    if (wasAnswered) return;
    await play(onCancel.steps, stageWith(new AbortController().signal), () => false);
    await answer({ type: 'result', result: { stopReason: 'cancelled' } });
  };

  void run();
  return {
    variables, cancel, play: (steps) => play(steps, stageWith(playing.signal), () => isCancelling), isOver: () => isAnswered || isCancelling,
  };
}
