/** Observer frames (kind 24200, NIP-AO) through the relay: ownership, routing, pace; nothing of them is kept. */
import { describe, expect, it } from 'vitest';
import { attest } from '../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { alice as owner, bob as agent, carol, Client, HeldClock, startRelay } from './harness.ts';
import type { Person } from './harness.ts';

const attestation = attest(agent.pubkey, '', owner.key, new Uint8Array(32));
const refused = [false, 'restricted: observer frame is not authorized for this agent owner'];

function telemetry(content = 'x'.repeat(132), to = owner.pubkey): VerifiedEvent {
  return agent.sign(24_200, [['p', to], ['agent', agent.pubkey], ['frame', 'telemetry']], content);
}

function control(by: Person = owner): VerifiedEvent {
  return by.sign(24_200, [['p', agent.pubkey], ['agent', agent.pubkey], ['frame', 'control']], 'x'.repeat(132));
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
    await stranger.stored('all', {});
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
    const known = telemetry();
    await from.publish(known);
    expect((await to.nextEvent('frames')).id).toBe(known.id);
  });

  it('upwards are limited in pace, downwards are not', async () => {
    const clock = new HeldClock();
    const relay = await startRelay({ clock, limits: { telemetryPerSec: 3 } });
    const [from, to] = [await listening(agent, relay, [attestation]), await listening(owner, relay)];
    const answers: unknown[] = [];
    for (const letter of 'abcd') answers.push((await from.publish(telemetry(letter.repeat(132))))[0]);
    expect(answers).toEqual([true, true, true, false]);
    for (let index = 0; index < 5; index += 1) expect(await to.publish(control())).toEqual([true, '']);
    clock.push(1_000);
    expect(await from.publish(telemetry('e'.repeat(132)))).toEqual([true, '']);
  });
});
