/** What a message in mid-turn comes to beside the cells: by policy, by what was published, and over a kill of skep. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventId, seconds } from '../../src/model/index.ts';
import { signEvent } from '../../src/nostr/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import { Bench, openBench } from './bench.ts';
import type { Script } from './bench.ts';
import { HeldStore } from './held-store.ts';
import { channel, friend, inThread, message, owner } from './people.ts';

const STEERABLE = { initialize: { meta: { steering: { supported: true } } } };
const KILLED_TEST_MS = 70_000;
/** A channel in which not only the owner is heard. */
const STREAM = signEvent({ created_at: seconds(1), kind: 39_000, tags: [['d', channel], ['name', 'garden'], ['t', 'stream']], content: '' }, owner.secretKey, new Uint8Array(32));
const published = (...letters: readonly string[]): { readonly events: readonly ReturnType<typeof eventId>[]; readonly undecided: boolean } =>
  ({ events: letters.map((letter) => eventId(letter.repeat(64))), undecided: false });

/** The first turn waits for `go`; every answer tells what it was about and how it was merged. */
function holding(more: object = {}): Script {
  return {
    onSteer: {}, ...more,
    rules: [
      { match: 'first', times: 1, do: [{ say: 'Well, ' }, { mark: 'ready' }, { wait: 'go' }, { say: 'answer to {{content}} {{steered}}' }] },
      { do: [{ say: 'answer to {{content}}, {{merge_disposition}} {{interrupted}}, in {{session}}' }] },
    ],
  };
}

interface Told {
  readonly contextManifest: { readonly hash: string; readonly layers: readonly { readonly layer: string }[] };
}

async function begun(bench: Bench, by = message({ content: 'the first' })): Promise<typeof by> {
  await bench.hear(by);
  await bench.until(() => bench.isMarked('ready'));
  return by;
}

describe('a policy', () => {
  it('queue lets it wait for a turn of its own', async () => {
    const bench = openBench({ script: holding(STEERABLE), midTurn: 'queue' });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', tags: inThread(first.id) }));
    bench.openGate('go');
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual(['Well, answer to the first', expect.stringMatching(/^answer to the second, {2},/)]);
    expect(bench.seen('steered')).toEqual([]);
  });

  it('interrupt drops the work that was cut short, whoever asks, in the same session of an agent that heeds it', async () => {
    const bench = openBench({ script: holding(STEERABLE), midTurn: 'interrupt', stored: [STREAM] });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', by: friend, tags: inThread(first.id) }));
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual([expect.stringMatching(/^answer to the second, supersede_prior_work the first, in session-/)]);
    expect(bench.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'kept']);
    expect(new Set(bench.seen('turn_started').map(({ pid }) => pid)).size).toBe(1);
    expect(await bench.row(first)).toMatchObject({ status: 'done' });
  });

  it('owner-interrupt lets others wait, and the owner not', async () => {
    const bench = openBench({ script: holding(), midTurn: 'owner-interrupt', stored: [STREAM] });
    const first = await begun(bench, message({ content: 'the first', by: friend }));
    await bench.hear(message({ content: 'a friend', by: friend, tags: inThread(first.id) }));
    expect(bench.agent.snapshot().inbox).toMatchObject({ queued: 1, dispatched: 1 });
    await bench.hear(message({ content: 'the owner', tags: inThread(first.id) }));
    await bench.nth('turn_ended', 3);
    expect(bench.answers).toEqual([
      expect.stringMatching(/^answer to the owner, supersede_prior_work the first/), expect.stringMatching(/^answer to a friend, {2},/),
    ]);
  });

  it('steer gives a turn nothing of another thread, nor of another author', async () => {
    const bench = openBench({ script: holding(STEERABLE), midTurn: 'steer', stored: [STREAM] });
    const first = await begun(bench);
    await bench.hear(message({ content: 'elsewhere' }));
    await bench.hear(message({ content: 'a friend', by: friend, tags: inThread(first.id) }));
    bench.openGate('go');
    await bench.nth('turn_ended', 3);
    expect(bench.answers).toHaveLength(3);
    expect(bench.seen('steered')).toEqual([]);
  });

  it('steer takes up the work that was cut short, where the agent takes nothing', async () => {
    const bench = openBench({ script: holding(), midTurn: 'steer' });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', tags: inThread(first.id) }));
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual([expect.stringMatching(/^answer to the second, continue_prior_work the first/)]);
  });

  it('and its work is finished where the agent had published by then, "working on it" or more', async () => {
    const bench = openBench({ script: holding(), midTurn: 'steer', publications: [published('a'), published()] });
    const first = await begun(bench);
    const second = message({ content: 'the second', tags: inThread(first.id) });
    await bench.hear(second);
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual([expect.stringMatching(/^answer to the second, continue_prior_work the first/)]);
    expect(bench.seen('turn_started').map(({ eventIds, session }) => [eventIds, session])).toEqual([[[first.id], 'new'], [[second.id], 'kept']]);
    expect(await bench.row(first)).toMatchObject({ status: 'done', outcome: 'cut short for a message that came meanwhile, after it had published' });
  });

  it('and is finished after a turn that broke, in another process; it has no turn of its own', async () => {
    const bench = openBench({
      midTurn: 'steer', publications: [published('a'), published(), published()],
      script: {
        rules: [
          { match: 'first', times: 1, do: [{ mark: 'ready' }, { wait: 'go' }] },
          { match: 'second', once: 'broken', do: [{ die: 'SIGKILL' }] },
          { do: [{ say: 'answer to {{content}}, {{merge_disposition}} {{interrupted}}' }] },
        ],
      },
    });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', tags: inThread(first.id) }));
    await bench.nth('turn_ended', 2);
    await bench.nth('process_ended');
    await bench.until(() => {
      const { turns, processes } = bench.agent.snapshot();
      if (turns.length === 0 && !processes.some(({ state }) => state === 'starting')) bench.clock.push(7_000);
      return bench.seen('turn_ended').length === 3;
    });
    expect(bench.answers).toEqual([expect.stringMatching(/^answer to the second, continue_prior_work the first\nthe second/)]);
    expect(bench.seen('turn_started')).toHaveLength(3);
  });
});

