/**
 * `observer.emit` (NIP-BA "Live signals"): frames of the agent's runtime for its owner. `accepted` is what the queue has
 * room for; the frames are taken in when the receipt is durable, and a receipt that is told again takes in nothing.
 */
import type { Plan } from './action.ts';

export const planEmit: Plan<'observer.emit'> = async ({ frames }, { telemetry, turn }) => {
  const bound = turn();
  const told = frames.map((frame) => ({ ...frame, ...(bound === undefined ? {} : { turn: bound }) }));
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
