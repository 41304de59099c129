/** A relay of its own beside skep: the one in the box, run alone on one port and one store, stopped and started at will. */
import { join } from 'node:path';
import { openRelay } from '../../src/relay/index.ts';
import type { Relay } from '../../src/relay/index.ts';
import { steadyClock, systemClock, systemRandom } from '../../src/system/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

export interface OutsideRelay {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function openOutsideRelay(): Promise<OutsideRelay> {
  const storePath = join(temporaryDirectory(), 'relay.db');
  const open = (port: number): Promise<Relay> => openRelay({
    port, storePath, secretKey: new Uint8Array(32).fill(9), clock: systemClock, steadyClock, random: systemRandom,
  });
  let relay = await open(0);
  const { url } = relay;
  return {
    url,
    stop: () => relay.close(),
    start: async () => { relay = await open(Number(new URL(url).port)); },
  };
}
