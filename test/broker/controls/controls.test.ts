/**
 * The owner's control frames through a whole broker: sealed by nostr-tools, handed over once, whatever else comes in
 * between, over reconnects and over a restart.
 */
import { nip44 } from 'nostr-tools';
import { describe, expect, it } from 'vitest';
import type { ControlFrame } from '../../../src/broker/index.ts';
import type { SubscriptionSpec } from '../../../src/broker/upstream/index.ts';
import type { Log } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { HeldClock } from '../clock.ts';
import { fillable } from '../fake-store.ts';
import { bench, end } from '../harness.ts';
import type { Bench } from '../harness.ts';
import { AGENT, CHANNEL, OWNER, SIBLING, START_SEC, STRANGER } from '../people.ts';
import type { Person } from '../people.ts';
import { openStore, storeFile } from '../temp-store.ts';

const CANCEL = JSON.stringify({ type: 'cancel_turn', channelId: CHANNEL });

function sealed(text: string, by: Person = OWNER): string {
  return nip44.encrypt(text, nip44.getConversationKey(by.secretKey, AGENT.pubkey));
}

function frame({ text = CANCEL, by = OWNER, content = sealed(text, by), bySec = 0 }: {
  readonly text?: string; readonly by?: Person; readonly content?: string; readonly bySec?: number;
} = {}): VerifiedEvent {
  const tags = [['p', AGENT.pubkey], ['agent', AGENT.pubkey], ['frame', 'control']];
  return by.sign({ kind: 24_200, tags, content, createdAtSec: START_SEC + bySec });
}

interface Listening extends Bench {
  readonly frames: ControlFrame[];
  readonly spec: SubscriptionSpec;
  readonly give: (...events: readonly VerifiedEvent[]) => Promise<void>;
}

async function listening(options: Parameters<typeof bench>[0] = {}): Promise<Listening> {
  const opened = await bench(options);
  const frames: ControlFrame[] = [];
  opened.link.controls((one) => { frames.push(one); });
  const spec = await opened.relay.subscribedTo(frame({ bySec: opened.clock.now() / 1000 - START_SEC }));
  return {
    ...opened, frames, spec,
    async give(...events) {
      const before = counted(opened);
      for (const event of events) await spec.onEvent(event, false);
      await settled(() => counted(opened) === before + events.length);
    },
  };
}

function counted({ link }: Bench): number {
  const { taken, ignored } = link.controlCounts();
  return taken + ignored;
}

async function settled(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a control frame', () => {
  it('is asked for by itself, five minutes back, and handed over opened', async () => {
    const { spec, give, frames } = await listening();
    expect(spec.filters()).toEqual([{ kinds: [24_200], tags: new Map([['p', [AGENT.pubkey]]]), since: START_SEC - 300 }]);
    const event = frame({ bySec: -240 });
    await give(event);
    expect(frames).toEqual([{
      eventId: event.id, sender: OWNER.pubkey, agent: AGENT.pubkey, createdAt: START_SEC - 240, receivedAt: START_SEC,
      type: 'cancel_turn', body: { type: 'cancel_turn', channelId: CHANNEL },
    }]);
  });

  it('is asked for anew from five minutes before each connection', async () => {
    const { spec, clock } = await listening();
    clock.push(60_000);
    expect(spec.filters()[0]?.since).toBe(START_SEC - 240);
  });

  it('is handed over once, however often it comes', async () => {
    const { give, frames, link } = await listening();
    const event = frame();
    await give(event, event, frame({ text: '{"type":"other"}' }), event);
    expect(frames.map(({ type }) => type)).toEqual(['cancel_turn', 'other']);
    expect(link.controlCounts()).toEqual({ taken: 2, ignored: 2 });
  });

  it('is not handed over again after a restart, as long as it could be fresh', async () => {
    const open = storeFile();
    const clock = new HeldClock();
    // Stamped ahead of us: it is fresh for ten minutes.
    const event = frame({ bySec: 290 });
    const first = await listening({ store: open(), clock });
    await first.give(event);
    expect(first.frames).toHaveLength(1);
    await end(first.broker, clock);
    clock.push(580_000);
    const second = await listening({ store: open(), clock });
    const control = frame({ bySec: 570 });
    await second.give(event, control);
    expect(second.frames.map(({ eventId }) => eventId)).toEqual([control.id]);
  });

  it('that a relay keeps for longer is stale, and forgotten', async () => {
    const store = openStore();
    const { give, frames, clock } = await listening({ store });
    const event = frame();
    await give(event);
    clock.push(601_000);
    await give(event, frame({ bySec: 600 }));
    expect(frames).toHaveLength(2);
    const rows = await store.read({ sql: 'SELECT event_id FROM control_frames', params: [] });
    expect(rows).toHaveLength(1);
  });

  it('that could not be remembered is not obeyed', async () => {
    let isFull = false;
    const store = fillable(openStore(), () => isFull);
    const { give, frames, link } = await listening({ store });
    isFull = true;
    await give(frame());
    expect(frames).toEqual([]);
    expect(link.controlCounts()).toEqual({ taken: 0, ignored: 1 });
  });

  it('comes to nothing after the end', async () => {
    const { spec, frames, broker, clock } = await listening();
    await end(broker, clock);
    await spec.onEvent(frame(), false);
    expect(frames).toEqual([]);
  });
});

describe('what is not the owner’s word', () => {
  it('is counted and dropped, thousands of it, and the owner is heard behind it', async () => {
    const said: string[] = [];
    const log: Log = { debug: () => undefined, info: () => said.push('info'), warn: () => said.push('warn'), error: () => said.push('error') };
    const { give, frames, link } = await listening({ log });
    const before = said.length;
    const bad = [
      frame({ by: STRANGER }), frame({ by: SIBLING }), frame({ bySec: -360 }), frame({ content: '#'.repeat(200) }),
      frame({ content: 'A'.repeat(132) }), frame({ content: 'short' }), frame({ content: sealed(CANCEL, STRANGER) }),
      frame({ text: 'no JSON' }), frame({ text: '{"type":"cancel_turn","type":"cancel_turn"}' }), frame({ content: flipped(sealed(CANCEL)) }),
    ];
    const burst = Array.from({ length: 5_000 }, (_, index) => bad[index % bad.length] ?? frame());
    const event = frame({ text: '{"type":"still here"}' });
    // As from a relay: each is looked at at once, and a stranger's costs no decryption.
    await give(...burst.filter(({ pubkey }) => pubkey !== OWNER.pubkey), ...bad, event);
    expect(frames.map(({ type }) => type)).toEqual(['still here']);
    expect(link.controlCounts()).toEqual({ taken: 1, ignored: 1_000 + bad.length });
    expect(said.slice(before)).toEqual([]);
  });

  it('and more of his than he can mean is dropped for a while', async () => {
    const { give, frames, link, clock } = await listening();
    const garbage = frame({ content: flipped(sealed(CANCEL)) });
    const event = frame();
    await give(...Array.from({ length: 5_000 }, () => garbage), event);
    expect(frames).toEqual([]);
    expect(link.controlCounts().ignored).toBe(5_001);
    clock.push(1_000);
    await give(event);
    expect(frames).toHaveLength(1);
  });
});

function flipped(content: string): string {
  return `${content.slice(0, 80)}${content[80] === 'A' ? 'B' : 'A'}${content.slice(81)}`;
}
