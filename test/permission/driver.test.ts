/** What the driver does with the machine's commands: in order, once, and told only when it is so. */
import { describe, expect, it } from 'vitest';
import { Stage } from './stage.ts';
import { channel, OPTIONS, otherChannel, stranger, STAMP } from './asks.ts';
import { seconds } from '../../src/model/index.ts';

describe('a policy that needs no owner', () => {
  it.each([
    ['reject', 'policy=reject', 'rejected', { outcome: 'selected', optionId: 'no' }],
    ['allow', 'policy=allow', 'allowed', { outcome: 'selected', optionId: 'yes' }],
  ] as const)('%s: one challenge, one write, and one answer frame after it', async (policy, why, reason, answer) => {
    const stage = new Stage({ policy, askMs: 300_000 });
    stage.ask('7');
    expect(stage.told).toEqual([`acp_read ${why}`]);
    expect(stage.writes).toMatchObject([{ id: '7', answer }]);
    await stage.writes[0]?.end(true);
    expect(stage.told).toEqual([`acp_read ${why}`, `acp_write ${reason}`]);
    expect(stage.frames.map(({ payload, sessionId, turnId, channelId, rank, authorization }) => ({ payload, sessionId, turnId, channelId, rank, nonce: authorization?.requestNonce }))).toEqual([
      { payload: '{"jsonrpc":"2.0", "id":"7","method":"session/request_permission"}', sessionId: 'session-1', turnId: 'turn-1', channelId: channel, rank: 'permission', nonce: '01010101-0101-4101-8101-010101010101' },
      { payload: `{"jsonrpc":"2.0","id":"7","result":{"outcome":${JSON.stringify(answer)}}}`, sessionId: 'session-1', turnId: 'turn-1', channelId: channel, rank: 'permission', nonce: '01010101-0101-4101-8101-010101010101' },
    ]);
    expect(stage.posts).toEqual([]);
    expect(stage.clock.armed).toBe(0);
  });

  it('grants nothing in a turn that is being cancelled, nor by a process that is asked to end', () => {
    const stage = new Stage({ policy: 'allow', askMs: 300_000 });
    stage.ask(1, { cancelling: true });
    stage.driver.stopping();
    stage.ask(2);
    expect(stage.writes.map(({ answer }) => answer)).toEqual([{ outcome: 'cancelled' }, { outcome: 'selected', optionId: 'no' }]);
  });
});

describe('the owner’s yes', () => {
  it('is written once, then told, and the card says so', async () => {
    const stage = new Stage();
    stage.ask();
    expect(stage.told).toEqual(['acp_read actionable']);
    expect(stage.frames[0]?.authorization?.expiresAt).toBe(STAMP + 300);
    expect(stage.posts).toMatchObject([{ timeoutMs: 10_000, card: { requestNonce: stage.nonce(), turnId: 'turn-1' } }]);
    await stage.posts[0]?.end('shown');
    stage.decide('yes');
    stage.decide('yes');
    expect(stage.writes).toMatchObject([{ answer: { outcome: 'selected', optionId: 'yes' } }]);
    expect(stage.edits).toEqual([]);
    await stage.writes[0]?.end(true);
    expect(stage.told.filter((word) => !word.startsWith('control'))).toEqual(['acp_read actionable', 'acp_write applied']);
    expect(stage.edits).toEqual([{ nonce: stage.nonce(), resolution: { outcome: 'applied', chosenOptionId: 'yes' } }]);
    expect(stage.frames.filter(({ kind }) => kind === 'control_result').map(({ payload, channelId, sessionId }) => [JSON.parse(payload) as unknown, channelId, sessionId])).toEqual(
      ['sent', 'no_active_turn'].map((status) => [{ type: 'permission_decision', status, requestNonce: stage.nonce(), optionId: 'yes' }, channel, undefined]),
    );
    expect(stage.clock.armed).toBe(0);
  });

  it('given before the relay’s OK is applied at it', async () => {
    const stage = new Stage();
    stage.ask();
    stage.decide('yes');
    expect(stage.writes).toEqual([]);
    await stage.posts[0]?.end('shown');
    expect(stage.writes).toHaveLength(1);
  });

  it.each([
    ['by a stranger', { sender: stranger }], ['in another channel', { channelId: otherChannel }], ['for another agent', { agent: stranger }],
    ['of six minutes ago', { createdAt: seconds(STAMP - 360) }],
  ])('%s is none', async (_, more) => {
    const stage = new Stage();
    stage.ask();
    await stage.posts[0]?.end('shown');
    stage.decide('yes', more);
    expect(stage.writes).toEqual([]);
    // The control: the right one is taken, also four minutes old.
    stage.decide('yes', { createdAt: seconds(STAMP - 240) });
    expect(stage.writes).toHaveLength(1);
  });
});

