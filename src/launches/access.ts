/**
 * How the owner's word is reached: their key, which may be at a signer far away and is asked for until it answers, and
 * the relay as the owner. Reads and nothing else. What was opened once is not opened again: a signer takes its time.
 */
import { hash } from 'node:crypto';
import type { OwnerDoor } from '../broker/index.ts';
import { Failure, refuse } from '../model/index.ts';
import type { Clock, Log, Pubkey, Random, Refusal } from '../model/index.ts';
import { openPersonaRelay } from '../owner/index.ts';
import type { OwnerRelay } from '../owner/index.ts';
import { OWNER_KINDS } from '../persona/index.ts';
import type { ReadingPorts } from '../persona/index.ts';

/** A signer's line is closed with the access; what the broker holds is the broker's to close. */
interface ClosingDoor extends OwnerDoor {
  close?(): Promise<void>;
}

export interface AccessOptions {
  /** Whose word it is. */
  readonly owner: Pubkey;
  /** May reject with a `Failure`, and is asked again then. */
  readonly key: () => Promise<ClosingDoor>;
  readonly relayUrl: string;
  readonly clock: Clock;
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface Access {
  /** `owner`: the signer holds another key than the agents' owner has. */
  ports(): Promise<{ readonly ok: true; readonly ports: ReadingPorts } | Refusal<'unavailable' | 'owner'>>;
  /** Why the relay did not answer in full, as far as it is known. */
  trouble(): string | undefined;
  /** Called when the owner may have said something new. One listener. */
  onNews(listener: () => void): void;
  close(): Promise<void>;
}

/** Texts of one owner: versions and records of some dozens of agents and teams. The oldest goes first. */
const MAX_OPENED = 512;

export function openAccess(options: AccessOptions): Access {
  const { owner } = options;
  let opening: Promise<ReadingPorts> | undefined;
  let relay: OwnerRelay | undefined;
  let listener = (): void => {};
  let isClosed = false;
  let held: ClosingDoor | undefined;

  async function open(): Promise<ReadingPorts> {
    const key = await options.key();
    held = key;
    if (isClosed) {
      await key.close?.();
      throw new Failure('relay', 'stopping');
    }
    relay = openPersonaRelay({ ...options, key });
    relay.follow({ kinds: OWNER_KINDS, authors: [owner] }, () => { listener(); });
    return { key: { pubkey: key.pubkey, openFromSelf: openerOf(key) }, relay };
  }

  return {
    async ports() {
      try {
        const ports = await (opening ??= open());
        return ports.key.pubkey === owner ? { ok: true, ports } : refuse('owner', 'owner-key: expected the key of the agents\' owner, found another');
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        opening = undefined;
        return refuse('unavailable', error.message);
      }
    },
    trouble: () => relay?.trouble(),
    onNews(next) {
      listener = next;
    },
    async close() {
      listener = () => {};
      isClosed = true;
      await relay?.close();
      await held?.close?.();
    },
  };
}

function openerOf(key: OwnerDoor): ReadingPorts['key']['openFromSelf'] {
  const texts = new Map<string, string>();
  return async (payload) => {
    const name = hash('sha256', payload, 'hex');
    const text = texts.get(name);
    if (text !== undefined) return { ok: true, plaintext: text };
    try {
      const plaintext = await key.open(key.pubkey, payload);
      if (plaintext === undefined) return refuse('unreadable', 'content: not sealed by the owner to themselves, or changed');
      const [oldest] = texts.keys();
      if (texts.size >= MAX_OPENED && oldest !== undefined) texts.delete(oldest);
      texts.set(name, plaintext);
      return { ok: true, plaintext };
    } catch (error) {
      if (error instanceof Failure) return refuse('unavailable', error.message);
      throw error;
    }
  };
}
