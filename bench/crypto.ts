/**
 * Goal C1: what skep adds to the bare cryptography. Signing and verifying are whole: a template in, a signed event out;
 * the text of an event in, a verified event out. The floors do the same work by hand with the bare packages, tiny-secp256k1
 * and node:crypto, and no checks at all. Subject and floor take turns within one run.
 */
import { createCipheriv, createHmac, hash } from 'node:crypto';
import * as secp from 'tiny-secp256k1';
import { openKeyring } from '../src/broker/keyring.ts';
import { pubkey, seconds } from '../src/model/index.ts';
import { conversationKey, openText, parseEvent, publicKeyOf, sealText, signEvent, verifyEvent } from '../src/nostr/index.ts';
import type { VerifiedEvent } from '../src/nostr/index.ts';
import { systemRandom } from '../src/system/index.ts';
import type { BenchRow } from './row.ts';

const PAIRS = 20;
const EVENTS = 200;
const SECRET = new Uint8Array(32).fill(7);
const PEER = new Uint8Array(32).fill(9);
const AUX = new Uint8Array(32);
const TEMPLATE = {
  kind: 9,
  created_at: seconds(1_767_225_600),
  tags: [['h', '11111111-2222-4333-8444-555555555555'], ['p', '1'.repeat(64)]],
  content: 'a message as people write them, of some two hundred bytes. '.repeat(3),
};

interface Pair {
  readonly name: string;
  readonly floor: string;
  readonly count: number;
  readonly subject: () => unknown;
  readonly bare: () => unknown;
}

export function run(): Promise<BenchRow[]> {
  return Promise.resolve([...signing(), ...sealing()].map(rowOf));
}

function signing(): readonly Pair[] {
  const author = hexOf(publicKeyOf(SECRET));
  const keyring = openKeyring([{ pubkey: pubkey(author), secretKey: SECRET }], systemRandom);
  const texts = Array.from({ length: EVENTS }, (_, at) =>
    JSON.stringify(signEvent({ ...TEMPLATE, content: `${TEMPLATE.content}${at}` }, SECRET, AUX)));
  const point = Buffer.from(author, 'hex');
  return [
    {
      name: 'an event signed', floor: 'id and signature, bare tiny-secp256k1; at least 0.8', count: EVENTS,
      subject: () => keyring.sign(pubkey(author), TEMPLATE),
      bare: () => {
        const digest = hash('sha256', preimage(author), 'buffer');
        const sig = Buffer.from(secp.signSchnorr(digest, SECRET, systemRandom.bytes(32))).toString('hex');
        return { ...TEMPLATE, id: digest.toString('hex'), pubkey: author, sig };
      },
    },
    {
      name: 'an event verified (parse, id, signature)', floor: 'the same by hand, bare tiny-secp256k1; at least 0.85',
      count: EVENTS,
      subject: each(texts, (text) => {
        const parsed = parseEvent(JSON.parse(text));
        if (!parsed.ok || !verifyEvent(parsed.event).ok) throw new TypeError('not verified');
      }),
      bare: each(texts, (text) => {
        const { id, sig, created_at: at, kind, tags, content } = JSON.parse(text) as VerifiedEvent;
        const digest = hash('sha256', JSON.stringify([0, author, at, kind, tags, content]), 'buffer');
        if (digest.toString('hex') !== id || !secp.verifySchnorr(digest, point, Buffer.from(sig, 'hex'))) {
          throw new TypeError('not verified');
        }
      }),
    },
  ];
}

function preimage(author: string): string {
  const { created_at: at, kind, tags, content } = TEMPLATE;
  return JSON.stringify([0, author, at, kind, tags, content]);
}

