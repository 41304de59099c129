/** Permission cards from the agent's question to the owner's client and back, on real parts. */
import { afterEach, describe, expect, it } from 'vitest';
import { OwnerDesk } from '../../src/cli/demo/owner-desk.ts';
import type { ShownCard, Telemetry } from '../../src/cli/demo/owner-desk.ts';
import { openStage } from './stage.ts';
import type { Stage, StageOptions } from './stage.ts';

const ASK = { ask: { title: 'Clean up', toolCall: { rawInput: { command: 'rm -rf build' } } }, as: 'v' };
const HEARD = { reply: 'heard {{v.outcome}} {{v.kind}}' };

let open: Stage | undefined;

afterEach(async () => {
  await open?.close();
  open = undefined;
});

interface Asking extends Stage {
  readonly desk: OwnerDesk;
  /** The agent asks; resolves with the card as the owner's client shows it. */
  asked(): Promise<ShownCard>;
}

async function stageOf({ rules = [{ do: [ASK, HEARD] }], agent = [] }: Partial<StageOptions> = {}): Promise<Asking> {
  const stage = await openStage({ rules, agent: ['permission: ask', ...agent] });
  open = stage;
  const desk = new OwnerDesk(stage.owner, { agent: stage.agent, channelId: stage.channelId }, () => { stage.watch.look(); });
  return {
    ...stage, desk,
    async asked() {
      const before = desk.cards.length;
      await stage.say(stage.owner, 'clean up, please');
      return stage.watch.until('a card', () => desk.cards[before]);
    },
  };
}

/** The frames of one request, in the order in which they were told. */
function framesOf({ desk }: Asking, nonce: string): readonly string[] {
  return desk.frames.filter(({ authorization }) => authorization?.requestNonce === nonce)
    .map(({ kind, authorization }) => `${kind} ${authorization?.reason ?? String(authorization?.actionable)}`);
}

function results({ desk }: Asking): readonly unknown[] {
  return desk.frames.filter(({ kind }) => kind === 'control_result').map(({ payload }: Telemetry) => payload);
}

async function heard(stage: Asking): Promise<string> {
  const answer = await stage.watch.until('the answer', () => stage.answers.find(({ content }) => content.startsWith('heard')));
  return answer.content;
}

describe('the owner decides', () => {
  it.each([
    ['allow', 'heard selected allow_once', 'allow-once'], ['deny', 'heard selected reject_once', 'reject-once'],
  ] as const)('%s', async (choice, said, optionId) => {
    const stage = await stageOf();
    const shown = await stage.asked();
    const question = stage.notes.find((note) => note.type === 'accepted')?.eventId;
    expect(shown.card).toMatchObject({ description: 'Clean up (rm -rf build)', options: [{ optionId: 'allow-once' }, { optionId: 'reject-once' }] });
    expect(shown.event.tags).toEqual([['h', stage.channelId], ['p', stage.owner.pubkey], ['e', question, '', 'reply']]);
    await stage.desk.decide(shown, choice);
    expect(await heard(stage)).toBe(said);
    const edit = await stage.watch.until('the edit', () => stage.desk.editOf(shown));
    expect(edit.card).toMatchObject({ outcome: 'applied', chosenOptionId: optionId, requestNonce: shown.card.requestNonce });
    await stage.watch.until('the frames', () => framesOf(stage, shown.card.requestNonce).length === 2 && results(stage).length === 1);
    expect(framesOf(stage, shown.card.requestNonce)).toEqual(['acp_read true', 'acp_write applied']);
    expect(results(stage)).toEqual([{ type: 'permission_decision', status: 'sent', requestNonce: shown.card.requestNonce, optionId }]);
    expect(stage.desk.cards).toHaveLength(1);
    // Neither card nor edit has woken anybody.
    expect(stage.notes.filter((note) => note.type === 'turn_started')).toHaveLength(1);
  });

  it('not in time: it is denied, and the card says so', async () => {
    const stage = await stageOf({ agent: ['ask-timeout: 2s'] });
    const shown = await stage.asked();
    expect(await heard(stage)).toBe('heard selected reject_once');
    const edit = await stage.watch.until('the edit', () => stage.desk.editOf(shown));
    expect(edit.card).toMatchObject({ outcome: 'timed_out', chosenOptionId: null });
    await stage.watch.until('the frames', () => framesOf(stage, shown.card.requestNonce).length === 2);
    expect(framesOf(stage, shown.card.requestNonce)).toEqual(['acp_read true', 'acp_write timed_out']);
    // Too late, and told so.
    await stage.desk.decide(shown, 'allow');
    await stage.watch.until('the word on it', () => results(stage).length === 1);
    expect(results(stage)).toMatchObject([{ status: 'no_active_turn' }]);
  });

  it('twice, re-wrapped, and late: once is what counts', async () => {
    const stage = await stageOf();
    const shown = await stage.asked();
    await stage.desk.decide(shown, 'deny');
    expect(await heard(stage)).toBe('heard selected reject_once');
    await stage.desk.decide(shown, 'allow');
    await stage.watch.until('both words', () => results(stage).length === 2);
    expect(results(stage)).toMatchObject([{ status: 'sent' }, { status: 'no_active_turn' }]);
    expect(framesOf(stage, shown.card.requestNonce)).toEqual(['acp_read true', 'acp_write applied']);
  });
});

