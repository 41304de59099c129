/**
 * A broker's process is killed by SIGKILL at each step of every action that publishes, on a relay that lives on; then
 * another broker opens the same data, and the same bytes come again. Never a second event, never a failure that was
 * none, never a success that the relay knows nothing of, never a part of an agent (NIP-BA "Execution and retries" 5 and 6).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openBroker } from '../../../src/broker/index.ts';
import { ATTACHING, isPublishing } from '../../../src/broker/journal/verdict.ts';
import type { PublishingAction } from '../../../src/broker/journal/verdict.ts';
import { openUpstream } from '../../../src/broker/upstream/index.ts';
import type { Upstream, UpstreamOptions } from '../../../src/broker/upstream/index.ts';
import { ACTION_NAMES } from '../../../src/broker/wire/index.ts';
import { silentLog } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import type { Relay } from '../../../src/relay/index.ts';
import { openSqlite, sql, SUPERVISOR_SCHEMA } from '../../../src/store/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../../src/system/index.ts';
import { Client, startRelay } from '../../relay/harness.ts';
import { temporaryDirectory } from '../../setup/temp.ts';
import { identity, post, requestBytes, told } from '../harness.ts';
import type { Answered } from '../harness.ts';
import { AGENT, CHANNEL, OWNER } from '../people.ts';

const DIST = fileURLToPath(new URL('../../../dist', import.meta.url));
const PROGRAM = fileURLToPath(new URL('programs/killed-broker.mjs', import.meta.url));
const STEPS = [
  'before claim', 'after claim', 'before evidence', 'after evidence', 'after send', 'after OK', 'before result', 'after result',
] as const;

type Name = PublishingAction | typeof ATTACHING;
type Sent = Pick<VerifiedEvent, 'kind' | 'content'>;

/** Complete by type: an action that publishes is in here, or nothing compiles. `is` knows its event by kind and content. */
const ACTIONS: Readonly<Record<Name, { readonly args: (target: string) => unknown; readonly is: (event: Sent) => boolean }>> = {
  'message.post': { args: () => ({ channelId: CHANNEL, content: 'a post' }), is: ({ content }) => content === 'a post' },
  'message.reply': {
    args: (target) => ({ channelId: CHANNEL, content: 'a reply', replyToEventId: target }), is: ({ content }) => content === 'a reply',
  },
  'reaction.add': {
    args: (target) => ({ channelId: CHANNEL, targetEventId: target, reaction: '+' }), is: ({ kind }) => kind === 7,
  },
  'profile.set': { args: () => ({ displayName: 'Worker' }), is: ({ kind }) => kind === 0 },
  'storage.put': { args: () => ({ slug: 'mem/a', value: 'remembered' }), is: ({ kind }) => kind === 30_174 },
  'presence.set': { args: () => ({ status: 'online' }), is: ({ kind }) => kind === 20_001 },
  'typing.set': { args: () => ({ channelId: CHANNEL }), is: ({ kind }) => kind === 20_002 },
  'liveness.ping': { args: () => ({ channelId: CHANNEL, turnId: 't-1' }), is: ({ kind }) => kind === 24_200 },
  'agents.create': {
    args: () => ({ channelId: CHANNEL, displayName: 'Helper', systemPrompt: 'Help.' }), is: ({ kind }) => kind === 9_000,
  },
};
const NAMES = ACTION_NAMES.filter((name): name is Name => isPublishing(name) || name === ATTACHING);

describe.each(STEPS)('killed %s', (step) => {
  it('every publishing action is done at most once, and its retry is told the truth', { timeout: 60_000 }, async () => {
    const relay = await openRelayWith();
    const target = await said(relay);
    const directory = temporaryDirectory();
    const requests = NAMES.map((name) => ({ name, bytes: requestBytes(name, name, ACTIONS[name].args(target)) }));
    await untilKilled(step, { relay, directory }, requests.map(({ bytes }) => bytes));

    const seen = recordOf(directory);
    const { act, made } = await restarted(relay, directory, seen);
    const first = await Promise.all(requests.map(({ bytes }) => act(bytes)));
    const again = await Promise.all(requests.map(({ bytes }) => act(bytes)));
    const stored = await storedOn(relay);
    requests.forEach(({ name }, at) => {
      const sent = new Set(seen.sent.filter(ACTIONS[name].is).map(({ id }) => id));
      const known = [...sent].filter((id) => seen.accepted.has(id) || stored.has(id));
      expect(sent.size, `${name}: events sent`).toBeLessThanOrEqual(1);
      for (const answer of [first[at], again[at]]) {
        if (answer === undefined) throw new TypeError('no answer');
        expect(['succeeded', 'failed', 'indeterminate'], name).toContain(answer.result.status);
        if (answer.result.status === 'failed') expect(known, `${name}: ${told(answer)}`).toEqual([]);
        if (answer.result.status !== 'succeeded') continue;
        expect(known, `${name}: ${told(answer)}`).toHaveLength(1);
        if (name !== ATTACHING) expect(answer.result.outcome?.['eventId'], name).toBe(known[0]);
      }
      // A verdict that is final stays what it is.
      if (first[at]?.result.status !== 'indeterminate') expect(again[at]?.result.status, name).toBe(first[at]?.result.status);
    });
    // An agent that was made is there whole, record and key, and of another nothing is.
    const created = again[NAMES.indexOf(ATTACHING)]?.result;
    const agents = created?.status === 'succeeded' ? [created.outcome?.['agentPubkey']] : [];
    if (created?.status !== 'indeterminate') {
      await vi.waitFor(async () => { expect(await made()).toEqual({ live: agents, keys: agents.map((agent) => `${String(agent)}.key`) }); }, { timeout: 30_000 });
    }
    // The control: the actions are done where nothing was recorded, and were done where all was.
    if (step === 'before claim' || step === 'after result') {
      expect(first.map((answer) => answer.result.status), JSON.stringify(first.map(told))).toEqual(NAMES.map(() => 'succeeded'));
    }
  });
});

