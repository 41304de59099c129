/** Evidence of the journal's tests. */
import { ATTACHING } from '../../../src/broker/journal/verdict.ts';
import type { Evidence } from '../../../src/broker/journal/verdict.ts';
import { AGENT, CHANNEL, SIBLING, START_SEC } from '../people.ts';

export function evidence(content = 'hello', createdAtSec = START_SEC, kind = 9): Evidence {
  return { action: 'message.post', event: AGENT.sign({ tags: [['h', CHANNEL]], content, createdAtSec, kind }) };
}

/** The same event as evidence of an action whose success is something else. */
export function attaching(content: string): Evidence {
  const outcome = { agentPubkey: SIBLING.pubkey, displayName: content, channelId: CHANNEL };
  return { action: ATTACHING, event: evidence(content).event, accepted: { status: 'succeeded', action: ATTACHING, outcome } };
}
