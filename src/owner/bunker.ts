/**
 * The owner's key at a remote signer (NIP-46): requests and answers are kind 24133 events between a key of this client and
 * the signer's, sealed with NIP-44. What comes back is believed no further than it can be checked: a signed event is the
 * very one that was asked for, by the owner's key, or it is refused.
 *
 * On the broker's relay connection and not on the client of nostr-tools: that one is lost on relays that ask for AUTH
 * (NIP-42), as Buzz's do, waits for ever, and prints.
 */
import { openUpstream } from '../broker/upstream/index.ts';
import { asPubkey, excerpt, Failure, secondsOf, within } from '../model/index.ts';
import type { Clock, Log, Pubkey, Random } from '../model/index.ts';
import { eventIdOf, parseEvent, verifyEvent } from '../nostr/index.ts';
import type { EventTemplate, VerifiedEvent } from '../nostr/index.ts';
import type { BunkerPointer } from './bunker-pointer.ts';
import type { OwnerKey } from './key.ts';
import { BUNKER_ANSWER_MS, PUBLISH_TIMEOUT_MS } from './limits.ts';
import { membersOf, textOf } from './view/index.ts';

export interface BunkerOptions {
  readonly pointer: BunkerPointer;
  /** This client's own key: the signer remembers it. Closed with the bunker. */
  readonly client: OwnerKey;
  readonly clock: Clock;
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The signer asks its owner to open this address (NIP-46 "Auth Challenges"). Text of the outside. */
  readonly onAuthUrl: (url: string) => void;
  /** The kinds this client will have signed beside AUTH; the signer is told when it connects. */
  readonly kinds: readonly number[];
  /** How long an answer may take; absent: a minute, for a person may have to allow it. */
  readonly answerMs?: number;
}

const REQUEST_KIND = 24_133;
const AUTH_KIND = 22_242;

type Answer = { readonly ok: true; readonly result: string } | { readonly ok: false; readonly error: string };

/** Rejects with `Failure('relay')` when the signer does not answer, or will not have this client. */
export async function openBunker(options: BunkerOptions): Promise<OwnerKey> {
  const line = openLine(options);
  try {
    const { signer, secret } = options.pointer;
    // Who publishes nothing seals nothing.
    const sealing = options.kinds.length > 0 ? ['nip44_encrypt'] : [];
    const permissions = [...[AUTH_KIND, ...options.kinds].map((kind) => `sign_event:${kind}`), ...sealing, 'nip44_decrypt'];
    const connected = await line.ask('connect', [signer, secret, permissions.join(',')]);
    const found = await line.ask('get_public_key', []);
    const pubkey = found.ok ? asPubkey(found.result) : undefined;
    // A secret that was used before is refused by some signers, to a client that they know: then the key is told all the same.
    if (pubkey === undefined) throw refused(connected.ok ? 'get_public_key' : 'connect', connected.ok ? found : connected);
    return keyAt(line, pubkey);
  } catch (error) {
    await line.close();
    throw error;
  }
}

function keyAt(line: Line, pubkey: Pubkey): OwnerKey {
  return {
    pubkey,
    async sign(template) {
      const { kind, created_at, tags, content } = template;
      const answer = await line.ask('sign_event', [JSON.stringify({ kind, created_at, tags, content })]);
      const event = answer.ok ? signedAs(answer.result, pubkey, template) : undefined;
      if (event === undefined) throw answer.ok ? new Failure('relay', 'bunker: sign_event: the answer is not the event that was asked for') : refused('sign_event', answer);
      return event;
    },
    async seal(peer, plaintext) {
      const answer = await line.ask('nip44_encrypt', [peer, plaintext]);
      if (!answer.ok) throw refused('nip44_encrypt', answer);
      return answer.result;
    },
    async open(peer, payload) {
      const answer = await line.ask('nip44_decrypt', [peer, payload]);
      return answer.ok ? answer.result : undefined;
    },
    close: () => line.close(),
  };
}

