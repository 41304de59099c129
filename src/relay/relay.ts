/**
 * Opening the relay: store, channels, server, wired in that order and closed in the other. Everything it needs of the
 * outside comes in as an option.
 */
import { asPubkey, seconds, silentLog } from '../model/index.ts';
import type { ChannelId, Clock, Log, Pubkey, Random } from '../model/index.ts';
import { publicKeyOf, signEvent } from '../nostr/index.ts';
import { openSqlite } from '../store/index.ts';
import type { Store } from '../store/index.ts';
import { openBridge } from './bridge.ts';
import { ChannelBook } from './channel-book.ts';
import type { Role, Visibility } from './channel.ts';
import type { RelayParts } from './conversation.ts';
import { relayInformation } from './information.ts';
import { Ingest } from './ingest.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { RelayLimits } from './limits.ts';
import { Owners } from './owners.ts';
import { RELAY_SCHEMA } from './schema.ts';
import { RelayServer } from './server.ts';
import type { ListenNames } from './server.ts';

/**
 * A channel that shall be there, with these members. One that is there already keeps its name, roles and everybody in
 * it; only the members it lacks are added.
 */
export interface SeedChannel {
  readonly id: ChannelId;
  readonly name: string;
  readonly about?: string;
  readonly visibility: Visibility;
  readonly members: readonly { readonly pubkey: Pubkey; readonly role: Role }[];
}

export interface RelayOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** The address to listen on; 127.0.0.1 when absent. */
  readonly host?: string;
  /** What clients outside connect to and name in their AUTH event, where a proxy stands in between: a ws or wss URL. */
  readonly publicUrl?: string;
  /** What the operator calls `port` and `host`, for the failure to listen. */
  readonly names?: ListenNames;
  /** A file, or `:memory:`. */
  readonly storePath: string;
  /** 32 bytes. Signs 39000-39002 and membership notices; a store belongs to the key that signed its channels. */
  readonly secretKey: Uint8Array;
  /** For stamps. */
  readonly clock: Clock;
  /** For deadlines and quotas: nobody sets it. */
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly limits?: Partial<RelayLimits>;
  readonly name?: string;
  readonly log?: Log;
  readonly seedChannels?: readonly SeedChannel[];
  /** Agents whose owner the operator vouches for, whatever they prove. Frames and metrics need that, or NIP-OA. */
  readonly agentOwners?: readonly { readonly agent: Pubkey; readonly owner: Pubkey }[];
}

/** `accepted`, `refused` and `delivered` count events since the start. */
export interface RelayStats {
  readonly connections: number;
  readonly subscriptions: number;
  readonly channels: number;
  readonly accepted: number;
  readonly refused: number;
  readonly delivered: number;
}

export interface Relay {
  /** `ws://<host>:<port>`: where it listens, and what clients name in their AUTH event unless there is a `publicUrl`. */
  readonly url: string;
  readonly pubkey: Pubkey;
  stats(): RelayStats;
  /** Answers what it has read, says goodbye, drops those that do not answer within the grace. Twice is once. */
  close(): Promise<void>;
}

/** Rejects with a `Failure`: `listen` for the port, `storage_*` for the store, `config` for a key not its own. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const store = openSqlite(options.storePath, RELAY_SCHEMA);
  try {
    return await openOn(store, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openOn(store: Store, options: RelayOptions): Promise<Relay> {
  const { clock, steadyClock, random, secretKey, host = '127.0.0.1', port, names, publicUrl, log = silentLog } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const self = asPubkey(Buffer.from(publicKeyOf(secretKey) ?? []).toString('hex'));
  if (self === undefined) throw new TypeError('relay key: expected 32 bytes, 1..n-1');

  const book = await ChannelBook.open({
    store, clock, limits, self, sign: (template) => signEvent(template, secretKey, random.bytes(32)),
  });
  for (const seed of options.seedChannels ?? []) {
    const members = new Map(seed.members.map(({ pubkey, role }) => [pubkey, role]));
    await book.seed({ about: '', type: 'stream', archived: false, stampSec: seconds(0), ...seed, members });
  }

  const information = relayInformation(options.name ?? 'skep relay', self, limits);
  const server = new RelayServer({ clock: steadyClock, random, limits, log, information });
  const owners = new Owners(store, log, options.agentOwners ?? []);
  const ingest = new Ingest({
    store, clock, steadyClock, limits, owners, book, log,
    deliver: (delivery) => {
      server.deliver(delivery);
    },
  });
  const url = `ws://${host.includes(':') ? `[${host}]` : host}:${await server.listen({ host, port, ...(names && { names }) })}`;
  const counts = { accepted: 0, refused: 0, delivered: 0 };
  const parts: RelayParts = {
    // Programs on this machine need not take the way round by the proxy.
    urls: publicUrl === undefined ? [url] : [publicUrl, url],
    limits, clock, steadyClock, store, ingest, owners, log, channels: book.channels,
    count: (what, by) => {
      counts[what] += by;
    },
  };
  server.serve(parts, openBridge(parts, publicUrl));
  log.info('relay listens', { url, pubkey: self, channels: book.channels.size });

  let closing: Promise<void> | undefined;
  return {
    url,
    pubkey: self,
    stats: () => ({
      connections: server.connections, subscriptions: server.subscriptions, channels: book.channels.size, ...counts,
    }),
    close: () => closing ??= server.close().then(() => store.close()),
  };
}
