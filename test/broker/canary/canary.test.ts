/** The canary on a real connection: what it asks and sends, whom it finds deaf, and that nobody else notices. */
import { afterEach, describe, expect, it } from 'vitest';
import { CANARY_KIND, openCanary } from '../../../src/broker/canary/index.ts';
import type { Canary } from '../../../src/broker/canary/index.ts';
import type { Upstream } from '../../../src/broker/upstream/index.ts';
import { seconds, silentLog } from '../../../src/model/index.ts';
import { filterToWire } from '../../../src/nostr/index.ts';
import type { Filter, VerifiedEvent } from '../../../src/nostr/index.ts';
import { until } from '../upstream/clock.ts';
import { agent, mention, sign } from '../upstream/events.ts';
import { CHANNEL, clock, closeOpened, collecting, connect, opened, ready, relayOf } from '../upstream/harness.ts';
import type { Taken } from '../upstream/harness.ts';
import { Shelf } from '../upstream/relay.ts';
import type { Connection, Manner, Message } from '../upstream/relay.ts';

afterEach(closeOpened);

const EVERY_MS = 60_000;
const CHANNEL_FILTER: Filter = { kinds: [9], tags: new Map([['h', [CHANNEL]], ['p', [agent.pubkey]]]) };
const NOTICES: Filter = { kinds: [44_100], tags: new Map([['p', [agent.pubkey]]]) };

/** A relay that keeps what is to be kept, and hands on the rest; which subscriptions it hands nothing to is up to the test. */
class Deafening extends Shelf {
  readonly deaf = new Set<string>();
  /** What it says to an event of the canary; undefined: nothing. */
  verdict: readonly [boolean, string] | undefined = [true, ''];

  readonly hearing: Manner = (connection, message) => {
    const [word, event] = message as readonly [string, VerifiedEvent];
    if (word !== 'EVENT' || event.kind !== CANARY_KIND) return this.manner(connection, message);
    if (this.verdict !== undefined) connection.send('OK', event.id, ...this.verdict);
    if (this.verdict?.[0] === true) this.echo(connection, event);
  };

  /** Also a message. */
  echo(connection: Connection, event: VerifiedEvent): void {
    for (const [id, filters] of connection.subscriptions) {
      if (!this.deaf.has(id) && filters.some((filter) => fits(filter, event))) connection.send('EVENT', id, event);
    }
  }
}

function fits({ kinds, authors, tags }: Filter, event: VerifiedEvent): boolean {
  return kinds?.includes(event.kind) === true && authors?.includes(event.pubkey) !== false
    && [...tags ?? []].every(([name, values]) => event.tags.some((tag) => tag[0] === name && values.includes(tag[1] ?? '')));
}

interface Scene {
  readonly relay: Deafening;
  readonly canary: Canary;
  readonly upstream: Upstream;
  readonly connection: Connection;
  readonly channel: Taken;
  readonly notices: Taken;
  readonly warnings: string[];
  /** Pushes the clock by small steps until it holds. */
  passing(holds: () => boolean): Promise<void>;
}

async function scene(change: (relay: Deafening) => void = () => undefined): Promise<Scene> {
  const relay = new Deafening();
  change(relay);
  const server = await relayOf(relay.hearing);
  const upstream = connect(server.url);
  const warnings: string[] = [];
  let stamp = 1_800_000_000;
  const canary = openCanary({
    everyMs: EVERY_MS, pubkey: agent.pubkey, upstream, steadyClock: clock, log: { ...silentLog, warn: (text) => { warnings.push(text); } },
    publisher: { compose: (draft) => sign(agent, { ...draft, created_at: seconds(stamp += 1) }) },
  });
  opened.push({ close: async () => { canary.close(); } });
  const channel = collecting('ch-1', () => [CHANNEL_FILTER]);
  const notices = collecting('notices', () => [NOTICES]);
  canary.upstream.subscribe(channel.spec);
  canary.upstream.subscribe(notices.spec);
  const connection = await ready(server, upstream);
  await until(() => connection.all('REQ').length === 2);
  return {
    relay, canary, upstream, connection, channel, notices, warnings,
    async passing(holds) {
      while (!holds()) {
        clock.advance(500);
        await new Promise((resolve) => { setTimeout(resolve, 2); });
        if (upstream.phase() === 'authenticating') clock.advance(250);
      }
    },
  };
}

function canaries(messages: readonly Message[]): readonly VerifiedEvent[] {
  return messages.map(([, event]) => event as VerifiedEvent).filter(({ kind }) => kind === CANARY_KIND);
}

