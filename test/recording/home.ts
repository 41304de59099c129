/** A home for `skep up --record` as people run it: a config for one scripted agent, an owner at a client of their own. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nsecEncode } from 'nostr-tools/nip19';
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure';
import type { Event } from 'nostr-tools/pure';
import { Client } from '../../src/cli/demo/client.ts';
import type { StatusReport } from '../../src/control/index.ts';
import { reportOf, reportWhen } from '../cli/report.ts';
import { startSkep } from '../cli/skep.ts';
import type { Skep } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';

const CHANNEL = '6a3f3d52-7b1e-4b5c-9c43-0c4d7c1f6a11';

export interface Home {
  readonly directory: string;
  /** Where `up` records unless it is told otherwise. */
  readonly records: string;
  readonly agent: string;
  readonly agentSecretHex: string;
  up(...flags: readonly string[]): Promise<Skep>;
  /** Connects the owner to the relay in the box. */
  owner(): Promise<Client>;
  person(): Promise<Client>;
  say(who: Client, content: string, root?: Event): Promise<Event>;
  openGate(name: string): void;
  status(): Promise<StatusReport>;
  statusWhen(fits: (report: StatusReport) => boolean): Promise<StatusReport>;
  close(): void;
}

export function newHome(rules: readonly object[], config: readonly string[] = [], agent: readonly string[] = []): Home {
  const directory = temporaryDirectory();
  const gates = join(directory, 'gates');
  mkdirSync(gates);
  const [ownerKey, agentKey] = [generateSecretKey(), generateSecretKey()];
  const pubkey = getPublicKey(agentKey);
  writeFileSync(join(directory, 'agent.key'), nsecEncode(agentKey), { mode: 0o600 });
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates, rules }));
  writeFileSync(join(directory, 'skep.yaml'), [
    'relay: embedded', `embedded: { port: 0, channels: [{ id: ${CHANNEL}, name: general }] }`, 'data: data', ...config,
    'agents:', '  - name: helper', '    key: agent.key', `    owner: ${getPublicKey(ownerKey)}`, '    adapter: scripted',
    '    args: [script.json]', ...agent.map((line) => `    ${line}`), '',
  ].join('\n'));
  const clients: Client[] = [];
  const data = join(directory, 'data');
  const connect = async (key: Uint8Array): Promise<Client> => {
    const client = await Client.connect('somebody', (await reportOf(data)).embeddedRelay?.url ?? '', key);
    clients.push(client);
    return client;
  };
  return {
    directory, records: join(directory, 'records'), agent: pubkey, agentSecretHex: Buffer.from(agentKey).toString('hex'),
    async up(...flags) {
      const skep = startSkep(['up', ...flags], directory);
      await skep.says('Ctrl-C stops');
      return skep;
    },
    owner: () => connect(ownerKey),
    async person() {
      const key = generateSecretKey();
      const owner = await connect(ownerKey);
      await owner.publish(9000, { content: '', tags: [['h', CHANNEL], ['p', getPublicKey(key)]] });
      return connect(key);
    },
    say: (who, content, root) => who.publish(9, {
      content, tags: [['h', CHANNEL], ...(root === undefined ? [] : [['e', root.id, '', 'reply']]), ['p', pubkey]],
    }),
    openGate: (name) => { writeFileSync(join(gates, name), ''); },
    status: () => reportOf(data),
    statusWhen: (fits) => reportWhen(data, fits),
    close: () => { for (const client of clients.splice(0)) client.close(); },
  };
}

/** The names in a directory of records, sorted; none where there is no directory. */
export function recordsIn(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}

export function readRecord(directory: string, name: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(directory, name), 'utf8')) as Readonly<Record<string, unknown>>;
}
