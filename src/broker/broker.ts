/**
 * The broker, put together: keyring, sessions, journal, HTTP host, and for each agent a part of its own (`member.ts`).
 * Order of opening: what can refuse without a trace comes first, sockets last. Order of closing: the host drains, then
 * the connections end, which settles everything that waits.
 */
import { once } from 'node:events';
import { Failure, later, shortId, within } from '../model/index.ts';
import type { Clock, Log, Pubkey, Random } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { openCursors } from './actions/index.ts';
import { publicIdentity } from './agent.ts';
import type { PublicIdentity } from './agent.ts';
import { openCredentials } from './credentials.ts';
import { openDispatch } from './dispatch.ts';
import type { Identification } from './host.ts';
import { openHosts } from './hosts.ts';
import { introduce } from './introduce.ts';
import { openJournal } from './journal/index.ts';
import type { Wire } from './journal/index.ts';
import { openKeyring } from './keyring.ts';
import { openLink } from './link.ts';
import { openKeyFiles, openManagedRows, openRegistry, openRoster } from './managed/index.ts';
import type { Configured, Registry, Roster, RosterOptions } from './managed/index.ts';
import { closeMembers, closeOutgoing, openMember } from './member.ts';
import type { Member } from './member.ts';
import { openOwnerDoor } from './owner-door.ts';
import type { AgentIdentity, Broker } from './ports.ts';
import { listed, openSessions } from './sessions.ts';
import { normalizeRelayUrl, openRelaySelf } from './upstream/index.ts';
import type { openUpstream } from './upstream/index.ts';

export interface BrokerOptions {
  /** The community's relay; in normal form it is part of every record's key, unless `community` is. */
  readonly relayUrl: string;
  /** What names the community in the journal's keys, where the relay's URL may change from run to run. */
  readonly community?: string;
  readonly identities: readonly AgentIdentity[];
  /** Whose sealed texts agents are started with; none, where nothing is. */
  readonly owner?: { readonly pubkey: Pubkey; readonly secretKey: Uint8Array };
  readonly store: Store;
  /** For stamps, and what is stored. */
  readonly clock: Clock;
  /** For deadlines in memory: nobody sets it. */
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where the keys of agents that agents make are kept; it is made when there is one. */
  readonly keyDirectory: string;
  /** In the place of the real relay connection. */
  readonly openUpstream?: typeof openUpstream;
  /** In the place of asking the real relay for its key. */
  readonly openRelaySelf?: typeof openRelaySelf;
  /** Where the endpoint listens: 127.0.0.1 (the default), ::1, or with `tls` any address. */
  readonly address?: string;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** Programs outside then come in by TLS; agents that skep runs keep a loopback address of their own. */
  readonly tls?: Identification;
  /** The URL by which programs outside reach it, where that is not its own address. */
  readonly publicUrl?: string;
}

const OWNER_BYTES = 16;
/** What a drained journal may still need of the disk. */
const COMMIT_GRACE_MS = 1_000;

