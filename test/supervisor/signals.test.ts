/** What an agent's live signals say: where it is writing as long as a turn runs, and whether anybody is at work. */
import { describe, expect, it, vi } from 'vitest';
import { presenceOf, typingPlace } from '../../src/supervisor/signals.ts';
import { openBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { channel, entryOf, inThread, message } from './people.ts';

const BOTH = { presence: true, typing: true };
const GATED = { rules: [{ do: [{ wait: 'go' }, { say: 'answer' }] }] };

function presences(bench: Bench): readonly string[] {
  return bench.link.calls.flatMap((call) => (call.startsWith('presence ') ? [call.slice('presence '.length)] : []));
}

describe('typing', () => {
  it('is told as long as the prompt runs, and over before the answer is sent', async () => {
    const bench = openBench({ signals: BOTH, script: GATED });
    await bench.hear(message());
    await bench.nth('turn_started');
    expect(bench.link.typed).toEqual([{ channelId: channel }]);
    bench.openGate('go');
    await bench.until(() => bench.link.said.length === 1);
    expect(bench.link.typed).toEqual([]);
  });

  it('is told when the agent has its prompt, which waits for no signature', async () => {
    const bench = openBench({ signals: BOTH, script: GATED });
    const begun: number[] = [];
    const typing = bench.link.typing.bind(bench.link);
    vi.spyOn(bench.link, 'typing').mockImplementation((place) => {
      begun.push(bench.seen('turn_started').length);
      return typing(place);
    });
    await bench.hear(message());
    await bench.nth('turn_started');
    expect(begun).toEqual([1]);
  });

  it('ends with a process that dies in mid-turn', async () => {
    const bench = openBench({ signals: BOTH, script: { rules: [{ do: [{ die: 'SIGKILL' }] }] } });
    await bench.hear(message());
    await bench.nth('turn_ended');
    expect(bench.link.typed).toEqual([]);
  });

  it.each([
    ['by its own setting', { presence: true, typing: false }],
    ['with no signals at all', undefined],
  ])('is turned off %s', async (_, signals) => {
    const bench = openBench({ ...(signals && { signals }), script: GATED });
    await bench.hear(message());
    await bench.nth('turn_started');
    expect(bench.link.typed).toEqual([]);
  });

  it('is where the message stands: in the channel, or in its thread as an answer to it', () => {
    const top = message();
    const nested = message({ tags: inThread(top.id) });
    const batch = (event: typeof top): Parameters<typeof typingPlace>[0] => ({ channelId: channel, entries: [entryOf(event, 1)] });
    expect(typingPlace(batch(top))).toEqual({ channelId: channel });
    expect(typingPlace(batch(nested))).toEqual({ channelId: channel, thread: { root: top.id, parent: nested.id } });
  });
});

describe('presence', () => {
  it('is online from the first process on, and offline at the end', async () => {
    const bench = openBench({ signals: BOTH });
    await bench.nth('process_started');
    await bench.until(() => presences(bench).length === 1);
    await bench.agent.stop(0);
    expect(presences(bench)).toEqual(['online', 'offline']);
  });

  it('is told of no process by its setting', async () => {
    const bench = openBench({ signals: { presence: false, typing: true } });
    await bench.nth('process_started');
    await bench.agent.stop(0);
    expect(presences(bench)).toEqual([]);
  });

  it.each([
    [['idle'], 'online'], [['broken', 'busy'], 'online'], [['broken', 'broken'], 'away'], [['asleep', 'broken'], 'away'],
    [['starting'], undefined], [['backoff', 'broken'], undefined], [['stopping', 'asleep'], undefined],
  ] as const)('of %j is %s', (phases, presence) => {
    expect(presenceOf(phases)).toBe(presence);
  });
});
