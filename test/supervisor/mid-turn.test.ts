/**
 * A message that comes while a turn is under way, in every cell of {how the agent can be steered} × {what it is at} × {what
 * it says to a steer}, with a real process. In each: both messages are answered exactly once, in a turn that began with
 * them or took them, and nothing waits any more.
 */
import { describe, expect, it } from 'vitest';
import { settleable } from '../../src/model/index.ts';
import { openBench } from './bench.ts';
import type { Bench, Script } from './bench.ts';
import { friend, inThread, message, someRoot } from './people.ts';

const ASK_MS = 120_000;
const STEER_MS = 10_000;
const LATE_MS = 1_000;
const RETRY_MS = 7_000;
const METHODS = ['_session/steering', '_goose/unstable/session/steer'];

const DIALECTS = ['session', 'goose', 'fallback'] as const;
const STATUSES = ['idle', 'streaming', 'tool running', 'ask pending', 'ending', 'dead'] as const;
const ANSWERS = ['injected', 'startedNewTurn', 'refused', 'never'] as const;

type Dialect = (typeof DIALECTS)[number];
type Status = (typeof STATUSES)[number];
type Answer = (typeof ANSWERS)[number];

const READY = [{ mark: 'ready' }, { wait: 'go' }];
const SAY = { say: 'answer to {{content}} {{steered}}' };

/** What the agent is at when the second message comes. */
const AT: Readonly<Record<Status, readonly object[]>> = {
  'idle': [SAY],
  'streaming': [{ say: 'Well, ' }, ...READY, SAY],
  'tool running': [{ tool: { title: 'build', id: 't1', updates: [{ status: 'in_progress' }] } }, ...READY, SAY],
  'ask pending': [{ mark: 'ready' }, { ask: 'May I?' }, SAY],
  'ending': [SAY, ...READY],
  'dead': [{ say: 'Well, ' }, ...READY, SAY],
};

function scriptOf(dialect: Dialect, status: Status, answer: Answer): Script {
  const run = dialect === 'goose' ? [{ update: { sessionUpdate: 'session_info_update', _meta: { goose: { activeRunId: 'run-1' } } } }] : [];
  const said = answer === 'refused' ? { error: { code: -32_601, message: 'no such method' } } : answer;
  const stop = [{ stop: 'end_turn' }];
  const die = [{ die: 'SIGKILL' }];
  return {
    ...(dialect === 'session' && { initialize: { meta: { steering: { supported: true } } } }),
    onSteer: { answer: said, before: status === 'ending' ? stop : [], after: status === 'dead' ? die : [] },
    onCancel: status === 'ending' ? stop : status === 'dead' ? die : [],
    rules: [
      { match: 'first', times: 1, unless: { merge_disposition: 'continue_prior_work' }, do: [...run, ...AT[status]] },
      { do: [{ say: 'answer to {{interrupted}} {{content}}' }] },
    ],
  };
}

/** Lets everything happen that waits for time: the retry of what failed, the answer of an owner, the word of a silent agent. */
async function untilAllDone(bench: Bench, messages: number): Promise<void> {
  await bench.until(() => {
    const { turns, inbox, processes } = bench.agent.snapshot();
    const isStarting = processes.some(({ state }) => state === 'starting');
    if (turns.length === 0 && inbox.queued > 0 && !isStarting) bench.clock.push(RETRY_MS);
    for (const wait of [LATE_MS, STEER_MS]) if (turns.length > 0 && bench.clock.waits(wait)) bench.clock.push(wait);
    return inbox.done === messages && turns.length === 0;
  });
}

/** Answers in which a word is said, and whether each came from a turn that had the message. */
function answersTo(bench: Bench, word: string, eventId: string): readonly boolean[] {
  const answers = bench.link.said.filter(({ kind, content }) => kind === 'answer' && content.includes(word));
  return answers.map(({ turnId }) =>
    bench.seen('turn_started').some((turn) => turn.turnId === turnId && turn.eventIds.some((id) => id === eventId))
    || bench.seen('steered').some((steer) => steer.turnId === turnId && steer.eventId === eventId && steer.outcome === 'injected'));
}

function cells(): readonly (readonly [Dialect, Status, Answer])[] {
  return DIALECTS.flatMap((dialect) => STATUSES.flatMap((status) => ANSWERS.map((answer) => [dialect, status, answer] as const)));
}

describe('a message while a turn is under way', () => {
  it.each(cells())('%s, %s, %s: both are answered once', async (dialect, status, answer) => {
    const bench = openBench({
      script: scriptOf(dialect, status, answer), midTurn: 'steer', observation: { livenessMs: 3_600_000, packed: false, program: { command: 'node', args: [] } },
      permission: { policy: 'ask', askMs: ASK_MS },
    });
    const first = message({ content: 'the first' });
    const second = message({ content: 'the second', tags: inThread(first.id) });
    await bench.hear(first);
    if (status === 'idle') await bench.nth('turn_ended');
    else await bench.until(() => bench.isMarked('ready'));
    if (dialect === 'goose' && status !== 'idle') await bench.until(() => bench.link.told.some(({ kind, payload }) => kind === 'acp_read' && payload.includes('activeRunId')));
    if (status === 'ask pending') await bench.until(() => bench.clock.waits(ASK_MS));
    await bench.hear(second);

    const isSteered = dialect !== 'fallback' && status !== 'idle';
    if (isSteered && answer !== 'never') await bench.nth('steered');
    if (isSteered && answer === 'never') await bench.until(() => bench.seen('steered').length > 0 || bench.clock.waits(STEER_MS) || bench.clock.waits(LATE_MS));
    bench.openGate('go');
    if (status === 'ask pending' && bench.clock.waits(ASK_MS)) bench.clock.push(ASK_MS);
    await untilAllDone(bench, 2);

    expect(answersTo(bench, 'first', first.id)).toEqual([true]);
    expect(answersTo(bench, 'second', second.id)).toEqual([true]);
    expect(bench.notices).toEqual([]);
    expect(bench.seen('steered')).toHaveLength(isSteered ? 1 : 0);
    for (const event of [first, second]) expect(await bench.row(event)).toMatchObject({ status: 'done' });
    const written = bench.link.told.filter(({ kind, payload }) => kind === 'acp_write' && METHODS.some((method) => payload.includes(method)));
    expect(written).toHaveLength(isSteered ? 1 : 0);
  });
});

it('what the agent publishes while it is still looked up who is named in the message is no answer to it', async () => {
  const bench = openBench({
    midTurn: 'steer',
    script: {
      initialize: { meta: { steering: { supported: true } } }, onSteer: { answer: 'injected' },
      rules: [{ do: [...READY, { say: 'also {{steered}}' }] }],
    },
  });
  const first = message({ content: 'the first' });
  await bench.hear(first);
  await bench.until(() => bench.isMarked('ready'));
  const { promise: held, resolve: release } = settleable<undefined>();
  bench.link.held = held;
  const asked = bench.link.asked.length;
  await bench.hear(message({ content: 'the second', tags: [...inThread(first.id), ['p', friend.pubkey]] }));
  await bench.until(() => bench.link.asked.length > asked);
  bench.link.publications.splice(0, 1, { events: [someRoot], undecided: false });
  release(undefined);
  expect(await bench.nth('steered')).toMatchObject({ outcome: 'injected' });
  bench.openGate('go');
  await bench.nth('turn_ended');
  expect(bench.answers).toEqual(['also the second']);
});
