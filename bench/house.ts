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
  /** Of the agents' scripts: a file there opens the gate of its name. */
  readonly gates: string;
  readonly configFile: string;
  readonly agents: readonly string[];
  /** What a relay would have stored: the channel, its members, the profiles. */
  readonly stored: readonly VerifiedEvent[];
  /** The owner's, to the first agent in `CHANNEL` unless it says otherwise. */
  message(content: string, place?: { readonly channel?: string; readonly agent?: string | undefined }): VerifiedEvent;
  remove(): void;
}

export interface HouseOptions {
  readonly channels?: readonly string[];
  /** Further members of each agent in skep.yaml, one `name: value` a line. */
  readonly agent?: readonly string[];
  /** Of the script of every agent. */
  readonly rules?: readonly object[];
}

/** `agents` on the scripted adapter, each saying one word to whatever it is asked. */
export function makeHouse(agents: number, relayUrl: string, { channels = [CHANNEL], agent: more = [], rules = [{ do: [{ say: 'yes' }] }] }: HouseOptions = {}): House {
  const directory = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  const gates = join(directory, 'gates');
  for (const made of [join(directory, 'keys'), gates]) mkdirSync(made);
  const owner = keyOf(200);
  const keys = Array.from({ length: agents }, (_, index) => keyOf(index + 1));
  const members = keys.map(pubkeyOf);
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates, rules }));
  const lines = keys.flatMap((key, index) => {
    const name = `agent-${index}`;
    writeFileSync(join(directory, 'keys', name), Buffer.from(key).toString('hex'), { mode: 0o600 });
    return [
      `  - name: ${name}`, `    key: keys/${name}`, `    owner: ${pubkeyOf(owner)}`, '    adapter: scripted', '    args: [script.json]',
      ...more.map((line) => `    ${line}`),
    ];
  });
  const configFile = join(directory, 'skep.yaml');
  writeFileSync(configFile, [`relay: ${relayUrl}`, 'agents:', ...lines, ''].join('\n'));
  const sign = (kind: number, tags: readonly Tag[], content: string, key: Uint8Array): VerifiedEvent =>
    signEvent({ created_at: seconds(Date.now() / 1000), kind, tags, content }, key, AUX);
  return {
    directory, gates, configFile, agents: members,
    stored: [
      ...channels.flatMap((channel) => [
        sign(39_000, [['d', channel], ['name', 'bench'], ['t', 'stream']], '', owner),
        sign(39_002, [['d', channel], ...members.map((member) => ['p', member])], '', owner),
      ]),
      sign(0, [], JSON.stringify({ display_name: 'Owner' }), owner),
      ...keys.map((key) => sign(0, [], JSON.stringify({ display_name: 'Agent' }), key)),
    ],
    message: (content, { channel = CHANNEL, agent = members[0] } = {}) => sign(9, [['h', channel], ['p', agent ?? '']], content, owner),
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
