/** What a control frame asks for, and what is nothing. */
import { describe, expect, it } from 'vitest';
import { readControl } from '../../src/supervisor/control-request.ts';
import { channel } from './people.ts';

const DECISION = { channelId: channel, requestNonce: 'n', optionId: 'o' };

function read(type: string, body: Readonly<Record<string, unknown>>): unknown {
  return readControl({ type, body: { type, ...body } });
}

describe('a control frame asks for', () => {
  it('the end of a turn', () => {
    expect(read('cancel_turn', { channelId: channel, more: 1 })).toEqual({ type: 'cancel_turn', channelId: channel });
    expect(read('cancel_turn', { channelId: channel.toUpperCase() })).toEqual({ type: 'cancel_turn', channelId: channel });
  });

  it('another model, with or without an id of the request', () => {
    const asked = { channelId: channel, modelId: 'gpt-6-sol[low]' };
    expect(read('switch_model', asked)).toEqual({ type: 'switch_model', ...asked, requestId: null });
    expect(read('switch_model', { ...asked, requestId: 'r' })).toEqual({ type: 'switch_model', ...asked, requestId: 'r' });
    expect(read('switch_model', { ...asked, requestId: null })).toEqual({ type: 'switch_model', ...asked, requestId: null });
  });

  it('an answer to a permission request', () => {
    expect(read('permission_decision', DECISION)).toEqual({ type: 'permission_decision', ...DECISION });
  });
});

describe('a control frame asks for nothing', () => {
  it.each([
    ['unknown', 'reboot', { channelId: channel }], ['in other letters', 'CANCEL_TURN', { channelId: channel }], ['a name of Object', 'constructor', { channelId: channel }],
    ['without a channel', 'cancel_turn', {}], ['with a channel that is no UUID', 'cancel_turn', { channelId: 'general' }],
    ['with a channel that is no text', 'cancel_turn', { channelId: [channel] }], ['without a model', 'switch_model', { channelId: channel }],
    ['with no text for a model', 'switch_model', { channelId: channel, modelId: 7 }], ['with an empty model', 'switch_model', { channelId: channel, modelId: '' }],
    ['with a model of 301 characters', 'switch_model', { channelId: channel, modelId: 'm'.repeat(301) }],
    ['with half a character for a model', 'switch_model', { channelId: channel, modelId: 'm\ud800' }],
    ['with a request id that is no text', 'switch_model', { channelId: channel, modelId: 'm', requestId: 7 }],
    ['without a nonce', 'permission_decision', { ...DECISION, requestNonce: undefined }], ['without an option', 'permission_decision', { ...DECISION, optionId: null }],
  ])('that is %s', (_, type, body) => {
    expect(read(type, body)).toBeUndefined();
  });
});
