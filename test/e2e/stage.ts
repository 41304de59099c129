/**
 * A stage for end-to-end tests: the whole of skep from its composition root on a temporary directory, with the relay in
 * the box, real agent processes and real WebSockets. People are strangers: nostr-tools clients with keys of their own.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nsecEncode } from 'nostr-tools/nip19';
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure';
import type { Event } from 'nostr-tools/pure';
import { Client } from '../../src/cli/demo/client.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLog } from '../../src/model/index.ts';
import { start } from '../../src/root.ts';
import type { RootOptions, Running } from '../../src/root.ts';
import type { Note } from '../../src/supervisor/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import type { OutsideRelay } from './outside-relay.ts';
import { Watch } from './watch.ts';

export interface StageOptions {
  /** The script of the scripted agent. */
  readonly rules: readonly object[];
  /** Further members of the script. */
  readonly script?: object;
  /** Further members of the agent in skep.yaml, one `name: value` a line. Messages wait for the turn's end unless `mid-turn` is among them. */
  readonly agent?: readonly string[];
  /** Further members of skep.yaml itself, one a line; `owner.key` is the owner's key. */
  readonly top?: readonly string[];
  /** Instead of the scripted agent. */
  readonly adapter?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly log?: RootOptions['log'];
  /** A relay beside skep, which can go away and come back, in the place of the one in the box. */
  readonly outside?: OutsideRelay;
}

export interface Stage {
  readonly directory: string;
  readonly gates: string;
  readonly channelId: string;
  readonly agent: string;
  readonly owner: Client;
  /** What an owner's client opens sealed events with. */
  readonly ownerKey: Uint8Array;
  /** Performed first at the close. */
  readonly closing: (() => void)[];
  readonly notes: readonly Note[];
  /** Messages of the agent as the owner's client received them, in order of arrival. */
  readonly answers: readonly Event[];
  readonly watch: Watch;
  readonly running: Running;
  /** A further person in the channel. */
  join(name: string, secretKey?: Uint8Array): Promise<Client>;
  /** Publishes a message that mentions the agent, in the thread of `root` where one is given. */
  say(who: Client, content: string, root?: Event): Promise<Event>;
  /** Opens the gate `name` of the agent's script. */
  openGate(name: string): void;
  /** The owner connects anew, as a client does when its relay was away. */
  reconnectOwner(): Promise<Client>;
  close(): Promise<void>;
}

export async function openStage({ rules, script = {}, agent = [], top = [], adapter, environment = {}, log = silentLog, outside }: StageOptions): Promise<Stage> {
  const directory = temporaryDirectory();
  const gates = join(directory, 'gates');
  mkdirSync(gates);
  const ownerKey = generateSecretKey();
  const agentKey = generateSecretKey();
  writeFileSync(join(directory, 'agent.key'), nsecEncode(agentKey), { mode: 0o600 });
  writeFileSync(join(directory, 'owner.key'), nsecEncode(ownerKey), { mode: 0o600 });
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates, rules, ...script }));
  writeFileSync(join(directory, 'skep.yaml'), [
    ...(outside === undefined ? ['relay: embedded', 'embedded: { port: 0 }'] : [`relay: ${outside.url}`]), ...top, 'agents:', '  - name: helper', '    key: agent.key',
    `    owner: ${getPublicKey(ownerKey)}`,
    ...(adapter === undefined ? ['    adapter: scripted', '    args: [script.json]'] : [`    adapter: ${adapter}`]),
    ...(agent.some((line) => line.startsWith('mid-turn:')) ? agent : ['mid-turn: queue', ...agent]).map((line) => `    ${line}`),
  ].join('\n'));

  const notes: Note[] = [];
  const answers: Event[] = [];
  const watch = new Watch(() => JSON.stringify({ notes, answers: answers.map(({ content }) => content) }, null, 1));
  const running = await start(loadConfig(join(directory, 'skep.yaml')), {
    clock: systemClock, steadyClock, random: systemRandom, log, version: '0.0.0', nodePath: process.execPath,
    environment: { ...process.env, ...environment },
    observe: (note) => {
      notes.push(note);
      watch.look();
    },
  });
  const people: Client[] = [];
  const closing: (() => void)[] = [];
  const channelId = randomUUID();
  const agentPubkey = getPublicKey(agentKey);
  const arrive = async (name: string, key: Uint8Array): Promise<Client> => {
    const client = await Client.connect(name, running.relayUrl, key);
    people.push(client);
    return client;
  };
  const owner = await arrive('owner', ownerKey);
  await owner.publish(9007, { content: '', tags: [['h', channelId], ['name', 'garden'], ['visibility', 'private']] });
  await owner.publish(9000, { content: '', tags: [['h', channelId], ['p', agentPubkey]] });
  const follow = (client: Client): void => {
    client.listen(channelId, (event) => {
      if (event.pubkey !== agentPubkey || answers.some(({ id }) => id === event.id)) return;
      answers.push(event);
      watch.look();
    });
  };
  follow(owner);
  return {
    directory, gates, channelId, agent: agentPubkey, owner, ownerKey, closing, notes, answers, watch, running,
    async join(name, secretKey = generateSecretKey()) {
      await owner.publish(9000, { content: '', tags: [['h', channelId], ['p', getPublicKey(secretKey)]] });
      return arrive(name, secretKey);
    },
    say: (who, content, root) => who.publish(9, {
      content,
      tags: [['h', channelId], ...(root === undefined ? [] : [['e', root.id, '', 'reply']]), ['p', agentPubkey]],
    }),
    async reconnectOwner() {
      const again = await arrive('owner', ownerKey);
      follow(again);
      return again;
    },
    openGate: (name) => { writeFileSync(join(gates, name), ''); },
    async close() {
      for (const close of closing) close();
      for (const client of people) client.close();
      await running.close(5_000);
    },
  };
}
