/**
 * Waits for a permission card of an agent, shows it, decides, and waits for the card's end: an owner's client that knows
 * NIP-AO and nothing of skep.
 *
 *   node examples/decide.mjs <relay url> <owner key file> <agent npub or hex> <channel id> allow|deny
 *
 * The key file holds the owner's nsec. Exit 0 when the card ended with the decision, 1 when it ended otherwise or not.
 */
import { readFileSync } from 'node:fs';
import { decode } from 'nostr-tools/nip19';
import { decrypt, encrypt, getConversationKey } from 'nostr-tools/nip44';
import { finalizeEvent, getPublicKey } from 'nostr-tools/pure';
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay';
import WebSocket from 'ws';

const PATIENCE_MS = 300_000;
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const [url, keyFile, agentText, channelId, word] = process.argv.slice(2);
if (word !== 'allow' && word !== 'deny') {
  console.error('usage: decide.mjs <relay url> <owner key file> <agent npub or hex> <channel id> allow|deny');
  process.exit(2);
}
useWebSocketImplementation(WebSocket);

const secretKey = decode(readFileSync(keyFile, 'utf8').trim()).data;
const owner = getPublicKey(secretKey);
const agent = agentText.startsWith('npub1') ? decode(agentText).data : agentText;
const conversation = getConversationKey(secretKey, agent);
const now = () => Math.floor(Date.now() / 1000);
const sign = (template) => finalizeEvent({ created_at: now(), ...template }, secretKey);

const relay = new Relay(url);
const challenged = new Promise((resolve) => {
  relay.onauth = async (template) => {
    resolve();
    return sign(template);
  };
});
await relay.connect();
await challenged;
await relay.auth(async (template) => sign(template));

const late = setTimeout(() => {
  console.error(`no card within ${PATIENCE_MS / 1000} s`);
  process.exit(1);
}, PATIENCE_MS);

// The harness says in a frame what it made of a decision.
relay.subscribe([{ kinds: [24200], '#p': [owner], since: now() - 300 }], {
  onevent: (event) => {
    if (event.pubkey !== agent) return;
    const { kind, payload } = JSON.parse(decrypt(event.content, conversation));
    if (kind === 'control_result') console.log(`control_result  ${payload.type}  ${payload.status}`);
  },
});

// Only the agent's own key makes a card, and only the same key ends it (NIP-AO "Sentinel authenticity").
const fresh = { kinds: [9], authors: [agent], '#h': [channelId], '#p': [owner], since: now() };
const { event, card } = await first(fresh, (one) => one.state === 'pending', () => { console.log('waiting for a card'); });
const [allow, reject] = card.optionIds;
console.log(`asked  ${JSON.stringify(card.description)}  [${card.optionIds.map((id) => JSON.stringify(card.labels[id])).join(', ')}]  until ${new Date(card.expiresAt * 1000).toISOString()}`);

const optionId = word === 'allow' ? allow : reject;
const decision = { type: 'permission_decision', channelId, requestNonce: card.requestNonce, optionId };
const ended = first({ kinds: [40003], authors: [agent], '#h': [channelId], '#e': [event.id] }, (one) => one.state === 'resolved');
await relay.publish(sign({
  kind: 24200, content: encrypt(JSON.stringify(decision), conversation), tags: [['p', agent], ['agent', agent], ['frame', 'control']],
}));
const { card: end } = await ended;
clearTimeout(late);
console.log(`ended  ${end.outcome}  ${JSON.stringify(end.chosenOptionId)}`);
relay.close();
process.exitCode = end.outcome === 'applied' && end.chosenOptionId === optionId ? 0 : 1;

/** The first event of the filter whose content is a card that `wanted` takes. */
function first(filter, wanted, oneose = () => undefined) {
  return new Promise((resolve) => {
    const subscription = relay.subscribe([filter], {
      oneose,
      onevent: (found) => {
        const content = cardIn(found.content);
        if (content === undefined || !wanted(content)) return;
        subscription.close();
        resolve({ event: found, card: content });
      },
    });
  });
}

function cardIn(content) {
  try {
    const value = JSON.parse(content);
    return value?.v === 1 && Array.isArray(value.optionIds) ? value : undefined;
  } catch {
    return undefined;
  }
}

function fail(error) {
  console.error(`decide.mjs: ${error?.message ?? error}`);
  process.exit(1);
}