describe('a message that the agent takes', () => {
  it('is in the manifest of the metric and of the frame that tells the owner, and in the turn that status shows', async () => {
    const usage = { inputTokens: 7, outputTokens: 2, totalTokens: 9 };
    const bench = openBench({
      script: { ...STEERABLE, onSteer: {}, rules: [{ do: [{ mark: 'ready' }, { wait: 'go' }, { say: '{{steered}}' }, { stop: { usage } }] }] },
      midTurn: 'steer', observation: { livenessMs: 3_600_000, packed: false, program: { command: 'node', args: [] } },
    });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', tags: inThread(first.id) }));
    await bench.nth('steered');
    await bench.until(() => bench.agent.snapshot().turns[0]?.events === 2);
    bench.openGate('go');
    await bench.nth('turn_ended');
    const payloads = (kind: string): readonly Told[] => bench.link.told.filter((frame) => frame.kind === kind).map(({ payload }) => JSON.parse(payload) as Told);
    const [before] = payloads('prompt_context_delivery');
    const [after, ...others] = payloads('prompt_context_steer');
    expect(others).toEqual([]);
    expect(after?.contextManifest.layers.map(({ layer }) => layer)).toEqual([
      ...(before?.contextManifest.layers.map(({ layer }) => layer) ?? []), 'current_instruction', 'delivery_contract', 'steer_delivery_contract',
    ].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
    expect(JSON.parse(bench.link.metrics[0] ?? '{}')).toMatchObject({ contextManifest: { hash: after?.contextManifest.hash } });
  });

  it('is given alone: the next one when its fate is known', async () => {
    const bench = openBench({ script: holding({ ...STEERABLE, onSteer: { before: [{ mark: 'asked' }, { wait: 'ack' }] } }), midTurn: 'steer' });
    const first = await begun(bench);
    for (const content of ['the second', 'the third']) await bench.hear(message({ content, tags: inThread(first.id) }));
    await bench.until(() => bench.isMarked('asked'));
    expect(bench.agent.snapshot().inbox).toMatchObject({ queued: 1, dispatched: 2 });
    bench.openGate('ack');
    await bench.nth('steered', 2);
    bench.openGate('go');
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['Well, answer to the first the second\nthe third']);
  });

  it('and ends its turn without a word on, has a turn of its own', async () => {
    const bench = openBench({ script: holding({ ...STEERABLE, onSteer: { after: [{ stop: 'end_turn' }] } }), midTurn: 'steer' });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', tags: inThread(first.id) }));
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual(['Well,', expect.stringMatching(/^answer to the second/)]);
    expect(bench.notices).toEqual([]);
  });

  it('is answered by what the agent writes since, where it had published before', async () => {
    const bench = openBench({ script: holding(STEERABLE), midTurn: 'steer', publications: [published('a')] });
    const first = await begun(bench);
    const second = message({ content: 'the second', tags: inThread(first.id) });
    await bench.hear(second);
    await bench.nth('steered');
    bench.openGate('go');
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer to the first the second']);
    expect(bench.link.said[0]).toMatchObject({ replyTo: { root: first.id } });
    expect(await bench.row(second)).toMatchObject({ status: 'done' });
  });

  it('is answered by what the agent publishes since: nothing more is said', async () => {
    const bench = openBench({ script: holding(STEERABLE), midTurn: 'steer', publications: [published('a'), published('a', 'b')] });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', tags: inThread(first.id) }));
    await bench.nth('steered');
    bench.openGate('go');
    await bench.nth('turn_ended');
    expect(bench.link.said).toEqual([]);
    expect(bench.agent.snapshot().inbox).toMatchObject({ queued: 0, done: 2 });
  });

  it('waits where it is not known whether the turn was answered', async () => {
    const bench = openBench({ script: holding(STEERABLE), midTurn: 'steer', publications: [{ events: [], undecided: true }, published()] });
    const first = await begun(bench);
    await bench.hear(message({ content: 'the second', tags: inThread(first.id) }));
    bench.openGate('go');
    await bench.nth('turn_ended', 2);
    expect(bench.seen('steered')).toEqual([]);
    expect(bench.answers).toHaveLength(2);
  });

  it('is dropped with its turn where its owner wants that no more', async () => {
    const bench = openBench({ script: holding(STEERABLE), midTurn: 'steer' });
    const first = await begun(bench);
    const second = message({ content: 'the second', tags: inThread(first.id) });
    await bench.hear(second);
    await bench.nth('steered');
    await bench.hear(message({ content: '!cancel' }));
    await bench.nth('turn_ended');
    for (const event of [first, second]) expect(await bench.row(event)).toMatchObject({ status: 'done' });
    expect(bench.answers).toEqual([]);
  });
});

