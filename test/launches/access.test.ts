/** How the owner's word is reached: a signer far away that may be silent, and the relay in the box. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openAccess } from '../../src/launches/index.ts';
import { Failure, seconds, silentLog } from '../../src/model/index.ts';
import { openLocalKey } from '../../src/owner/index.ts';
import { openSigner } from '../../src/owner-key.ts';
import { currentVersion, versionTemplate } from '../../src/persona/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { until } from '../broker/upstream/clock.ts';
import { openOutsideBunker } from '../owner/outside-bunker.ts';
import { agent, owner } from '../persona/people.ts';
import { seal, signed } from '../persona/world.ts';
import { alice, bob, Client, startRelay } from '../relay/harness.ts';
import { temporaryDirectory } from '../setup/temp.ts';

type Options = Parameters<typeof openAccess>[0];

function access(relay: Relay, key: Options['key']): ReturnType<typeof openAccess> {
  const opened = openAccess({ owner, key, relayUrl: relay.url, clock: systemClock, steadyClock, random: systemRandom, log: silentLog });
  onTestFinished(() => opened.close());
  return opened;
}

function localKey(secret = alice.key): Promise<ReturnType<typeof openLocalKey>> {
  return Promise.resolve(openLocalKey(Buffer.from(secret).toString('hex'), 'owner.key', systemRandom));
}

const SUBJECT = { type: 'agent', agent } as const;

it('reads through a signer, which signs for the relay alone and opens a text once', async () => {
  const relay = await startRelay();
  const client = await Client.as(alice, relay);
  await client.publish(signed(versionTemplate(SUBJECT, seal('v1:sealed'), seconds(1_700_000_000))));
  const bunker = await openOutsideBunker(relay.url, alice.key);
  const kinds: unknown[] = [];
  let permissions = '';
  bunker.answers = (method, [first = '', , asked = ''], honest) => {
    if (method === 'connect') permissions = asked;
    if (method === 'sign_event') kinds.push((JSON.parse(first) as { readonly kind: number }).kind);
    return honest();
  };
  const address = `bunker://${bunker.pubkey}?relay=${encodeURIComponent(relay.url)}&secret=${bunker.secret}`;
  const opened = access(relay, () => openSigner(address, {
    name: 'owner-key', clientFile: join(temporaryDirectory(), 'client'), kinds: [], clock: systemClock, steadyClock, random: systemRandom, log: silentLog, onAuthUrl: () => undefined,
  }));
  for (let times = 0; times < 2; times += 1) {
    const ports = await opened.ports();
    if (!ports.ok) return expect.fail(ports.detail);
    expect(await currentVersion(ports.ports, SUBJECT)).toMatchObject({ ok: true, version: { reading: { status: 'valid', text: 'sealed' } } });
  }
  expect(bunker.asked.filter((method) => method === 'nip44_decrypt')).toHaveLength(1);
  expect(bunker.asked).not.toContain('nip44_encrypt');
  expect(new Set(kinds)).toEqual(new Set([22_242]));
  expect(permissions).toBe('sign_event:22242,nip44_decrypt');
});

it('asks again for a key that did not answer, and takes no other owner’s', async () => {
  const relay = await startRelay();
  let tries = 0;
  const opened = access(relay, () => ((tries += 1) === 1 ? Promise.reject(new Failure('relay', 'bunker: silent')) : localKey()));
  expect(await opened.ports()).toEqual({ ok: false, code: 'unavailable', detail: 'bunker: silent' });
  expect(await opened.ports()).toMatchObject({ ok: true });
  expect(await access(relay, () => localKey(bob.key)).ports()).toMatchObject({ ok: false, code: 'owner' });
});

it('tells that there may be news: what the owner saves, wherever, and nobody else', async () => {
  const relay = await startRelay();
  const opened = access(relay, localKey);
  let news = 0;
  opened.onNews(() => { news += 1; });
  const ports = await opened.ports();
  if (!ports.ok) return expect.fail(ports.detail);
  await ports.ports.relay.query([{ kinds: [44_300], authors: [owner] }]);
  const [client, stranger] = [await Client.as(alice, relay), await Client.as(bob, relay)];
  await stranger.publish(bob.sign(30_175, [['d', 'x']], '{}'));
  await client.publish(signed(versionTemplate(SUBJECT, seal('v1:one'), seconds(1_700_000_000))));
  await until(() => news === 1);
  await client.publish(alice.sign(30_175, [['d', 'bee']], '{"display_name":"Bee"}'));
  await until(() => news === 2);
});

it('closes a signer that answers when all is over', async () => {
  const relay = await startRelay();
  let answer = (): void => {};
  let closed = 0;
  const key = { ...await localKey(), close: async () => { closed += 1; } };
  const opened = access(relay, () => new Promise((resolve) => { answer = () => { resolve(key); }; }));
  const asked = opened.ports();
  await opened.close();
  answer();
  expect(await asked).toMatchObject({ ok: false, code: 'unavailable' });
  expect(closed).toBeGreaterThan(0);
});
