/**
 * What every verb of `skep owner` begins with: the owner's key, the relay, and which agents count. From the command line
 * and, on the owner's own machine, from the config of the supervisor; with the relay in the box, whose port may be any,
 * from the supervisor itself.
 */
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { askStatus, socketPathOf } from '../control/index.ts';
import { openLog } from '../log/index.ts';
import { Failure } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import { parsePubkey, toNpub } from '../nostr/index.ts';
import { openDesk } from '../owner/index.ts';
import type { Desk, Note } from '../owner/index.ts';
import { steadyClock, systemClock, systemRandom } from '../system/index.ts';
import { openOwnerKey } from './owner-key.ts';
import { safe } from './print.ts';

export interface OwnerFlags {
  readonly config?: string;
  readonly relay?: string;
  readonly key?: string;
  readonly agent?: readonly string[];
  readonly json?: boolean;
}

export interface Owner {
  readonly desk: Desk;
  /** How people call an agent: its name in the config, else the beginning of its npub. */
  readonly nameOf: (agent: Pubkey) => string;
}

export const CONFIG = 'skep.yaml';
/** A report is made in memory; a supervisor that needs longer is stuck. */
const ANSWER_MS = 5_000;

export function ownerOptions(command: Command): Command {
  return placeOptions(command)
    .option('-a, --agent <agent>', 'only this agent: a name of the config, an npub, or hex; may be given again', also);
}

/** Whose key, and which relay: for every verb that an owner has. */
export function placeOptions(command: Command): Command {
  return command
    .option('-c, --config <file>', `the supervisor's config, for its relay and its agents (default: ${CONFIG}, unless there is a --relay)`)
    .option('-r, --relay <url>', 'the relay, instead of the config\'s')
    .option('-k, --key <file>', 'a file with the owner\'s secret key, or a bunker:// address (default: keys/owner.key beside the config)')
    .option('--json', 'one JSON object a line');
}

/** Opens the desk, waits until the relay has told what it has stored, and closes everything when `work` has ended. */
export async function asOwner<T>(flags: OwnerFlags, work: (owner: Owner) => Promise<T>, onNote?: (note: Note, owner: Owner) => void): Promise<T> {
  const config = flags.config === undefined && flags.relay !== undefined ? undefined : loadConfig(flags.config ?? CONFIG);
  // Who does not watch has one answer to come, and reads why it did not: no line about every attempt in between.
  const log = openLog(onNote === undefined ? 'error' : 'warn');
  const key = await openOwnerKey(keyFileOf(flags, config), log, 'agents');
  try {
    const { named, others, names } = agentsOf(flags, config, key.pubkey);
    const relayUrl = flags.relay ?? await relayOf(config);
    const nameOf = (agent: Pubkey): string => names.get(agent) ?? toNpub(agent).slice(0, 12);
    const desk = openDesk({
      relayUrl, key, agents: named, others, clock: systemClock, steadyClock, random: systemRandom, log,
      onNote: (note) => { onNote?.(note, owner); },
    });
    const owner: Owner = { desk, nameOf };
    try {
      await desk.ready();
      return await work(owner);
    } finally {
      await desk.close();
    }
  } finally {
    await key.close();
  }
}

function also(agent: string, before: readonly string[] = []): readonly string[] {
  return [...before, agent];
}

export function keyFileOf({ key }: OwnerFlags, config: Config | undefined): string {
  if (key !== undefined) return key;
  if (config === undefined) throw new Failure('usage', '--key: expected the file of the owner\'s secret key, with --relay');
  return join(dirname(config.file), 'keys', 'owner.key');
}

export async function relayOf(config: Config | undefined): Promise<string> {
  if (config === undefined) throw new TypeError('neither a relay nor a config');
  if (config.relay.type === 'remote') return config.relay.url;
  const { embeddedRelay } = await askStatus(socketPathOf(config.dataDirectory), ANSWER_MS);
  if (embeddedRelay === undefined) throw new Failure('not_running', 'the supervisor that runs here has no relay in the box; give --relay');
  return embeddedRelay.url;
}

interface Agents {
  readonly named: readonly Pubkey[];
  /** Whether agents that prove to be the owner's count beside them. */
  readonly others: boolean;
  readonly names: ReadonlyMap<Pubkey, string>;
}

function agentsOf({ agent }: OwnerFlags, config: Config | undefined, owner: Pubkey): Agents {
  const mine = (config?.agents ?? []).filter((one) => one.owner === owner);
  const names = new Map(mine.map(({ pubkey, name }) => [pubkey, name]));
  if (agent !== undefined) {
    const named = agent.map((text) => mine.find(({ name }) => name === text)?.pubkey ?? agentNamed(text, config));
    return { named: [...new Set(named)], others: false, names };
  }
  if (config !== undefined && mine.length === 0) {
    throw new Failure('config', `--key: no agent of ${safe(config.file)} belongs to ${toNpub(owner)}; name one with --agent`);
  }
  return { named: mine.map(({ pubkey }) => pubkey), others: true, names };
}

function agentNamed(text: string, config: Config | undefined): Pubkey {
  const other = config?.agents.find(({ name }) => name === text);
  if (other !== undefined) throw new Failure('usage', `--agent: ${safe(text)} belongs to another owner, ${toNpub(other.owner)}`);
  const parsed = parsePubkey(text);
  if (!parsed.ok) throw new Failure('usage', `--agent: ${parsed.detail}${config === undefined ? '' : ', or a name of the config'}`);
  return parsed.pubkey;
}