/** What the compiler's table says of these layers. */
const ORDER = ['platform_contract', 'channel_snapshot', 'context_status', 'current_instruction', 'delivery_contract', 'steer_delivery_contract'];

describe('a kill of skep between a message and the agent\'s word on it', () => {
  it.each([
    ['had published nothing', 0, ['the first', 'the second']],
    ['had answered the turn', 1, ['the second']],
    ['had answered both', 2, []],
  ])('where the agent %s', async (_, count, open) => {
    const rows = openSqlite(':memory:', SUPERVISOR_SCHEMA);
    onTestFinished(() => rows.close());
    const killed = new Bench({ script: holding({ ...STEERABLE, onSteer: { answer: 'never', before: [{ mark: 'asked' }] } }), midTurn: 'steer', store: new HeldStore(rows) });
    killed.agent.open();
    const first = await begun(killed);
    const second = message({ content: 'the second', tags: inThread(first.id) });
    await killed.hear(second);
    await killed.until(() => killed.isMarked('asked'));
    expect(await killed.row(second)).toMatchObject({ status: 'dispatched' });
    // From here on nothing of it reaches the disk.
    killed.store.refuse('queued');
    killed.agent.force();
    await killed.agent.stop(0);

    expect(killed.fatal).toHaveLength(1);
    const bench = new Bench({ script: holding(), midTurn: 'steer', store: new HeldStore(rows) });
    onTestFinished(() => bench.agent.stop(0));
    // The turn that was killed is asked about first.
    const answers = [published(...['a', 'b'].slice(0, count))];
    bench.link.publishedIn = async () => answers.shift() ?? published();
    bench.agent.open();
    await bench.until(() => {
      if (bench.agent.snapshot().turns.length === 0) bench.openGate('go');
      return bench.agent.snapshot().inbox.done === 2;
    });
    const said = bench.answers.join('\n');
    for (const word of ['the first', 'the second']) expect(said.includes(word), word).toBe(open.includes(word));
    expect(bench.answers.length).toBeLessThanOrEqual(1);
  }, KILLED_TEST_MS);
});