interface Line {
  ask(method: string, params: readonly string[]): Promise<Answer>;
  close(): Promise<void>;
}

function openLine({ pointer, client, clock, steadyClock, random, log, onAuthUrl, answerMs = BUNKER_ANSWER_MS }: BunkerOptions): Line {
  const waiting = new Map<string, (answer: Answer) => void>();
  const now = (): EventTemplate['created_at'] => secondsOf(clock.now());
  const upstreams = pointer.relays.map((url) => openUpstream({
    url, pubkey: client.pubkey, clock: steadyClock, random, log,
    signAuth: (challenge, relayUrl) => client.sign({ kind: AUTH_KIND, created_at: now(), content: '', tags: [['relay', relayUrl], ['challenge', challenge]] }),
  }));
  const toMe = new Map([['p', [client.pubkey]]]);
  const listening = upstreams.map((upstream) => new Promise<void>((onEose) => {
    upstream.subscribe({
      // Answers are of now; clocks differ by less than this.
      id: 'bunker', filters: () => [{ kinds: [REQUEST_KIND], authors: [pointer.signer], tags: toMe, since: now() - 300 }],
      onEvent: (event) => hear(event), onEose,
    });
  }));

  async function hear(event: VerifiedEvent): Promise<void> {
    const text = await client.open(event.pubkey, event.content);
    const members = membersOf(text === undefined ? undefined : parsed(text));
    const [id = '', result, error] = [textOf(members?.['id']), textOf(members?.['result']), textOf(members?.['error'])];
    const answer = waiting.get(id);
    if (answer === undefined) return;
    if (result === 'auth_url') {
      onAuthUrl(error ?? '');
      return;
    }
    waiting.delete(id);
    answer(error !== undefined && error !== '' ? { ok: false, error } : { ok: true, result: result ?? '' });
  }

  return {
    async ask(method, params) {
      const id = Buffer.from(random.bytes(16)).toString('hex');
      const answered = new Promise<Answer>((resolve) => {
        waiting.set(id, resolve);
      });
      const asking = async (): Promise<Answer> => {
        // An answer to who does not listen yet is lost: it is ephemeral.
        await Promise.race(listening);
        const content = await client.seal(pointer.signer, JSON.stringify({ id, method, params }));
        const event = await client.sign({ kind: REQUEST_KIND, created_at: now(), content, tags: [['p', pointer.signer]] });
        const sent = await Promise.all(upstreams.map((upstream) => upstream.publish(event, { timeoutMs: PUBLISH_TIMEOUT_MS })));
        const reasons = sent.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined));
        if (reasons.every((reason) => reason !== undefined)) throw new Failure('relay', `bunker: ${pointer.relays.join(', ')}: the relay refuses the request: ${excerpt(reasons.join('; '))}`);
        return answered;
      };
      try {
        // The answer may come before the relay's OK.
        const waited = await within(steadyClock, answerMs, Promise.race([answered, asking()]));
        if (waited.status === 'settled') return waited.value;
        const why = upstreams.map((upstream) => upstream.lastError()).find((error) => error !== undefined);
        throw new Failure('relay', `bunker: the signer did not answer ${method} within ${answerMs / 1_000} s${why === undefined ? '' : ` (${why})`}`);
      } finally {
        waiting.delete(id);
      }
    },
    async close() {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
      await client.close();
    },
  };
}

/** The event, when it is `template` signed by `pubkey` and nothing else. */
function signedAs(text: string, pubkey: Pubkey, template: EventTemplate): VerifiedEvent | undefined {
  const event = parseEvent(parsed(text));
  if (!event.ok || event.event.pubkey !== pubkey || event.event.id !== eventIdOf(template, pubkey)) return undefined;
  const verified = verifyEvent(event.event);
  return verified.ok ? verified.event : undefined;
}

function refused(method: string, answer: Answer): Failure {
  return new Failure('relay', `bunker: the signer refuses ${method}: ${answer.ok ? 'its answer is no key' : excerpt(answer.error, 120)}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
