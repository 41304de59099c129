/**
 * The script that is played when none is given: one friendly answer to every prompt, through the broker.
 * The requestId is made from the channel and the events answered: when the same turn is prompted again after a crash,
 * the same request goes out again and the broker returns the first answer instead of a second message (NIP-BA
 * "Execution and retries" 3).
 */
import type { Json } from './json.ts';

export const BUILTIN: Json = {
  v: 1,
  rules: [
    {
      when: { channel: '' },
      do: [{ say: 'You said: {{quoted}}' }],
    },
    {
      do: [{ reply: { text: 'You said: {{quoted}}', requestId: 'answer-{{turn}}' } }],
    },
  ],
};
