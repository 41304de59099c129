/**
 * What a verdict is to the caller: the same, with earlier uncertainty kept and with messages verified.
 *
 * "A refusal of a retry does not undo or disprove earlier execution": after an attempt that may have run, `failed`
 * settles nothing unless it is the stored result of that very request, told again. NIP-BA "Result", "Channel and
 * messages".
 */
import { unreachable } from '../../model/index.ts';
import { verifyEvent } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { fromWireEvent } from '../wire/index.ts';
import type { ActionName, BrokerResult, FailedResult, Outcome, SucceededResult, WireEvent } from '../wire/index.ts';
import type { Frozen } from './attempts.ts';
import type { OutcomeOf, SendResult, Succeeded, VerifiedPage } from './ports.ts';

export function answerOf(frozen: Frozen, result: BrokerResult): SendResult {
  const { requestId, replayed = false } = result;
  switch (result.status) {
    case 'succeeded':
      frozen.uncertain = false;
      return succeeded(result, replayed);
    case 'failed':
      if (settles(result)) frozen.uncertain = false;
      return { status: 'failed', requestId, replayed, error: result.error, uncertain: frozen.uncertain };
    case 'indeterminate':
      frozen.uncertain = true;
      return { status: 'indeterminate', requestId, replayed, error: result.error, uncertain: true };
    default:
      return unreachable(result);
  }
}

/** A conflict or a lost credential is never the stored result of a request, whatever it says of itself. */
function settles({ replayed, error }: FailedResult): boolean {
  return replayed === true && error.code !== 'request_id_conflict' && error.code !== 'unauthenticated';
}

function succeeded({ requestId, action, outcome }: SucceededResult, replayed: boolean): Succeeded {
  return { status: 'succeeded', requestId, replayed, action, outcome: verified(outcome) };
}

function verified(outcome: Outcome<ActionName>): OutcomeOf<ActionName> {
  return 'messages' in outcome ? verifiedPage(outcome) : outcome;
}

function verifiedPage({ messages, nextCursor }: Outcome<'channel.read'>): VerifiedPage {
  const sound = messages.flatMap(verifiedEvent);
  const page = { messages: sound, unverified: messages.length - sound.length };
  return nextCursor === undefined ? page : { ...page, nextCursor };
}

function verifiedEvent(event: WireEvent): readonly VerifiedEvent[] {
  const parsed = fromWireEvent(event);
  const verdict = parsed === undefined ? undefined : verifyEvent(parsed);
  return verdict?.ok === true ? [verdict.event] : [];
}
