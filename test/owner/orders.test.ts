/** Decisions and orders at a desk of the owner's: the relay in the box, an agent outside, real sockets. */
import { describe, expect, it } from 'vitest';
import { decidable, decide, order } from '../../src/owner/index.ts';
import type { Desk } from '../../src/owner/index.ts';
import { carol, person } from '../relay/harness.ts';
import { agentPubkey, answering, CHANNEL, deskAt, openBox, owner } from './box.ts';
import type { Box } from './box.ts';

async function desk({ relay }: Box): Promise<Desk> {
  return (await deskAt(relay.url, [agentPubkey])).desk;
}

const approve = (at: Desk, prefix: string, waitMs = 10_000): ReturnType<typeof decide> => decide(at, { prefix, choice: 'approve', waitMs });

it('a card is approved: one signed, sealed frame with the first option, and the edit says what came of it', async () => {
  const box = await openBox();
  const card = await box.agent.card(CHANNEL);
  const at = await desk(box);
  expect(decidable(at.view())).toMatchObject([{ nonce: card.nonce, agent: agentPubkey, channelId: CHANNEL, turnId: 't-1' }]);
  answering(box.agent, card);
  expect(await approve(at, card.nonce.slice(0, 8))).toMatchObject({ ok: true, outcome: 'applied', optionId: 'yes-1' });
  expect(box.agent.controls).toEqual([{
    type: 'permission_decision', channelId: CHANNEL, requestNonce: card.nonce, optionId: 'yes-1', pubkey: owner.pubkey,
    tags: [['p', agentPubkey], ['agent', agentPubkey], ['frame', 'control']],
  }]);
  expect(decidable(at.view())).toEqual([]);
  expect(await approve(at, card.nonce)).toMatchObject({ code: 'nothing', detail: 'the request has ended: applied' });
});

it('denies by the second option, whatever the labels say', async () => {
  const box = await openBox();
  const card = await box.agent.card(CHANNEL, { labels: ['Deny', 'Allow'] });
  answering(box.agent, card);
  expect(await decide(await desk(box), { prefix: card.nonce, choice: 'deny', waitMs: 10_000 })).toMatchObject({ ok: true, outcome: 'applied', optionId: 'no-1' });
});

describe('nothing is decided', () => {
  it.each<readonly [string, (box: Box) => Promise<string>, string]>([
    ['where nothing waits', async () => 'abcdef', 'no permission request waits under that nonce; skep owner pending lists what waits'],
    ['where two begin so', async ({ agent }) => {
      await agent.card(CHANNEL, { nonce: 'abcd-1' });
      await agent.card(CHANNEL, { nonce: 'abcd-2' });
      return 'abcd';
    }, '2 requests begin with abcd: use more of the nonce'],
    ['where it has expired', async ({ agent }) => (await agent.card(CHANNEL, { expiresInSec: -1 })).nonce, 'the request has expired: nobody decided in time'],
    ['where it has ended', async ({ agent }) => {
      const card = await agent.card(CHANNEL);
      await agent.edit(CHANNEL, card, 'cancelled', null);
      return card.nonce;
    }, 'the request has ended: cancelled'],
    ['where the card is for somebody else', async ({ agent }) => (await agent.card(CHANNEL, { p: agentPubkey })).nonce, 'no permission request waits under that nonce; skep owner pending lists what waits'],
    ['where another agent than the one that counts has signed it', async ({ second }) => (await (await second()).card(CHANNEL)).nonce, 'no permission request waits under that nonce; skep owner pending lists what waits'],
    ['where the agent says that it does not wait', async ({ agent }) => {
      const card = await agent.card(CHANNEL);
      answering(agent, card, { edits: false, status: 'no_active_turn' });
      return card.nonce;
    }, 'the agent says no_active_turn: the request does not wait any more'],
    ['where it was decided the other way', async ({ agent }) => {
      const card = await agent.card(CHANNEL);
      agent.onControl = () => void agent.edit(CHANNEL, card, 'applied', 'no-1');
      return card.nonce;
    }, 'the request was decided the other way before'],
    ['where it timed out meanwhile', async ({ agent }) => {
      const card = await agent.card(CHANNEL);
      agent.onControl = () => void agent.edit(CHANNEL, card, 'timed_out', null);
      return card.nonce;
    }, 'the request ended as timed_out before the decision was applied'],
  ])('%s', async (_, prepare, detail) => {
    const box = await openBox();
    const prefix = await prepare(box);
    expect(await approve(await desk(box), prefix)).toEqual({ ok: false, code: 'nothing', detail });
  });

  it('where the challenge of the nonce offers other options than the card', async () => {
    const box = await openBox();
    const { desk: at, watch, notes } = await deskAt(box.relay.url, [agentPubkey]);
    const options = [{ optionId: 'yes-1', kind: 'allow_always', name: 'x' }, { optionId: 'no-1', kind: 'reject_once', name: 'y' }];
    await box.agent.tell({
      kind: 'acp_read', channelId: CHANNEL, turnId: 't-1', authorization: { requestNonce: 'nonce-1', actionable: true },
      payload: { jsonrpc: '2.0', id: 1, method: 'session/request_permission', params: { options } },
    });
    await box.agent.card(CHANNEL, { nonce: 'nonce-1' });
    await watch.until('the card', () => notes.some((note) => note.type === 'permission_pending' && !note.matches));
    expect(await approve(at, 'nonce-1')).toMatchObject({ code: 'nothing', detail: 'the card and what the agent reported do not agree: it cannot be decided here' });
    expect(box.agent.controls).toEqual([]);
  });
});