describe('a canary', () => {
  it('asks in each subscription for its own event, in a filter of its own', async () => {
    const { connection } = await scene();
    const own = { kinds: [CANARY_KIND], authors: [agent.pubkey], '#p': [agent.pubkey] };
    expect(connection.all('REQ')).toEqual([
      ['REQ', 'ch-1', filterToWire(CHANNEL_FILTER), { ...own, '#h': [CHANNEL] }], ['REQ', 'notices', filterToWire(NOTICES), own],
    ]);
  });

  it('sends it without content, to nobody but itself, in the channel of the subscription; nobody is handed it', async () => {
    const at = await scene();
    // What is sent in the channel proves the other one as well, which asks for no channel.
    await at.passing(() => at.canary.report().hearing === 2);
    const sent = (): readonly unknown[] => canaries(at.connection.all('EVENT')).map(({ content, tags }) => [content, tags]);
    expect(sent()).toEqual([['', [['h', CHANNEL], ['p', agent.pubkey]]]]);
    at.canary.upstream.unsubscribe('ch-1');
    await at.passing(() => sent().length === 2);
    expect(sent()[1]).toEqual(['', [['p', agent.pubkey]]]);
    expect([at.channel.events, at.notices.events]).toEqual([[], []]);
    expect(at.canary.report()).toEqual({ subscriptions: 1, hearing: 1, deaf: [], deafened: 0, recovered: 0 });
  });

  it('leaves a subscription that asks for nothing alone', async () => {
    const at = await scene();
    at.canary.upstream.subscribe(collecting('empty', () => []).spec);
    at.canary.upstream.unsubscribe('notices');
    await at.connection.got('CLOSE');
    expect(at.connection.all('REQ', 'empty')).toEqual([]);
    expect(at.canary.report().subscriptions).toBe(2);
  });

  it('sees its own echo past a consumer that takes its time', async () => {
    const at = await scene();
    at.canary.upstream.subscribe({ ...collecting('slow', () => [{ kinds: [7] }]).spec, onEvent: () => new Promise(() => undefined) });
    await at.connection.got('REQ', 'slow');
    at.connection.send('EVENT', 'slow', sign(agent, { kind: 7, content: '+' }));
    await at.passing(() => at.canary.report().hearing === 3);
    expect(at.canary.report().deafened).toBe(0);
  });
});

describe('a subscription that the relay hands nothing', () => {
  it('is told deaf, opened anew, and heard again; the one beside it is not touched', async () => {
    const at = await scene();
    await at.passing(() => at.canary.report().hearing === 2);
    at.relay.deaf.add('ch-1');
    await at.passing(() => at.canary.report().deaf.length === 1);
    const [{ subscription, sinceMs } = expect.fail('nobody is deaf')] = at.canary.report().deaf;
    expect(subscription).toBe('ch-1');
    expect(sinceMs).toBeLessThan(clock.now());
    at.relay.deaf.delete('ch-1');
    await at.passing(() => at.canary.report().recovered === 1);
    await until(() => at.connection.all('REQ', 'ch-1').length === 3);
    // Once to mend it, and once to ask for what was lost meanwhile.
    expect([at.connection.all('CLOSE', 'ch-1').length, at.connection.all('REQ', 'notices').length]).toEqual([2, 1]);
    expect(at.warnings).toEqual(['canary: a subscription does not deliver; it is opened anew']);
    expect(at.canary.report()).toMatchObject({ hearing: 2, deaf: [], deafened: 1 });
    const late = mention(CHANNEL, 'hello', 1_800_000_000);
    at.relay.echo(at.connection, late);
    await until(() => at.channel.events.length === 1);
    expect(at.channel.events).toMatchObject([{ id: late.id }]);
  });

  it('takes the connection with it where opening anew does not help', async () => {
    const at = await scene((relay) => { relay.deaf.add('notices'); });
    await at.passing(() => at.connection.closed);
    at.relay.deaf.clear();
    await at.passing(() => at.canary.report().recovered === 1);
    expect(at.canary.report()).toMatchObject({ hearing: 2, deafened: 1 });
  });
});

describe('a relay', () => {
  it('that says nothing at all any more is left, although its socket stands', async () => {
    const at = await scene();
    await at.passing(() => at.canary.report().hearing === 2);
    at.relay.verdict = undefined;
    await at.passing(() => at.connection.closed);
    expect(at.canary.report().deafened).toBeGreaterThan(0);
    at.relay.verdict = [true, ''];
    await at.passing(() => at.canary.report().deaf.length === 0 && at.canary.report().hearing === 2);
  });

  it('that says no is told, and nobody is deaf', async () => {
    const at = await scene((relay) => { relay.verdict = [false, 'restricted: unknown kind']; });
    await at.passing(() => at.canary.report().refusal !== undefined);
    const until_ = clock.now() + 3 * EVERY_MS;
    await at.passing(() => clock.now() > until_);
    expect(at.canary.report()).toEqual({ subscriptions: 2, hearing: 0, deaf: [], deafened: 0, recovered: 0, refusal: 'restricted: unknown kind' });
  });

  it('that is short of room is not asked, and nobody is deaf', async () => {
    const at = await scene();
    at.connection.send('NOTICE', 'rate-limited: quota exceeded; retry in 1s');
    await until(() => at.upstream.isLimited());
    const from = clock.now();
    await at.passing(() => clock.now() - from > 50_000);
    expect([canaries(at.connection.all('EVENT')), at.canary.report().deafened]).toEqual([[], 0]);
    await at.passing(() => at.canary.report().hearing === 2);
  });
});