interface Sends {
  readonly sent: (Sent & { readonly id: string })[];
  readonly accepted: Set<string>;
}

function openRelayWith(): Promise<Relay> {
  const [owner, agent] = [OWNER, AGENT].map(({ pubkey }) => ({ pubkey, role: 'admin' }) as const);
  return startRelay({
    agentOwners: [{ agent: AGENT.pubkey, owner: OWNER.pubkey }],
    seedChannels: [{ id: CHANNEL, name: 'team', visibility: 'private', members: [owner, agent].filter((one) => one !== undefined) }],
  });
}

const ownerAtRelay = {
  key: OWNER.secretKey, pubkey: OWNER.pubkey,
  sign: (kind: number, tags: VerifiedEvent['tags'] = [], content = '', createdAtSec = Math.floor(Date.now() / 1_000)) =>
    OWNER.sign({ kind, tags, content, createdAtSec }),
};

/** The owner says something to reply and react to. */
async function said(relay: Relay): Promise<string> {
  const owner = await Client.as(ownerAtRelay, relay);
  const message = ownerAtRelay.sign(9, [['h', CHANNEL]], 'well?');
  owner.send(['EVENT', message]);
  expect((await owner.ok(message.id))[2]).toBe(true);
  return message.id;
}

async function storedOn(relay: Relay): Promise<ReadonlySet<string>> {
  const owner = await Client.as(ownerAtRelay, relay);
  // The relay gives engrams to those they name alone.
  owner.send(['REQ', 'all', { authors: [AGENT.pubkey], kinds: [0, 7, 9, 9_000] }, { kinds: [30_174], '#p': [OWNER.pubkey] }]);
  await owner.next('EOSE', 'all');
  return new Set(owner.receivedEvents('all').map(({ id }) => id));
}

interface Place {
  readonly relay: Relay;
  readonly directory: string;
}

async function untilKilled(step: string, { relay, directory }: Place, requests: readonly Uint8Array[]): Promise<void> {
  const options = {
    dist: DIST, relayUrl: relay.url, directory, step, count: requests.length, agent: AGENT.pubkey, owner: OWNER.pubkey,
    secretKey: Buffer.from(AGENT.secretKey).toString('hex'), channelId: CHANNEL,
  };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const [line] = await once(createInterface(child.stdout), 'line');
  const { endpoint, token } = JSON.parse(String(line)) as { readonly endpoint: string; readonly token: string };
  const cut = await Promise.all(requests.map((bytes) => post(endpoint, token, bytes).catch(() => undefined)));
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(cut.filter((answer) => answer !== undefined).map(told)).toEqual([]);
}

function recordOf(directory: string): Sends {
  const lines = readLines(join(directory, 'sends'));
  const accepted = lines.flatMap((line) => (typeof line['accepted'] === 'string' ? [line['accepted']] : []));
  const sent = lines.flatMap(({ sent: id, kind, content }) =>
    typeof id === 'string' && typeof kind === 'number' && typeof content === 'string' ? [{ id, kind, content }] : []);
  return { sent, accepted: new Set(accepted) };
}

function readLines(path: string): readonly Readonly<{ [name: string]: unknown }>[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as { [name: string]: unknown });
  } catch {
    return [];
  }
}

interface Restarted {
  readonly act: (bytes: Uint8Array) => Promise<Answered>;
  /** Agents that agents have made: those that live, and whose keys are on disk. */
  readonly made: () => Promise<{ readonly live: readonly unknown[]; readonly keys: readonly string[] }>;
}

/** The next broker on the same data, here; what it sends is recorded like what the one before it sent. */
async function restarted(relay: Relay, directory: string, record: Sends): Promise<Restarted> {
  const store = openSqlite(join(directory, 'skep.db'), SUPERVISOR_SCHEMA);
  const keyDirectory = join(directory, 'agents');
  onTestFinished(() => store.close());
  const broker = await openBroker({
    relayUrl: relay.url, identities: [identity(AGENT, { runtimes: ['scripted'] })], store, clock: systemClock, steadyClock, random: systemRandom, log: silentLog,
    keyDirectory, openUpstream: (options) => recorded(openUpstream(options), options, record),
  });
  onTestFinished(() => broker.close(0));
  broker.managed(() => Promise.resolve());
  const link = broker.link(AGENT.pubkey);
  const { sessionId, token } = link.openSession();
  link.bindTurn(sessionId, { turnId: 't-1', channelId: CHANNEL });
  return {
    act: (bytes) => post(broker.endpoint, token, bytes),
    made: async () => ({
      live: (await store.read(sql("SELECT pubkey FROM managed_agents WHERE status <> 'deleted'"))).map(({ pubkey }) => pubkey),
      keys: existsSync(keyDirectory) ? readdirSync(keyDirectory) : [],
    }),
  };
}

function recorded(upstream: Upstream, { pubkey }: UpstreamOptions, record: Sends): Upstream {
  if (pubkey !== AGENT.pubkey) return upstream;
  const publish = upstream.publish.bind(upstream);
  return Object.assign(upstream, {
    publish: async (...[event, options]: Parameters<Upstream['publish']>) => {
      record.sent.push({ id: event.id, kind: event.kind, content: event.content });
      const outcome = await publish(event, options);
      if (outcome.status === 'accepted') record.accepted.add(event.id);
      return outcome;
    },
  });
}
