/** The operator's own turn through the whole of skep: published by the broker, recorded, replayed, given once; and what a client sees of an agent's live signals meanwhile. */
import { join } from 'node:path';
import type { Event } from 'nostr-tools/pure';
import { afterEach, expect, it, vi } from 'vitest';
import { replayFile } from '../../src/replay/index.ts';
import { stopAll } from '../cli/skep.ts';
import { newHome, readRecord, recordsIn } from '../recording/home.ts';
import type { Home } from '../recording/home.ts';

const CHANNEL = '6a3f3d52-7b1e-4b5c-9c43-0c4d7c1f6a11';
const RULES = [
  { when: { type: 'initial' }, do: [{ post: { text: 'I am here.', channel: CHANNEL } }, { say: 'and this is for nobody' }] },
  { do: [{ wait: 'go' }, { reply: 'here it is' }] },
];

let home: Home;

afterEach(async () => {
  home.close();
  await stopAll();
});

it('an initial prompt is posted, recorded and given once; typing, presence and an answer are what a client sees', async () => {
  home = newHome(RULES, [], ['initial-prompt: { prompt: Introduce yourself., when: once }', 'canary: 30s']);
  const first = await home.up('--record', 'records');
  const owner = await home.owner();
  const seen: Event[] = [];
  for (const filter of [{ 'kinds': [9], '#h': [CHANNEL] }, { kinds: [20_001], authors: [home.agent] }, { 'kinds': [20_002], '#h': [CHANNEL] }]) owner.follow(filter, (event) => { seen.push(event); });
  const told = (kind: number): readonly string[] => seen.filter((event) => event.kind === kind && event.pubkey === home.agent).map(({ content }) => content);
  await vi.waitFor(() => { expect(told(9)).toEqual(['I am here.']); }, { timeout: 30_000 });
  const { agents } = await home.statusWhen((report) => report.agents[0]?.operator?.lastEnd !== undefined);
  expect(agents[0]).toMatchObject({ operator: { turns: 1, lastEnd: 'end_turn' }, signals: { presence: 'online' }, canary: { deaf: [] }, inbox: { done: 0 } });
  await home.statusWhen(({ recording }) => recording?.turns === 1);
  const [name = ''] = recordsIn(home.records);
  expect(readRecord(home.records, name)['operator']).toMatchObject({ source: 'initial', prompt: 'Introduce yourself.' });
  expect(await replayFile(join(home.records, name), { update: false })).toMatchObject({ is: 'same', fixture: 'operator' });

  const question = await home.say(owner, 'may I have it?');
  await vi.waitFor(() => { expect(told(20_002).length).toBeGreaterThan(0); }, { timeout: 30_000 });
  home.openGate('go');
  await vi.waitFor(() => { expect(told(9)).toEqual(['I am here.', 'here it is']); }, { timeout: 30_000 });
  expect(seen.findLast(({ kind }) => kind === 9)?.tags).toContainEqual(['e', question.id, '', 'reply']);
  first.kill('SIGTERM');
  await vi.waitFor(() => { expect(told(20_001)).toContain('offline'); }, { timeout: 30_000 });
  expect(await first.ended).toMatchObject({ code: 0 });

  await home.up();
  const again = await home.statusWhen((report) => report.agents[0]?.processes[0]?.state === 'idle');
  expect(again.agents[0]?.operator).toEqual({ turns: 0, skipped: 0 });
}, 90_000);
