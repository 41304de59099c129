/**
 * The owner's key, from a file of mode 0600: a secret key (nsec or hex), or the address of a remote signer
 * (`bunker://...`). For a signer this client has a key of its own beside that file: the signer knows it again.
 */
import { resolve } from 'node:path';
import { readSecretFile } from '../config/index.ts';
import { Failure } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import { FRAME_KIND, isBunker, openLocalKey } from '../owner/index.ts';
import type { OwnerKey } from '../owner/index.ts';
import { openSigner } from '../owner-key.ts';
import { OWNER_KINDS } from '../persona/index.ts';
import { steadyClock, systemClock, systemRandom } from '../system/index.ts';
import { safe, tell } from './print.ts';

/** What is signed for each, as a remote signer is told when it is connected to. */
const KINDS = { agents: [FRAME_KIND], personas: OWNER_KINDS } as const;

/**
 * `work` is what the key is for. Rejects with `Failure('config')` for the file, `Failure('relay')`
 * for a signer that does not answer.
 */
export async function openOwnerKey(written: string, log: Log, work: keyof typeof KINDS): Promise<OwnerKey> {
  if (/^(?:nsec1|bunker:|[0-9a-f]{64}$)/i.test(written.trim())) throw new Failure('usage', '--key: expected a file, found a secret: write it to a file of mode 0600 and name that');
  const text = secretIn(written);
  if (!isBunker(text)) return openLocalKey(text, safe(written), systemRandom);
  return openSigner(text, {
    name: safe(written), clientFile: resolve(`${written}.client`), kinds: KINDS[work], clock: systemClock, steadyClock, random: systemRandom, log,
    onAuthUrl: (url) => { tell(`the signer asks you to allow this: ${safe(url)}`); },
  });
}

function secretIn(written: string): string {
  const read = readSecretFile(resolve(written), written);
  if (!read.ok) throw new Failure('config', `--key: ${read.sentence}`);
  return read.text;
}
