/** Evidence of the journal's tests. */
import type { Evidence } from '../../../src/broker/journal/verdict.ts';
import { AGENT, CHANNEL, START_SEC } from '../people.ts';

export function evidence(content = 'hello', createdAtSec = START_SEC, kind = 9): Evidence {
  return { action: 'message.post', event: AGENT.sign({ tags: [['h', CHANNEL]], content, createdAtSec, kind }) };
}
