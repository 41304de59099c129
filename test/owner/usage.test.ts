/** `skep owner usage` against the relay in the box: sealed metrics of an agent outside, page by page. */
import { afterEach, describe, expect, it } from 'vitest';
import * as nip44 from 'nostr-tools/nip44';
import { seconds } from '../../src/model/index.ts';
import type { Filter } from '../../src/nostr/index.ts';
import { readMetrics } from '../../src/owner/index.ts';
import { bob, carol } from '../relay/harness.ts';
import { stopAll } from '../cli/skep.ts';
import { openBox, owner } from './box.ts';
import type { OutsideAgent } from './outside-agent.ts';

afterEach(stopAll);

const PATIENCE_MS = 60_000;

function publish(agent: OutsideAgent, key: Uint8Array, words: object): Promise<unknown> {
  const text = JSON.stringify({ harness: 'x', timestamp: '2026-04-29T12:00:41Z', model: 'opus', sessionId: 's', turnSeq: null, turn: null, cumulative: null, ...words });
  return agent.publish(44200, [['p', owner.pubkey], ['agent', agent.pubkey]], nip44.encrypt(text, nip44.getConversationKey(key, owner.pubkey)));
}

it('sums what is known, says of how many turns it is not, and opens nothing of others', async () => {
  const { agent, second, skep } = await openBox();
  const other = await second();
  await publish(agent, bob.key, { turnSeq: 1, turn: { inputTokens: 1_200_000, outputTokens: null, costUsd: 0.5 } });
  await publish(agent, bob.key, { turnSeq: 2, turn: { inputTokens: 34, outputTokens: 5 } });
  await publish(other, carol.key, { turnSeq: 1, turn: { inputTokens: 1 } });
  const [people, script] = await Promise.all([skep('usage'), skep('usage', '--json', '--by', 'model')]);
  expect(people).toEqual({
    code: 0, stderr: '',
    stdout: expect.stringMatching(/^2026-04-29 {2}npub1\w{7} {2}opus {2}2 turns: input 1,200,034, output 5 \(not known of 1 turn\), cost \$0\.5000 \(not known of 1 turn\)\n$/),
  });
  expect(JSON.parse(script.stdout)).toEqual({
    model: 'opus', turns: 2, inputTokens: { sum: 1_200_034, known: 2, unknown: 0 }, outputTokens: { sum: 5, known: 1, unknown: 1 },
    totalTokens: { sum: null, known: 0, unknown: 2 }, costUsd: { sum: 0.5, known: 1, unknown: 1 },
    cacheReadTokens: { sum: null, known: 0, unknown: 2 }, cacheWriteTokens: { sum: null, known: 0, unknown: 2 },
  });
  const [none, bad] = await Promise.all([skep('usage', '--agent', owner.pubkey), skep('usage', '--by', 'week')]);
  expect(none).toEqual({ code: 0, stdout: 'no metrics\n', stderr: '' });
  expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('expected some of agent, model, day') });
}, PATIENCE_MS);

describe('readMetrics', () => {
  /** A relay that gives at most `most` events at once, newest first, and a key that seals nothing. */
  function shelf(stamps: readonly number[], most = 500): Parameters<typeof readMetrics>[0] & { asked: number } {
    const events = stamps.map((sec, index) => bob.sign(44200, [['p', owner.pubkey], ['agent', bob.pubkey]], JSON.stringify({ harness: 'x', timestamp: '2026-04-29T12:00:41Z', turnSeq: index }), sec));
    events.sort((one, other) => other.created_at - one.created_at);
    const desk = {
      owner: owner.pubkey, asked: 0, knows: async () => true, open: async ({ content }: { readonly content: string }) => content,
      fetch: async ({ since = 0, until = Infinity, limit = 0 }: Filter) => {
        desk.asked += 1;
        return events.filter(({ created_at: at }) => at >= since && at <= until).slice(0, Math.min(limit, most));
      },
    };
    return desk;
  }

  it.each([[500, 3], [100, 13]])('reads every page of a relay that gives %d at once', async (most, asked) => {
    const desk = shelf(Array.from({ length: 1_200 }, (_, index) => 1_000 + index), most);
    const { metrics, complete, unreadable } = await readMetrics(desk, seconds(1_000));
    expect(new Set(metrics.map(({ metric }) => metric.turnSeq)).size).toBe(1_200);
    expect({ complete, unreadable, length: metrics.length, pages: desk.asked >= asked }).toEqual({ complete: true, unreadable: 0, length: 1_200, pages: true });
  });

  it('goes on behind a second that has more than a page, of which the rest is out of reach', async () => {
    const desk = shelf([...Array.from({ length: 600 }, () => 2_000), ...Array.from({ length: 5 }, () => 1_500)]);
    expect((await readMetrics(desk, seconds(0))).metrics).toHaveLength(505);
  });

  it('goes on behind such a second also where the relay gives less than it is asked for', async () => {
    const desk = shelf([...Array.from({ length: 150 }, () => 2_000), ...Array.from({ length: 5 }, () => 1_500)], 100);
    expect((await readMetrics(desk, seconds(0))).metrics).toHaveLength(105);
  });

  it('passes over what is not from an agent about itself to this owner, and counts what cannot be read', async () => {
    const events = [
      bob.sign(44200, [['p', owner.pubkey], ['agent', carol.pubkey]], '{}'), bob.sign(44200, [['p', owner.pubkey], ['p', owner.pubkey], ['agent', bob.pubkey]], '{}'),
      bob.sign(44200, [['p', owner.pubkey], ['agent', bob.pubkey]], '{}'),
    ];
    const desk = { owner: owner.pubkey, knows: async () => true, open: async () => undefined, fetch: async () => events };
    expect(await readMetrics(desk, seconds(0))).toEqual({ metrics: [], unreadable: 1, complete: true });
  });
});
