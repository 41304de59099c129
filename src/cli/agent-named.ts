/** Which agent is meant by what people write: its name, its npub, or 64 hex characters. A name goes before a key. */
import type { Pubkey } from '../model/index.ts';
import { parsePubkey } from '../nostr/index.ts';

/** One of a config; undefined where none is meant. */
export function agentNamedIn<T extends { readonly name: string; readonly pubkey: Pubkey }>(agents: readonly T[], text: string): T | undefined {
  const meant = askedAs(text);
  return agents.find(({ name }) => name === text) ?? agents.find(({ pubkey }) => pubkey === meant);
}

/** What a running supervisor is asked for, which knows more agents than a config: the key in hex, else the name as it is. */
export function askedAs(text: string): string {
  const parsed = parsePubkey(text);
  return parsed.ok ? parsed.pubkey : text;
}
