/**
 * Mentions an agent in a channel and prints its answer, from a program that knows nothing of skep.
 *
 *   node examples/mention.mjs <relay url> <key file> <agent npub or hex> <channel id> <text>
 *
 * The key file holds the nsec of a member of the channel. Exit 0 when an answer with a good signature came.
 */
import { readFileSync } from 'node:fs';
import { decode } from 'nostr-tools/nip19';
import { finalizeEvent, verifyEvent } from 'nostr-tools/pure';
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay';
import WebSocket from 'ws';

const PATIENCE_MS = 30_000;
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const [url, keyFile, agentText, channelId, text] = process.argv.slice(2);
if (text === undefined) {
  console.error('usage: mention.mjs <relay url> <key file> <agent npub or hex> <channel id> <text>');
  process.exit(2);
}
useWebSocketImplementation(WebSocket);

const secretKey = decode(readFileSync(keyFile, 'utf8').trim()).data;
const agent = agentText.startsWith('npub1') ? decode(agentText).data : agentText;
const sign = (template) => finalizeEvent(template, secretKey);

const relay = new Relay(url);
const challenged = new Promise((resolve) => {
  relay.onauth = async (template) => {
    resolve();
    return sign(template);
  };
});
await relay.connect().catch(() => fail(`${url}: no relay answers there`));
await challenged;
await relay.auth(async (template) => sign(template));

const question = sign({
  kind: 9, created_at: Math.floor(Date.now() / 1000), content: text, tags: [['h', channelId], ['p', agent]],
});
const late = setTimeout(() => {
  console.error(`no answer within ${PATIENCE_MS / 1000} s; "skep owner pending" says whether it waits for you, "skep status" and the log of skep up say more`);
  process.exit(1);
}, PATIENCE_MS);
const answered = new Promise((resolve) => {
  relay.subscribe([{ kinds: [9], '#h': [channelId], '#e': [question.id] }], {
    onevent: (event) => {
      // An agent that asks its owner first shows a card (NIP-AO), which is no answer.
      if (event.pubkey === agent && !/^\{.*"requestNonce"/.test(event.content)) resolve(event);
    },
  });
});
await relay.publish(question).catch(fail);
const answer = await answered;
clearTimeout(late);
console.log(answer.content);
console.log(`${answer.id}  signature ${verifyEvent(answer) ? 'good' : 'BAD'}`);
relay.close();
process.exitCode = verifyEvent(answer) ? 0 : 1;

function fail(error) {
  console.error(`mention.mjs: ${error?.message ?? error}`);
  process.exit(1);
}
