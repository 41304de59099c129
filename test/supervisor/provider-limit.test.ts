/** Errors of the model's provider, through the whole driver of an agent: real processes, SQLite, and a clock that is pushed. */
import { describe, expect, it } from 'vitest';
import { findAdapter } from '../../adapters/index.ts';
import { milliseconds } from '../../src/model/index.ts';
import { openBench } from './bench.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { ProviderLimit } from '../../src/supervisor/provider-limit.ts';
import { agent, entryOf, message, otherChannel } from './people.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';

const MINUTE = 60_000;
const NOTICE = "⚠️ The provider of the agent's model takes no more requests for now. Your message is kept and will be tried again, less and less often.";
const OVERLOADED = { error: { code: 429, message: 'overloaded' } };
const ANSWER = { do: [{ say: 'answer' }] };

function limited(times: number, error: object = OVERLOADED): object {
  return { rules: [...Array.from({ length: times }, (_, index) => ({ once: `limit-${index}`, do: [error] })), ANSWER] };
}

const elsewhere = (): VerifiedEvent => message({ tags: [['h', otherChannel], ['p', agent.pubkey]] });

function bench(options: BenchOptions): Bench {
  return openBench(options);
}

describe('a provider that takes no more requests', () => {
  it('is tried again late, once each time, told once, and answered in the end', async () => {
    const at = bench({ script: limited(2) });
    const question = message();
    await at.hear(question);
    await at.nth('turn_ended');
    expect(at.agent.snapshot().limit).toEqual({ times: 1, untilMs: at.clock.now() + 66_000 });
    expect(at.seen('limited')).toMatchObject([{ times: 1, retryInMs: 66_000 }]);
    expect(await at.row(question)).toMatchObject({ status: 'queued', attempts: 1 });
    at.clock.push(66_000);
    expect(at.seen('turn_started')).toHaveLength(1);
    at.clock.push(16_500);
    await at.nth('turn_ended', 2);
    expect(at.agent.snapshot().limit).toMatchObject({ times: 2 });
    at.clock.push(3 * MINUTE);
    await at.nth('turn_ended', 3);
    expect([at.answers, at.notices]).toEqual([['answer'], [NOTICE]]);
    expect(at.link.said[0]).toMatchObject({ kind: 'notice', replyTo: { root: question.id, parent: question.id } });
    expect(at.agent.snapshot().limit).toBeUndefined();
  });

  it('is left alone by every lane; another message tries first, and the first of it sets all free', async () => {
    const at = bench({ script: limited(1), processes: 3, session: 'thread' });
    await at.nth('process_started', 3);
    const [first, second, third] = [message(), elsewhere(), message()];
    await at.hear(first);
    await at.nth('turn_ended');
    await at.hear(second);
    await at.hear(third);
    at.clock.push(65_000);
    expect(at.seen('turn_started')).toHaveLength(1);
    at.clock.push(1_000);
    await at.nth('turn_ended', 3);
    expect(at.seen('turn_started').slice(1).map(({ eventIds }) => eventIds)).toEqual([[second.id], [third.id]]);
    expect(await at.row(first)).toMatchObject({ status: 'queued' });
    at.clock.push(MINUTE);
    await at.nth('turn_ended', 4);
    expect([at.answers.length, at.notices.length]).toEqual([3, 1]);
  });

  it('is left alone as long as it asks', async () => {
    const at = bench({ script: limited(1, { error: { code: 429, message: 'x', data: { retryAfter: 7_200 } } }) });
    await at.hear(message());
    await at.nth('turn_ended');
    at.clock.push(2 * 3_600_000 - 1);
    expect(at.agent.snapshot().inbox).toMatchObject({ queued: 1, dispatched: 0 });
    at.clock.push(3_600_000);
    await at.nth('turn_ended', 2);
    expect(at.answers).toEqual(['answer']);
  });

  it('is left alone also after a restart, and not told a second time', async () => {
    const at = bench({ script: limited(100) });
    await at.hear(message());
    await at.nth('turn_ended');
    await at.agent.stop(0);
    const again = bench({ script: limited(0), store: at.store });
    await again.nth('process_started');
    expect(again.agent.snapshot().limit).toEqual(at.agent.snapshot().limit);
    await again.hear(elsewhere());
    again.clock.push(65_000);
    expect(again.agent.snapshot().inbox).toMatchObject({ queued: 2, dispatched: 0 });
    again.clock.push(MINUTE);
    await again.nth('turn_ended', 2);
    expect([again.answers.length, again.notices]).toEqual([2, []]);
  });

  it('that never comes back: the message is given up in the end, and told', async () => {
    const at = bench({ script: limited(100) });
    await at.hear(message());
    for (let turn = 1; turn <= 11; turn += 1) {
      await at.nth('turn_ended', turn);
      at.clock.push(7 * 3_600_000);
    }
    await at.nth('gave_up');
    expect(at.notices).toEqual([NOTICE, '⚠️ This message could not be answered: gave up after 10 retries: the provider of its model takes no more requests for now.']);
  });

  it('is waited for by no alarm that rings at once and again, while the one turn that tries it is under way', async () => {
    const at = bench({ script: limited(0) });
    await at.nth('process_started');
    const limit = new ProviderLimit(at);
    const now = at.clock.now();
    await limit.met({ type: 'limited', beganAt: now, jitter: 0 }, entryOf(message(), 0));
    const until = milliseconds(now + MINUTE);
    expect([limit.notBefore(now, 1), limit.notBefore(undefined, 0), limit.notBefore(milliseconds(until + 1), 1)]).toEqual([until, undefined, until + 1]);
    at.clock.push(MINUTE);
    expect([limit.notBefore(now, 0), limit.notBefore(now, 1)]).toEqual([now, undefined]);
  });

  it('as no session: a session that is refused for it waits too', async () => {
    const at = bench({ script: { newSession: OVERLOADED, rules: [ANSWER] } });
    await at.hear(message());
    await at.nth('turn_ended');
    expect([at.agent.snapshot().limit?.times, at.notices]).toEqual([1, [NOTICE]]);
  });
});

