/**
 * How a value that was read from memory lies in the journal: sealed under a key derived from the agent's own, together
 * with the request it answers, so that neither the database nor a copy of it tells an agent's memory (NIP-BA
 * "Security": protected in retry storage). Every other verdict is stored as it is.
 */
import type { Pubkey } from '../model/index.ts';
import { indeterminate } from './journal/index.ts';
import type { Verdict } from './journal/index.ts';
import type { Keyring } from './keyring.ts';

export interface StoredMemory {
  /** The verdict as the journal may keep it. */
  shut(requestId: string, verdict: Verdict): Verdict;
  /** The verdict that was shut; `indeterminate` when it cannot be opened, for what was read is not known then. */
  reopen(requestId: string, verdict: Verdict): Verdict;
}

export function openStoredMemory(keyring: Pick<Keyring, 'protect' | 'reveal'>, pubkey: Pubkey): StoredMemory {
  return {
    shut: (requestId, verdict) =>
      replaceValue(verdict, (value) => keyring.protect(pubkey, JSON.stringify([requestId, value]))) ?? verdict,
    reopen: (requestId, verdict) =>
      replaceValue(verdict, (value) => valueOf(keyring.reveal(pubkey, value), requestId))
      ?? indeterminate('internal', 'the stored result cannot be read'),
  };
}

/** The verdict with its memory value replaced; as it is where it holds none; undefined when `replace` gives none. */
function replaceValue(verdict: Verdict, replace: (value: string) => string | undefined): Verdict | undefined {
  if (verdict.status !== 'succeeded' || verdict.action !== 'storage.get' || verdict.outcome.value === undefined) {
    return verdict;
  }
  const value = replace(verdict.outcome.value);
  return value === undefined ? undefined : { ...verdict, outcome: { value } };
}

/** A value that answers another request is none: rows of a database can be exchanged. */
function valueOf(text: string | undefined, requestId: string): string | undefined {
  const parsed: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!Array.isArray(parsed)) return undefined;
  const [found, value] = parsed as readonly unknown[];
  return found === requestId && typeof value === 'string' ? value : undefined;
}
