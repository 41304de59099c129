import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { compileTurn, manifestOf } from '../../compiler/index.ts';
import type { Layer, TurnInput } from '../../compiler/index.ts';
import { idOf, MORGAN, reordered, SAM, triggeredOf, turnOf } from './turns.ts';

const sha = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

// The public reference vector of the context manifest.
const VECTOR: Layer = {
  order: 7,
  layer: 'current_instruction',
  scope: 'turn',
  source: 'nostr_event',
  version: 'event-1',
  authority: 'authoritative',
  freshness: 'current',
  estimatedTokens: 1,
  truncated: false,
};
const VECTOR_HASH = 'sha256:e6c77d04da70df30c632174621fcb8f23102c1b6df7fe14f02092d6466e6c115';

const layer = (order: number, name: string): Layer => ({ ...VECTOR, order, layer: name });

describe('a manifest of layers', () => {
  test('the reference vector', () => {
    expect(manifestOf([VECTOR])).toEqual({ schemaVersion: 1, hash: VECTOR_HASH, layers: [VECTOR] });
  });

  test('members are written in the specified order, however they came', () => {
    const manifest = manifestOf([reordered(VECTOR) as Layer]);
    expect(manifest.hash).toBe(VECTOR_HASH);
    expect(JSON.stringify(manifest.layers)).toBe(JSON.stringify([VECTOR]));
  });

  test('sorted by order, and stable within one', () => {
    const given = [layer(8, 'a'), layer(6, 'b'), layer(8, 'c'), layer(1, 'd'), layer(6, 'e'), layer(10, 'f')];
    expect(manifestOf(given).layers.map(({ layer: name }) => name)).toEqual(['d', 'b', 'e', 'a', 'c', 'f']);
    expect(given.map(({ layer: name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('hashes the compact JSON of the sorted layers, non-ASCII as it is', () => {
    const { hash, layers } = manifestOf([layer(2, 'ü😀'), layer(1, 'a')]);
    expect(hash).toBe(sha(JSON.stringify(layers)));
    expect(JSON.stringify(layers)).toContain('ü😀');
  });

  test('of nothing', () => {
    expect(manifestOf([])).toEqual({ schemaVersion: 1, hash: sha('[]'), layers: [] });
  });
});

const FULL = turnOf({
  channel: { name: 'engineering', type: 'stream', description: 'Builds' },
  profiles: { [MORGAN]: { displayName: 'Morgan' } },
  history: {
    scope: 'thread',
    messages: [{ eventId: idOf(3), pubkey: SAM, timestamp: 12, content: 'a "quoted" \n line' }],
    total: 4,
    truncated: true,
  },
  interrupted: { mode: 'steer', events: [triggeredOf({ id: idOf(2) })] },
  standing: {
    workspace: 'w',
    base: ' base \n',
    system: '\n system\u0085',
    teamInstructions: ' \n',
    coreMemory: ' <memory> ',
    huddleInstructions: ' huddle ',
    channelCanvas: 'canvas\n',
  },
});

function layersOf(change: Partial<TurnInput> = {}): readonly Layer[] {
  return compileTurn({ ...FULL, ...change }).manifest.layers;
}

function named(name: string, change: Partial<TurnInput> = {}): Layer | undefined {
  return layersOf(change).find(({ layer: found }) => found === name);
}

describe('the layers of a turn', () => {
  test('every row of the table, in its order', () => {
    const rows = layersOf().map((row) =>
      [row.order, row.layer, row.scope, row.source, row.authority, row.freshness, row.truncated].join(' '),
    );
    expect(rows).toEqual([
      '1 platform_contract runtime base_prompt instructions configured false',
      '2 persona_and_team_guidance agent_community agent_configuration instructions configured false',
      '3 core_memory agent_owner core_engram advisory_context session_start false',
      '4 channel_snapshot channel channel_metadata shared_evidence cached false',
      '4 channel_canvas channel channel_canvas shared_evidence session_start false',
      '6 context_status turn delivery_state evidence current false',
      '6 recent_thread_delta thread relay_events evidence current true',
      '6 interrupted_turn thread cancelled_events evidence current false',
      '7 current_instruction turn nostr_event authoritative current false',
      '8 delivery_contract turn buzz_routing routing_constraint current false',
    ]);
  });

  test('members in the specified order', () => {
    for (const row of layersOf()) {
      expect(Object.keys(row)).toEqual([
        'order',
        'layer',
        'scope',
        'source',
        'version',
        'authority',
        'freshness',
        'estimatedTokens',
        'truncated',
      ]);
    }
  });

  test.each<[string, string]>([
    ['platform_contract', ' base \n'],
    ['persona_and_team_guidance', 'system\n\nhuddle'],
    ['core_memory', ' <memory> '],
    ['channel_snapshot', 'Channel: engineering\nDescription: Builds'],
    ['channel_canvas', 'canvas\n'],
  ])('%s is versioned by its content', (name, content) => {
    expect(named(name)).toMatchObject({ version: sha(content), estimatedTokens: Math.ceil(content.length / 4) });
  });

  test('each fragment is versioned as rendered', () => {
    const { envelope } = compileTurn(FULL);
    const between = (first: string, last: string): string =>
      envelope.slice(envelope.indexOf(first), envelope.indexOf(last) + last.length);
    expect(named('context_status')?.version).toBe(sha(between('Scope:', `channelId=${FULL.channelId}`)));
    expect(named('interrupted_turn')?.version).toBe(sha(between('<interrupted-turn', '</interrupted-turn>')));
    expect(named('delivery_contract')?.version).toBe(sha(between('<delivery', '/>')));
    const delta = between('<recent-thread-delta', '</recent-thread-delta>');
    expect(named('recent_thread_delta')?.estimatedTokens).toBe(Math.ceil(delta.length / 4));
  });

  test('the history is versioned by its messages, in the specified member order', () => {
    expect(named('recent_thread_delta')?.version).toBe(
      sha(
        `{"messages":[["${idOf(3)}","${SAM}",12,"a \\"quoted\\" \\n line"]],` +
          '"scope":"thread","total":4,"truncated":true}',
      ),
    );
  });

  test.each([
    ['another event id', { eventId: idOf(4) }],
    ['another author', { pubkey: MORGAN }],
    ['another time', { timestamp: 13 }],
    ['another content', { content: 'x' }],
  ])('%s is another version of the history', (_, change) => {
    const { history } = FULL;
    if (history === undefined) throw new Error('no history');
    const messages = history.messages.map((message) => ({ ...message, ...change }));
    expect(named('recent_thread_delta', { history: { ...history, messages } })?.version).not.toBe(
      named('recent_thread_delta')?.version,
    );
  });

  test('a history in a DM has that scope', () => {
    expect(
      named('recent_thread_delta', { history: { scope: 'dm', messages: [], total: 0, truncated: false } }),
    ).toMatchObject({
      scope: 'dm',
      truncated: false,
      version: sha('{"messages":[],"scope":"dm","total":0,"truncated":false}'),
    });
  });

  test('the instruction is versioned by the event when there is one, by content when there are more', () => {
    expect(named('current_instruction')?.version).toBe(idOf(1));
    const events = [triggeredOf(), triggeredOf({ id: idOf(9) })];
    const { envelope } = compileTurn({ ...FULL, events });
    const blocks = envelope.slice(
      envelope.indexOf('</ambient-context>\n') + '</ambient-context>\n'.length,
      envelope.indexOf('\n<delivery'),
    );
    expect(named('current_instruction', { events })?.version).toBe(sha(blocks));
  });

  test('blank ones are omitted, and the workspace is none', () => {
    const bare = turnOf({
      standing: { workspace: 'w', base: '\u0085', system: ' ', coreMemory: '\n', channelCanvas: '' },
    });
    expect(compileTurn(bare).manifest.layers.map(({ layer: name }) => name)).toEqual([
      'context_status',
      'current_instruction',
      'delivery_contract',
    ]);
  });

  test.each([
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['😀😀😀😀', 1],
    ['😀😀😀😀😀', 2],
    ['\ud83d'.repeat(5), 2],
  ])('%j is estimated as %i tokens', (base, tokens) => {
    expect(named('platform_contract', { standing: { base } })?.estimatedTokens).toBe(tokens);
  });

  test('content is hashed well-formed', () => {
    expect(named('core_memory', { standing: { coreMemory: 'a\ud800' } })?.version).toBe(sha('a\ufffd'));
    expect(named('persona_and_team_guidance', { standing: { system: '\ude00' } })?.version).toBe(sha('\ufffd'));
  });

  test('a change of anything visible is another manifest', () => {
    const hashes = [
      FULL,
      { ...FULL, historyDelivered: true, history: undefined },
      { ...FULL, channel: { name: 'other', type: 'stream' } },
      { ...FULL, interrupted: { mode: 'interrupt' as const, events: [triggeredOf({ id: idOf(2) })] } },
      { ...FULL, standing: { base: 'other' } },
    ].map(({ history, ...rest }) => compileTurn(history === undefined ? rest : { ...rest, history }).manifest.hash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
