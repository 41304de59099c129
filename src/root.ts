/**
 * The composition root: opens every room on a config, in order, and closes them in the other. Nothing is decided here.
 *
 *   lock → store → control socket → leftovers ended → (relay in the box) → broker → (recorder) → supervisor → (launches)
 */
import { join } from 'node:path';
import { LeakBook, reapLeftovers } from './acp/index.ts';
import type { Leak } from './acp/index.ts';
import { openBroker } from './broker/index.ts';
import type { AgentIdentity, Broker, BrokerOptions } from './broker/index.ts';
import type { AgentConfig, Config } from './config/index.ts';
import { openLaunches } from './launches/index.ts';
import type { Launches } from './launches/index.ts';
import { lockDataDirectory, openControl, socketPathOf } from './control/index.ts';
import type { Restart, StatusReport } from './control/index.ts';
import { followManaged, openLaunch, runtimesOf } from './launch.ts';
import { ownerAccess, startLaunched, targetsOf } from './launch-owned.ts';
import type { Surroundings } from './launch.ts';
import type { Pubkey } from './model/index.ts';
import { Recorder } from './recording/index.ts';
import { openRelay } from './relay/index.ts';
import type { Relay } from './relay/index.ts';
import { relayKey } from './relay-key.ts';
import { restarter } from './restart.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from './store/index.ts';
import { openSupervisor } from './supervisor/index.ts';
import type { Supervisor } from './supervisor/index.ts';

export type RootOptions = Surroundings;

export interface Running {
  readonly relayUrl: string;
  snapshot(): StatusReport;
  /** Turns under way get `graceMs`, then are cut short and kept. Twice is once. */
  close(graceMs: number): Promise<void>;
  /** Ends one configured agent, by name or pubkey, and starts it again; the others run on. */
  readonly restart: Restart;
  /** Cuts turns short now: the second signal. */
  force(): void;
  /** Settles when everything is closed; rejects with what ended it when that was not `close`. */
  readonly closed: Promise<void>;
}

interface Closing {
  (graceMs: number): Promise<void> | void;
}

/** Rejects with a `Failure` (`in_use`, `storage_*`, `listen`, `config`); nothing is left open then. */
export async function start(config: Config, options: RootOptions): Promise<Running> {
  const closings: Closing[] = [];
  const closeAll = async (graceMs: number): Promise<void> => {
    const causes: unknown[] = [];
    for (const close of closings.splice(0).reverse()) {
      try {
        await close(graceMs);
      } catch (error) {
        causes.push(error);
      }
    }
    if (causes.length > 0) throw causes[0];
  };
  try {
    return await openRooms(config, options, closings, closeAll);
  } catch (error) {
    await closeAll(0);
    throw error;
  }
}

async function openRooms(
  config: Config, options: RootOptions, closings: Closing[], closeAll: (graceMs: number) => Promise<void>,
): Promise<Running> {
  const { clock, steadyClock, random, log } = options;
  const lock = lockDataDirectory(config.dataDirectory);
  closings.push(() => { lock.release(); });
  const store = openSqlite(join(config.dataDirectory, 'skep.db'), SUPERVISOR_SCHEMA);
  closings.push(() => store.close());

  const ending = endOnce(closeAll);
  const leaks = new LeakBook(log);
  const rooms: Rooms = { leaks };
  const snapshot = reporter(rooms, ending, options);
  // Open early and closed late, so that a slow start or a slow end can be looked at.
  const control = await openControl({
    path: socketPathOf(config.dataDirectory), snapshot, log,
    desk: () => (ending.begun() ? undefined : rooms.broker?.credentials),
    restart: () => (ending.begun() ? undefined : rooms.restart),
  });
  closings.push(() => control.close());
  const onLeak = (leak: Leak): void => { leaks.add(leak); };
  await reapLeftovers({ store, clock: options.steadyClock, log, onLeak });

  const relay = config.relay.type === 'embedded' ? await embeddedRelay(config, config.relay, options) : undefined;
  if (relay !== undefined) {
    rooms.relay = relay;
    closings.push(() => relay.close());
  }
  const relayUrl = relay?.url ?? (config.relay.type === 'remote' ? config.relay.url : '');

  const broker = await openBroker({
    relayUrl, identities: config.agents.map((agent) => identityOf(agent, config)), store, clock, steadyClock, random, log,
    keyDirectory: join(config.dataDirectory, 'agents'),
    ...(config.ownerKey?.type === 'local' && { owner: config.ownerKey }),
    ...listening(config.broker),
    // The box may listen on another port each time; it is its key that makes it the same community.
    ...(relay && { community: `embedded:${relay.pubkey}` }),
  });
  rooms.broker = broker;
  closings.push((graceMs) => broker.close(graceMs));

  const recorder = config.recordDirectory === undefined ? undefined : newRecorder(config.recordDirectory, config, options);
  if (recorder !== undefined) {
    rooms.recorder = recorder;
    closings.push(() => recorder.close());
  }
  const onFatal = (error: unknown): void => { ending.fail(error); };
  const onShutdown = (agent: Pubkey): void => {
    const isLast = (wasLast: boolean): boolean => wasLast && (rooms.launches?.waiting() ?? 0) === 0;
    void rooms.supervisor?.shutdown(agent, config.graceMs).then((wasLast) => (isLast(wasLast) ? ending.close(config.graceMs) : undefined)).catch(onFatal);
  };
  const launch = openLaunch({ config, options, broker, store, recorder, onLeak, onFatal, onShutdown });
  const supervisor = openSupervisor(config.agents.filter((agent) => agent.launch === undefined).map((agent) => launch.configured(agent)));
  rooms.supervisor = supervisor;
  closings.push((graceMs) => supervisor.close(graceMs));
  const access = ownerAccess(config, { relayUrl, broker, options });
  if (access !== undefined) {
    const launches = openLaunches({
      targets: targetsOf(config, broker), access, community: relay === undefined ? relayUrl : `embedded:${relay.pubkey}`, store, clock, steadyClock, random, log, onFatal,
      start: (start) => { startLaunched(start, { config, launch, supervisor }); },
    });
    rooms.launches = launches;
    closings.push(() => launches.close());
  }
  broker.managed((change) => followManaged(change, supervisor, launch, config.graceMs));
  const restart = restarter({ config, broker, launch, supervisor, launches: rooms.launches });
  rooms.restart = restart;
  return { relayUrl, snapshot, restart, close: ending.close, force: () => { supervisor.force(); broker.force(); }, closed: ending.closed };
}

