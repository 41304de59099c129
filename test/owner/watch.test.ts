/** `skep owner watch`: a turn with a permission as it is told, to people and to scripts; nothing of it moves a terminal. */
import { afterEach, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { jsonLine } from '../../src/cli/owner-text.ts';
import { noteJson, noteLines } from '../../src/cli/owner-notes.ts';
import { milliseconds, pubkey } from '../../src/model/index.ts';
import { attest } from '../../src/nostr/index.ts';
import type { Note } from '../../src/owner/index.ts';
import { startSkep, stopAll } from '../cli/skep.ts';
import { agentPubkey, CHANNEL, deskAt, openBox, owner } from './box.ts';
import type { OutsideAgent } from './outside-agent.ts';

afterEach(stopAll);

const PATIENCE_MS = 60_000;
const at = { channelId: CHANNEL, sessionId: 's-1', turnId: 't-1' };

async function turn(agent: OutsideAgent): Promise<void> {
  await agent.tell({ ...at, kind: 'turn_started', payload: { source: 'channel', triggeringEventIds: ['x'] } });
  await says(agent, 'Hello \u{1b}]0;owned\u{7}\u{9b}2J world\n');
  const options = [{ optionId: 'yes-1', kind: 'allow_once', name: 'a' }, { optionId: 'no-1', kind: 'reject_once', name: 'b' }];
  await agent.tell({
    ...at, kind: 'acp_read', authorization: { requestNonce: 'nonce-1', actionable: true }, payload: { jsonrpc: '2.0', id: 1, method: 'session/request_permission', params: { options } },
  });
  const card = await agent.card(CHANNEL, { nonce: 'nonce-1' });
  await agent.edit(CHANNEL, card, 'applied', 'no-1');
  await agent.tell({ ...at, kind: 'turn_completed', sessionId: null });
}

function says(agent: OutsideAgent, text: string): Promise<unknown> {
  return agent.tell({ ...at, kind: 'acp_read', payload: { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's-1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } } });
}

it('tells people and scripts the same story, until a signal', async () => {
  const { agent, relay, directory } = await openBox();
  const watch = (...more: readonly string[]) => startSkep(['owner', 'watch', '-r', relay.url, '-k', 'owner.key', '-a', agentPubkey, ...more], directory);
  const [people, script] = [watch(), watch('--json')];
  await Promise.all([people.says('Ctrl-C stops'), script.says('Ctrl-C stops')]);
  await turn(agent);
  await Promise.all([people.says('turn ends'), script.says('turn_completed'), people.says('ended: applied'), script.says('permission_ended')]);
  for (const one of [people, script]) one.kill('SIGINT');
  const [lines, objects] = [await people.ended, await script.ended];
  expect([lines.code, objects.code]).toEqual([0, 0]);
  const told = lines.stdout.replace(/^\d\d:\d\d:\d\d npub1\w{7} 00000000 t-1: /gm, '').replace(/npub1\w{7} in 00000000, \d+ s left/, 'helper, 300 s left').trimEnd().split('\n');
  // Frames and cards come by two subscriptions: the order between them is the relay's.
  expect([...told].sort()).toEqual([
    'turn begins, 1 event (channel)', 'says: Hello \\u{1b}]0;owned\\u{7}\\u{9b}2J world',
    'asks for permission', 'nonce-1  helper, 300 s left: Run ls (ls -la)', '          approve: "Allow once", deny: "Deny"',
    'nonce-1 ended: applied, denied', 'turn ends',
  ].sort());
  const parsed = objects.stdout.trimEnd().split('\n').map((line): unknown => JSON.parse(line));
  expect(parsed).toHaveLength(5);
  expect(parsed).toEqual(expect.arrayContaining([
    expect.objectContaining({ type: 'turn_started', agent: agentPubkey, ...at, events: 1 }),
    expect.objectContaining({ type: 'text', speaker: 'agent', text: 'Hello \u{1b}]0;owned\u{7}\u{9b}2J world' }),
    expect.objectContaining({ type: 'permission_pending', matches: true, permission: expect.objectContaining({ nonce: 'nonce-1', description: 'Run ls (ls -la)' }) }),
    expect.objectContaining({ type: 'permission_ended', outcome: 'applied', chosenOptionId: 'no-1' }),
    expect.objectContaining({ type: 'turn_completed' }),
  ]));
}, PATIENCE_MS);

it('begins with the requests that wait, oldest first: one that has ended is told as ended alone', async () => {
  const { agent, relay } = await openBox();
  await agent.card(CHANNEL, { nonce: 'first', agoSec: 20 });
  const ended = await agent.card(CHANNEL, { nonce: 'ended', agoSec: 15 });
  await agent.card(CHANNEL, { nonce: 'second', agoSec: 10 });
  await agent.edit(CHANNEL, ended, 'applied', 'yes-1');
  const { notes, watch } = await deskAt(relay.url, [agentPubkey]);
  expect(notes.map((note) => [note.type, note.type === 'permission_pending' ? note.permission.nonce : 'nonce' in note && note.nonce])).toEqual([
    ['permission_ended', 'ended'], ['permission_pending', 'first'], ['permission_pending', 'second'],
  ]);
  // From then on as it happens.
  await agent.card(CHANNEL, { nonce: 'live' });
  await watch.until('the next one', () => notes.length === 4);
}, PATIENCE_MS);

describe('what does not count is not opened', () => {
  it('of strangers, with wrong tags, or that cannot be read; then it goes on', async () => {
    const box = await openBox();
    const other = await box.second();
    const { notes, watch } = await deskAt(box.relay.url, [agentPubkey]);
    await other.tell({ kind: 'turn_started', turnId: 'stranger' });
    await box.agent.sendSealed('no JSON, but long enough to be a frame');
    await box.agent.sendSealed(JSON.stringify({ seq: 1, timestamp: 'soon', kind: 'turn_started', turnId: 'late', payload: {} }));
    await box.agent.publish(24200, [['p', box.agent.pubkey], ['agent', box.agent.pubkey], ['frame', 'telemetry']], 'x'.repeat(132)).catch(() => undefined);
    await box.agent.tell({ kind: 'turn_started', turnId: 'mine' });
    await watch.until('the frame that counts', () => notes.length > 0);
    expect(notes).toMatchObject([{ type: 'turn_started', turnId: 'mine' }]);
  });

  it('an agent whose profile proves that it is this owner\'s counts, where none is named to the exclusion of others', async () => {
    const box = await openBox();
    const other = await box.second();
    await other.publish(0, [attest(pubkey(other.pubkey), '', owner.key, new Uint8Array(32))], '{}');
    const { notes, watch, desk } = await deskAt(box.relay.url, [], true);
    await box.agent.tell({ kind: 'turn_started', turnId: 'unproven' });
    await other.tell({ kind: 'turn_started', turnId: 'proven' });
    await watch.until('the frame of the proven one', () => notes.length > 0);
    expect(notes).toMatchObject([{ turnId: 'proven' }]);
    expect(desk.agents()).toEqual([other.pubkey]);
  });
});

describe('nothing that an agent writes', () => {
  const samples: readonly ((text: string) => Note)[] = [
    (text) => ({ ...base, type: 'text', speaker: 'agent', text }), (text) => ({ ...base, type: 'tool', toolCallId: text, title: text, status: text }),
    (text) => ({ ...base, type: 'turn_failed', outcome: text, error: text }), (text) => ({ ...base, type: 'turn_started', source: text, events: 1 }),
    (text) => ({ ...base, type: 'control_result', payload: { type: text, status: text, [text]: text } }),
    (text) => ({ ...base, sessionId: text, turnId: text, type: 'permission_ended', nonce: text, outcome: text, chosenOptionId: text }),
    (text) => ({ ...base, type: 'launch_refused', code: text, detail: text }),
    (text) => ({ ...base, sessionId: text, type: 'session_resolved', isNew: true }), (text) => ({ ...base, type: 'permission_unasked', nonce: text, reason: text }),
  ];
  const base = { at: milliseconds(0), agent: agentPubkey, channelId: CHANNEL, sessionId: null, turnId: null };
  const hostile = fc.array(fc.oneof(fc.constantFrom('\u{1b}[2J', '\u{9b}31m', '\u{202e}', '\u{200b}', '\r', '\n', '\u{7f}', '\u{2028}', '\u{e0041}', '\u{feff}', '\u{d800}'), fc.string({ unit: 'binary' })), { maxLength: 8 }).map((parts) => parts.join(''));

  it('reaches the screen as a control, bidi or invisible character, nor as a line of its own', () => {
    fc.assert(fc.property(hostile, fc.constantFrom(...samples), (text, make) => {
      const note = make(text);
      const lines = [...noteLines(note, () => text, 0), jsonLine(noteJson(note, () => text))];
      for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ name: text });
    }));
  });

  it('has a time that no calendar has, and is told all the same', () => {
    expect(noteLines({ ...base, at: milliseconds(1e300), type: 'gap', missing: 2 }, () => 'helper', 0)).toEqual([' helper 00000000: 2 frames did not arrive']);
  });
});