it('an edit by another agent ends nothing', async () => {
  const box = await openBox();
  const card = await box.agent.card(CHANNEL);
  const other = await box.second();
  await other.edit(CHANNEL, card, 'cancelled', null);
  expect(decidable((await desk(box)).view())).toMatchObject([{ nonce: card.nonce }]);
});

it('without any answer it says so, and that the decision may still arrive', async () => {
  const box = await openBox();
  const card = await box.agent.card(CHANNEL);
  expect(await approve(await desk(box), card.nonce, 1)).toEqual({ ok: false, code: 'unanswered', detail: 'the agent did not answer in time; the decision may still arrive' });
  await box.agent.watch.until('the decision', () => box.agent.controls.length === 1);
});

describe('orders', () => {
  const cancel = { type: 'cancel_turn', channelId: CHANNEL } as const;
  const model = { type: 'switch_model', channelId: CHANNEL, modelId: 'opus', requestId: 'r-1' } as const;

  it.each([
    [cancel, 'sent', true], [cancel, 'no_active_turn', false],
    [model, 'switched', true], [model, 'sent', true], [model, 'turn_ending', false], [model, 'unsupported_model', false],
  ] as const)('%j answered %s', async (control, status, ok) => {
    const box = await openBox();
    const at = await desk(box);
    box.agent.onControl = ({ type, modelId }) => void box.agent.tell({ kind: 'control_result', channelId: CHANNEL, payload: { type, status, modelId } });
    const ended = await order(at, agentPubkey, control, 10_000);
    expect(ended.ok ? ended.status : ended.detail).toContain(status);
    expect(ended.ok).toBe(ok);
    expect(box.agent.controls).toMatchObject([control]);
  });

  it('an answer to an earlier order, of another channel or another agent answers nothing', async () => {
    const box = await openBox();
    const other = await box.second();
    const { desk: at, notes, watch } = await deskAt(box.relay.url, [agentPubkey, carol.pubkey]);
    const payload = { type: 'cancel_turn', status: 'sent' };
    await box.agent.tell({ kind: 'control_result', channelId: CHANNEL, payload });
    await watch.until('the earlier answer', () => notes.length === 1);
    const inOrder = async (): Promise<void> => {
      await other.tell({ kind: 'control_result', channelId: CHANNEL, payload });
      await box.agent.tell({ kind: 'control_result', channelId: '00000000-0000-4000-8000-000000000009', payload });
      await box.agent.tell({ kind: 'control_result', channelId: CHANNEL, payload: { type: 'cancel_turn', status: 'no_active_turn' } });
    };
    box.agent.onControl = () => void inOrder();
    expect(await order(at, agentPubkey, cancel, 10_000)).toMatchObject({ ok: false, detail: expect.stringContaining('no_active_turn') });
  });

  it('that the relay refuses fail with its reason', async () => {
    const box = await openBox();
    const at = await desk(box);
    await expect(order(at, person(9).pubkey, cancel, 10_000)).rejects.toMatchObject({ code: 'relay', message: expect.stringContaining('the relay refuses the cancel_turn') });
  });
});
