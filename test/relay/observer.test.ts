/** Observer frames (kind 24200, NIP-AO) through the relay: ownership, routing, pace; nothing of them is kept. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attest } from '../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { alice as owner, bob as agent, carol, Client, HeldClock, OPEN, startRelay } from './harness.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import type { Person } from './harness.ts';

const attestation = attest(agent.pubkey, '', owner.key, new Uint8Array(32));
const refused = [false, 'restricted: observer frame is not authorized for this agent owner'];

function telemetry(content = 'x'.repeat(132), to = owner.pubkey): VerifiedEvent {
  return agent.sign(24_200, [['p', to], ['agent', agent.pubkey], ['frame', 'telemetry']], content);
}

function control(by: Person = owner): VerifiedEvent {
  return by.sign(24_200, [['p', agent.pubkey], ['agent', agent.pubkey], ['frame', 'control']], 'x'.repeat(132));
}

function metricOf(by: Person): VerifiedEvent {
  return by.sign(44_200, [['p', owner.pubkey], ['agent', by.pubkey]], 'x'.repeat(132));
}

async function listening(someone: Person, relay: Relay, tags: readonly Tag[] = []): Promise<Client> {
  const client = await Client.as(someone, relay, tags);
  await client.stored('frames', { kinds: [24_200], '#p': [someone.pubkey] });
  return client;
}

describe('observer frames', () => {
  it('go from an agent that has proven its owner to the owner, and back, and to nobody else', async () => {
    const relay = await startRelay();
    const [from, to] = [await listening(agent, relay, [attestation]), await listening(owner, relay)];
    const stranger = await Client.as(carol, relay);
    await stranger.stored('all', { kinds: [1] }, { '#h': [OPEN] }, { kinds: [24_200], '#p': [carol.pubkey] });
    const [up, down] = [telemetry(), control()];
    expect(await from.publish(up)).toEqual([true, '']);
    expect((await to.nextEvent('frames')).id).toBe(up.id);
    expect(await to.publish(down)).toEqual([true, '']);
    expect((await from.nextEvent('frames')).id).toBe(down.id);
    expect(await to.stored('later', { kinds: [24_200], '#p': [owner.pubkey] })).toEqual([]);
    const note = carol.sign(1);
    await stranger.publish(note);
    expect((await stranger.nextEvent('all')).id).toBe(note.id);
  });

  it('are refused where ownership is not known, and where it is another’s', async () => {
    const relay = await startRelay();
    const [from, wouldBe] = [await listening(agent, relay), await Client.as(carol, relay)];
    expect(await from.publish(telemetry())).toEqual(refused);
    const proven = await listening(agent, relay, [attestation]);
    expect(await proven.publish(telemetry('y'.repeat(132), carol.pubkey))).toEqual(refused);
    expect(await wouldBe.publish(control(carol))).toEqual(refused);
    expect(await proven.publish(telemetry())).toEqual([true, '']);
    // What one connection has proven is known to the relay.
    expect(await from.publish(telemetry('z'.repeat(132)))).toEqual([true, '']);
  });

  it('are let through by a profile that proves the owner, and by the operator’s word', async () => {
    const first = await startRelay();
    const byProfile = await Client.as(agent, first);
    expect(await byProfile.publish(agent.sign(0, [attestation], '{}'))).toEqual([true, '']);
    expect(await byProfile.publish(telemetry())).toEqual([true, '']);
    const second = await startRelay({ agentOwners: [{ agent: agent.pubkey, owner: owner.pubkey }] });
    expect(await (await Client.as(agent, second)).publish(telemetry())).toEqual([true, '']);
  });

  it('with a frame word of tomorrow are dropped and answered OK', async () => {
    const relay = await startRelay();
    const [from, to] = [await listening(agent, relay, [attestation]), await listening(owner, relay)];
    const tags = [['p', owner.pubkey], ['agent', agent.pubkey], ['frame', 'tomorrow']];
    expect(await from.publish(agent.sign(24_200, tags, 'x'.repeat(132)))).toEqual([true, '']);
    const stranger = carol.sign(24_200, tags, 'x'.repeat(132));
    expect(await (await Client.as(carol, relay)).publish(stranger)).toEqual([true, '']);
    const known = telemetry();
    await from.publish(known);
    expect((await to.nextEvent('frames')).id).toBe(known.id);
  });

  it('upwards are limited in pace for an agent on all its connections, downwards are not', async () => {
    const clock = new HeldClock();
    const relay = await startRelay({ clock });
    const [from, to] = [await listening(agent, relay, [attestation]), await listening(owner, relay)];
    const besides = await Client.as(agent, relay, [attestation]);
    const frames = Array.from({ length: 102 }, (_, index) => telemetry(String(index).padStart(132, 'x')));
    const answers = await Promise.all(frames.map((frame, index) => (index % 2 === 0 ? from : besides).publish(frame)));
    const limited = answers.filter(([accepted]) => accepted === false);
    expect(limited).toEqual(Array(2).fill([false, 'rate-limited: observer frame rate exceeded (100/sec per agent)']));
    for (let index = 0; index < 5; index += 1) expect(await to.publish(control())).toEqual([true, '']);
    clock.push(999);
    expect((await from.publish(telemetry('e'.repeat(132))))[0]).toBe(false);
    clock.push(1);
    expect(await from.publish(telemetry('f'.repeat(132)))).toEqual([true, '']);
  });

  it('leave nothing behind: not in the store, not in a log', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const lines: unknown[] = [];
    const note = (...line: readonly unknown[]): void => { lines.push(line); };
    const log = { debug: note, info: note, warn: note, error: note };
    const relay = await startRelay({ storePath, log });
    const [from, to] = [await listening(agent, relay, [attestation]), await listening(owner, relay)];
    const [frame, metric] = [telemetry('q'.repeat(132)), metricOf(agent)];
    expect(await from.publish(metric)).toEqual([true, '']);
    expect(await from.publish(frame)).toEqual([true, '']);
    expect((await to.nextEvent('frames')).id).toBe(frame.id);
    await relay.close();
    const kept = readdirSync(dirname(storePath)).map((name) => readFileSync(join(dirname(storePath), name), 'latin1')).join();
    expect([metric, frame].map(({ id }) => kept.includes(id))).toEqual([true, false]);
    expect(JSON.stringify(lines)).not.toContain(frame.id);
  });
});

describe('ownership', () => {
  it('is the operator’s word before any proof', async () => {
    const relay = await startRelay({ agentOwners: [{ agent: agent.pubkey, owner: carol.pubkey }] });
    const from = await Client.as(agent, relay, [attestation]);
    expect(await from.publish(telemetry())).toEqual(refused);
    expect(await from.publish(telemetry('y'.repeat(132), carol.pubkey))).toEqual([true, '']);
    expect(await (await Client.as(owner, relay)).publish(control())).toEqual(refused);
  });

  it('goes to the first who is proven, beside whom a connection’s own proof holds for that connection', async () => {
    const storePath = join(temporaryDirectory(), 'relay.db');
    const first = await startRelay({ storePath });
    await Client.as(agent, first, [attestation]);
    await first.close();
    const relay = await startRelay({ storePath });
    const from = await Client.as(agent, relay, [attest(agent.pubkey, '', carol.key, new Uint8Array(32))]);
    expect(await from.publish(telemetry('y'.repeat(132), carol.pubkey))).toEqual([true, '']);
    expect(await from.publish(telemetry())).toEqual([true, '']);
    const bare = await Client.as(agent, relay);
    expect(await bare.publish(telemetry('y'.repeat(132), carol.pubkey))).toEqual(refused);
    expect(await bare.publish(telemetry())).toEqual([true, '']);
    expect(await (await Client.as(carol, relay)).publish(control(carol))).toEqual(refused);
  });

  it('is not proven by two attestations, nor by one whose condition does not hold', async () => {
    const relay = await startRelay();
    const other = attest(agent.pubkey, '', carol.key, new Uint8Array(32));
    const unmet = ['kind=1', 'created_at<1', 'kind=22242&created_at<1']
      .map((conditions) => attest(agent.pubkey, conditions, owner.key, new Uint8Array(32)));
    for (const tags of [[attestation, other], [attestation, attestation], ...unmet.map((tag) => [tag])]) {
      expect(await (await Client.as(agent, relay, tags)).publish(telemetry())).toEqual(refused);
    }
    const met = attest(agent.pubkey, 'kind=22242&created_at>1', owner.key, new Uint8Array(32));
    expect(await (await Client.as(agent, relay, [met])).publish(telemetry())).toEqual([true, '']);
  });
});

describe('turn metrics', () => {
  it('are kept for the owner and the agent, and shown to nobody else', async () => {
    const relay = await startRelay();
    const [from, to, stranger] = [
      await Client.as(agent, relay, [attestation]), await Client.as(owner, relay), await Client.as(carol, relay),
    ];
    const mine = { kinds: [44_200], '#p': [owner.pubkey] };
    await to.stored('live', mine);
    await stranger.stored('live', { kinds: [44_200], '#p': [carol.pubkey] });
    const metric = metricOf(agent);
    expect(await from.publish(metric)).toEqual([true, '']);
    expect((await to.nextEvent('live')).id).toBe(metric.id);
    expect(await to.stored('s', mine)).toEqual([metric.id]);
    for (const [client, count] of [[to, 1], [from, 1], [stranger, 0]] as const) {
      expect(await client.stored('s', { ids: [metric.id] })).toHaveLength(count);
      client.send(['COUNT', 'n', { ids: [metric.id] }]);
      expect((await client.next('COUNT', 'n'))[2]).toEqual({ count });
    }
    expect(stranger.received('live')).toEqual([]);
  });

  it('are refused for an owner who is not the agent’s', async () => {
    const client = await Client.as(agent, await startRelay(), [attestation]);
    const metric = agent.sign(44_200, [['p', carol.pubkey], ['agent', agent.pubkey]], 'x'.repeat(132));
    expect(await client.publish(metric)).toEqual([false, 'restricted: turn metric is not authorized for this agent owner']);
  });
});
