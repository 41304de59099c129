/** What turns have used, as their owner's own client reads it: stored by the relay, and opened with nobody else's key. */
import * as nip44 from 'nostr-tools/nip44';
import type { Event } from 'nostr-tools/pure';
import { expect, it, onTestFinished } from 'vitest';
import { openStage } from './stage.ts';

const usage = { inputTokens: 78, outputTokens: 22, totalTokens: 133, cachedReadTokens: 33 };

it('an owner reads one metric for each turn with usage, and none of one without', async () => {
  const stage = await openStage({
    rules: [
      { match: 'nothing', do: [{ reply: 'I know of none' }] },
      { do: [{ reply: 'That was work' }, { stop: { usage } }] },
    ],
  });
  onTestFinished(() => stage.close());
  const metrics: Event[] = [];
  stage.owner.follow({ 'kinds': [44_200], '#p': [stage.owner.pubkey] }, (event) => {
    metrics.push(event);
    stage.watch.look();
  });
  for (const [nth, content] of ['one', 'nothing', 'two'].entries()) {
    await stage.say(stage.owner, content);
    await stage.watch.until('an answer', () => stage.answers[nth]);
    await stage.watch.until('its end', () => stage.notes.filter(({ type }) => type === 'turn_ended')[nth]);
  }
  await stage.watch.until('both metrics', () => metrics[1]);
  const turns = stage.notes.filter((note) => note.type === 'turn_started');
  const opened = metrics.map(({ content }) => JSON.parse(nip44.decrypt(content, nip44.getConversationKey(stage.ownerKey, stage.agent))) as Record<string, unknown>);
  expect(opened).toMatchObject([0, 2].map((nth, at) => ({
    harness: 'skep', channelId: stage.channelId, turnId: turns[nth]?.turnId, turnSeq: at + 1, stopReason: 'end_turn', deltaReliable: true,
    turn: { inputTokens: 111, outputTokens: 22, totalTokens: 133, costUsd: null, cacheReadTokens: 33 }, cumulative: null,
    contextManifest: { schemaVersion: 1, hash: turns[nth]?.manifestHash },
  })));
  for (const [at, event] of metrics.entries()) {
    expect(event).toMatchObject({ pubkey: stage.agent, tags: [['p', stage.owner.pubkey], ['agent', stage.agent]] });
    expect(event.created_at).toBe(Math.floor(Date.parse(String(opened[at]?.['timestamp'])) / 1_000));
    expect(JSON.stringify(opened[at])).not.toContain('work');
  }
});
