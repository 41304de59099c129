/**
 * Every agent that is started with what its owner says: each on its own, so that one that cannot be started holds up no
 * other. One reads at a time, because a relay counts what it is asked.
 */
import { refuse, within } from '../model/index.ts';
import type { Clock, Log, Pubkey, Random, Refusal } from '../model/index.ts';
import { planLaunch } from '../persona/index.ts';
import type { Store } from '../store/index.ts';
import type { Access } from './access.ts';
import { Launched } from './launched.ts';
import type { Planning } from './launched.ts';
import { Records } from './records.ts';
import { openRecordRows } from './rows.ts';
import type { LaunchSnapshot } from './snapshot.ts';
import type { LaunchStart, LaunchTarget } from './target.ts';

/** What a signer may still take at the end. */
const LAST_READ_MS = 2_000;

export interface LaunchesOptions {
  readonly targets: readonly LaunchTarget[];
  readonly access: Access;
  /** What names the relay community: a record goes to the one it was made in. */
  readonly community: string;
  readonly store: Store;
  /** Called when an agent may be started, once each. */
  readonly start: (start: LaunchStart) => void;
  readonly clock: Clock;
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly onFatal: (error: unknown) => void;
}

export interface Launches {
  snapshot(): readonly LaunchSnapshot[];
  /** Agents that are to be started and are not yet. */
  waiting(): number;
  /** Why that agent could not be started with what holds now; undefined where it could, and for an agent of another sort. */
  refusalOf(agent: Pubkey): Promise<Refusal | undefined>;
  /** It was stopped: it is started again with what its owner says now. Nothing for an agent of another sort. */
  ended(agent: Pubkey): void;
  close(): Promise<void>;
}

export function openLaunches({ targets, access, community, store, start, clock, steadyClock, random, log, onFatal }: LaunchesOptions): Launches {
  let reading: Promise<unknown> = Promise.resolve();
  const read = (target: LaunchTarget): Promise<Planning> => {
    const answer = reading.then(() => planOf(target, access));
    reading = answer.catch(() => undefined);
    return answer;
  };
  const launched = targets.map((target) => new Launched({
    target, plan: () => read(target), start, clock, steadyClock, random, log,
    records: new Records({ rows: openRecordRows(store, { community, agent: target.pubkey }), memory: () => target.link().memory, steadyClock, onFatal }),
  }));
  access.onNews(() => { for (const one of launched) one.news(); });
  const followed = launched.map((one) => one.follow().catch(onFatal));
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await Promise.all(launched.map((one) => one.close()));
    await access.close();
    await within(steadyClock, LAST_READ_MS, Promise.all(followed));
  }
  return {
    snapshot: () => launched.map((one) => one.snapshot()),
    waiting: () => launched.filter(({ isRunning }) => !isRunning).length,
    async refusalOf(agent) {
      const target = targets.find(({ pubkey }) => pubkey === agent);
      const planned = target === undefined ? undefined : await read(target);
      return planned?.ok === false ? planned : undefined;
    },
    ended: (agent) => { launched.find(({ pubkey }) => pubkey === agent)?.ended(); },
    close: () => (closing ??= close()),
  };
}

async function planOf({ order }: LaunchTarget, access: Access): Promise<Planning> {
  const opened = await access.ports();
  if (!opened.ok) return refuse(opened.code, opened.detail);
  const planned = await planLaunch(opened.ports, order);
  const trouble = access.trouble();
  return planned.ok || planned.code !== 'unavailable' || trouble === undefined ? planned : { ...planned, detail: `${planned.detail}: ${trouble}` };
}
