import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountForLines, compileTurn, standingText } from '../../compiler/index.ts';
import type { LineRun } from '../../compiler/index.ts';

import { hostileTurn } from './hostile.ts';
import { triggeredOf, turnOf } from './turns.ts';

/** Each line of `text` with the layer it is accounted to; throws when a line is in no run, or in two. */
function accounted(text: string, runs: readonly LineRun[]): readonly (readonly [string, string | undefined])[] {
  const lines = text === '' ? [] : text.split('\n');
  const covered = runs.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
  expect(covered).toEqual(lines.map((_, index) => index + 1));
  return runs.flatMap(({ from, to, layer }) => lines.slice(from - 1, to).map((line) => [line, layer] as const));
}

test('every line of any turn belongs to one layer or to the frame, and every layer has lines', () => {
  fc.assert(
    fc.property(hostileTurn, (input) => {
      const { envelope, manifest } = compileTurn(input);
      const account = accountForLines(input);
      const lines = [
        ...accounted(standingText(input.standing ?? {}), account.standing),
        ...accounted(envelope, account.envelope),
      ];
      const layers = new Set(lines.map(([, layer]) => layer).filter((layer) => layer !== undefined));
      expect([...layers].sort()).toEqual(manifest.layers.map(({ layer }) => layer).sort());
      // No one but the compiler writes `<`: what frames the layers is a fixed list of tags.
      const frame = accounted(envelope, account.envelope).filter(([, layer]) => layer === undefined).map(([line]) => line);
      expect(frame).toEqual(['<buzz-turn>', '<ambient-context>', '</ambient-context>', '</buzz-turn>']);
    }),
  );
});

describe('a turn with every layer', () => {
  const input = turnOf({
    channel: { name: 'two\nlines', type: 'stream', description: 'About' },
    events: [triggeredOf({ content: 'one\ntwo' }), triggeredOf({ content: 'three' })],
    interrupted: { mode: 'steer', events: [triggeredOf()] },
    history: { scope: 'thread', messages: [], total: 3, truncated: true },
    standing: {
      workspace: 'W', base: 'B', system: 'S', teamInstructions: 'T\nT', coreMemory: 'M', huddleInstructions: 'H', channelCanvas: 'C',
    },
  });

  test('has its envelope in runs', () => {
    expect(accountForLines(input).envelope).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 4, layer: 'context_status' },
      { from: 5, to: 7, layer: 'channel_snapshot' },
      { from: 8, to: 9, layer: 'recent_thread_delta' },
      { from: 10, to: 14, layer: 'interrupted_turn' },
      { from: 15, to: 15 },
      { from: 16, to: 22, layer: 'current_instruction' },
      { from: 23, to: 23, layer: 'delivery_contract' },
      { from: 24, to: 24 },
    ]);
  });

  test('has its standing text in runs, two sections of one layer apart', () => {
    expect(accountForLines(input).standing).toEqual([
      { from: 1, to: 4 },
      { from: 5, to: 7, layer: 'platform_contract' },
      { from: 8, to: 8 },
      { from: 9, to: 11, layer: 'persona_and_team_guidance' },
      { from: 12, to: 12 },
      { from: 13, to: 16, layer: 'persona_and_team_guidance' },
      { from: 17, to: 17 },
      { from: 18, to: 20, layer: 'core_memory' },
      { from: 21, to: 21 },
      { from: 22, to: 24, layer: 'persona_and_team_guidance' },
      { from: 25, to: 25 },
      { from: 26, to: 28, layer: 'channel_canvas' },
    ]);
  });

  test('has no standing lines without standing text', () => {
    expect(accountForLines(turnOf()).standing).toEqual([]);
    expect(accountForLines(turnOf({ standing: { base: ' \n' } })).standing).toEqual([]);
  });
});
