/**
 * What the verbs of an owner's personas, teams and instructions begin with: the owner's key, the one relay that holds
 * them, and the agents of the config that are this owner's. And how what is refused there ends a program.
 */
import { loadConfig } from '../../config/index.ts';
import type { AgentConfig, Config } from '../../config/index.ts';
import { excerpt, Failure, secondsOf, silentLog } from '../../model/index.ts';
import type { FailureCode, Refusal } from '../../model/index.ts';
import { openPersonaRelay } from '../../owner/index.ts';
import { portOf } from '../../persona/index.ts';
import type { AddressOutcome, BookRefusal, OwnerPorts } from '../../persona/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../system/index.ts';
import { openOwnerKey } from '../owner-key.ts';
import { CONFIG, keyFileOf, relayOf } from '../owner-open.ts';
import type { OwnerFlags } from '../owner-open.ts';
import { safe } from '../print.ts';

export type PersonaFlags = Omit<OwnerFlags, 'agent'>;

export interface Personas extends OwnerPorts {
  /** Absent where the relay was named on the command line. */
  readonly config: Config | undefined;
  /** Those of the config whose owner this is. */
  readonly agents: readonly AgentConfig[];
}

/** Opens key and relay, and closes both when `work` has ended. Rejects with `Failure('relay')` for a relay that is away. */
export async function asPersonas<T>(flags: PersonaFlags, work: (personas: Personas) => Promise<T>): Promise<T> {
  const config = flags.config === undefined && flags.relay !== undefined ? undefined : loadConfig(flags.config ?? CONFIG);
  // Why there was no answer stands in the one line that a failure is.
  const log = silentLog;
  const key = await openOwnerKey(keyFileOf(flags, config), log, 'personas');
  try {
    const relay = openPersonaRelay({ relayUrl: flags.relay ?? await relayOf(config), key, clock: systemClock, steadyClock, random: systemRandom, log });
    try {
      const agents = (config?.agents ?? []).filter(({ owner }) => owner === key.pubkey);
      return await work({ key: portOf(key), relay, nowSec: () => secondsOf(systemClock.now()), config, agents });
    } catch (error) {
      const trouble = relay.trouble();
      if (!(error instanceof Failure) || error.code !== 'relay' || trouble === undefined) throw error;
      throw new Failure('relay', `${safe(relay.url)}: ${error.message}: ${trouble}`, { cause: error });
    } finally {
      await relay.close();
    }
  } finally {
    await key.close();
  }
}

/** The value, or the failure that a refusal of `src/persona` becomes. */
export function taken<T extends { readonly ok: true }>(result: T | Refusal): T {
  if (result.ok) return result;
  throw failureOf(result);
}

export function failureOf({ code, detail }: Refusal): Failure {
  return new Failure(CODES[code] ?? 'refused_input', excerpt(detail, MAX_DETAIL));
}

/** Scalars: a detail names members, or teams. */
const MAX_DETAIL = 600;

/** What is not here is a text, a definition or a team that cannot be used as it is. */
const CODES: Readonly<Partial<Record<string, FailureCode>>> = {
  unavailable: 'relay', refused: 'relay', rejected: 'relay',
  unknown: 'unanswered',
  unseen: 'not_changed', deleted: 'not_changed',
  overtaken: 'partly_done',
} satisfies Partial<Record<BookRefusal | Extract<AddressOutcome, { ok: false }>['code'] | 'unseen', FailureCode>>;
