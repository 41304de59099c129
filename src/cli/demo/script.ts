/**
 * What the demo's agent plays: it answers what it hears, the first long task is never finished by its first process, and
 * it sweeps nothing without having asked. Asked for it, it says what it is told.
 */
export const DEMO_SCRIPT = {
  v: 1,
  // What it is told is then with every turn of a session.
  newSession: { systemPrompt: true },
  rules: [
    {
      match: 'long task',
      unless: { merge_disposition: 'continue_prior_work' },
      do: [{ think: 'This will take a while.' }, { tool: 'Counting the bees' }, { wait: 'never' }],
    },
    {
      match: 'long task',
      do: [{ reply: 'I was interrupted, and here is the answer all the same: {{quoted}} is done.' }],
    },
    {
      match: 'sweep',
      do: [
        { ask: { title: 'Sweep', toolCall: { rawInput: { command: 'rm -r leaves/' } } }, as: 'word' },
        { tool: 'Sweeping', when: { 'word.kind': 'allow_once' } },
        { reply: 'Swept.', when: { 'word.kind': 'allow_once' } },
        { reply: 'Then I leave it as it is.', unless: { 'word.kind': 'allow_once' } },
      ],
    },
    { match: 'What are you told', do: [{ reply: 'I am told: {{instructions}}' }] },
    { do: [{ reply: 'I read {{count}} message(s) in one turn: {{quoted}}' }] },
  ],
} as const;
