/**
 * `observer.emit` (NIP-BA "Live signals"): frames of the agent's runtime for its owner. `accepted` is what the queue has
 * room for; the frames are taken in when the receipt is durable, and a receipt that is told again takes in nothing.
 */
import type { ObserverFrame } from '../owner-ports.ts';
import type { Plan } from './action.ts';

/** The words that are the harness's own (NIP-AO "Frame Kinds" and Buzz's), and their families with what may join them. */
const HARNESS_KINDS = /^(?:batch$|(?:acp|turn|session|prompt_context|permission|control|agent|harness|managed_agent|observer)_)/;
/** Set before such a word: NIP-AO "Unknown kind values MUST be ignored", so no card and no turn comes of it. */
const MARK = 'emitted:';

export const planEmit: Plan<'observer.emit'> = async ({ frames }, { telemetry, turn }) => {
  const bound = turn();
  const told = frames.map(({ kind, payload }): ObserverFrame => ({
    kind: HARNESS_KINDS.test(kind) ? MARK + kind : kind,
    payload,
    rank: 'stream',
    ...(bound && { channelId: bound.channelId, turnId: bound.turnId }),
  }));
  const room = telemetry.reserve(told);
  return {
    type: 'answer',
    verdict: { status: 'succeeded', action: 'observer.emit', outcome: { accepted: room.accepted } },
    async ended(done) {
      if (done === undefined) room.giveBack();
      else room.take();
    },
  };
};
