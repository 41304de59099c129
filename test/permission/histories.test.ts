/** Random histories through the real driver: whatever comes in whatever order, each request has one answer and one end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deciding, stranger } from './asks.ts';
import { Stage } from './stage.ts';

const index = fc.nat(3);
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), session: fc.nat(1), policy: fc.constant('ask') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('card' as const), index, fate: fc.constantFrom('shown', 'shown', 'refused', 'unanswered' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('decide' as const), index, optionId: fc.constantFrom('yes', 'no', 'always'), isOwner: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), index, written: fc.constantFrom(true, true, true, false) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(1, 9_999, 10_000, 30_000, 300_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'overtime' as const, 'over' as const), session: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stopping' as const, 'ended' as const) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

interface Book {
  asked: number;
  /** Nonces for which the owner has said yes. */
  readonly allowed: Set<string>;
  readonly cancelled: Set<string>;
  ended: boolean;
  /** Writes that there were when the process was poisoned. */
  atPoison: number | undefined;
}

describe('a history of one process', () => {
  it.each(['ask', 'allow', 'reject'] as const)('under %s leaves one challenge and one end for each request', async (policy) => {
    await fc.assert(fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (history) => {
      const stage = new Stage({ policy, askMs: 300_000 });
      const book: Book = { asked: 0, allowed: new Set(), cancelled: new Set(), ended: false, atPoison: undefined };
      for (const one of history) await happen(stage, book, one);
      await comeToAnEnd(stage, book);
      check(stage, book, policy);
    }), { numRuns: 300 });
  });
});

async function happen(stage: Stage, book: Book, one: Happening): Promise<void> {
  switch (one.do) {
    case 'ask': {
      if (book.ended) return;
      const turnId = `turn-${one.session}`;
      stage.ask((book.asked += 1), { sessionId: `session-${one.session}`, turnId, cancelling: book.cancelled.has(turnId) });
      break;
    }
    case 'card':
      await stage.posts[one.index]?.end(one.fate);
      break;
    case 'decide': {
      const nonce = stage.nonce(one.index);
      if (one.isOwner && one.optionId === 'yes') book.allowed.add(nonce);
      stage.driver.decide(deciding({ nonce, optionId: one.optionId, ...(one.isOwner ? {} : { sender: stranger }) }));
      break;
    }
    case 'write':
      await stage.writes[one.index]?.end(one.written);
      break;
    case 'time':
      stage.clock.push(one.ms);
      break;
    case 'cancel':
    case 'overtime':
      book.cancelled.add(`turn-${one.session}`);
      stage.driver.turnCancelled(`turn-${one.session}`, one.do === 'overtime');
      break;
    case 'over':
      book.cancelled.add(`turn-${one.session}`);
      stage.driver.turnOver(`turn-${one.session}`);
      break;
    case 'stopping':
      stage.driver.stopping();
      break;
    case 'ended':
      book.ended = true;
      stage.driver.ended();
  }
  if (stage.doors.some((word) => word.startsWith('poison'))) book.atPoison ??= stage.writes.length;
}

async function comeToAnEnd(stage: Stage, book: Book): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    for (const post of stage.posts) await post.end('shown');
    for (const write of stage.writes) await write.end(!book.ended);
    stage.clock.push(300_000);
  }
}

function check(stage: Stage, book: Book, policy: string): void {
  const { frames, writes, posts, edits, doors, clock } = stage;
  const challenges = frames.filter(({ kind }) => kind === 'acp_read');
  expect(challenges.length).toBe(book.asked);
  expect(new Set(writes.map(({ id }) => id)).size).toBe(writes.length);
  if (book.atPoison !== undefined) expect(writes.length).toBe(book.atPoison);
  for (const [at, { authorization }] of challenges.entries()) {
    const nonce = authorization?.requestNonce ?? '';
    const ends = frames.filter(({ kind, authorization: of }) => kind !== 'acp_read' && of?.requestNonce === nonce);
    expect(ends.map(({ kind }) => kind)).toHaveLength(1);
    const write = writes.find(({ id }) => id === at + 1);
    if (ends[0]?.kind === 'acp_write') expect(write).toBeDefined();
    const isYes = write?.answer.outcome === 'selected' && write.answer.optionId !== 'no';
    if (isYes && policy === 'ask') expect(book.allowed.has(nonce)).toBe(true);
    if (policy === 'reject') expect(isYes).toBe(false);
  }
  expect(new Set(edits.map(({ nonce }) => nonce)).size).toBe(edits.length);
  expect(edits.every(({ nonce }) => posts.some(({ card }) => card.requestNonce === nonce))).toBe(true);
  for (const session of ['session-0', 'session-1']) {
    const own = doors.filter((word) => word.endsWith(session)).map((word) => word.split(' ')[0]);
    expect(own).toEqual(own.map((_, turn) => (turn % 2 === 0 ? 'suspend' : 'resume')));
    expect(own.length % 2).toBe(0);
  }
  expect(clock.armed).toBe(0);
}
