/**
 * The owner's key at a remote signer (NIP-46), as this program connects to it: with a key of its own in a file beside the
 * address, by which the signer knows it again. For the composition root and the owner's verbs.
 */
import { existsSync } from 'node:fs';
import { readSecretFile } from './config/index.ts';
import { Failure } from './model/index.ts';
import { newSecretKey } from './nostr/index.ts';
import { openBunker, openLocalKey, parseBunker } from './owner/index.ts';
import type { BunkerOptions, OwnerKey } from './owner/index.ts';
import { writePrivateFile } from './store/index.ts';

export interface SignerOptions extends Omit<BunkerOptions, 'pointer' | 'client'> {
  /** What a message calls the place of the address. */
  readonly name: string;
  /** Made at the first use, mode 0600. */
  readonly clientFile: string;
}

/** Rejects with `Failure('config')` for the address or the file, `Failure('relay')` for a signer that does not answer. */
export async function openSigner(address: string, { name, clientFile, ...options }: SignerOptions): Promise<OwnerKey> {
  const parsed = parseBunker(address);
  if (!parsed.ok) throw new Failure('config', `${name}: ${parsed.detail}`);
  const { random } = options;
  if (!existsSync(clientFile)) writePrivateFile(clientFile, `${Buffer.from(newSecretKey(random).secretKey).toString('hex')}\n`);
  const read = readSecretFile(clientFile, `${name}.client`);
  if (!read.ok) throw new Failure('config', `${name}: ${read.sentence}`);
  return openBunker({ ...options, pointer: parsed.pointer, client: openLocalKey(read.text, `${name}.client`, random) });
}
