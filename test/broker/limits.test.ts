/** Every deployment limit of the broker stands on its page with the number that the code has (NIP-BA "Session and transport"). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** Line breaks are no matter of the text. */
const page = read('docs/broker.md').replaceAll(/\s+/g, ' ');

const count = (value: number): string => value.toLocaleString('en-US');
const seconds = (ms: number): string => `${ms / 1_000} s`;
const days = (ms: number): string => String(ms / 86_400_000);

/** A number of the code: `const NAME = 1_000;`, a product, or `name: 1_000,` in a table of limits. */
function valueOf(file: string, name: string): number {
  const [, text] = new RegExp(`\\b${name}(?::| =) ([0-9_ *]+)[;,}]`).exec(read(file)) ?? [];
  if (text === undefined) expect.fail(`${file}: no number ${name}`);
  return text.replaceAll('_', '').split('*').reduce((product, factor) => product * Number(factor), 1);
}

type Row = readonly [file: string, name: string, phrase: (value: number) => string];

const ROWS: readonly Row[] = [
  ['host.ts', 'maxConnections', (value) => `| connections to one listener | ${count(value)} |`],
  ['host.ts', 'maxRequests', (value) => `| requests under way at one listener, all agents | ${count(value)} |`],
  ['host.ts', 'maxHeaderBytes', (value) => `| request head | ${count(value)} bytes |`],
  ['host.ts', 'headersTimeoutMs', (value) => `| time for the head, for the whole request | ${seconds(value)}, `],
  ['host.ts', 'headersTimeoutMs', (value) => `| time for the handshake of TLS | ${seconds(value)} |`],
  ['host.ts', 'requestTimeoutMs', (value) => `s, ${seconds(value)} | HTTP 408 |`],
  ['host.ts', 'idleTimeoutMs', (value) => `| connection without a byte either way | ${seconds(value)} |`],
  ['wire/limits.ts', 'maxBytes', (value) => `| request body | ${count(value)} bytes |`],
  ['wire/limits.ts', 'maxDepth', (value) => `| JSON nesting | ${count(value)} |`],
  ['dispatch.ts', 'MAX_ACTIONS_PER_PRINCIPAL', (value) => `| actions under way, one agent | ${count(value)} |`],
  ['agent.ts', 'PLAN_TIMEOUT_MS', (value) => `(all its reads of the relay) | ${seconds(value)}, `],
  ['agent.ts', 'QUESTION_TIMEOUT_MS', (value) => `one read ${seconds(value)} |`],
  ['publish.ts', 'PUBLISH_TIMEOUT_MS', (value) => `| the relay's OK for a publication | ${seconds(value)} |`],
  ['journal/journal.ts', 'WAIT_MS', (value) => `also for one already under way | ${seconds(value)} |`],
  ['journal/journal.ts', 'MAX_RECORDS', (value) => `| records of one agent in one community | ${count(value)} |`],
  ['journal/rows.ts', 'READ_KEPT_MS', (value) => `| what was read, kept for retries | ${value / 3_600_000} hour |`],
  ['journal/pursuit.ts', 'FIRST_WAIT_MS', (value) => `when the same request comes again, ${seconds(value)} later`],
  ['journal/pursuit.ts', 'LONGEST_WAIT_MS', (value) => `intervals up to ${value / 60_000} min`],
  ['journal/journal.ts', 'PASS_RECORDS', (value) => `the ${value} newest open records`],
  ['credentials.ts', 'MAX_CREDENTIALS', (value) => `| credentials that the operator has issued | ${count(value)} |`],
  ['credentials.ts', 'MAX_CREDENTIALS', (value) => `There may be ${count(value)} credentials`],
  ['credentials.ts', 'ENDED_KEPT_MS', (value) => `ended ones are listed for ${days(value)} days`],
  ['credentials.ts', 'USE_STORED_EVERY_MS', (value) => `last used (to the ${value === 60_000 ? 'minute' : '?'})`],
  ['credential-scope.ts', 'MAX_SCOPE_CHANNELS', (value) => `names at most ${count(value)} channels`],
  ['credential-scope.ts', 'MAX_LABEL_CHARACTERS', (value) => `a label has at most ${count(value)} characters`],
  ['credential-scope.ts', 'MIN_LIFETIME_MS', (value) => `(${value / 60_000}m to `],
  ['credential-scope.ts', 'MAX_LIFETIME_MS', (value) => `to ${days(value)}d, or \`never\`)`],
  ['wire/limits.ts', 'PAGE_MAX_EVENTS', (value) => `\`limit\` messages (1 to ${value}, `],
  ['wire/limits.ts', 'PAGE_DEFAULT_EVENTS', (value) => `by default ${value})`],
  ['actions/channel-read.ts', 'MAX_PAGE_BYTES', (value) => `exceed ${value / 1_048_576} MiB of JSON`],
  ['actions/channel-read.ts', 'MAX_BATCH_EVENTS', (value) => `More than ${count(value)} messages in one second`],
  ['actions/cursor.ts', 'CURSOR_LIFETIME_MS', (value) => `It lives ${value === 3_600_000 ? 'one hour' : '?'}`],
  ['actions/action.ts', 'MAX_AHEAD_SEC', (value) => `more than ${value} s ahead of our clock`],
  ['actions/managed.ts', 'MAX_MANAGED', (value) => `at most ${value} made ones at a time`],
  ['telemetry/telemetry.ts', 'MAX_WAITING_FRAMES', (value) => `at most ${count(value)} wait`],
  ['telemetry/telemetry.ts', 'MAX_WAITING_BYTES', (value) => `wait, and ${value / 1_048_576} MiB.`],
  ['telemetry/telemetry.ts', 'PACE_MS', (value) => `**Pace**: ${1_000 / value} a second`],
  ['telemetry/telemetry.ts', 'MAX_UNANSWERED', (value) => `at most ${value} without an answer`],
  ['telemetry/frame.ts', 'MAX_FRAME_BYTES', (value) => `A frame of more than ${count(value)} bytes`],
  ['journal/machine.ts', 'RESEND_WINDOW_MS', (value) => `younger than ${value / 60_000} min`],
  ['upstream/limits.ts', 'EPHEMERAL_ANSWER_MS', (value) => `no OK within ${seconds(value)}`],
];

describe('docs/broker.md names', () => {
  it.each(ROWS)('%s %s', (file, name, phrase) => {
    expect(page).toContain(phrase(valueOf(`src/broker/${file}`, name)));
  });

  it('all of what the endpoint and its credentials are bounded by', () => {
    for (const file of ['host.ts', 'dispatch.ts', 'agent.ts', 'credentials.ts', 'credential-scope.ts']) {
      const names = [...read(`src/broker/${file}`).matchAll(/(?:const |^ {2})(\w+)(?::| =) [0-9_ *]+[;,]$/gm)].map(([, name = '']) => name);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(ROWS.some((row) => row[0] === file && row[1] === name), `${file} ${name}`).toBe(true);
    }
  });
});
