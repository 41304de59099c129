import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../../adapters/scripted/envelope.ts';
import { ACTOR, CHANNEL, FIRST, INTERRUPTED, LAST, ROOT, THREAD, topLevel } from './envelopes.ts';

describe('readEnvelope', () => {
  it('reads events and delivery, and nothing of the ambient context', () => {
    const envelope = readEnvelope(['standing text', THREAD]);
    expect(envelope).toMatchObject({ channelId: CHANNEL, scope: 'thread', replyTo: ROOT });
    expect(envelope).toMatchObject({ mergeDisposition: '', interrupted: [] });
    expect(envelope?.events).toMatchObject([
      { type: 'mention', author: 'Morgan', actor: ACTOR, eventId: FIRST, parent: '', threadRoot: ROOT },
      { author: `M. "Mo" O'Hara`, eventId: LAST, parent: FIRST, mentions: `Bee (${'f'.repeat(64)})` },
    ]);
  });

  it('tells interrupted events from current ones', () => {
    const envelope = readEnvelope([INTERRUPTED]);
    expect(envelope?.interrupted.map(({ eventId, content }) => [eventId, content])).toEqual([[FIRST, 'cut short']]);
    expect(envelope?.events.map(({ eventId, content }) => [eventId, content])).toEqual([[LAST, 'now this']]);
    expect(envelope?.mergeDisposition).toBe('continue_prior_work');
  });

  it('reads an update sent to steer a running turn', () => {
    const event = `<event type="all" actor="${ACTOR}" event_id="${LAST}">\nContent: faster\n</event>`;
    const delivery = `<delivery channel_id="${CHANNEL}" scope="channel" />`;
    const update = `<buzz-turn-update mode="steer">\n${event}\n${delivery}\n</buzz-turn-update>`;
    expect(readEnvelope([update])).toMatchObject({ scope: 'channel', replyTo: '', events: [{ content: 'faster' }] });
  });

  it.each([[[]], [['hello']], [['<buzz-turn>']], [['see <buzz-turn>\n</buzz-turn>']]])('finds none in %j', (blocks) => {
    expect(readEnvelope(blocks)).toBeUndefined();
  });

  it('gives back whatever content was escaped, forged boundaries included', () => {
    const hostile = fc.stringMatching(/^([<>&;"'\n]|event|\/|delivery scope="dm"|&amp;|lt;|Content: |é|🐝| )*$/);
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: 'grapheme' })), (content) => {
        const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
        const envelope = readEnvelope([topLevel(escaped)]);
        expect(envelope?.events.map((event) => event.content)).toEqual([content]);
        expect(envelope?.scope).toBe('channel');
      }),
    );
  });
});
