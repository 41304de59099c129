/**
 * How turns ended, as a stream tells it. Skep's own words stay: they decide nothing, and say what the stream is about.
 * What an agent program said in them is text like any other.
 */
import type { StreamStep } from '../../replay/index.ts';
import { unreachable } from '../../model/index.ts';

type Ending = Extract<StreamStep, { readonly do: 'finish' }>['ending'];

/** A stop reason of ACP, or a sentence that settles a turn. */
const OWN_WORDS = new RegExp(`^(?:${[
  'end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled',
  '(?:error|idle|hard timeout|cancelled|process ended) after the answer',
  'no sign of life for \\d+ s', 'not finished after \\d+ s', 'the agent process ended', 'cut short by a stop',
  'cut short for a message that came meanwhile(?:, after it had published)?',
  'the agent answered with error -?\\d+', 'the agent program is not logged in(?:; its operator has to give it .*)?',
  'the provider of its model takes no more requests for now',
].join('|')})$`);
const NO_SESSION = 'no session: ';

export function scrubEnding(ending: Ending, scrub: (text: string) => string): Ending {
  switch (ending.how) {
    case 'done':
      return { ...ending, outcome: words(ending.outcome, scrub) };
    case 'again':
    case 'dead':
      return { ...ending, reason: words(ending.reason, scrub) };
    default:
      return unreachable(ending);
  }
}

function words(text: string, scrub: (text: string) => string): string {
  if (OWN_WORDS.test(text)) return text;
  return text.startsWith(NO_SESSION) ? NO_SESSION + scrub(text.slice(NO_SESSION.length)) : scrub(text);
}

/** The part of an ending that is a text to be replaced. */
export function endingText(ending: Ending): string {
  let told = '';
  scrubEnding(ending, (text) => (told = text));
  return told;
}
