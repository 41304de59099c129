/**
 * The stage of the demo: a temporary directory with a config of the ordinary kind, the whole of skep running on it, an
 * owner and a guest at their own clients, and a channel they share with the agent.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nsecEncode, npubEncode } from 'nostr-tools/nip19';
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure';
import { loadConfig } from '../../config/index.ts';
import type { Running } from '../../root.ts';
import { start } from '../../root.ts';
import type { RootOptions } from '../../root.ts';
import { Client } from './client.ts';
import { startCourier } from './courier.ts';
import type { Courier } from './courier.ts';
import { DEMO_SCRIPT } from './script.ts';

export interface Stage {
  readonly directory: string;
  readonly configFile: string;
  readonly relayUrl: string;
  readonly channelId: string;
  readonly agentPubkey: string;
  readonly owner: Client;
  readonly guest: Client;
  readonly running: Running;
  /** A second agent of the channel, whose broker is a process of its own. */
  readonly courierPubkey: string;
  /** Starts that broker, each time on the same data. It ends with the stage at the latest. */
  startCourier(): Promise<Courier>;
  close(): Promise<void>;
}

/** How long turns may go on when the demo is over. */
const GRACE_MS = 5_000;

export async function setStage(options: RootOptions, channelId: string): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'skep-demo-'));
  const closings: (() => Promise<void> | void)[] = [() => { rmSync(directory, { recursive: true, force: true }); }];
  const close = async (): Promise<void> => {
    for (const step of closings.splice(0).reverse()) await step();
  };
  try {
    const ownerKey = generateSecretKey();
    const guestKey = generateSecretKey();
    const agentKey = generateSecretKey();
    const courierKey = generateSecretKey();
    const configFile = writeFiles(directory, { ownerKey, guestKey, agentKey, courierKey });
    const running = await start(loadConfig(configFile), options);
    closings.push(() => running.close(GRACE_MS));
    const owner = await Client.connect('owner', running.relayUrl, ownerKey);
    closings.push(() => { owner.close(); });
    const guest = await Client.connect('guest', running.relayUrl, guestKey);
    closings.push(() => { guest.close(); });
    const agentPubkey = getPublicKey(agentKey);
    const courierPubkey = getPublicKey(courierKey);
    await openChannel(owner, channelId, [agentPubkey, guest.pubkey, courierPubkey]);
    const { relayUrl } = running;
    return {
      directory, configFile, relayUrl, channelId, agentPubkey, owner, guest, running, courierPubkey, close,
      async startCourier() {
        const courier = await startCourier({ nodePath: options.nodePath, relayUrl, directory, owner: owner.pubkey });
        closings.push(() => courier.kill());
        return courier;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Keys {
  readonly ownerKey: Uint8Array;
  readonly guestKey: Uint8Array;
  readonly agentKey: Uint8Array;
  readonly courierKey: Uint8Array;
}

function writeFiles(directory: string, { ownerKey, guestKey, agentKey, courierKey }: Keys): string {
  const write = (name: string, text: string): void => { writeFileSync(join(directory, name), text, { mode: 0o600 }); };
  mkdirSync(join(directory, 'gates'));
  write('owner.key', `${nsecEncode(ownerKey)}\n`);
  write('helper.key', `${nsecEncode(agentKey)}\n`);
  write('courier.key', `${nsecEncode(courierKey)}\n`);
  write('script.json', JSON.stringify({ ...DEMO_SCRIPT, gates: join(directory, 'gates') }, null, 2));
  write('skep.yaml', `relay: embedded
data: data
embedded:
  port: 0
log: warn
owner-key: owner.key
agents:
  - name: helper
    key: helper.key
    owner: ${npubEncode(getPublicKey(ownerKey))}
    # What it is told, its owner saves on the relay.
    teams: []
    adapter: scripted
    args: [script.json]
    permission: ask
    ask-timeout: 3s
    # So that each turn of the story is seen to its end.
    mid-turn: queue
    respond-to: allowlist
    allowlist: [${npubEncode(getPublicKey(guestKey))}]
`);
  return join(directory, 'skep.yaml');
}

/** As any client would: create the group (9007), put its members in (9000). */
async function openChannel(owner: Client, channelId: string, members: readonly string[]): Promise<void> {
  await owner.publish(9007, { content: '', tags: [['h', channelId], ['name', 'the garden'], ['visibility', 'private']] });
  for (const member of members) await owner.publish(9000, { content: '', tags: [['h', channelId], ['p', member]] });
}
