/** What errors say of the provider of the model: each shape as it was seen on the wire, with the profile it is read by. */
import { describe, expect, it } from 'vitest';
import { adapterNames, findAdapter } from '../../adapters/index.ts';
import type { ErrorSign } from '../../adapters/index.ts';
import { troubleInAnswer, troubleOf } from '../../src/acp/trouble.ts';
import type { AgentError } from '../../src/acp/trouble.ts';

const signsOf = (name: string): readonly ErrorSign[] | undefined => findAdapter(name)?.dialect.errorSigns;
const LOGIN = { is: 'login' };
const LIMIT = { is: 'limit' };
const SECONDS = 1_000;
const MINUTES = 60_000;
const HOURS = 3_600_000;

describe('an error by the wire, whatever program answers it', () => {
  it.each<readonly [string, AgentError, object | undefined]>([
    ["ACP's authentication required", { code: -32_000, message: 'Authentication required' }, LOGIN],
    ['HTTP 401 as its code', { code: 401, message: 'x' }, LOGIN],
    ['HTTP 403 as its code', { code: 403, message: 'x' }, LOGIN],
    ['HTTP 429 as its code', { code: 429, message: 'x' }, LIMIT],
    ['HTTP 503 as its code', { code: 503, message: 'x' }, LIMIT],
    ['HTTP 529 as its code', { code: 529, message: 'x' }, LIMIT],
    ['HTTP 400 as its code', { code: 400, message: 'x' }, undefined],
    ['an error of its own', { code: -32_603, message: 'Internal error' }, undefined],
    ['words that no profile names', { code: -32_603, message: 'rate limit, please re-authenticate' }, undefined],
    ['a status in its data', { code: -32_603, message: 'x', data: { statusCode: 429 } }, LIMIT],
    ['a status as a text', { code: -32_603, message: 'x', data: { response: { status: '401' } } }, LOGIN],
    ['a body in its data', { code: -32_603, message: 'x', data: { responseBody: '{"error":{"code":429}}' } }, LIMIT],
    ['a status that is none', { code: -32_603, message: 'x', data: { status: 'failed', exit_status: 429 } }, undefined],
    ['data without end', { code: -32_603, message: 'x', data: { a: { a: { a: { a: { a: { a: { a: { status: 429 } } } } } } } } }, undefined],
  ])('%s', (_, error, trouble) => {
    expect(troubleOf(error)).toEqual(trouble);
  });
});

describe('an error by the words of its program', () => {
  it.each<readonly [string, string, object | undefined]>([
    ['claude', 'Internal error: API Error: 401 {"type":"error"}', LOGIN],
    ['claude', 'Invalid API key · Please run /login', LOGIN],
    ['claude', 'API Error: 529 {"type":"overloaded_error"}', LIMIT],
    ['claude', "You've hit your weekly limit", LIMIT],
    ['claude', 'Claude AI usage limit reached|1749924000', LIMIT],
    ['claude', 'API Error: 400 {"type":"invalid_request_error"}', undefined],
    ['codex', 'unexpected status 429 Too Many Requests', LIMIT],
    ['codex', "You've hit your usage limit.", LIMIT],
    ['codex', 'unexpected status 401 Unauthorized', LOGIN],
    ['codex', 'unexpected status 500 Internal Server Error: 4290', undefined],
    ['gemini', 'You exceeded your current quota', LIMIT],
    ['gemini', 'API key not valid. Please pass a valid API key.', LOGIN],
    ['opencode', 'Too Many Requests', LIMIT],
    ['opencode', 'Invalid API key', LOGIN],
    ['goose', 'Please Re-authenticate', LOGIN],
    ['buzz-agent', 'API Error: 401', LOGIN],
  ])('%s: %s', (name, message, trouble) => {
    expect(troubleOf({ code: -32_603, message }, signsOf(name))).toEqual(trouble);
  });

  it('has signs that are regular expressions, in every profile', () => {
    for (const name of adapterNames) for (const { pattern } of signsOf(name) ?? []) expect(() => new RegExp(pattern, 'i')).not.toThrow();
  });

  it('pi: a turn that "ends" and only told of its tries has failed; one that speaks of them has not', () => {
    expect(troubleInAnswer('Retrying (attempt 1/3, 429)...\nRetrying (attempt 2/3)', signsOf('pi'))).toEqual(LIMIT);
    expect(troubleInAnswer('Retrying (attempt 1/3, waiting 2s)...Retrying...Retry finished, resuming.', signsOf('pi'))).toEqual(LIMIT);
    expect(troubleInAnswer('Retrying (attempt 1/3, waiting 2s)...Retry finished, resuming.It is four.', signsOf('pi'))).toBeUndefined();
    expect(troubleInAnswer('The log says: Retrying (attempt 1/3)', signsOf('pi'))).toBeUndefined();
    expect(troubleInAnswer("You've hit your usage limit.", signsOf('codex'))).toBeUndefined();
    expect(troubleInAnswer('', signsOf('pi'))).toBeUndefined();
  });
});

describe('how long a provider asks to be left alone', () => {
  it.each<readonly [string, Partial<AgentError>, number | undefined]>([
    ['a text in seconds', { message: 'Please try again in 12.5s.' }, 12_500],
    ['a text in milliseconds', { message: 'try again in 350ms' }, 350],
    ['a text in minutes', { message: 'Please retry in 3 minutes' }, 3 * MINUTES],
    ['a text in hours and minutes', { message: 'Try again in 2 hours and 5 minutes' }, 2 * HOURS + 5 * MINUTES],
    ['a text as programs write it', { message: 'rate limited; try again in 1h30m' }, 90 * MINUTES],
    ['a text in days and hours', { message: 'Try again in 3 days 4 hours.' }, 76 * HOURS],
    ['a header in a text', { message: 'Retry-After: 30' }, 30 * SECONDS],
    ['a delay of Google in a text', { message: '{"retryDelay":"34s"}' }, 34 * SECONDS],
    ['a number of seconds', { data: { retry_after: 7 } }, 7 * SECONDS],
    ['a header in the data', { data: { headers: { 'retry-after': '90' } } }, 90 * SECONDS],
    ['milliseconds', { data: { retryAfterMs: 250 } }, 250],
    ['a duration in the data', { data: { details: [{ retryDelay: '34.5s' }] } }, 34_500],
    ['seconds to a reset', { data: { resets_in_seconds: 3_600 } }, HOURS],
    ['the longest of several', { message: 'try again in 5s', data: { retryAfter: 60 } }, MINUTES],
    ['no number', { data: { retryAfter: 'soon' }, message: 'try again later' }, undefined],
    ['less than nothing', { data: { retryAfter: -5 } }, undefined],
    ['more than there is', { data: { retryAfter: Number.POSITIVE_INFINITY } }, undefined],
  ])('%s', (_, error, retryAfterMs) => {
    expect(troubleOf({ code: 429, message: '', ...error })).toEqual(retryAfterMs === undefined ? LIMIT : { ...LIMIT, retryAfterMs });
  });
});