/** Throws `Failure`: `config` for an unusable URL, key or address, `listen`, or the store's own. */
export async function openBroker(options: BrokerOptions): Promise<Broker> {
  const { identities, store, clock, steadyClock, random, log } = options;
  const relay = normalizeRelayUrl(options.relayUrl);
  if (!relay.ok) throw new Failure('config', relay.detail);
  refuseTwins(identities);
  const community = options.community ?? relay.url;
  const keyring = openKeyring(options.owner === undefined ? identities : [...identities, options.owner], random);
  const sessions = openSessions({ random, clock });
  const members = new Map<Pubkey, Member>();
  const memberOf = (pubkey: Pubkey): Member => members.get(pubkey) ?? unknownAgent(pubkey);
  /** Whose record is gone: nothing is done for them any more. */
  const revoked = new Set<Pubkey>();

  const managed = openManaged(options, community, {
    attest: (owner, agent) => keyring.attest(owner, agent),
    async connect(identity) {
      keyring.admit(identity);
      await journal.adopt({ community, principal: identity.pubkey });
      admit(publicIdentity(identity));
    },
    revoke(pubkey) {
      revoked.add(pubkey);
      sessions.closeOf(pubkey);
    },
    async disconnect(pubkey) {
      if (await dismiss(pubkey) !== undefined) keyring.forget(pubkey);
    },
    introduce: (agent, attestation, renamed) =>
      introduce({ agent, attestation, renamed, via: memberOf(agent.pubkey).agent, log }),
  });

  const journal = openJournal({
    store,
    clock,
    log,
    owner: Buffer.from(random.bytes(OWNER_BYTES)).toString('hex'),
    wireOf: ({ principal }) => members.get(principal)?.agent.publisher ?? CUT,
    onDoubt: ({ principal }) => {
      members.get(principal)?.pursuit.doubt();
    },
    aftermath: {
      writes: (evidence, verdict) => managed.registry.aftermath(evidence, verdict),
      written: () => { managed.roster.look(); },
    },
  });
  for (const { pubkey } of identities) await journal.adopt({ community, principal: pubkey });

  const credentials = await openCredentials({
    store, clock, random, log, community,
    holders: () => [...members.values()].map(({ agent: { identity: { name, pubkey, owner } } }) => ({ name, pubkey, owner })),
    endpoint: () => ({ endpoint: hosts.publicEndpoint, lasting: hosts.lasting }),
  });
  /** Configured agents that are let in in a moment. */
  const coming = new Set(identities.map(({ pubkey }) => pubkey));
  const hosts = await openHosts(options, {
    dispatch: openDispatch({
      sessions: { find: (token) => sessions.find(token) ?? credentials.find(token) },
      journal,
      agentOf: (principal) => (revoked.has(principal) ? undefined : members.get(principal)?.agent),
      isComing: (principal) => !revoked.has(principal) && (coming.has(principal) || managed.roster.expects(principal)),
      log,
    }),
    log,
    after: (ms, callback) => steadyClock.wake(later(steadyClock.now(), ms), callback),
  });

  // One for all agents: it is one relay.
  const { url: relayUrl } = relay;
  const relaySelf = (options.openRelaySelf ?? openRelaySelf)({ url: relayUrl, clock: steadyClock });
  const cursors = openCursors({ clock, keyring });
  const shared = { keyring, journal, cursors, relaySelf, registry: managed.registry };
  function admit(identity: PublicIdentity): void {
    const opened = openMember({ ...options, relayUrl, community }, identity, shared);
    const link = openLink({ ...opened, journal, sessions, endpoint: hosts.endpoint });
    members.set(identity.pubkey, { ...opened, link });
    coming.delete(identity.pubkey);
    // What an earlier run left in doubt; it waits for the connection by itself.
    void opened.pursuit.pass();
    void opened.cards.recover().catch((error: unknown) => { log.error('the permission cards of an earlier run could not be read', { agent: identity.pubkey, error }); });
  }
  for (const identity of identities) admit(publicIdentity(identity));

  async function dismiss(pubkey: Pubkey): Promise<Member | undefined> {
    const member = members.get(pubkey);
    if (member === undefined) return undefined;
    members.delete(pubkey);
    sessions.closeOf(pubkey);
    await closeOutgoing(member, 0);
    await closeMembers([member]);
    return member;
  }

  let closed: Promise<void> | undefined;
  const forced = new AbortController();
  const closeAllOutgoing = (graceMs: number): Promise<unknown> => Promise.all([...members.values()].map((member) => closeOutgoing(member, graceMs)));
  async function close(fullGraceMs: number): Promise<void> {
    const graceMs = forced.signal.aborted ? 0 : fullGraceMs;
    const endMs = later(steadyClock.now(), graceMs);
    const isForced = once(forced.signal, 'abort');
    void isForced.then(() => hosts.close(0));
    await hosts.close(graceMs);
    const left = forced.signal.aborted ? 0 : Math.max(0, endMs - steadyClock.now());
    // What is still on its way behind a force settles when the connections end.
    await Promise.race([closeAllOutgoing(left), isForced.then(() => { void closeAllOutgoing(0); })]);
    await managed.roster.close();
    sessions.closeAll();
    relaySelf.close();
    await closeMembers([...members.values()]);
    await within(steadyClock, COMMIT_GRACE_MS, journal.drained());
    keyring.close();
  }
  const closeOnce = (graceMs: number): Promise<void> => (closed ??= close(graceMs));

  try {
    await managed.roster.begin();
  } catch (error) {
    await closeOnce(0);
    throw error;
  }
  return {
    endpoint: hosts.endpoint,
    publicEndpoint: hosts.publicEndpoint,
    credentials: { ...credentials, list: () => [...credentials.list(), ...sessions.list().map((open) => listed(open, members.get(open.session.principal)?.agent.identity.name))] },
    link: (agent) => memberOf(agent).link,
    ...(options.owner && { owner: openOwnerDoor(keyring, options.owner.pubkey) }),
    async renew(pubkey) {
      if (members.has(pubkey)) coming.add(pubkey);
      try {
        const member = await dismiss(pubkey);
        if (member !== undefined && closed === undefined) admit(member.agent.identity);
      } finally {
        coming.delete(pubkey);
      }
    },
    managed: (consumer) => { managed.roster.follow(consumer); },
    close: closeOnce,
    force: () => { forced.abort(); },
  };
}

/** The wire of an agent that is there no longer: whatever it has under way stays in doubt. */
const CUT: Wire = {
  publish: () => Promise.resolve({ status: 'unknown', reason: 'the agent was deleted' }),
  find: () => Promise.resolve('unreadable'),
};

type RosterEffects = Pick<RosterOptions, 'attest' | 'connect' | 'revoke' | 'disconnect' | 'introduce'>;

function openManaged(
  { identities, store, clock, steadyClock, random, log, keyDirectory }: BrokerOptions, community: string, effects: RosterEffects,
): { readonly registry: Registry; readonly roster: Roster } {
  const rows = openManagedRows(store, community);
  const keyFiles = openKeyFiles(keyDirectory, random);
  const configured = identities.map(configuredOf);
  return {
    registry: openRegistry({ rows, keyFiles, configured, community, clock, steadyClock }),
    roster: openRoster({ rows, keyFiles, configured, log, ...effects }),
  };
}

function configuredOf({ pubkey, owner, channels, runtimes }: AgentIdentity): Configured {
  return { pubkey, owner, ...(channels === undefined ? {} : { channels }), ...(runtimes === undefined ? {} : { runtimes }) };
}

function refuseTwins(identities: readonly AgentIdentity[]): void {
  const names = new Map<Pubkey, string>();
  for (const { pubkey, name } of identities) {
    const twin = names.get(pubkey);
    if (twin !== undefined) throw new Failure('config', `agents ${twin} and ${name} have the same key`);
    names.set(pubkey, name);
  }
}

function unknownAgent(pubkey: Pubkey): never {
  throw new TypeError(`broker: no agent ${shortId(pubkey)}`);
}
