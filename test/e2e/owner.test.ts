/**
 * An owner at their own client (nostr-tools) orders: control frames sealed by NIP-44, their results as telemetry, and
 * commands in chat with the system message that tells what came of them.
 */
import { nip44 } from 'nostr-tools';
import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure';
import type { Event } from 'nostr-tools/pure';
import { afterEach, describe, expect, it } from 'vitest';
import { signedIn } from '../../src/cli/demo/signed-in.ts';
import { openStage } from './stage.ts';
import type { Stage, StageOptions } from './stage.ts';

let open: Stage | undefined;

async function stageOf(options: StageOptions): Promise<Stage> {
  open = await openStage(options);
  return open;
}

afterEach(async () => {
  await open?.close();
  open = undefined;
});

const CANCEL = { type: 'cancel_turn' };
const HOLD = { match: 'hold', do: [{ say: 'half' }, { hang: true }] };
const REPLY = { do: [{ reply: '{{content}}' }] };
const NAMED_REPLY = { do: [{ reply: '{{content}} {{model}}' }] };

interface Desk {
  readonly results: unknown[];
  readonly notices: Event[];
  readonly order: (body: object, changes?: { readonly by?: Uint8Array; readonly agent?: string; readonly p?: readonly string[]; readonly bySec?: number; readonly content?: string }) => Event;
  /** Resolves with the relay's word, whatever it is. */
  readonly send: (event: Event) => Promise<string>;
}

/** A connection of the owner's that listens to results and system messages. */
async function deskOf(stage: Stage): Promise<Desk> {
  const relay = await signedIn(stage.running.relayUrl, stage.ownerKey);
  stage.closing.push(() => { relay.close(); });
  const results: unknown[] = [];
  const notices: Event[] = [];
  const key = nip44.getConversationKey(stage.ownerKey, stage.agent);
  relay.subscribe([{ 'kinds': [24_200], '#p': [stage.owner.pubkey], 'since': Math.floor(Date.now() / 1000) - 300 }], {
    onevent: ({ content }) => {
      const frame = JSON.parse(nip44.decrypt(content, key)) as { readonly kind: string; readonly payload: unknown; readonly channelId: unknown; readonly sessionId: unknown; readonly turnId: unknown };
      if (frame.kind !== 'control_result') return;
      const { payload, channelId, sessionId, turnId } = frame;
      results.push(channelId === stage.channelId && sessionId === null && turnId === null ? payload : frame);
      stage.watch.look();
    },
  });
  relay.subscribe([{ 'kinds': [40_099], '#h': [stage.channelId] }], {
    onevent: (event) => {
      if (event.pubkey === stage.agent) notices.push(event);
      stage.watch.look();
    },
  });
  return {
    results, notices,
    order(body, { by = stage.ownerKey, agent = stage.agent, p = [stage.agent], bySec = 0, content } = {}) {
      const text = JSON.stringify({ channelId: stage.channelId, ...body });
      return finalizeEvent({
        kind: 24_200, created_at: Math.floor(Date.now() / 1000) + bySec,
        tags: [...p.map((one) => ['p', one]), ['agent', agent], ['frame', 'control']],
        content: content ?? nip44.encrypt(text, nip44.getConversationKey(by, stage.agent)),
      }, by);
    },
    send: (event) => relay.publish(event).catch((error: unknown) => String(error)),
  };
}

function ended({ notes }: Stage): readonly unknown[] {
  return notes.filter(({ type }) => type === 'turn_ended');
}

async function holding(stage: Stage, content = 'hold'): Promise<void> {
  const before = stage.notes.filter(({ type }) => type === 'turn_started').length;
  await stage.say(stage.owner, content);
  await stage.watch.until('the turn', () => stage.notes.filter(({ type }) => type === 'turn_started').length > before);
}

