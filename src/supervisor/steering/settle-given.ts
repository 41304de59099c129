/**
 * What the end of a turn means for the messages that it was given after its prompt. Pure. Each is answered once: by a
 * message that the agent has published since, by what it has written since, or by a turn of its own.
 *
 *   the agent has it        | published since | text since, the turn ended by itself | neither
 *   yes                     | as the turn     | its answer is that text              | comes back; with the turn where the
 *                           |                 |                                      | turn comes back
 *   not known, published    | as the turn     | -                                    | comes back
 *   more than it owed       |                 |                                      |
 *
 * "Published since": more than it had published before. Of a message that the agent did not say it has, the first message
 * of the turn is no answer: that is what the turn owed anyway. Agents among themselves are left alone (answer.ts).
 */
import { turnRoute } from '../../../compiler/index.ts';
import type { TurnInput } from '../../../compiler/index.ts';
import type { PromptOutcome } from '../../acp/index.ts';
import type { Entry } from '../inbox/entry.ts';
import type { Apart, Ending } from '../inbox/machine.ts';
import type { GivenMessage } from './turn-steers.ts';

/** What is to be said for the agent as its answer: in the place of which message, and from where on its text. */
export interface Speech {
  readonly entry: Entry;
  readonly input: TurnInput;
  readonly text: string;
}

export interface GivenSettlement {
  readonly apart?: Apart;
  readonly speech?: Speech;
}

/** `published` counts the messages of the turn, and `ending` is that of its own messages. */
export function settleGiven(
  given: readonly GivenMessage[], { outcome, published, ending }: { readonly outcome: PromptOutcome; readonly published: number; readonly ending: Ending },
): GivenSettlement {
  const open = given.filter((one) => published <= (one.state === 'taken' ? one.published : Math.max(one.published, 1)));
  const written = open.filter((one) => textFor(one, outcome) !== '');
  const back = open.filter((one) => !written.includes(one) && (one.state === 'unknown' || ending.how === 'done'));
  const spoken = written.filter(({ input }) => isAwaited(input));
  const last = spoken.at(-1);
  // Where nothing was published, the text is the answer to all of the turn, whole.
  const text = published === 0 ? outcome.seen.text : textFor(spoken[0], outcome);
  return {
    ...(back.length > 0 && { apart: { eventIds: back.map(({ entry }) => entry.eventId), ending: comeBack(outcome) } }),
    ...(last && { speech: { entry: last.entry, input: last.input, text } }),
  };
}

/** What the agent wrote since it has the message, in a turn that it ended itself. */
function textFor(one: GivenMessage | undefined, outcome: PromptOutcome): string {
  return one?.state === 'taken' && outcome.status === 'ended' ? outcome.seen.text.slice(one.textFrom).trim() : '';
}

function isAwaited(input: TurnInput): boolean {
  const { replyTo, scope } = turnRoute(input);
  return replyTo !== undefined || scope === 'dm';
}

function comeBack({ status }: PromptOutcome): Ending {
  const cause = status === 'ended' || status === 'cancelled' ? 'stop' : 'failure';
  return { how: 'again', reason: 'the turn that it came into ended without an answer to it', interrupted: true, cause };
}
