/** An owner watches a turn from outside: every frame of it, in order, to the byte, and no credential in any. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openEye } from './owner-eye.ts';
import type { SeenFrame } from './owner-eye.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

const ODD = new URL('programs/writes-oddly.mjs', import.meta.url).pathname;

let open: Stage | undefined;

afterEach(async () => {
  await open?.close();
  open = undefined;
});

const ended = (frames: readonly SeenFrame[], count = 1): boolean => frames.filter(({ kind }) => kind === 'turn_completed').length === count;

function payloadText({ plaintext }: SeenFrame): string {
  return plaintext.slice(plaintext.indexOf('"payload":') + '"payload":'.length, -1);
}

describe('a turn as its owner sees it', () => {
  it('is told frame by frame, in order, in the agent’s own bytes', async () => {
    const stage = open = await openStage({ rules: [], adapter: `{ command: ${process.execPath}, args: [${ODD}, written.txt] }` });
    const frames = await openEye(stage);
    const event = await stage.say(stage.owner, 'hello');
    await stage.watch.until('the end of the turn', () => ended(frames));

    const [started] = frames.filter(({ kind }) => kind === 'turn_started');
    expect(started).toMatchObject({ agentIndex: 0, channelId: stage.channelId, sessionId: null, payload: { source: 'channel', triggeringEventIds: [event.id] } });
    const turnId = started?.turnId;
    const ofTurn = frames.filter((frame) => frame.turnId === turnId);
    // Frames of no session and those of the session are two counts, and may pass each other on the way.
    expect(ofTurn.filter(({ sessionId }) => sessionId === null).map(({ kind }) => kind)).toEqual(['turn_started', 'acp_write']);
    expect(ofTurn.filter(({ sessionId }) => sessionId === 'odd').map(({ kind }) => kind)).toEqual([
      'acp_read', 'session_config_captured', 'session_resolved', 'prompt_context_delivery', 'acp_write', 'acp_parse_error',
      'acp_read', 'acp_read', 'acp_read', 'turn_completed',
    ]);
    expect(ofTurn.every(({ agentIndex, channelId }) => agentIndex === 0 && channelId === stage.channelId)).toBe(true);

    const written = readFileSync(join(stage.directory, 'written.txt'), 'utf8').split('\n');
    const read = frames.filter(({ kind }) => kind === 'acp_read').map(payloadText);
    expect(read).toContain(written.find((line) => line.includes('\\u0061\\/')));
    expect(read).toContain(written.find((line) => line.includes('"stopReason"')));
    expect(frames.find(({ kind }) => kind === 'acp_parse_error')?.payload).toEqual({ line: 'Loading… 50%', error: 'not_json' });
    expect(frames.find(({ kind }) => kind === 'session_config_captured')?.payload).toEqual({
      configOptions: null, modes: { currentModeId: 'm', availableModes: [] }, models: null,
    });
    expect(frames.find(({ kind }) => kind === 'prompt_context_delivery')?.payload).toMatchObject({
      standingContextIncluded: true, eventDeltaCount: 1, contextManifest: { schemaVersion: 1, hash: expect.stringMatching(/^sha256:/) as unknown },
    });

    for (const sessionId of [null, 'odd']) {
      const seqs = frames.filter((frame) => frame.sessionId === sessionId).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from(seqs, (_, at) => (seqs[0] ?? 0) + at));
    }
    for (const { event: { kind, tags } } of frames) {
      expect([kind, tags]).toEqual([24_200, [['p', stage.owner.pubkey], ['agent', stage.agent], ['frame', 'telemetry']]]);
    }
  });

  it('holds no credential, neither where skep hands it out nor where an agent tells it', async () => {
    const stage = open = await openStage({ rules: [], adapter: `{ command: ${process.execPath}, args: [${ODD}, written.txt] }` });
    const frames = await openEye(stage);
    await stage.say(stage.owner, 'hello');
    await stage.watch.until('the end of the turn', () => ended(frames));
    const [, credential] = /my credential is ([^"]+)/.exec(readFileSync(join(stage.directory, 'written.txt'), 'utf8')) ?? [];
    expect(credential).toMatch(/^.{20,}$/);
    expect(frames.filter(({ plaintext }) => plaintext.includes(credential ?? '')).map(({ kind }) => kind)).toEqual([]);
    // The control: both lines were told.
    expect(frames.filter(({ plaintext }) => plaintext.includes('<redacted>'))).toHaveLength(2);
    expect(frames.find(({ plaintext }) => plaintext.includes('"session/new"'))?.payload).toMatchObject({
      params: { mcpServers: [{ env: expect.arrayContaining([{ name: 'SKEP_CREDENTIAL', value: '<redacted>' }]) as unknown }] },
    });
  });

  it('is told in packs with observe: batch', async () => {
    const stage = open = await openStage({ rules: [{ do: [{ reply: 'hi' }] }], agent: ['observe: batch'] });
    const frames = await openEye(stage);
    await stage.say(stage.owner, 'hello');
    const inside = (): readonly SeenFrame[] => frames.flatMap((frame) => (frame.kind === 'batch' ? frame.payload['events'] as SeenFrame[] : [frame]));
    await stage.watch.until('the end of the turn', () => ended(inside()));
    expect(frames.some(({ kind }) => kind === 'batch')).toBe(true);
    expect(inside().filter(({ kind }) => kind === 'turn_started')).toHaveLength(1);
  });

  it('is told nothing of with observe: off', async () => {
    const stage = open = await openStage({ rules: [{ do: [{ reply: 'hi' }] }], agent: ['observe: off'] });
    const frames = await openEye(stage);
    await stage.say(stage.owner, 'hello');
    await stage.watch.until('an answer', () => stage.answers[0]);
    await stage.watch.until('the end of the turn', () => stage.notes.some(({ type }) => type === 'turn_ended'));
    expect(frames).toEqual([]);
  });
});