it('a heartbeat that meets a limit leaves messages waiting as well, and there is nobody to tell', async () => {
  const at = bench({ script: limited(1), operator: { session: 'fresh', heartbeat: { everyMs: 10_000, prompt: 'look' } } });
  await at.nth('process_started');
  at.clock.push(10_000);
  await at.nth('operator_turn_ended');
  await at.hear(message());
  at.clock.push(50_000);
  expect([at.seen('turn_started').length, at.seen('operator_turn_ended').length, at.notices]).toEqual([0, 1, []]);
  at.clock.push(MINUTE);
  await at.nth('turn_ended');
  expect(at.answers).toEqual(['answer']);
});

describe('an error in disguise', () => {
  const dialectOf = (name: string): Pick<BenchOptions, 'dialect' | 'login'> => {
    const { dialect, needs } = findAdapter(name) ?? expect.fail(name);
    return { dialect, ...(needs.login !== undefined && { login: needs.login }) };
  };
  const systemError = { update: { sessionUpdate: 'session_info_update', _meta: { codex: { threadStatus: { type: 'systemError' } } } } };

  it('codex: a limit told as the end of a turn is no answer, and waits', async () => {
    const at = bench({ ...dialectOf('codex'), script: { rules: [{ times: 1, do: [systemError, { say: "You've hit your usage limit. Try again in 3 minutes." }] }, ANSWER] } });
    await at.hear(message());
    await at.nth('turn_ended');
    expect([at.answers, at.notices, at.agent.snapshot().limit?.untilMs]).toEqual([[], [NOTICE], at.clock.now() + 198_000]);
  });

  it('pi: an answer after tries is one', async () => {
    const text = 'Retrying (attempt 1/3, waiting 2s)...Retry finished, resuming.It is four.';
    const at = bench({ ...dialectOf('pi'), script: { rules: [{ times: 1, do: [{ say: text }] }, ANSWER] } });
    await at.hear(message());
    await at.nth('turn_ended');
    expect([at.answers, at.notices]).toEqual([[text], []]);
  });

  it('pi: an answer that only tells of its tries is none', async () => {
    const at = bench({ ...dialectOf('pi'), script: { rules: [{ times: 1, do: [{ say: 'Retrying (attempt 1/3, waiting 2000ms)...' }] }, ANSWER] } });
    await at.hear(message());
    await at.nth('turn_ended');
    expect([at.answers, at.notices]).toEqual([[], [NOTICE]]);
  });

  it.each([
    ['claude', { error: { code: -32_603, message: 'API Error: 401 {"type":"error"}' } }, 'ANTHROPIC_API_KEY in env, or claude /login'],
    ['gemini', { error: { code: 401, message: 'x' } }, 'GEMINI_API_KEY in env, or a login in ~/.gemini'],
    ['codex', { error: { code: -32_000, message: 'Authentication required' } }, 'OPENAI_API_KEY or CODEX_API_KEY in env, or a provider in CODEX_HOME/config.toml'],
  ])('%s: no login is dead at once, with one notice that says the mend', async (name, error, mend) => {
    const at = bench({ ...dialectOf(name), script: { rules: [{ do: [error] }] } });
    const question = message();
    await at.hear(question);
    await at.nth('turn_ended');
    expect(await at.row(question)).toMatchObject({ status: 'dead', attempts: 0 });
    expect(at.notices).toEqual([`⚠️ This message could not be answered: the agent program is not logged in; its operator has to give it ${mend}.`]);
    expect(at.seen('gave_up')).toHaveLength(1);
  });
});
