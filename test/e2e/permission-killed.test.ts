/** A supervisor that is killed with a permission card open: the next one closes the card, and takes no old yes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'nostr-tools/nip19';
import { afterEach, expect, it } from 'vitest';
import { Client } from '../../src/cli/demo/client.ts';
import { OwnerDesk } from '../../src/cli/demo/owner-desk.ts';
import { reportOf } from '../cli/report.ts';
import { runSkep, startSkep, stopAll } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { Watch } from './watch.ts';

const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await stopAll();
});

it('kill -9: closed as cancelled at the next start, and the old decision is told that nothing waits', async () => {
  const directory = temporaryDirectory();
  // As `skep init` leaves it, the owner is asked.
  expect((await runSkep(['init'], directory)).code).toBe(0);
  const config = join(directory, 'skep.yaml');
  const yaml = readFileSync(config, 'utf8');
  writeFileSync(config, yaml.replace(/port: \d+/, 'port: 0').replace(/^(\s*)adapter: scripted.*$/m, '$1adapter: scripted\n$1args: [script.json]'));
  mkdirSync(join(directory, 'gates'));
  const script = { v: 1, gates: join(directory, 'gates'), rules: [{ do: [{ ask: 'Clean up', as: 'v' }, { reply: 'heard {{v.outcome}} {{v.kind}}' }] }] };
  writeFileSync(join(directory, 'script.json'), JSON.stringify(script));
  const channelId = /id: ([0-9a-f-]{36})/.exec(yaml)?.[1] ?? '';
  const { data: key } = decode(readFileSync(join(directory, 'keys', 'owner.key'), 'utf8').trim() as `nsec1${string}`);

  const up = async (): Promise<{ readonly desk: OwnerDesk; readonly watch: Watch; readonly owner: Client; readonly agent: string; readonly kill: () => Promise<unknown> }> => {
    const skep = startSkep(['up'], directory);
    await skep.says('Ctrl-C stops');
    const { embeddedRelay, agents } = await reportOf(join(directory, '.skep'));
    const owner = await Client.connect('owner', embeddedRelay?.url ?? '', key);
    clients.push(owner);
    const agent = agents[0]?.pubkey ?? '';
    const watch: Watch = new Watch(() => JSON.stringify([desk.cards.length, desk.edits.length, desk.frames.length]));
    const desk = new OwnerDesk(owner, { agent, channelId }, () => { watch.look(); });
    return { desk, watch, owner, agent, kill: () => { skep.kill('SIGKILL'); return skep.ended; } };
  };

  const first = await up();
  await first.owner.publish(9, { content: 'clean up', tags: [['h', channelId], ['p', first.agent]] });
  const shown = await first.watch.until('a card', () => first.desk.cards[0]);
  // Who wonders why there is no answer is told so.
  expect((await reportOf(join(directory, '.skep'))).agents[0]?.turns).toMatchObject([{ events: 1, asking: 1 }]);
  await first.kill();

  const second = await up();
  const edit = await second.watch.until('the edit', () => second.desk.editOf(shown), 30_000);
  expect(edit.card).toMatchObject({ outcome: 'cancelled', chosenOptionId: null });
  await second.desk.decide(shown, 'allow');
  const word = await second.watch.until('the word', () => second.desk.frames.find(({ kind }) => kind === 'control_result'), 30_000);
  expect(word.payload).toMatchObject({ status: 'no_active_turn', requestNonce: shown.card.requestNonce });
  // The message came back as an interrupted turn, which asks anew, under another nonce.
  const again = await second.watch.until('a new card', () => second.desk.cards.find(({ event }) => event.id !== shown.event.id), 30_000);
  expect(again.card.requestNonce).not.toBe(shown.card.requestNonce);
  expect(second.desk.edits.filter(({ card }) => card.originalEventId === shown.event.id)).toHaveLength(1);
}, 120_000);
