/** A config on a temporary directory, and the events its agents and owner need, for benchmarks that run all of skep. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asPubkey, seconds } from '../src/model/index.ts';
import { publicKeyOf, signEvent } from '../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../src/nostr/index.ts';

export const CHANNEL = '11111111-2222-4333-8444-555555555555';
const AUX = new Uint8Array(32);

export interface House {
  readonly directory: string;
  readonly configFile: string;
  readonly agent: string;
  /** What a relay would have stored: the channel, its members, the profiles. */
  readonly stored: readonly VerifiedEvent[];
  message(content: string): VerifiedEvent;
  remove(): void;
}

/** `agents` on the scripted adapter, each saying one word to whatever it is asked. */
export function makeHouse(agents: number, relayUrl: string): House {
  const directory = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  mkdirSync(join(directory, 'keys'));
  const owner = keyOf(200);
  const keys = Array.from({ length: agents }, (_, index) => keyOf(index + 1));
  const members = keys.map(pubkeyOf);
  const [agent = ''] = members;
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, rules: [{ do: [{ say: 'yes' }] }] }));
  const lines = keys.flatMap((key, index) => {
    const name = `agent-${index}`;
    writeFileSync(join(directory, 'keys', name), Buffer.from(key).toString('hex'), { mode: 0o600 });
    return [
      `  - name: ${name}`, `    key: keys/${name}`, `    owner: ${pubkeyOf(owner)}`, '    adapter: scripted', '    args: [script.json]',
    ];
  });
  const configFile = join(directory, 'skep.yaml');
  writeFileSync(configFile, [`relay: ${relayUrl}`, 'agents:', ...lines, ''].join('\n'));
  const sign = (kind: number, tags: readonly Tag[], content: string, key: Uint8Array): VerifiedEvent =>
    signEvent({ created_at: seconds(Date.now() / 1000), kind, tags, content }, key, AUX);
  return {
    directory, configFile, agent,
    stored: [
      sign(39_000, [['d', CHANNEL], ['name', 'bench'], ['t', 'stream']], '', owner),
      sign(39_002, [['d', CHANNEL], ...members.map((member) => ['p', member])], '', owner),
      sign(0, [], JSON.stringify({ display_name: 'Owner' }), owner),
      ...keys.map((key) => sign(0, [], JSON.stringify({ display_name: 'Agent' }), key)),
    ],
    message: (content) => sign(9, [['h', CHANNEL], ['p', agent]], content, owner),
    remove: () => { rmSync(directory, { recursive: true, force: true }); },
  };
}

function keyOf(seed: number): Uint8Array {
  return new Uint8Array(32).fill(seed);
}

function pubkeyOf(key: Uint8Array): string {
  const pubkey = asPubkey(Buffer.from(publicKeyOf(key) ?? []).toString('hex'));
  if (pubkey === undefined) throw new TypeError('key: expected 1..n-1');
  return pubkey;
}
