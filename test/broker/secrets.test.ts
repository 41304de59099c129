/**
 * Every error path, forced with a marked key, a marked token and a marked password: none of them is in what is
 * logged, answered, thrown, or on disk. The marks are real: the control finds them where they belong.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openBroker } from '../../src/broker/index.ts';
import type { Log } from '../../src/model/index.ts';
import { publicKeyOf } from '../../src/nostr/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../src/store/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { fillable } from './fake-store.ts';
import { bench, identity, post, rawly, requestBytes } from './harness.ts';
import { AGENT, CHANNEL } from './people.ts';

/** A key whose bytes are a text, so that it is found in whatever form it leaks. */
const MARKED_KEY = Buffer.from('marked-secret-key-of-the-agent!!', 'latin1');
const MARKED = { secretKey: new Uint8Array(MARKED_KEY), pubkey: identityPubkey() };

function identityPubkey(): typeof AGENT.pubkey {
  const hex = Buffer.from(publicKeyOf(new Uint8Array(MARKED_KEY)) ?? []).toString('hex');
  return /^[0-9a-f]{64}$/.test(hex) ? (hex as typeof AGENT.pubkey) : expect.fail('not a key');
}

function marksOf(token: string): readonly string[] {
  return [
    token,
    MARKED_KEY.toString('latin1'),
    MARKED_KEY.toString('hex'),
    MARKED_KEY.toString('base64'),
    [...MARKED_KEY].join(','),
  ];
}

/** Without the white space that bytes are set with when they are printed. */
function compact(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

describe('a secret', () => {
  it('is in no log, no answer, no error and no file', async () => {
    const said: string[] = [];
    const say = (message: string, fields?: unknown): void =>
      void said.push(`${message} ${inspect(fields, { depth: 9, showHidden: true })}`);
    const log: Log = { debug: say, info: say, warn: say, error: say };
    const directory = temporaryDirectory();
    const disk = openSqlite(join(directory, 'skep.db'), SUPERVISOR_SCHEMA);
    onTestFinished(() => disk.close());
    let full = false;
    const identities = [identity({ ...AGENT, ...MARKED }, { channels: [CHANNEL] })];
    const { broker, link, relay } = await bench({ log, identities, store: fillable(disk, () => full) });
    const { token } = link.openSession();
    const answers: string[] = [];
    const send = async (
      body: Uint8Array | string,
      headers?: Readonly<Record<string, string>>,
      bearer: string | undefined = token,
    ): Promise<void> => {
      const answered = await post(broker.endpoint, bearer, body, headers);
      answers.push(answered.text, inspect(answered.headers));
    };
    const text = Buffer.from(requestBytes('r')).toString('utf8');

    await send(requestBytes('r-1'));
    await send(text.replace('"args"', `"${token}":1,"args"`));
    await send(text.replace('message.post', token));
    await send(text.replace('"requestId":"r"', `"requestId":"${token.slice(0, 5)} ${token}"`));
    await send(token);
    await send(text, { authorization: `Basic ${token}` }, undefined);
    await send(text, { authorization: `Bearer ${token} ${token}` }, undefined);
    await send(text, { origin: `http://${token}.example` });
    await send(text, { 'content-type': `text/${token}` });
    await send(requestBytes('r-2', 'channel.read', { channelId: CHANNEL, cursor: token }));
    for (const reject of [`invalid: Bearer ${token}`, `restricted: authorization: Bearer ${token}`]) {
      relay.answers.push({ reject });
      await send(requestBytes(`r-${reject.length}`));
    }
    relay.answers.push('lose');
    await send(requestBytes('r-3'));
    full = true;
    await send(requestBytes('r-4'));
    full = false;
    const { answer, socket } = await rawly(
      broker.endpoint,
      `POST /v1/action HTTP/1.1\r\nauthorization: Bearer ${token}\r\n\0\r\n\r\n`,
    );
    answers.push(await answer);
    socket.destroy();
    link.closeSession(link.openSession().sessionId);
    answers.push(
      JSON.stringify(link),
      inspect(link, { depth: 9 }),
      JSON.stringify(link.status()),
      inspect(broker, { depth: 9 }),
    );

    const files = readdirSync(directory).map((name) => readFileSync(join(directory, name)).toString('latin1'));
    const places = [...said, ...answers, ...files].map(compact);
    expect(places.length).toBeGreaterThan(30);
    for (const mark of marksOf(token)) expect(places.filter((place) => place.includes(mark))).toEqual([]);
    // The control: the marks are what they say they are, and these places do hold what was done.
    expect(marksOf(token).some((mark) => compact(inspect(identities, { depth: 9 })).includes(mark))).toBe(true);
    expect(files.some((file) => file.includes('"content":"hello"'))).toBe(true);
    expect(said.length).toBeGreaterThan(5);
  });

  it('is not in the error of a configuration that is refused', async () => {
    const store = openSqlite(':memory:', SUPERVISOR_SCHEMA);
    onTestFinished(() => store.close());
    const password = 'marked-password';
    const options = {
      keyDirectory: 'none',
      store,
      clock: (await bench()).clock,
      steadyClock: (await bench()).clock,
      random: systemRandom,
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    };
    for (const broken of [
      { relayUrl: `wss://user:${password}@relay.example`, identities: [identity()] },
      { relayUrl: 'wss://relay.example', identities: [identity(AGENT, { secretKey: new Uint8Array(MARKED_KEY) })] },
      {
        relayUrl: 'wss://relay.example',
        identities: [identity(AGENT, { secretKey: new Uint8Array(MARKED_KEY.subarray(1)) })],
      },
    ]) {
      const error: unknown = await openBroker({ ...options, ...broken }).catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(Error);
      const shown = compact(inspect(error, { depth: 9, showHidden: true }));
      for (const mark of [password, ...marksOf('-'.repeat(43))]) expect(shown).not.toContain(mark);
    }
  });
});
