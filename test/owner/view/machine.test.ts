/** What an owner knows, from frames, cards and edits in any order, doubled and replayed. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { channelId, eventId, milliseconds, seconds } from '../../../src/model/index.ts';
import { decidable, INITIAL, MAX_RING, nextWakeMs, readTelemetry, step } from '../../../src/owner/view/index.ts';
import type { CardSighting, Input, Note, View } from '../../../src/owner/view/index.ts';
import { bob, carol, OPEN } from '../../relay/harness.ts';

const NOW = milliseconds(1_800_000_000_000);
const agent = bob.pubkey;
const CARD_ID = eventId('a'.repeat(64));
const OTHER_ID = eventId('b'.repeat(64));

interface Words {
  readonly seq?: number;
  readonly kind?: string;
  readonly payload?: unknown;
  readonly session?: string | null;
  readonly turn?: string | null;
  readonly authorization?: object;
  readonly atMs?: number;
  readonly by?: typeof agent;
}

let numbers = 0;

function frame({ seq, kind = 'acp_read', payload = {}, session = 's', turn = 't', authorization, atMs = 0, by = agent }: Words): Input {
  numbers += 1;
  const read = readTelemetry(JSON.stringify({
    seq: seq ?? numbers, timestamp: new Date(NOW + atMs).toISOString(), kind, agentIndex: null, channelId: OPEN, sessionId: session, turnId: turn,
    ...(authorization === undefined ? {} : { authorization }), payload,
  }));
  const [event] = read.ok ? read.events : [];
  if (event === undefined) throw new Error('no frame');
  return { type: 'telemetry', agent: by, event };
}

const started = (turn = 't'): Input => frame({ kind: 'turn_started', turn, payload: { source: 'channel', triggeringEventIds: ['x', 'y'] } });
const update = (body: object): Input => frame({ payload: { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update: body } } });
const chunk = (text: string, sessionUpdate = 'agent_message_chunk'): Input => update({ sessionUpdate, content: { type: 'text', text } });

const OPTIONS = [{ optionId: 'yes', kind: 'allow_once', name: 'Yes' }, { optionId: 'no', kind: 'reject_once', name: 'No' }];

function challenge(nonce = 'n', options: readonly object[] = OPTIONS, actionable = true): Input {
  return frame({ authorization: { requestNonce: nonce, actionable }, payload: { id: 1, method: 'session/request_permission', params: { options } } });
}

function card(nonce = 'n', expiresInSec = 300, id = CARD_ID): CardSighting {
  const sec = seconds(NOW / 1_000);
  return {
    type: 'card', agent, channelId: OPEN, eventId: id, createdAt: sec,
    card: {
      state: 'pending', requestNonce: nonce, sessionId: 's', turnId: 't', expiresAt: seconds(sec + expiresInSec), description: 'Run ls',
      options: [{ optionId: 'yes', label: 'Yes' }, { optionId: 'no', label: 'No' }],
    },
  };
}

function edit(outcome: 'timed_out' | 'cancelled' | 'rejected' = 'timed_out', nonce = 'n', original = CARD_ID): Input {
  const { card: facts, ...place } = card(nonce);
  return { ...place, type: 'edit', card: { ...facts, state: 'resolved', originalEventId: original, outcome, chosenOptionId: null } };
}

const answered = (reason: string, optionId = 'yes'): Input =>
  frame({ kind: 'acp_write', authorization: { requestNonce: 'n', actionable: false, reason }, payload: { id: 1, result: { outcome: { outcome: 'selected', optionId } } } });

function run(inputs: readonly Input[], now = NOW): { readonly view: View; readonly notes: readonly Note[] } {
  let view = INITIAL;
  const notes: Note[] = [];
  for (const input of inputs) {
    const next = step(view, input, now);
    view = next.view;
    notes.push(...next.notes);
  }
  return { view, notes };
}

const types = (inputs: readonly Input[]): readonly string[] => run(inputs).notes.map(({ type }) => type);

describe('a turn', () => {
  it('is told from its beginning to its end, text line by line', () => {
    const { notes } = run([
      started(), frame({ kind: 'session_resolved', payload: { sessionId: 's', isNewSession: true } }),
      chunk('Let me see', 'agent_thought_chunk'), chunk('Hello '), chunk('there\nsecond'), update({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Run ls', status: 'pending' }),
      update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' }), chunk(' rest'),
      frame({ payload: { id: 3, result: { stopReason: 'end_turn' } } }), frame({ kind: 'turn_liveness' }), frame({ kind: 'turn_completed' }),
    ]);
    expect(notes).toMatchObject([
      { type: 'turn_started', source: 'channel', events: 2, turnId: 't', channelId: OPEN, agent }, { type: 'session_resolved', isNew: true },
      { type: 'text', speaker: 'thought', text: 'Let me see' }, { type: 'text', speaker: 'agent', text: 'Hello there' }, { type: 'text', text: 'second' },
      { type: 'tool', toolCallId: 'c1', title: 'Run ls', status: 'pending' }, { type: 'tool', title: 'Run ls', status: 'completed' },
      { type: 'text', text: ' rest' }, { type: 'turn_completed', stopReason: 'end_turn' },
    ]);
  });

  it('ends once, also where a second end is told with another number', () => {
    expect(types([started(), frame({ kind: 'turn_completed' }), frame({ kind: 'turn_completed' }), started()])).toEqual(['turn_started', 'turn_completed']);
  });

  it('that failed is told once, whichever comes first', () => {
    const [error, completed] = [frame({ kind: 'turn_error', payload: { outcome: 'exited', error: 'gone' } }), frame({ kind: 'turn_completed', session: null })];
    expect(types([started(), error, completed])).toEqual(['turn_started', 'turn_failed', 'turn_completed']);
    expect(types([started(), completed, error])).toEqual(['turn_started', 'turn_completed', 'turn_failed']);
    expect([...run([started(), completed, error, frame({ kind: 'turn_liveness' })]).view.turns.values()]).toMatchObject([{ status: 'completed', error: 'gone' }]);
  });

  it('tells a line that nothing ends after a second, and one that is too long at once', () => {
    const { view, notes } = run([started(), chunk('no end')]);
    expect(notes).toHaveLength(1);
    expect(nextWakeMs(view)).toBe(NOW + 1_000);
    expect(step(view, { type: 'tick' }, milliseconds(NOW + 999)).notes).toEqual([]);
    expect(step(view, { type: 'tick' }, milliseconds(NOW + 1_000)).notes).toMatchObject([{ type: 'text', text: 'no end' }]);
    expect(types([started(), chunk('x'.repeat(401))])).toEqual(['turn_started', 'text']);
  });

  it('kinds and updates that are not known say nothing', () => {
    expect(types([frame({ kind: 'harness_started' }), frame({ kind: 'agent_panic', turn: null }), update({ sessionUpdate: 'plan_v9' })])).toEqual([]);
  });
});

describe('numbers', () => {
  it('that are missing in a session are told; those of another session, and of one that began anew, are not', () => {
    const gap = (...seqs: readonly (readonly [number, string])[]): readonly unknown[] =>
      run(seqs.map(([seq, session], index) => frame({ kind: 'x', seq, session, atMs: index }))).notes.map((note) => (note.type === 'gap' ? note.missing : note.type));
    expect(gap([5, 'a'], [6, 'a'], [9, 'a'])).toEqual([2]);
    expect(gap([1, 'a'], [2, 'b'], [3, 'b'], [4, 'a'])).toEqual([]);
    expect(gap([1, 'a'], [2, 'b'], [5, 'a'])).toEqual([2]);
    expect(gap([7, 'a'], [1, 'a'], [2, 'a'], [4, 'a'])).toEqual([1]);
  });

  it('a frame heard before is nothing, within the last 800', () => {
    const first = started();
    expect(types([first, first])).toEqual(['turn_started']);
    const many = Array.from({ length: MAX_RING + 10 }, () => frame({ kind: 'x' }));
    expect(run([first, ...many]).view.ring).toHaveLength(MAX_RING);
  });
});

describe('a permission request', () => {
  it('waits from its card on, and ends with the edit or the answer, once', () => {
    expect(decidable(run([challenge()]).view)).toEqual([]);
    const { view, notes } = run([challenge(), card()]);
    expect(decidable(view)).toMatchObject([{ nonce: 'n', deadline: NOW + 300_000 }]);
    expect(notes).toMatchObject([{ type: 'permission_pending', matches: true }]);
    const { notes: ends, view: after } = run([challenge(), card(), answered('applied'), edit()]);
    expect(ends.slice(1)).toMatchObject([{ type: 'permission_ended', outcome: 'applied', chosenOptionId: 'yes' }]);
    expect(decidable(after)).toEqual([]);
  });

  it('that has ended is opened by no card, challenge or answer again', () => {
    for (const end of [edit(), answered('timed_out'), frame({ kind: 'permission_terminal', authorization: { requestNonce: 'n', actionable: false, reason: 'uncertain' } })]) {
      expect(decidable(run([end, card(), challenge(), card()]).view)).toEqual([]);
      expect(decidable(run([card(), end, card()]).view)).toEqual([]);
    }
  });

  it('is one card: the same again, and an edit of another card, change nothing', () => {
    const { view } = run([card(), card(), edit('cancelled', 'n', OTHER_ID)]);
    expect(decidable(view)).toMatchObject([{ card: { eventId: CARD_ID }, deadline: NOW + 300_000 }]);
  });

  it('with two cards is decided by nobody, whichever comes first: one of them may be the agent\'s own', () => {
    const { card: facts, ...place } = card('n', 300, OTHER_ID);
    const forged: Input = { ...place, card: { ...facts, options: [facts.options[1], facts.options[0]] } };
    for (const order of [[card(), forged, card()], [forged, card(), forged]]) {
      const { view, notes } = run(order);
      expect(decidable(view)).toEqual([]);
      expect(notes).toMatchObject([{ type: 'permission_pending', matches: true }, { type: 'permission_pending', matches: false }]);
    }
    expect(decidable(run([card(), { ...forged, agent: carol.pubkey }]).view)).toHaveLength(2);
  });

  it('of one agent is not ended by another', () => {
    expect(decidable(run([card(), { ...edit(), agent: carol.pubkey } as Input]).view)).toHaveLength(1);
  });

  it('whose challenge says something else cannot be decided, whichever comes first', () => {
    const wrong = [
      challenge('n', [{ optionId: 'yes', kind: 'allow_always', name: 'x' }, { optionId: 'no', kind: 'reject_once', name: 'x' }]),
      challenge('n', [{ optionId: 'no', kind: 'allow_once', name: 'x' }, { optionId: 'yes', kind: 'reject_once', name: 'x' }]),
    ];
    for (const one of wrong) {
      for (const order of [[one, card()], [card(), one]]) {
        const { view, notes } = run(order);
        expect(decidable(view)).toEqual([]);
        expect(notes.at(-1)).toMatchObject({ type: 'permission_pending', matches: false });
      }
    }
  });

  it('never waits longer than 300 s, is counted down, and expires', () => {
    const { view } = run([card('n', 86_400)]);
    let [now, current] = [NOW, view];
    const told: unknown[] = [];
    for (let wake = nextWakeMs(current); wake !== undefined; wake = nextWakeMs(current)) {
      expect(wake).toBeGreaterThan(now);
      now = wake;
      const { view: next, notes } = step(current, { type: 'tick' }, now);
      current = next;
      told.push(...notes.map((note) => (note.type === 'permission_waits' ? note.leftSec : note.type === 'permission_ended' ? note.outcome : note.type)));
    }
    expect(told).toEqual([240, 180, 120, 60, 30, 10, 'expired']);
    expect(decidable(current)).toEqual([]);
    expect(run([card('n', -1)]).notes).toEqual([]);
    const old = { ...card('n', 86_400), createdAt: seconds(NOW / 1_000 - 200) };
    expect(decidable(run([old]).view)).toMatchObject([{ deadline: NOW + 100_000 }]);
  });

  it('answered by policy is told without a card', () => {
    expect(run([challenge('p', OPTIONS, false)]).notes).toMatchObject([{ type: 'permission_unasked', nonce: 'p' }]);
  });
});

it('tells why an agent is not started, with what of it can be read', () => {
  const refused = (payload: object): Input => frame({ kind: 'launch_refused', turn: null, session: null, payload });
  expect(run([refused({ code: 'team_conflict', detail: 'teams: x' }), refused({ code: 1 })]).notes).toMatchObject([
    { type: 'launch_refused', code: 'team_conflict', detail: 'teams: x', turnId: null }, { type: 'launch_refused', code: null, detail: null },
  ]);
});

describe('whatever order frames come in, and however often', () => {
  const pieces = [
    started(), chunk('a\n'), chunk('b\n'), update({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 'x', status: 'pending' }),
    challenge(), card(), edit('timed_out'), answered('timed_out', 'no'), frame({ kind: 'turn_error', payload: { error: 'e' } }), frame({ kind: 'turn_completed' }),
    started('t2'), frame({ kind: 'control_result', turn: null, session: null, payload: { type: 'cancel_turn', status: 'sent' } }),
  ];

  it('the end is the same, each thing is told at most once, and everything is bounded', () => {
    fc.assert(fc.property(
      fc.shuffledSubarray(pieces, { minLength: pieces.length }), fc.array(fc.nat(pieces.length - 1), { maxLength: 30 }),
      (order, again) => {
        const inputs = order.flatMap((piece, index) => [piece, ...again.filter((_, at) => at % order.length === index).map((which) => order[Math.min(which, index)] ?? piece)]);
        const { view, notes } = run(inputs);
        expect([...view.turns.values()].map(({ turnId, status, error }) => [turnId, status, error]).sort()).toEqual([['t', 'completed', 'e'], ['t2', 'running', undefined]]);
        expect([...view.permissions.values()]).toMatchObject([{ status: 'resolved', end: { outcome: 'timed_out' } }]);
        const count = (type: string): number => notes.filter((note) => note.type === type).length;
        for (const [type, most] of [['turn_failed', 1], ['turn_completed', 1], ['permission_ended', 1], ['permission_pending', 1], ['control_result', 1], ['text', 2], ['tool', 1]] as const) {
          expect(count(type)).toBeLessThanOrEqual(most);
        }
      },
    ), { numRuns: 300 });
  });

  it('a thousand turns and requests leave no more than the bounds', () => {
    const { view } = run(Array.from({ length: 1_000 }, (_, index) => [started(`t${index}`), challenge(`n${index}`), card(`n${index}`)]).flat());
    expect([view.turns.size, view.permissions.size, view.ring.length]).toEqual([256, 256, MAX_RING]);
  });
});

describe('readTelemetry', () => {
  const whole = { seq: 1, timestamp: '2026-04-29T12:00:41.500Z', kind: 'acp_read', payload: {} };
  const read = (value: unknown): unknown => {
    const found = readTelemetry(JSON.stringify(value));
    return found.ok ? found.events : found.detail;
  };

  it('unpacks a batch and leaves out what is malformed in it', () => {
    const batch = { ...whole, seq: 9, kind: 'batch', payload: { events: [whole, { ...whole, seq: 'x' }, { ...whole, kind: 'batch', payload: { events: [whole] } }, { ...whole, seq: 2 }] } };
    expect(read(batch)).toMatchObject([{ seq: 1, kind: 'acp_read' }, { seq: 2 }]);
  });

  it.each([
    [[], 'frame: expected a JSON object'], [{ ...whole, seq: -1 }, 'seq: expected a whole number'], [{ ...whole, seq: 1.5 }, 'seq: expected a whole number'],
    [{ ...whole, timestamp: '1' }, 'timestamp: expected a date and time of RFC 3339'], [{ ...whole, kind: '' }, 'kind: expected a word'],
    [{ ...whole, kind: 'batch', payload: { events: 1 } }, 'payload.events: expected a list'],
  ])('refuses %j', (value, detail) => {
    expect(read(value)).toBe(detail);
  });

  it('takes null and wrong types of what is optional for unknown', () => {
    expect(read({ ...whole, channelId: 'general', sessionId: 7, turnId: null, agentIndex: null, authorization: { requestNonce: '' } }))
      .toEqual([{ seq: 1, at: Date.parse(whole.timestamp), kind: 'acp_read', channelId: null, sessionId: null, turnId: null, payload: {} }]);
    expect(read({ ...whole, channelId: channelId(OPEN) })).toMatchObject([{ channelId: OPEN }]);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(typeof readTelemetry(text).ok).toBe('boolean');
    }));
    expect(readTelemetry('x'.repeat(65_536))).toMatchObject({ ok: false });
  });
});

it('moments are those of Date.parse, for what RFC 3339 allows', () => {
  const at = (timestamp: string): unknown => {
    const found = readTelemetry(JSON.stringify({ seq: 1, timestamp, kind: 'x', payload: {} }));
    return found.ok ? found.events[0]?.at : undefined;
  };
  fc.assert(fc.property(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
    expect(at(date.toISOString())).toBe(date.getTime());
  }));
  expect(at('2026-04-29T14:00:41.500123456+02:00')).toBe(Date.parse('2026-04-29T12:00:41.500Z'));
  for (const text of ['2026-04-29', '2026-13-01T00:00:00Z', '2026-04-29T12:00:41']) expect(at(text)).toBeUndefined();
});
