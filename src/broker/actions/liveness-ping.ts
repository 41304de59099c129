/**
 * `liveness.ping` (NIP-BA "Live signals"): one `turn_liveness` frame for the owner, about the turn that this session is
 * in. Another turn, another channel or none is refused before anything is signed, and once more before it is sent. No
 * watchdog is renewed here, so that an agent cannot keep itself alive by saying so.
 */
import { refused } from './action.ts';
import type { Plan, Refused } from './action.ts';

export const planPing: Plan<'liveness.ping'> = async ({ channelId, turnId }, { telemetry, turn }) => {
  const holds = (): Refused | undefined => {
    const bound = turn();
    return bound?.turnId === turnId && bound.channelId === channelId
      ? undefined
      : refused('action_failed', 'the turn is not the one this session is in, in that channel');
  };
  const refusal = holds();
  if (refusal !== undefined) return refusal;
  const draft = telemetry.draft({ kind: 'turn_liveness', payload: '{}', channelId, turnId, rank: 'lifecycle' });
  if (draft === undefined) return refused('internal', 'the frame could not be sealed to the owner');
  return { type: 'publish', action: 'liveness.ping', draft, holds };
};
