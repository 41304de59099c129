/**
 * Whether a fixture may be written, or holds what looks like a secret: a form that a key or token has (nsec, bunker
 * link, API key), 64 hex characters that are the secret key of somebody the fixture names, or a token that the house
 * knows. The recorder holds no secret itself: tokens are told as digests, and a key shows by its public key.
 */
import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { redact } from '../model/index.ts';
import { publicKeyOf } from '../nostr/index.ts';

/** Beside the forms that `redact` knows. */
const FORMS: readonly RegExp[] = [
  /n(?:crypt)?sec1[02-9ac-hj-np-z]{10}/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
/** A link whose secret is in the same word. */
const LINK = /\b(?:bunker|nostrconnect|nostr\+walletconnect):\/\//i;
/** Documentation of a header, such as `Bearer $TOKEN` or `Bearer <token>`, tells no token. */
const PLACEHOLDER = /\bBearer\s+["'`]?(?:[$<{]\S*|token\b)/gi;
const HEX_RUN = /[0-9a-f]{64,}/gi;
/** Runs of what a token may be made of (base64url). */
const TOKEN_RUN = /[A-Za-z0-9_-]{16,}/g;
/** Windows of long runs that are looked at in one fixture; a text with more is too long to be sure of. */
const MAX_WINDOWS = 100_000;
/** Different 64 hex characters that are tried as keys in one fixture: a second of work. More is too much to be sure of. */
const MAX_KEYS = 8_192;
/** Tried without a pause: some milliseconds, for a turn may be waiting. */
const KEYS_AT_ONCE = 32;
/** Credentials of agent processes that are remembered; the oldest is forgotten, when its process is long gone. */
const MAX_CREDENTIALS = 4_096;

/** SHA-256 digests of tokens, by the length of the token. */
export class KnownSecrets {
  readonly #byLength = new Map<number, Set<string>>();
  /** Oldest first. */
  readonly #credentials: { readonly length: number; readonly digest: string }[] = [];

  /** Remembers a token of 16 characters or more by its digest alone, for good; a shorter one could be any word. */
  tell(token: string): void {
    if (token.length < 16) return;
    const digests = this.#byLength.get(token.length) ?? new Set<string>();
    digests.add(hash('sha256', token, 'hex'));
    this.#byLength.set(token.length, digests);
  }

  /** The same of a credential, until many later ones have been told: there is a new one with every process. */
  tellCredential(token: string): void {
    this.tell(token);
    const [length, digest] = [token.length, hash('sha256', token, 'hex')];
    this.#credentials.push({ length, digest });
    const oldest = this.#credentials.length > MAX_CREDENTIALS ? this.#credentials.shift() : undefined;
    if (oldest !== undefined) this.#byLength.get(oldest.length)?.delete(oldest.digest);
  }

  lengths(): readonly number[] {
    return [...this.#byLength.keys()];
  }

  has(token: string): boolean {
    return this.#byLength.get(token.length)?.has(hash('sha256', token, 'hex')) === true;
  }
}

/** `texts` are all that people, the relay or the operator wrote; `people` all pubkeys that are named. Lets others go on meanwhile. */
export async function holdsSecret(texts: Iterable<string>, people: ReadonlySet<string>, known: KnownSecrets): Promise<boolean> {
  const budget = { windows: MAX_WINDOWS };
  const looked = new Set<string>();
  for (const text of texts) {
    if (FORMS.some((form) => form.test(text)) || holdsLink(text)) return true;
    const plain = text.replace(PLACEHOLDER, '');
    if (redact(plain) !== plain) return true;
    for (const window of windows(text, HEX_RUN, [64], budget)) {
      const hex = window.toLowerCase();
      if (looked.has(hex)) continue;
      looked.add(hex);
      if (looked.size > MAX_KEYS) return true;
      if (looked.size % KEYS_AT_ONCE === 0) await setImmediate();
      const xOnly = people.has(hex) ? undefined : publicKeyOf(Buffer.from(hex, 'hex'));
      if (xOnly !== undefined && people.has(Buffer.from(xOnly).toString('hex'))) return true;
    }
    for (const window of windows(text, TOKEN_RUN, known.lengths(), budget)) if (known.has(window)) return true;
    if (budget.windows <= 0) return true;
  }
  return false;
}

/** From the first link of each word on: one pattern for both would look at every word once for each link in it. */
function holdsLink(text: string): boolean {
  return text.split(/\s+/).some((word) => {
    const at = word.search(LINK);
    return at >= 0 && /secret=/i.test(word.slice(at));
  });
}

function* windows(text: string, runs: RegExp, lengths: readonly number[], budget: { windows: number }): Generator<string> {
  for (const [run] of text.matchAll(runs)) {
    for (const length of lengths) {
      for (let start = 0; start + length <= run.length && budget.windows > 0; start += 1) {
        budget.windows -= 1;
        yield run.slice(start, start + length);
      }
    }
  }
}