describe('control frames', () => {
  it('cancel a turn once, and nothing that is not the owner’s does', async () => {
    const stage = await stageOf({ rules: [HOLD, REPLY] });
    const desk = await deskOf(stage);
    const strangerKey = generateSecretKey();
    const stranger = await signedIn(stage.running.relayUrl, strangerKey);
    stage.closing.push(() => { stranger.close(); });
    await holding(stage);
    const hostile = [
      desk.order(CANCEL, { p: [stage.owner.pubkey] }), desk.order(CANCEL, { p: [stage.agent, stage.agent] }), desk.order(CANCEL, { agent: stage.owner.pubkey }),
      desk.order(CANCEL, { bySec: -360 }), desk.order(CANCEL, { content: 'A'.repeat(400) }), desk.order({ type: 'cancel_turn', channelId: 'general' }), desk.order({ type: 'reboot' }),
    ];
    for (const event of hostile) await desk.send(event);
    await stranger.publish(desk.order(CANCEL, { by: strangerKey })).catch(() => undefined);
    expect(stage.running.snapshot().agents[0]?.turns).toHaveLength(1);
    const event = desk.order(CANCEL, { bySec: -240 });
    await desk.send(event);
    await stage.watch.until('the result', () => desk.results[0]);
    expect(desk.results).toEqual([{ type: 'cancel_turn', status: 'sent' }]);
    await stage.watch.until('the end', () => ended(stage)[0]);
    await holding(stage, 'hold on');
    await desk.send(event);
    await desk.send(desk.order({ type: 'cancel_turn', channelId: '00000000-0000-4000-8000-000000000001' }, {}));
    expect(stage.running.snapshot().agents[0]?.turns).toHaveLength(1);
    await desk.send(desk.order(CANCEL));
    await stage.watch.until('the second end', () => ended(stage)[1]);
    // Three cancels, of another channel one of them, and two that ask for nothing that is known.
    expect(stage.running.snapshot().agents[0]?.controls?.taken).toBe(5);
    await stage.say(stage.owner, 'control');
    await stage.watch.until('an answer', () => stage.answers[0]);
    expect(stage.answers.map(({ content }) => content)).toEqual(['control']);
    expect(stage.notes.filter(({ type }) => type === 'process_started')).toHaveLength(1);
  });

  it('switch the model in mid-turn and between turns', async () => {
    const models = { currentModelId: 'small', availableModels: [{ modelId: 'small' }, { modelId: 'large' }, { modelId: 'huge' }] };
    const stage = await stageOf({ script: { newSession: { models } }, rules: [{ ...HOLD, unless: { merge_disposition: 'continue_prior_work' } }, NAMED_REPLY] });
    const desk = await deskOf(stage);
    await holding(stage);
    await desk.send(desk.order({ type: 'switch_model', modelId: 'large', requestId: 'r' }));
    await stage.watch.until('both results', () => desk.results[1]);
    expect(desk.results).toEqual(['sent', 'switched'].map((status) => ({ type: 'switch_model', status, modelId: 'large', requestId: 'r' })));
    await stage.watch.until('the answer', () => stage.answers[0]);
    await stage.watch.until('the end of it', () => ended(stage)[1]);
    await desk.send(desk.order({ type: 'switch_model', modelId: 'gone' }));
    await desk.send(desk.order({ type: 'switch_model', modelId: 'huge' }));
    await stage.watch.until('two more', () => desk.results[3]);
    expect(desk.results.slice(2)).toMatchObject([{ status: 'unsupported_model', modelId: 'gone', requestId: null }, { status: 'switched', modelId: 'huge' }]);
    await stage.say(stage.owner, 'then');
    await stage.watch.until('the next answer', () => stage.answers[1]);
    expect(stage.answers.map(({ content }) => content)).toEqual(['hold large', 'then huge']);
  });
});

describe('commands in chat', () => {
  it('!cancel ends the turn, and is told in the channel as a system message', async () => {
    const stage = await stageOf({ rules: [HOLD, REPLY] });
    const desk = await deskOf(stage);
    await holding(stage);
    const command = await stage.say(stage.owner, '!cancel');
    const notice = await stage.watch.until('the system message', () => desk.notices[0]);
    expect(JSON.parse(notice.content)).toEqual({ type: 'owner_command', command: '!cancel', status: 'sent' });
    expect(notice.tags).toEqual([['h', stage.channelId], ['e', command.id], ['skep', 'command']]);
    await stage.watch.until('the end', () => ended(stage)[0]);
    await stage.say(stage.owner, 'control');
    await stage.watch.until('an answer', () => stage.answers[0]);
    expect(stage.answers.map(({ content }) => content)).toEqual(['control']);
  });

  it('!shutdown lets the turn end, stops the agent, and the last one ends skep', async () => {
    const stage = await stageOf({ rules: [{ match: 'slow', do: [{ wait: 'go' }, { reply: 'done' }] }] });
    const desk = await deskOf(stage);
    await holding(stage, 'slow');
    await stage.say(stage.owner, '!shutdown');
    await stage.watch.until('the system message', () => desk.notices[0]);
    expect(stage.running.snapshot().agents[0]).toMatchObject({ stoppedByOwner: true });
    stage.openGate('go');
    await stage.watch.until('the answer', () => stage.answers[0]);
    await stage.running.closed;
    expect(stage.running.snapshot().stopping).toBe(true);
  });
});
