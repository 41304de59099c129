/** Streams through the gate, the inbox and its rows under a virtual clock: what is seen, and when. */
import { describe, expect, it } from 'vitest';
import { replayStream } from '../../src/replay/index.ts';
import type { StreamSettings, StreamStep } from '../../src/replay/index.ts';
import { agent, channel, friend, inThread, message, otherChannel, owner, sibling, someRoot } from '../supervisor/people.ts';
import { arrive, done, failed, SETTINGS, streamSample } from './samples.ts';

const replay = (steps: readonly StreamStep[], more: Partial<StreamSettings> = {}) => replayStream({ settings: { ...SETTINGS, ...more }, steps });
const { agent: us, owner: theirs, respondTo, allowlist, subscribe, session, gatherMs } = SETTINGS;
const BY_HAND: StreamSettings = { agent: us, owner: theirs, respondTo, allowlist, subscribe, session, gatherMs };

describe('a stream', () => {
  it('gathers, coalesces and ends', async () => {
    const { settings, steps, expected } = streamSample();
    expect(await replayStream({ settings, steps })).toEqual(expected);
  });

  it('gives the same sightings each time', async () => {
    const stream = streamSample();
    expect(await replayStream(stream)).toEqual(await replayStream(stream));
  });

  it('refuses, and knows what it had', async () => {
    const event = message();
    const seen = await replay([
      arrive(0, event), arrive(1, event), arrive(2, message({ by: friend })), arrive(3, message({ by: agent })), arrive(4, message({ tags: [] })),
    ]);
    expect(seen.map((one) => [one.atMs, one.saw, 'reason' in one ? one.reason : undefined])).toEqual([
      [0, 'queued', undefined], [0, 'turn', undefined], [1, 'known', undefined], [2, 'refused', 'not-owner'], [3, 'refused', 'own'],
      [4, 'refused', 'no-mention'],
    ]);
  });

  it('retries a failure after its back-off, which nobody has to step to', async () => {
    const event = message();
    const seen = await replay([arrive(0, event), failed(1_000, 1, 0), done(6_000, 2)]);
    expect(seen.slice(1)).toEqual([
      { atMs: 0, saw: 'turn', turn: 1, lane: channel, channelId: channel, eventIds: [event.id], interrupted: false },
      { atMs: 1_000, saw: 'again', turn: 1, eventIds: [event.id], attempts: 1, notBeforeMs: 5_000, outcome: 'it broke' },
      { atMs: 5_000, saw: 'turn', turn: 2, lane: channel, channelId: channel, eventIds: [event.id], interrupted: true },
      { atMs: 6_000, saw: 'done', turn: 2, eventIds: [event.id], outcome: 'end_turn' },
    ]);
  });

  it('gives up after ten retries, and tells the thread', async () => {
    const event = message();
    const steps: StreamStep[] = [arrive(0, event)];
    for (let turn = 1; turn <= 11; turn += 1) steps.push(failed(turn * 400_000, turn));
    const seen = await replay(steps);
    expect(seen.filter(({ saw }) => saw === 'turn')).toHaveLength(11);
    expect(seen.at(-1)).toEqual({ atMs: 4_400_000, saw: 'dead', eventIds: [event.id], outcome: 'gave up after 10 retries: it broke', notice: true });
  });

  it('takes only what it is told to, without processes of its own', async () => {
    const event = message();
    expect(await replayStream({ settings: BY_HAND, steps: [arrive(0, event)] })).toHaveLength(1);
    const seen = await replayStream({ settings: BY_HAND, steps: [arrive(0, event), { atMs: 70, do: 'take' }, { atMs: 70, do: 'take' }] });
    expect(seen.map(({ atMs, saw }) => [atMs, saw])).toEqual([[0, 'queued'], [70, 'turn']]);
  });

  it('is not over while something waits for time', async () => {
    const steps = [arrive(0, message({ tags: inThread(someRoot) })), failed(300, 1)];
    expect((await replay(steps)).map(({ atMs, saw }) => [atMs, saw])).toEqual([[0, 'queued'], [200, 'turn'], [300, 'again'], [5_300, 'turn']]);
  });

  it('serialises on one process, and runs two lanes beside each other on two', async () => {
    const steps = [arrive(0, message()), arrive(1, message(), { channelId: otherChannel }), done(10, 1), done(20, 2)];
    const turns = async (processes: number) => (await replay(steps, { processes })).filter(({ saw }) => saw === 'turn').map(({ atMs }) => atMs);
    expect(await turns(1)).toEqual([0, 10]);
    expect(await turns(2)).toEqual([0, 1]);
  });

  it('takes a wake and a step of one time in that order', async () => {
    const [first, second] = [message({ tags: inThread(someRoot) }), message({ tags: inThread(someRoot) })];
    const seen = await replay([arrive(0, first), arrive(200, second)]);
    expect(seen.map(({ atMs, saw }) => [atMs, saw])).toEqual([[0, 'queued'], [200, 'turn'], [200, 'queued']]);
  });
});

