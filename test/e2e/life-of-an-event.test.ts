/**
 * One event the whole way round the ring, on real parts: a relay, WebSockets, SQLite, an agent process, HTTP. Read it
 * from the top: each step is a room, and each room is asked for what it alone knows.
 */
import { verifyEvent } from 'nostr-tools/pure';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import type { Row } from '../../src/store/index.ts';
import type { Note } from '../../src/supervisor/index.ts';
import { join } from 'node:path';
import type { Event } from 'nostr-tools/pure';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

let stage: Stage;
let question: Event;
let answer: Event;
let turn: Extract<Note, { type: 'turn_started' }>;

beforeAll(async () => {
  stage = await openStage({ rules: [{ do: [{ say: 'The prompt was: {{prompt}}' }, { reply: 'It is {{content}}' }] }] });
  question = await stage.say(stage.owner, 'a fine day & <night>');
  answer = await stage.watch.until('an answer', () => stage.answers[0]);
  turn = await stage.watch.until('a turn', () => started(stage)[0]);
  await stage.watch.until('its end', () => ended(stage)[0]);
});

afterAll(async () => {
  await stage.close();
});

it('the owner’s client published a signed event that mentions the agent, and the gate let it in', () => {
  expect(verifyEvent(question)).toBe(true);
  expect(stage.notes).toContainEqual(expect.objectContaining({ type: 'accepted', eventId: question.id, author: stage.owner.pubkey }));
});

it('the inbox kept it, dispatched it in one turn, and is done with it', async () => {
  const [row] = await rows('SELECT * FROM inbox');
  expect(row).toMatchObject({ event_id: question.id, status: 'done', outcome: 'end_turn', turn: turn.turnId, event: null });
  expect(turn.eventIds).toEqual([question.id]);
});

it('the compiler made an envelope that can be checked, and the process was prompted with it', () => {
  expect(turn.manifestHash).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(turn.envelopeBytes).toBeGreaterThan(400);
  expect(turn.pid).toBe(stage.running.snapshot().agents[0]?.processes[0]?.pid);
});

it('the agent acted through the broker, at most once, and the journal kept the evidence', async () => {
  const [record] = await rows(`SELECT principal, action, turn, status, event
    FROM journal JOIN journal_namespace ON journal_namespace.id = journal.namespace`);
  expect(record).toMatchObject({ principal: stage.agent, action: 'message.reply', turn: turn.turnId, status: 'done' });
  expect(String(record?.['event'])).toContain(answer.id);
});

it('the owner received a reply in the thread, signed by the key that only the broker has', () => {
  expect(verifyEvent(answer)).toBe(true);
  expect(answer.pubkey).toBe(stage.agent);
  expect(answer.content).toBe('It is a fine day & <night>');
  expect(answer.tags).toContainEqual(['h', stage.channelId]);
  expect(answer.tags).toContainEqual(['e', question.id, '', 'reply']);
});

it('it was answered once, and nothing is left to do', () => {
  expect(stage.answers).toHaveLength(1);
  expect(stage.running.snapshot().agents[0]).toMatchObject({
    turns: [], inbox: { queued: 0, dispatched: 0, done: 1, dead: 0 }, upstream: { phase: 'ready' },
  });
});

function started({ notes }: Stage): readonly Extract<Note, { type: 'turn_started' }>[] {
  return notes.filter((note) => note.type === 'turn_started');
}

function ended({ notes }: Stage): readonly Note[] {
  return notes.filter((note) => note.type === 'turn_ended');
}

/** A look into the data directory from a second connection, as an operator could. */
async function rows(text: string): Promise<readonly Row[]> {
  const store = openSqlite(join(stage.directory, '.skep', 'skep.db'), SUPERVISOR_SCHEMA);
  try {
    return await store.read(sql(text));
  } finally {
    await store.close();
  }
}
