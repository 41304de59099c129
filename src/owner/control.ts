/**
 * Control frames, owner to agent (NIP-AO "Control"): what they say, and their tags. Pure; sealing and signing are the
 * key's. The answer to each is a `control_result`.
 */
import type { ChannelId, Pubkey, Seconds } from '../model/index.ts';
import type { EventTemplate } from '../nostr/index.ts';
import { FRAME_KIND } from './view/index.ts';

export type Control =
  | { readonly type: 'cancel_turn'; readonly channelId: ChannelId }
  /** `requestId` comes back in the result: an extension that others answer, too. */
  | { readonly type: 'switch_model'; readonly channelId: ChannelId; readonly modelId: string; readonly requestId: string }
  | { readonly type: 'permission_decision'; readonly channelId: ChannelId; readonly requestNonce: string; readonly optionId: string };

/** The event of a control frame for `agent`, with its sealed text. */
export function controlTemplate(agent: Pubkey, sealed: string, createdAt: Seconds): EventTemplate {
  return { kind: FRAME_KIND, created_at: createdAt, content: sealed, tags: [['p', agent], ['agent', agent], ['frame', 'control']] };
}

/** Whether the payload of a `control_result` of that agent answers this one. */
export function answers(control: Control, payload: Readonly<Record<string, unknown>>): boolean {
  if (payload['type'] !== control.type) return false;
  switch (control.type) {
    case 'permission_decision':
      return payload['requestNonce'] === control.requestNonce;
    case 'switch_model': {
      const { requestId } = payload;
      return typeof requestId === 'string' ? requestId === control.requestId : payload['modelId'] === control.modelId;
    }
    default:
      return true;
  }
}
