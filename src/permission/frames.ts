/** The observer frames of permission requests (NIP-AO "Authorization Envelope", "control_result Telemetry"). Pure. */
import type { ObserverFrame } from '../broker/ports.ts';
import type { ChannelId } from '../model/index.ts';
import type { Authorization, PermissionCommand } from './entry.ts';

interface Place {
  readonly sessionId: string;
  readonly turnId?: string | undefined;
  readonly channelId?: ChannelId | undefined;
  readonly agentIndex?: number;
}

/** `payload` is the line of the request, or of our answer, as it stood. */
export function permissionFrame(
  kind: string, payload: string, { sessionId, turnId, channelId, agentIndex }: Place, authorization: Authorization,
): ObserverFrame {
  return {
    kind, payload, authorization, rank: 'permission',
    ...(channelId === undefined ? {} : { channelId }),
    ...(sessionId === '' ? {} : { sessionId }),
    ...(turnId === undefined ? {} : { turnId }),
    ...(agentIndex === undefined ? {} : { agentIndex }),
  };
}

/** The word on a `permission_decision`; of a channel, as every control frame is. */
export function decisionFrame(result: Extract<PermissionCommand, { type: 'control_result' }>): ObserverFrame {
  const { channelId, nonce: requestNonce, optionId, status } = result;
  const payload = JSON.stringify({ type: 'permission_decision', status, requestNonce, optionId });
  return { kind: 'control_result', payload, channelId, rank: 'lifecycle' };
}
