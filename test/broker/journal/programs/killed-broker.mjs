/**
 * A whole broker that holds every action at one step, and ends by SIGKILL when `count` of them are there: nothing of it
 * runs after that. The steps are commits of the journal, seen at the store, and sends, seen at the relay's connection.
 * Each send, and each OK, is a line of the file `sends`, written before anything else can happen.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const { dist, relayUrl, directory, step, count, agent, owner, secretKey, channelId } = JSON.parse(process.argv[2]);
const { openBroker } = await import(`${dist}/src/broker/index.js`);
const { openUpstream } = await import(`${dist}/src/broker/upstream/index.js`);
const { openSqlite, SUPERVISOR_SCHEMA } = await import(`${dist}/src/store/index.js`);
const { steadyClock, systemClock, systemRandom } = await import(`${dist}/src/system/index.js`);

const never = new Promise(() => {});
let held = 0;

function hold() {
  held += 1;
  // What the last one has sent is given to the system first; the others' went long before.
  if (held === count) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
  return never;
}

const COMMITS = [
  ['claim', (text) => text.startsWith('INSERT INTO journal\n')],
  ['evidence', (text) => text.startsWith("UPDATE journal SET status = 'signed'")],
  ['result', (text) => text.startsWith("UPDATE journal SET status = 'done'")],
];

function heldStore(store) {
  return {
    read: (statement) => store.read(statement),
    close: () => store.close(),
    async write(...statements) {
      const [name] = COMMITS.find(([, is]) => statements.some(({ sql }) => is(sql))) ?? [];
      if (step === `before ${name}`) return await hold();
      const written = await store.write(...statements);
      return step === `after ${name}` ? await hold() : written;
    },
  };
}

function heldUpstream(upstream) {
  const log = (line) => appendFileSync(join(directory, 'sends'), `${JSON.stringify(line)}\n`);
  const publish = upstream.publish.bind(upstream);
  return Object.assign(upstream, {
    async publish(event, options) {
      log({ sent: event.id, kind: event.kind, content: event.content });
      const outcome = publish(event, options);
      if (step === 'after send') return await hold();
      const { status } = await outcome;
      if (status === 'accepted') log({ accepted: event.id });
      return step === 'after OK' ? await hold() : await outcome;
    },
  });
}

const broker = await openBroker({
  relayUrl,
  identities: [{ name: 'worker', pubkey: agent, secretKey: Buffer.from(secretKey, 'hex'), owner, subscribe: 'mentions', runtimes: ['scripted'] }],
  store: heldStore(openSqlite(join(directory, 'skep.db'), SUPERVISOR_SCHEMA)),
  clock: systemClock, steadyClock, random: systemRandom,
  log: { debug() {}, info() {}, warn() {}, error() {} },
  keyDirectory: join(directory, 'agents'),
  openUpstream: (options) => heldUpstream(openUpstream(options)),
});
broker.managed(() => Promise.resolve());
const link = broker.link(agent);
const { sessionId, token } = link.openSession();
link.bindTurn(sessionId, { turnId: 't-1', channelId });
process.stdout.write(`${JSON.stringify({ endpoint: broker.endpoint, token })}\n`);
