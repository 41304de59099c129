/** A folder with keys and a config around one agent, for the tests of the loader. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nsecEncode } from 'nostr-tools/nip19';
import { loadConfig } from '../../src/config/index.ts';
import type { Config } from '../../src/config/index.ts';
import { Failure } from '../../src/model/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

/** Secret keys of the tests: 1, 2 and 3, whose public keys anybody can look up. */
export const AGENT_KEY = '1'.padStart(64, '0');
export const OTHER_KEY = '3'.padStart(64, '0');
export const AGENT = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
export const OWNER = 'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';
export const OWNER_NPUB = 'npub1ccz8l9zpa47k6vz9gphftsrumpw80rjt3nhnefat4symjhrsnmjs38mnyd';
export const OWNER_KEY = new Uint8Array(Buffer.from('2'.padStart(64, '0'), 'hex'));
export const NSEC = nsecEncode(new Uint8Array(Buffer.from(AGENT_KEY, 'hex')));
export const CHANNEL = '6a3f3d52-7b1e-4b5c-9c43-0c4d7c1f6a11';

export function writeKey(directory: string, name: string, text: string, mode = 0o600): void {
  writeFileSync(join(directory, name), text);
  chmodSync(join(directory, name), mode);
}

/** A folder with `a.key`, `b.key` and `skep.yaml`. */
export function writeConfig(yaml: string): string {
  const directory = temporaryDirectory();
  writeKey(directory, 'a.key', `${AGENT_KEY}\n`);
  writeKey(directory, 'b.key', `${OTHER_KEY}\n`);
  writeFileSync(join(directory, 'skep.yaml'), yaml);
  return directory;
}

/** The top of the config, then one agent with these further lines. The agent begins at line 2, its extras at line 6. */
export function oneAgent(extra = '', { top = 'relay: embedded', owner = `owner: ${OWNER}`, adapter = 'adapter: scripted' } = {}): string {
  const lines = [`- name: helper`, `  key: a.key`, `  ${owner}`, `  ${adapter}`, ...extra.split('\n').filter(Boolean).map((line) => `  ${line}`)];
  return `${top}\nagents:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;
}

export function load(directory: string, cores = 8): Config {
  return loadConfig(join(directory, 'skep.yaml'), { cores });
}

/** The message of the refusal without the folder, or `loaded`. */
export function lineOf(directory: string): string {
  try {
    load(directory);
    return 'loaded';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === 'config' ? error.message.replaceAll(`${directory}/`, '') : `${error.code}: ${error.message}`;
  }
}

/** What `yaml` is told. */
export function told(yaml: string): string {
  return lineOf(writeConfig(yaml));
}
