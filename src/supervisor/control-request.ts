/**
 * What an owner's control frame asks for (NIP-AO "Control"). Pure. A type that is not known is ignored, and so is one whose
 * members are not what they should be: Buzz answers no such frame either.
 */
import type { ControlFrame } from '../broker/index.ts';
import { asChannelId } from '../model/index.ts';
import type { ChannelId } from '../model/index.ts';

export type ControlRequest =
  | { readonly type: 'cancel_turn'; readonly channelId: ChannelId }
  /** `requestId` is echoed in every result. */
  | { readonly type: 'switch_model'; readonly channelId: ChannelId; readonly modelId: string; readonly requestId: string | null }
  | { readonly type: 'permission_decision'; readonly channelId: ChannelId; readonly requestNonce: string; readonly optionId: string };

/** Characters of a member that comes back in a result, or that an agent is told. */
const MAX_TEXT = 300;

/** Undefined where there is nothing to be done. */
export function readControl({ type, body }: Pick<ControlFrame, 'type' | 'body'>): ControlRequest | undefined {
  const { channelId: channel, modelId, requestId = null, requestNonce, optionId } = body;
  const channelId = typeof channel === 'string' ? asChannelId(channel.toLowerCase()) : undefined;
  if (channelId === undefined) return undefined;
  switch (type) {
    case 'cancel_turn':
      return { type, channelId };
    case 'switch_model':
      if (!isText(modelId) || !(requestId === null || isText(requestId))) return undefined;
      return { type, channelId, modelId, requestId };
    case 'permission_decision':
      return isText(requestNonce) && isText(optionId) ? { type, channelId, requestNonce, optionId } : undefined;
    default:
      return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT && value.isWellFormed();
}