/** What is open so far, as far as it is to be told. */
interface Rooms {
  readonly leaks: LeakBook;
  broker?: Broker;
  relay?: Relay;
  recorder?: Recorder;
  supervisor?: Supervisor;
  launches?: Launches;
  restart?: Restart;
}

function reporter(rooms: Readonly<Rooms>, ending: EndOnce, { clock, version }: RootOptions): () => StatusReport {
  const startedAtMs = clock.now();
  return () => ({
    v: 1, leaks: rooms.leaks.list().map(({ pid, agent, program, why }) => ({ pid, agent, program, why })), pid: process.pid, version, startedAtMs, stopping: ending.begun(),
    ...(rooms.relay && { embeddedRelay: { url: rooms.relay.url, connections: rooms.relay.stats().connections } }),
    ...(rooms.recorder && { recording: rooms.recorder.report() }),
    agents: rooms.supervisor?.snapshot() ?? [],
    ...(rooms.launches && { launches: rooms.launches.snapshot() }),
  });
}

interface EndOnce {
  readonly close: (graceMs: number) => Promise<void>;
  /** The disk or a bug: closes everything without grace; `closed` rejects with the first cause. */
  readonly fail: (cause: unknown) => void;
  readonly begun: () => boolean;
  readonly closed: Promise<void>;
}

/** However often and for whatever reason the end is asked for, the rooms are closed once. */
function endOnce(closeAll: (graceMs: number) => Promise<void>): EndOnce {
  let failure: { readonly cause: unknown } | undefined;
  let closing: Promise<void> | undefined;
  let settle: (() => void) | undefined;
  const closed = new Promise<void>((resolve, reject) => {
    settle = () => {
      if (failure === undefined) resolve();
      else reject(failure.cause);
    };
  });
  // Whoever only calls `close` need not look at `closed`.
  closed.catch(() => undefined);
  const close = (graceMs: number): Promise<void> => {
    // What goes wrong while closing is told by `closed`, after the rest is closed.
    closing ??= closeAll(graceMs).catch((cause: unknown) => { failure ??= { cause }; }).then(() => settle?.());
    return closing;
  };
  return {
    close,
    fail: (cause) => {
      failure ??= { cause };
      void close(0);
    },
    begun: () => closing !== undefined,
    closed,
  };
}

function embeddedRelay(
  config: Config, relay: Extract<Config['relay'], { type: 'embedded' }>, { clock, steadyClock, random, log }: RootOptions,
): Promise<Relay> {
  const owners = [...new Set(config.agents.map((agent) => agent.owner))];
  return openRelay({
    host: relay.host,
    port: relay.port,
    names: { port: 'embedded.port', host: 'embedded.host' },
    ...(relay.publicUrl === undefined ? {} : { publicUrl: relay.publicUrl }),
    storePath: join(config.dataDirectory, 'relay.db'),
    secretKey: relayKey(join(config.dataDirectory, 'relay.key'), random),
    clock, steadyClock, random, log,
    agentOwners: config.agents.map(({ pubkey, owner }) => ({ agent: pubkey, owner })),
    seedChannels: relay.channels.map(({ id, name }) => ({
      id, name, visibility: 'private',
      members: [
        ...owners.map((pubkey) => ({ pubkey, role: 'admin' as const })),
        // To attach an agent it has made, an agent must be one who may add members (NIP-29 put-user).
        ...config.agents.map(({ pubkey, manageAgents }) => ({ pubkey, role: manageAgents ? 'admin' as const : 'member' as const })),
      ],
    })),
  });
}

function listening({ address, port, tls, endpoint }: Config['broker']): Pick<BrokerOptions, 'address' | 'port' | 'tls' | 'publicUrl'> {
  return { address, port, ...(tls && { tls }), ...(endpoint && { publicUrl: endpoint }) };
}

function identityOf(agent: AgentConfig, config: Config): AgentIdentity {
  const { name, pubkey, secretKey, owner, attestation, channels, subscribe, canaryMs } = agent;
  return {
    name, pubkey, secretKey, owner, subscribe,
    ...(attestation === undefined ? {} : { attestation: attestation.tag }),
    ...(channels === undefined ? {} : { channels }),
    ...(canaryMs !== undefined && { canaryMs }),
    ...(agent.manageAgents && { runtimes: runtimesOf(agent, config) }),
  };
}

function newRecorder(directory: string, { agents }: Config, { log, steadyClock: clock }: RootOptions): Recorder {
  const recorder = new Recorder({ directory, people: agents.flatMap(({ pubkey, owner }) => [pubkey, owner]), log, clock });
  for (const { env } of agents) {
    // An operator's own tokens; a path or a word is none, and may well be in a turn.
    for (const [name, value] of Object.entries(env)) if (/key|token|secret|passw|credential/i.test(name)) recorder.keepSecret(value);
  }
  return recorder;
}
