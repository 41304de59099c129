/** A supervisor that is killed, between two turns and within one: the conversation of a thread goes on in the next. */
import { existsSync, mkdirSync, readFileSync, watch as watchFiles, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'nostr-tools/nip19';
import type { Event } from 'nostr-tools/pure';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../src/cli/demo/client.ts';
import { reportOf, reportWhen } from '../cli/report.ts';
import { runSkep, startSkep, stopAll } from '../cli/skep.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { Watch } from './watch.ts';

const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await stopAll();
});

it.each(['load', 'resume'])('kill -9: gone on with by session/%s, twice, and nothing is said again', async (way) => {
  const directory = temporaryDirectory();
  expect((await runSkep(['init'], directory)).code).toBe(0);
  const config = join(directory, 'skep.yaml');
  const yaml = readFileSync(config, 'utf8');
  writeFileSync(config, yaml.replace(/port: \d+/, 'port: 0').replace(/^(\s*)adapter: scripted.*$/m, '$1adapter: scripted\n$1args: [script.json]'));
  const gates = join(directory, 'gates');
  mkdirSync(gates);
  const FRESH = { unless: { merge_disposition: 'continue_prior_work' } };
  const rules = [{ ...FRESH, match: 'hold', do: [{ say: 'half' }, { mark: 'holding' }, { hang: true }] }, { do: [{ reply: '{{turns}} {{session}} {{prompt}}' }] }];
  writeFileSync(join(directory, 'script.json'), JSON.stringify({ v: 1, gates, sessions: { [way]: true }, rules }));
  const channelId = /id: ([0-9a-f-]{36})/.exec(yaml)?.[1] ?? '';
  const { data: key } = decode(readFileSync(join(directory, 'keys', 'owner.key'), 'utf8').trim() as `nsec1${string}`);

  const answers: Event[] = [];
  const watch: Watch = new Watch(() => JSON.stringify(answers.map(({ content }) => content)));
  const files = watchFiles(gates, () => { watch.look(); });
  onTestFinished(() => { files.close(); });
  const up = async (): Promise<{ readonly ask: (content: string, root?: Event) => Promise<Event>; readonly kill: () => Promise<unknown> }> => {
    const skep = startSkep(['up'], directory);
    await skep.says('Ctrl-C stops');
    const { embeddedRelay, agents } = await reportOf(join(directory, '.skep'));
    const owner = await Client.connect('owner', embeddedRelay?.url ?? '', key);
    clients.push(owner);
    const agent = agents[0]?.pubkey ?? '';
    owner.follow({ kinds: [9], '#h': [channelId], authors: [agent] }, (event) => {
      if (answers.every(({ id }) => id !== event.id)) answers.push(event);
      watch.look();
    });
    return {
      ask: (content, root) => owner.publish(9, { content, tags: [['h', channelId], ['p', agent], ...(root === undefined ? [] : [['e', root.id, '', 'reply']])] }),
      kill: () => { skep.kill('SIGKILL'); return skep.ended; },
    };
  };
  const nth = async (count: number): Promise<readonly [turns: string, session: string, prompt: string]> => {
    const { content } = await watch.until(`answer ${count}`, () => answers[count - 1], 30_000);
    const [, turns = '', session = '', prompt = ''] = /^(\S+) (\S+) (.*)$/s.exec(content) ?? [];
    return [turns, session, prompt];
  };
  /** An answer is there before its turn is over: what is asked at once would steer that turn, and a kill would cut it. */
  const between = (): Promise<unknown> => reportWhen(join(directory, '.skep'), ({ agents }) => agents[0]?.inbox.dispatched === 0);

  const first = await up();
  const root = await first.ask('one');
  const [, session] = await nth(1);
  await between();
  await first.ask('two', root);
  await nth(2);
  await between();
  await first.kill();

  const second = await up();
  await second.ask('three', root);
  const [turns, same, prompt] = await nth(3);
  expect([turns, same]).toEqual(['3', session]);
  expect(prompt).toContain('History: already delivered');
  expect(prompt).not.toContain('You are an agent in Buzz');
  await between();
  await second.ask('hold', root);
  await watch.until('the turn', () => existsSync(join(gates, 'holding')), 30_000);
  await second.kill();

  await up();
  // It comes back as an interrupted turn, and the hold is no more.
  const [again, still, interrupted] = await nth(4);
  expect([again, still]).toEqual(['5', session]);
  expect(interrupted).toContain('<interrupted-turn');
  expect(answers).toHaveLength(4);
}, 180_000);
