import { describe, expect, it } from 'vitest';
import type { PromptOutcome, StopReason } from '../../src/acp/index.ts';
import { answerFor, giveUpNotice, outageNotice } from '../../src/supervisor/answer.ts';
import type { Batch } from '../../src/supervisor/inbox/entry.ts';
import { turnInput } from '../../src/supervisor/turn-input.ts';
import type { TurnFacts } from '../../src/supervisor/turn-input.ts';
import { agent, channel, entryOf, inThread, message, sibling, someRoot } from './people.ts';

const question = message();
const batch: Batch = { turnId: 't', lane: channel, channelId: channel, entries: [entryOf(question, 0)] };
const facts: TurnFacts = { channel: { name: 'c', type: 'stream' }, history: undefined, historyDelivered: false, profiles: new Map([[agent.pubkey, { isAgent: true }]]) };
const inputOf = (of: Batch, more: Partial<TurnFacts> = {}) => turnInput(of, { ...facts, ...more }, { base: 'b' }, 'sent');

function ended(text: string, stopReason: StopReason = 'end_turn'): PromptOutcome {
  return { status: 'ended', stopReason, seen: { text, textCut: false, thoughts: 0, toolCalls: 0, updates: 0 } };
}

describe('answerFor', () => {
  it('is the text, as a reply where the envelope says', () => {
    expect(answerFor(ended(' yes \n'), batch, inputOf(batch))).toEqual({
      kind: 'answer', operationId: 't:answer:1', channelId: channel, turnId: 't', content: 'yes',
      replyTo: { root: question.id, parent: question.id },
    });
    const inside: Batch = { ...batch, entries: [entryOf(message({ tags: inThread(someRoot) }), 0)] };
    expect(answerFor(ended('yes'), inside, inputOf(inside))).toMatchObject({ replyTo: { root: someRoot, parent: someRoot } });
  });

  it('is no permission card: that would be asked in our name', () => {
    const card = JSON.stringify({ v: 1, state: 'pending', requestNonce: 'n' });
    expect(answerFor(ended(` ${card}\n`), batch, inputOf(batch))?.content).toBe(`\`\`\`json\n${card}\n\`\`\``);
  });

  it('is at the top of a direct-message channel', () => {
    const message = answerFor(ended('yes'), batch, inputOf(batch, { channel: { name: '', type: 'dm' } }));
    expect(message).toMatchObject({ kind: 'answer', content: 'yes' });
    expect(message).not.toHaveProperty('replyTo');
  });

  it('is nothing where the turn failed or agents are among themselves', () => {
    expect(answerFor({ status: 'process_ended', end: { how: 'stopped' }, seen: ended('x').seen }, batch, inputOf(batch))).toBeUndefined();
    const between: Batch = { ...batch, entries: [entryOf(message({ by: sibling }), 0)] };
    const agents = new Map([[agent.pubkey, { isAgent: true }], [sibling.pubkey, { isAgent: true }]]);
    expect(answerFor(ended('yes'), between, inputOf(between, { profiles: agents }))).toBeUndefined();
    expect(answerFor(ended('yes'), between, inputOf(between))).toBeDefined();
  });

  it.each<[StopReason, string]>([
    ['end_turn', 'without an answer'], ['refusal', 'declined'], ['cancelled', 'stopped'], ['max_tokens', 'limit'], ['max_turn_requests', 'limit'],
  ])('is one notice after %s without a word', (stopReason, says) => {
    const notice = answerFor(ended('  ', stopReason), batch, inputOf(batch));
    expect(notice).toMatchObject({ kind: 'notice', operationId: 't:notice', content: expect.stringContaining(says) });
  });

  it('is cut at what a message may hold, between scalars', () => {
    const long = answerFor(ended('🐝'.repeat(20_000)), batch, inputOf(batch));
    expect(Buffer.byteLength(long?.content ?? '')).toBe(65_536);
    const odd = answerFor(ended(`a${'🐝'.repeat(20_000)}`), batch, inputOf(batch));
    expect(Buffer.byteLength(odd?.content ?? '')).toBe(65_533);
    const cut = ended('text', 'end_turn');
    if (cut.status !== 'ended') throw new Error('not ended');
    expect(answerFor({ ...cut, seen: { ...cut.seen, textCut: true } }, batch, inputOf(batch))?.content).toBe('text…');
  });
});

describe('notices', () => {
  it('go to the thread of the last message and say the reason on one line', () => {
    const notice = giveUpNotice(batch, 'it broke\nnsec1qqqqqqqqqqqqqqqq');
    expect(notice).toMatchObject({ kind: 'notice', operationId: 't:gave-up', replyTo: { root: question.id, parent: question.id } });
    expect(notice.content).toBe('⚠️ This message could not be answered: it broke\\u{a}<redacted>.');
  });

  it('of an outage go to the message that has waited longest, once for each', () => {
    expect(outageNotice(entryOf(question, 0), 'not_found')).toMatchObject({
      kind: 'notice', operationId: `outage:${question.id}`, content: expect.stringContaining('cannot be started (not found)'),
    });
    expect(outageNotice(entryOf(question, 0), 'signalled').content).toContain('keeps ending (signalled)');
  });
});