function sealing(): readonly Pair[] {
  const key = conversationKey(SECRET, pubkey(hexOf(publicKeyOf(PEER)))) ?? new Uint8Array();
  return [[200, 1_000], [4_096, 400], [65_408, 150]].flatMap(([bytes = 0, count = 0]): readonly Pair[] => {
    const text = 'x'.repeat(bytes);
    const nonce = new Uint8Array(32).fill(3);
    const payload = bareSeal(text, key, nonce);
    const sealed = sealText(text, key, nonce);
    if (!sealed.ok || sealed.payload !== payload) throw new TypeError('subject and floor do different work');
    const floor = 'a bare node:crypto script; at least 0.8';
    return [
      {
        name: `NIP-44, ${String(bytes)} bytes sealed`, floor, count,
        subject: () => sealText(text, key, nonce), bare: () => bareSeal(text, key, nonce),
      },
      {
        name: `NIP-44, ${String(bytes)} bytes opened`, floor, count,
        subject: () => {
          if (!openText(payload, key).ok) throw new TypeError('not opened');
        },
        bare: () => bareOpen(payload, key),
      },
    ];
  });
}

/** What no implementation can do without: three HMACs for the keys, the cipher, the MAC, base64. */
function bareKeys(key: Uint8Array, nonce: Uint8Array): readonly [Buffer, Buffer, Buffer] {
  const first = createHmac('sha256', key).update(nonce).update(Uint8Array.of(1)).digest();
  const second = createHmac('sha256', key).update(first).update(nonce).update(Uint8Array.of(2)).digest();
  const third = createHmac('sha256', key).update(second).update(nonce).update(Uint8Array.of(3)).digest();
  const iv = Buffer.concat([Buffer.alloc(4), second.subarray(0, 12)]);
  return [first, iv, Buffer.concat([second.subarray(12), third.subarray(0, 12)])];
}

function bareSeal(text: string, key: Uint8Array, nonce: Uint8Array): string {
  const [cipherKey, iv, macKey] = bareKeys(key, nonce);
  const size = Buffer.byteLength(text);
  const step = Math.max(32, 2 ** (Math.floor(Math.log2(size - 1)) + 1) / 8);
  const padded = Buffer.alloc(2 + step * Math.ceil(size / step));
  padded.writeUInt16BE(size);
  padded.write(text, 2);
  const ciphertext = createCipheriv('chacha20', cipherKey, iv).update(padded);
  const mac = createHmac('sha256', macKey).update(nonce).update(ciphertext).digest();
  return Buffer.concat([Uint8Array.of(2), nonce, ciphertext, mac]).toString('base64');
}

function bareOpen(payload: string, key: Uint8Array): string {
  const bytes = Buffer.from(payload, 'base64');
  const [nonce, ciphertext] = [bytes.subarray(1, 33), bytes.subarray(33, -32)];
  const [cipherKey, iv, macKey] = bareKeys(key, nonce);
  const mac = createHmac('sha256', macKey).update(nonce).update(ciphertext).digest();
  if (!mac.equals(bytes.subarray(-32))) throw new TypeError('not opened');
  const padded = createCipheriv('chacha20', cipherKey, iv).update(ciphertext);
  return padded.toString('utf8', 2, 2 + padded.readUInt16BE(0));
}

function each(texts: readonly string[], work: (text: string) => void): () => void {
  let at = 0;
  return () => {
    work(texts[at % texts.length] ?? '');
    at += 1;
  };
}

function rowOf({ name, floor, count, subject, bare }: Pair): BenchRow {
  const times = { subject: [] as number[], bare: [] as number[] };
  for (const work of [subject, bare, subject, bare]) timed(work, count);
  for (let pair = 0; pair < PAIRS; pair += 1) {
    // Who goes second also pays for the garbage of the first, so they take turns at it.
    if (pair % 2 === 0) times.bare.push(timed(bare, count));
    times.subject.push(timed(subject, count));
    if (pair % 2 === 1) times.bare.push(timed(bare, count));
  }
  const ratios = times.subject.map((one, at) => (times.bare[at] ?? NaN) / one);
  return {
    goal: 'C1', name, ratio: median(ratios), floor, unit: 'rate of the floor',
    detail: `${microseconds(median(times.subject), count)} µs against ${microseconds(median(times.bare), count)} µs each`,
  };
}

function timed(work: () => unknown, count: number): number {
  const start = performance.now();
  for (let done = 0; done < count; done += 1) work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

function microseconds(ms: number, count: number): string {
  return ((ms * 1_000) / count).toFixed(1);
}

function hexOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}