describe('a card', () => {
  it.each([
    ['refused', []], ['unanswered', ['timed_out']],
  ] as const)('%s by the relay is a no at once', async (fate, edits) => {
    const stage = new Stage();
    stage.ask();
    await stage.posts[0]?.end(fate);
    expect(stage.writes).toMatchObject([{ answer: { outcome: 'selected', optionId: 'no' } }]);
    await stage.writes[0]?.end(true);
    expect(stage.told.at(-1)).toBe('acp_write timed_out');
    expect(stage.edits.map(({ resolution }) => resolution.outcome)).toEqual(edits);
  });

  it('that cannot be signed is refused', async () => {
    const stage = new Stage(undefined, {
      link: { tell: () => undefined, frameBytes: () => 1, cards: { post: () => Promise.reject(new Error('no key')), resolve: () => undefined } },
    });
    stage.ask();
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect(stage.writes).toHaveLength(1);
  });
});

describe('what nobody may read', () => {
  it('is neither in a frame nor on a card', async () => {
    const stage = new Stage(undefined, { clean: (text) => text.replaceAll('hunter2', '<redacted>') });
    const line = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'session/request_permission', params: { sessionId: 'session-1', title: 'say hunter2', options: OPTIONS } });
    stage.ask(7, { line });
    expect(stage.posts).toMatchObject([{ card: { description: 'say <redacted>' } }]);
    await stage.posts[0]?.end('shown');
    stage.decide('yes');
    await stage.writes[0]?.end(true);
    expect(JSON.stringify([stage.frames, stage.posts])).not.toContain('hunter2');
  });
});

describe('time', () => {
  it('denies at the deadline that was set, by one timer', async () => {
    const stage = new Stage({ policy: 'ask', askMs: 2_000 });
    stage.ask();
    await stage.posts[0]?.end('shown');
    expect(stage.clock.armed).toBe(1);
    stage.clock.push(1_999);
    expect(stage.writes).toEqual([]);
    stage.clock.push(1);
    await stage.writes[0]?.end(true);
    expect(stage.told).toEqual(['acp_read actionable', 'acp_write timed_out']);
    expect(stage.edits).toMatchObject([{ resolution: { outcome: 'timed_out' } }]);
    expect(stage.doors).toEqual(['suspend session-1', 'resume session-1']);
  });

  it('the hard timeout of the turn is a no, and its cancel waits for that', async () => {
    const stage = new Stage();
    stage.hardMs = 5_000;
    stage.ask();
    await stage.posts[0]?.end('shown');
    stage.clock.push(5_000);
    stage.driver.turnCancelled('turn-1', true);
    expect(stage.writes).toMatchObject([{ answer: { optionId: 'no' } }]);
    await stage.writes[0]?.end(true);
    expect(stage.told.at(-1)).toBe('acp_write timed_out');
    expect(stage.doors).not.toContain('poison cancelled');
  });

  it('an agent whose pipe breaks under its answer is replaced, and no answer is told', async () => {
    const stage = new Stage({ policy: 'allow', askMs: 300_000 });
    stage.ask();
    await stage.writes[0]?.end(false);
    expect(stage.told).toEqual(['acp_read policy=allow', 'permission_terminal uncertain']);
    expect(stage.doors).toEqual(['poison unread']);
  });

  it('an agent that does not read its answer is replaced', async () => {
    const stage = new Stage({ policy: 'allow', askMs: 300_000 });
    stage.ask();
    stage.clock.push(30_000);
    expect(stage.told).toEqual(['acp_read policy=allow', 'permission_terminal uncertain']);
    expect(stage.frames[1]?.payload).toBe('{"id":7}');
    expect(stage.doors).toEqual(['poison unread']);
    // Told late, and nobody hears it.
    await stage.writes[0]?.end(true);
    expect(stage.told).toHaveLength(2);
  });
});