describe('a channel that is left', () => {
  it('buries what waits and cuts short what runs', async () => {
    const [first, second] = [message(), message()];
    const seen = await replay([arrive(0, first), arrive(1, second), { atMs: 5, do: 'leave', channelId: channel }, done(9, 1)]);
    expect(seen.slice(3)).toEqual([
      { atMs: 5, saw: 'dead', eventIds: [second.id, first.id], outcome: 'left the channel' },
      { atMs: 5, saw: 'cut_short', turn: 1 },
    ]);
  });
});

describe('a restart', () => {
  it('takes a turn that was answered for done, and gives another again as interrupted', async () => {
    const event = message();
    const answered = await replay([arrive(0, event), { atMs: 50, do: 'restart', answered: [1] }]);
    expect(answered.slice(2)).toEqual([{ atMs: 50, saw: 'done', turn: 1, eventIds: [event.id], outcome: 'answered before the restart' }]);
    const again = await replay([arrive(0, event), { atMs: 50, do: 'restart', answered: [] }]);
    expect(again.slice(2)).toMatchObject([
      { atMs: 50, saw: 'again', turn: 1, attempts: 1, notBeforeMs: 50 }, { atMs: 50, saw: 'turn', turn: 2, eventIds: [event.id], interrupted: true },
    ]);
  });

  it('keeps the memory of what came', async () => {
    const event = message();
    const seen = await replay([arrive(0, event), done(1, 1), { atMs: 2, do: 'restart', answered: [] }, arrive(3, event)]);
    expect(seen.at(-1)).toEqual({ atMs: 3, saw: 'known', eventId: event.id });
  });

  it('is another thing for two turns', async () => {
    const steps = [arrive(0, message()), arrive(1, message(), { channelId: otherChannel }), { atMs: 9, do: 'restart', answered: [2] } as const];
    expect((await replay(steps, { processes: 2 })).slice(4)).toMatchObject([{ saw: 'again', turn: 1 }, { saw: 'done', turn: 2 }, { saw: 'turn', turn: 3 }]);
  });
});

describe('hops', () => {
  const author = { isAgent: true, owner: owner.pubkey };

  it('are counted on the stream itself', async () => {
    const steps = [1, 2, 3].map((at) => arrive(at, message({ by: sibling, tags: inThread(someRoot) }), { author }));
    expect((await replay(steps)).flatMap((one) => (one.saw === 'queued' ? [one.hops] : []))).toEqual([1, 2, 3]);
  });

  it('are as they were counted, where the stream says so', async () => {
    const at = (inDestination: number) => replay([arrive(0, message({ by: sibling }), { author, hops: { inDestination, inChannel: 0 } })]);
    expect((await at(5))[0]).toMatchObject({ saw: 'queued', hops: 6 });
    expect((await at(8))[0]).toMatchObject({ saw: 'refused', reason: 'hop-cap' });
  });
});
