/** A turn under way is given more: by which method, what the answer means, and what it does to the turn's time. */
import { afterEach, describe, expect, it } from 'vitest';
import { noneLeft, open, say, start, until } from './harness.ts';
import type { Started } from './harness.ts';

afterEach(noneLeft);

const STEERABLE = { initialize: { meta: { steering: { supported: true } } } };
const RUN = { update: { sessionUpdate: 'session_info_update', _meta: { goose: { activeRunId: 'run-7' } } } };
const RUN_8 = { update: { sessionUpdate: 'session_info_update', _meta: { goose: { activeRunId: 'run-8' } } } };
const NO_RUN = { update: { sessionUpdate: 'session_info_update', _meta: { goose: { activeRunId: null } } } };

interface Frame {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

function written({ lines }: Started, method: string): readonly (Frame['params'])[] {
  return lines.filter(({ direction }) => direction === 'write').map(({ text }) => JSON.parse(text) as Frame).filter((frame) => frame.method === method).map(({ params }) => params);
}

function heard({ lines }: Started, word: string): boolean {
  return lines.some(({ direction, text }) => direction === 'read' && text.includes(word));
}

/** An agent that says `Well, `, and then what it was steered with, when it was. */
function waiting(onSteer: object, ...first: readonly object[]): object {
  return { onSteer: { ...onSteer, after: [{ mark: 'go' }] }, rules: [{ do: [...first, { say: 'Well, ' }, { wait: 'go' }, { say: '{{steered}}' }] }] };
}

async function prompted(what: object): Promise<{ readonly started: Started; readonly sessionId: string; readonly outcome: ReturnType<typeof say> }> {
  const started = await start(what);
  const sessionId = await open(started);
  const outcome = say(started.process, sessionId);
  await until(() => heard(started, 'Well, '));
  return { started, sessionId, outcome };
}

describe('a message for a turn under way', () => {
  it('goes by `_session/steering` where the agent offers that, and asks it not to begin a turn with it', async () => {
    const { started, sessionId, outcome } = await prompted({ ...STEERABLE, ...waiting({}) });
    expect(started.process.canSteer(sessionId)).toBe(true);
    expect(await started.process.steer(sessionId, 'and that')).toEqual({ status: 'injected', textFrom: 'Well, '.length });
    expect(await outcome).toMatchObject({ status: 'ended' });
    expect(written(started, '_session/steering')).toEqual([
      { sessionId, prompt: [{ type: 'text', text: 'and that' }], _meta: { steering: { idleBehavior: 'promptRequired' } } },
    ]);
  });

  it('goes by goose\'s method with the id of its run, as long as that is known', async () => {
    const { started, sessionId, outcome } = await prompted(waiting({ answer: { result: {} } }, RUN));
    expect(await started.process.steer(sessionId, 'and that')).toMatchObject({ status: 'injected' });
    await outcome;
    expect(written(started, '_goose/unstable/session/steer')).toEqual([
      { sessionId, expectedRunId: 'run-7', prompt: [{ type: 'text', text: 'and that' }] },
    ]);
    expect(started.process.canSteer(sessionId)).toBe(false);
  });

  it('goes nowhere where the agent offers nothing, or has told that its run is over', async () => {
    const { started, sessionId } = await prompted(waiting({}, RUN, NO_RUN));
    expect(started.process.canSteer(sessionId)).toBe(false);
  });

  it('goes nowhere by the id of a run that was told when its turn was over', async () => {
    const { started, sessionId, outcome } = await prompted({
      onSteer: { before: [{ stop: 'end_turn' }], after: [RUN_8] }, rules: [{ do: [RUN, { say: 'Well, ' }, { hang: true }] }],
    });
    void started.process.steer(sessionId, 'and that');
    await outcome;
    await until(() => heard(started, 'run-8'));
    expect(started.process.canSteer(sessionId)).toBe(false);
  });

  it.each([
    [{ error: { code: -32_601, message: 'no such method' } }, { status: 'refused', detail: 'error -32601: no such method' }],
    [{ result: {} }, { status: 'refused', detail: 'outcome: expected injected, startedNewTurn or promptRequired, found nothing' }],
    [{ result: { outcome: 'perhaps' } }, { status: 'refused', detail: 'outcome: expected injected, startedNewTurn or promptRequired, found "perhaps"' }],
    ['startedNewTurn', { status: 'new_turn' }],
    ['promptRequired', { status: 'prompt_required' }],
  ])('answered %j', async (answer, expected) => {
    const { started, sessionId, outcome } = await prompted({ ...STEERABLE, ...waiting({ answer }) });
    expect(await started.process.steer(sessionId, 'and that')).toEqual(expected);
    await outcome;
  });

  it('is not answered in time: nobody knows whether it was read', async () => {
    const started = await start({ ...STEERABLE, onSteer: { answer: 'never' }, rules: [{ do: [{ say: 'Well, ' }, { hang: true }] }] }, { limits: { steerMs: 100 } });
    const sessionId = await open(started);
    void say(started.process, sessionId);
    await until(() => heard(started, 'Well, '));
    expect(await started.process.steer(sessionId, 'and that')).toEqual({ status: 'unanswered' });
  });

  it('is answered behind the end of its turn: it is not of that turn, whatever the agent says', async () => {
    const { started, sessionId, outcome } = await prompted({
      ...STEERABLE, onSteer: { before: [{ stop: 'end_turn' }] }, rules: [{ do: [{ say: 'Well, ' }, { hang: true }] }],
    });
    expect(await started.process.steer(sessionId, 'and that')).toEqual({ status: 'unanswered' });
    expect(await outcome).toMatchObject({ status: 'ended' });
    expect(await started.process.steer(sessionId, 'and that')).toEqual({ status: 'prompt_required' });
  });

  it('is never answered, and its process ends', async () => {
    const { started, sessionId, outcome } = await prompted({
      ...STEERABLE, onSteer: { answer: 'never', after: [{ die: 'SIGKILL' }] }, rules: [{ do: [{ say: 'Well, ' }, { hang: true }] }],
    });
    expect(await started.process.steer(sessionId, 'and that')).toEqual({ status: 'unanswered' });
    expect(await outcome).toMatchObject({ status: 'process_ended' });
  });

  it('is no sign of life: a turn that says it has it and does nothing is idle', async () => {
    const started = await start({ ...STEERABLE, onSteer: {}, rules: [{ do: [{ say: 'Well, ' }, { hang: true }] }] });
    const sessionId = await open(started);
    const outcome = say(started.process, sessionId, 'go', { idleTimeoutMs: 600, hardTimeoutMs: 15_000 });
    await until(() => heard(started, 'Well, '));
    // It goes on saying so until there is no turn to say it of.
    for (let answer = 'injected'; answer === 'injected';) answer = (await started.process.steer(sessionId, 'and that')).status;
    expect(await outcome).toMatchObject({ status: 'idle_timeout' });
  });
});
