/** What real processes tell of their usage, and to which turn of which session it is put. */
import { afterEach, describe, expect, it } from 'vitest';
import { findAdapter } from '../../adapters/index.ts';
import { UsageBook } from '../../src/acp/usage.ts';
import { noneLeft, open, play, say, start } from './harness.ts';

afterEach(noneLeft);

const GOOSE = findAdapter('goose');
if (GOOSE === undefined) throw new Error('goose is not in the catalogue');

const counts = (session: string, input: number): object => ({
  notify: {
    method: '_goose/unstable/session/update',
    params: { sessionId: session, update: { sessionUpdate: 'usage_update', accumulatedInputTokens: input, accumulatedOutputTokens: 1 } },
  },
});
const cost = (amount: number): object => ({ update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } } });
const usage = { inputTokens: 7, outputTokens: 2, totalTokens: 9 };

describe('the usage of a turn', () => {
  it('is in its answer, with the cost that was told before', async () => {
    const { outcome } = await play({ rules: [{ do: [cost(0.25), { stop: { usage } }] }] });
    expect(outcome.seen.usage).toMatchObject({
      turnSeq: 1, turn: { inputTokens: 7, outputTokens: 2, totalTokens: 9, costUsd: 0.25 }, cumulative: { costUsd: 0.25 }, deltaReliable: true,
    });
  });

  it('is nothing where nothing was told', async () => {
    const { outcome } = await play({ rules: [{ do: [{ say: 'hello' }] }] });
    expect(outcome.seen).not.toHaveProperty('usage');
  });

  it('is told by a turn that ends in an error, by one that is cancelled, and by a process that dies', async () => {
    const failed = await play({ rules: [{ do: [cost(0.5), { error: { code: 400, message: 'no' } }] }] });
    expect(failed.outcome).toMatchObject({ status: 'error', seen: { usage: { turn: { costUsd: 0.5 } } } });
    const dead = await play({ rules: [{ do: [cost(0.5), { die: 3 }] }] });
    expect(dead.outcome).toMatchObject({ status: 'process_ended', seen: { usage: { turn: { costUsd: 0.5 } } } });

    const cut = await start({ rules: [{ do: [cost(0.5), { mark: 'there' }, { say: 'x' }, { hang: true }] }], onCancel: { do: [{ stop: { reason: 'cancelled', usage } }] } });
    const sessionId = await open(cut);
    const turn = say(cut.process, sessionId);
    await expect.poll(() => cut.lines.filter(({ text }) => text.includes('agent_message_chunk')).length).toBe(1);
    cut.process.cancel(sessionId);
    expect(await turn).toMatchObject({ status: 'cancelled', seen: { usage: { turn: { inputTokens: 7, costUsd: 0.5 } } } });
  });

  it('is that of its own session, turn by turn, and a session of its own begins anew', async () => {
    const started = await start({
      rules: [
        { match: 'first', do: [counts('{{session}}', 100)] },
        { match: 'second', do: [counts('{{session}}', 130), counts('another', 5_000)] },
      ],
    }, { dialect: GOOSE.dialect });
    const [one, two] = [await open(started), await open(started)];
    const used = async (session: string, text: string): Promise<unknown> => (await say(started.process, session, text)).seen.usage;
    expect(await used(one, 'first')).toMatchObject({ turnSeq: 1, turn: { inputTokens: 100 } });
    expect(await used(two, 'second')).toMatchObject({ turnSeq: 1, turn: { inputTokens: 130 } });
    expect(await used(one, 'second')).toMatchObject({ turnSeq: 2, turn: { inputTokens: 30 }, cumulative: { inputTokens: 130 } });
  });

  it('is read by the shape that the profile has, and by no other', async () => {
    const { outcome } = await play({ rules: [{ do: [{ stop: { usage } }] }] }, { dialect: GOOSE.dialect });
    expect(outcome.seen).not.toHaveProperty('usage');
  });
});

describe('the book', () => {
  it('forgets the session that was prompted least recently, and never one that goes on', () => {
    const book = new UsageBook({ turn: ['usage'], session: ['goose'], input: 'with-cache' });
    const turn = (session: string, input: number): unknown => {
      book.begin(session);
      book.heard(session, { type: 'notice', method: '_goose/unstable/session/update', params: { update: { sessionUpdate: 'usage_update', accumulatedInputTokens: input } } });
      return book.end(session);
    };
    for (const session of ['kept', 'forgotten']) book.opened(session);
    turn('forgotten', 1);
    for (let at = 0; at < 1_100; at += 1) {
      book.opened(`s${at}`);
      if (at % 500 === 0) turn('kept', 10 + at);
    }
    expect(turn('kept', 2_000)).toMatchObject({ turnSeq: 4, deltaReliable: true });
    expect(turn('forgotten', 2)).toMatchObject({ turnSeq: 1, deltaReliable: false, turn: { inputTokens: null } });
    expect(book.end('never begun')).toBeUndefined();
  });
});

