/**
 * Plays one step.
 * in: the act and its stage. out: what the step captures, if anything. Throws Cancelled when the turn was cancelled
 * while it waited, and an Error with one line where it could not be played, which becomes the prompt's answer.
 */
import { unreachable } from '../../src/model/index.ts';
import { action, post, reply, whyFailed } from './act.ts';
import type { Verdict } from './act.ts';
import { ask, notify, request } from './ask.ts';
import { startChild } from './children.ts';
import { isJson } from './json.ts';
import type { Json } from './json.ts';
import { orCancelled, sleep } from './pause.ts';
import type { Act, ActOf, Step } from './script.ts';
import { sayEnvironment, speak, tool, update } from './speak.ts';
import type { PromptAnswer, Stage } from './stage.ts';
import { fill, fillText } from './template.ts';

export async function playStep(step: Step, stage: Stage): Promise<void> {
  const result = await play(step.act, step.as !== undefined, stage);
  if (step.as !== undefined && isJson(result)) stage.variables.set(step.as, result);
}

/** Resolves with the value to capture; with nothing where the step has none. */
async function play(act: Act, isCaptured: boolean, stage: Stage): Promise<unknown> {
  const { outside, signal } = stage;
  switch (act.type) {
    case 'say':
    case 'think':
      return speak(act, stage);
    case 'tool':
      return tool(act, stage);
    case 'update':
      return update(act, stage);
    case 'env':
      return sayEnvironment(act, stage);
    case 'action':
      return judged(await action(act, stage), isCaptured);
    case 'reply':
      return judged(await reply(act, stage), isCaptured);
    case 'post':
      return judged(await post(act, stage), isCaptured);
    case 'ask':
      return ask(act, stage);
    case 'request':
      return request(act, stage);
    case 'notify':
      return notify(act, stage);
    case 'wait':
      return wait(act, stage);
    case 'mark':
      outside.gates.mark(act.name, String(outside.pid));
      return undefined;
    case 'sleep':
      return sleep(act.ms, signal);
    case 'raw':
      return outside.stdout.write(repeated(act.bytes, act.repeat), act.byteByByte);
    case 'stderr':
      return outside.stderr.write(fillText(act.text, stage.variables).repeat(act.repeat));
    case 'spawn':
      return { pid: await startChild(act) };
    case 'hang':
      return orCancelled(new Promise<void>(() => undefined), signal);
    case 'ignoreCancel':
      stage.ignoreCancel();
      return undefined;
    case 'die':
      return outside.die(act.ending);
    case 'stop':
      return stage.answer(stopped(act, stage));
    case 'error':
      return stage.answer({ type: 'error', error: act.error });
    default:
      return unreachable(act);
  }
}

// A script that does not look at the verdict means the action to succeed.
function judged(verdict: Verdict, isCaptured: boolean): Json {
  const why = isCaptured ? undefined : whyFailed(verdict.action, verdict);
  if (why !== undefined) throw new Error(why);
  return verdict;
}

function wait({ on }: ActOf<'wait'>, { outside: { gates }, signal }: Stage): Promise<void> {
  return orCancelled(on.type === 'gate' ? gates.opened(on.gate, signal) : gates.signalled(on.signal), signal);
}

function stopped(act: ActOf<'stop'>, stage: Stage): PromptAnswer {
  const usage = act.usage === undefined ? undefined : fill(act.usage, stage.variables);
  const meta = act.meta === undefined ? undefined : fill(act.meta, stage.variables);
  return {
    type: 'result',
    result: {
      stopReason: fillText(act.reason, stage.variables),
      ...(usage === undefined ? {} : { usage }),
      ...(meta === undefined ? {} : { _meta: meta }),
    },
  };
}

function repeated(bytes: Uint8Array, times: number): Uint8Array {
  return times === 1 ? bytes : Buffer.alloc(bytes.length * times, bytes);
}