describe('what is not the owner’s decision', () => {
  it('decides nothing: a member, another agent, the wrong channel, words in the chat, an old frame', async () => {
    const stage = await stageOf();
    const stranger = await stage.join('stranger');
    const shown = await stage.asked();
    const { requestNonce } = shown.card;
    const yes = { type: 'permission_decision', channelId: stage.channelId, requestNonce, optionId: 'allow-once' };
    const strangers = new OwnerDesk(stranger, { agent: stage.agent, channelId: stage.channelId }, () => undefined);
    // A relay may refuse what is not the owner's, or old, by itself.
    const refused = (): undefined => undefined;
    await strangers.order(yes).catch(refused);
    await stage.desk.order({ ...yes, channelId: '00000000-0000-4000-8000-000000000009' });
    await stage.desk.order({ ...yes, optionId: 'allow-always' });
    await stage.desk.order({ ...yes, requestNonce: `${requestNonce}0` });
    await stage.desk.order(yes, Math.floor(Date.now() / 1000) - 360).catch(refused);
    await stage.say(stage.owner, `approve ${requestNonce} allow-once`, shown.event);
    // The right one, four minutes old, says no: nothing before it has said yes.
    await stage.desk.decide(shown, 'deny', Math.floor(Date.now() / 1000) - 240);
    expect(await heard(stage)).toBe('heard selected reject_once');
    await stage.watch.until('the frames', () => framesOf(stage, requestNonce).length === 2);
    expect(framesOf(stage, requestNonce)).toEqual(['acp_read true', 'acp_write applied']);
  });

  it('nor is anybody asked about a turn that the owner did not begin', async () => {
    const stage = await stageOf({ agent: ['respond-to: anyone'] });
    const guest = await stage.join('guest');
    await stage.say(guest, 'clean up');
    expect(await heard(stage)).toBe('heard selected reject_once');
    expect(stage.desk.cards).toEqual([]);
    const nonce = await stage.watch.until('the frames', () => {
      const known = stage.desk.frames.find(({ authorization }) => authorization !== undefined)?.authorization?.requestNonce;
      return known !== undefined && framesOf(stage, known).length === 2 && known;
    });
    expect(framesOf(stage, nonce)).toEqual(['acp_read ask: the turn was not begun by the owner', 'acp_write rejected']);
  });
});

describe('a card that is open', () => {
  it('is closed as cancelled when the agent dies', async () => {
    const stage = await stageOf();
    const shown = await stage.asked();
    process.kill(stage.running.snapshot().agents[0]?.processes[0]?.pid ?? 0, 'SIGKILL');
    const edit = await stage.watch.until('the edit', () => stage.desk.editOf(shown));
    expect(edit.card).toMatchObject({ outcome: 'cancelled', chosenOptionId: null });
    await stage.watch.until('the terminal', () => framesOf(stage, shown.card.requestNonce).length === 2);
    expect(framesOf(stage, shown.card.requestNonce)).toEqual(['acp_read true', 'permission_terminal uncertain']);
  });

  it('is closed as cancelled when the owner cancels the turn', async () => {
    const stage = await stageOf();
    const shown = await stage.asked();
    await stage.desk.order({ type: 'cancel_turn', channelId: stage.channelId });
    const edit = await stage.watch.until('the edit', () => stage.desk.editOf(shown));
    expect(edit.card).toMatchObject({ outcome: 'cancelled' });
    await stage.watch.until('the frames', () => framesOf(stage, shown.card.requestNonce).length === 2 && results(stage).length === 1);
    expect(framesOf(stage, shown.card.requestNonce)).toEqual(['acp_read true', 'acp_write cancelled']);
    expect(results(stage)).toMatchObject([{ type: 'cancel_turn', status: 'sent' }]);
  });

  it('is closed as cancelled when the turn is cut short by a stop', async () => {
    const stage = await stageOf({ rules: [{ do: [ASK, { wait: 'never' }] }] });
    const shown = await stage.asked();
    stage.running.force();
    const edit = await stage.watch.until('the edit', () => stage.desk.editOf(shown));
    expect(edit.card).toMatchObject({ outcome: 'cancelled' });
    await stage.watch.until('the frames', () => framesOf(stage, shown.card.requestNonce).length === 2);
  });
});