describe('the end of its turn', () => {
  it('answers what waits with cancelled', async () => {
    const stage = new Stage();
    stage.ask();
    await stage.posts[0]?.end('shown');
    stage.driver.turnCancelled('turn-1', false);
    expect(stage.writes).toMatchObject([{ answer: { outcome: 'cancelled' } }]);
    await stage.writes[0]?.end(true);
    expect(stage.told.at(-1)).toBe('acp_write cancelled');
    expect(stage.edits).toMatchObject([{ resolution: { outcome: 'cancelled' } }]);
  });

  it('met by an answer on its way poisons the process', async () => {
    const stage = new Stage();
    stage.ask();
    await stage.posts[0]?.end('shown');
    stage.decide('yes');
    stage.driver.turnCancelled('turn-1', false);
    expect(stage.doors.at(-1)).toBe('poison cancelled');
    expect(stage.told.at(-1)).toBe('permission_terminal uncertain');
    expect(stage.edits).toMatchObject([{ resolution: { outcome: 'cancelled' } }]);
    stage.ask(8);
    expect(stage.told.slice(-2)).toEqual(['acp_read the process is being replaced', 'permission_terminal uncertain']);
    expect(stage.writes).toHaveLength(1);
  });

  it('by its own word closes what it left, after what is on its way', async () => {
    const stage = new Stage();
    stage.ask(1);
    await stage.posts[0]?.end('shown');
    stage.ask(2);
    await stage.posts[1]?.end('shown');
    stage.decide('yes');
    stage.driver.turnOver('turn-1');
    expect(stage.writes).toHaveLength(1);
    await stage.writes[0]?.end(true);
    expect(stage.writes).toMatchObject([{ id: 1 }, { id: 2, answer: { outcome: 'cancelled' } }]);
    await stage.writes[1]?.end(true);
    expect(stage.edits.map(({ resolution }) => resolution.outcome)).toEqual(['applied', 'cancelled']);
    expect(stage.doors.some((word) => word.startsWith('poison'))).toBe(false);
  });

  it('with the process leaves one terminal and no card open', async () => {
    const stage = new Stage();
    stage.ask();
    await stage.posts[0]?.end('shown');
    stage.driver.ended();
    expect(stage.told).toEqual(['acp_read actionable', 'permission_terminal uncertain']);
    expect(stage.edits).toMatchObject([{ resolution: { outcome: 'cancelled' } }]);
    expect(stage.driver.isOver).toBe(true);
    expect(stage.clock.armed).toBe(0);
  });
});

describe('two sessions of one process', () => {
  it('wait side by side, and each decision finds its own', async () => {
    const stage = new Stage();
    stage.ask(1);
    await stage.posts[0]?.end('shown');
    stage.ask(2, { sessionId: 'session-2', turnId: 'turn-2' });
    await stage.posts[1]?.end('shown');
    expect(stage.doors).toEqual(['suspend session-1', 'suspend session-2']);
    expect([stage.driver.waitsFor(stage.nonce(0)), stage.driver.waitsFor(stage.nonce(1)), stage.driver.waitsFor('x')]).toEqual([true, true, false]);
    stage.decide('no', { nonce: stage.nonce(1) });
    expect(stage.writes).toMatchObject([{ id: 2, answer: { optionId: 'no' } }]);
    expect(stage.doors.at(-1)).toBe('resume session-2');
    stage.driver.turnCancelled('turn-1', false);
    expect(stage.writes).toMatchObject([{ id: 2 }, { id: 1, answer: { outcome: 'cancelled' } }]);
  });
});
