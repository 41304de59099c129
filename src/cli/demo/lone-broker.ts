/**
 * A broker in a process of its own, which the demo kills: `lone-broker.js <relay> <directory> <owner>`. Its key and its
 * journal are in the directory. It prints one line of JSON, its endpoint and a credential, and ends with its stdin.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBroker } from '../../broker/index.ts';
import { openLog } from '../../log/index.ts';
import { Failure, pubkey } from '../../model/index.ts';
import { parseSecretKey } from '../../nostr/index.ts';
import { openSqlite, SUPERVISOR_SCHEMA } from '../../store/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../system/index.ts';

const [relayUrl = '', directory = '', owner = ''] = process.argv.slice(2);
const key = parseSecretKey(readFileSync(join(directory, 'courier.key'), 'utf8'));
if (!key.ok) throw new Failure('config', `courier.key: ${key.detail}`);
const { secretKey, pubkey: self } = key;
const broker = await openBroker({
  relayUrl,
  identities: [{ name: 'courier', pubkey: self, secretKey, owner: pubkey(owner), subscribe: 'mentions' }],
  store: openSqlite(join(directory, 'courier.db'), SUPERVISOR_SCHEMA),
  clock: systemClock, steadyClock, random: systemRandom, log: openLog('error'),
  keyDirectory: join(directory, 'courier-agents'),
});
const { endpoint, token } = broker.link(self).openSession();
process.stdout.write(`${JSON.stringify({ endpoint, token })}\n`);
// Whoever started it is gone, or wants it gone: there is nothing that a kill would harm.
process.stdin.resume().on('end', () => { process.exit(); });
