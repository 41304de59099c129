/**
 * An agent makes another: the whole of skep, real programs, the relay in the box. The one that was made is a member,
 * answers the person at the end of its chain, gets other instructions, and is gone when it is deleted.
 */
import type { Event } from 'nostr-tools/pure';
import { afterEach, expect, it } from 'vitest';
import { isAlive } from './alive.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

let open: Stage | undefined;

afterEach(async () => {
  await open?.close();
  open = undefined;
});

const CREATE = { channelId: '{{channel}}', displayName: 'Scout', systemPrompt: 'You are the scout.' };
const TARGET = { target: { name: 'Scout' } };

/** Maker and made play one script; what they are asked tells them apart. */
const RULES = [
  { match: 'make', do: [{ action: { name: 'agents.create', args: CREATE }, as: 'made' }, { reply: '{{made.agentPubkey}}' }] },
  {
    match: 'change',
    do: [
      { action: { name: 'agents.update', args: { ...TARGET, systemPrompt: 'You are the mole.' } }, as: 'changed' },
      { reply: '{{changed.updatedFields.0}}' },
    ],
  },
  { match: 'delete', do: [{ action: { name: 'agents.delete', args: TARGET }, as: 'gone' }, { reply: '{{gone.displayName}}' }] },
  { match: 'who', do: [{ reply: 'who: {{system}} {{prompt}}' }] },
];

it('an agent that an agent made lives, answers, changes and ends', async () => {
  const stage = await openStage({ rules: RULES, agent: ['session: thread'] });
  open = stage;
  const { owner, channelId, agent, watch, running } = stage;
  await owner.publish(9000, { content: '', tags: [['h', channelId], ['p', agent, 'admin']] });
  const said: Event[] = [];
  owner.listen(channelId, (event) => {
    if (event.pubkey !== owner.pubkey) said.push(event);
    watch.look();
  });
  const ask = async (who: string, content: string): Promise<Event> => {
    const question = await owner.publish(9, { content, tags: [['h', channelId], ['p', who]] });
    const isAnswer = ({ tags }: Event): boolean => tags.some((tag) => tag[0] === 'e' && tag[1] === question.id);
    return watch.until(`an answer to ${content}`, () => said.find(isAnswer));
  };
  const scoutReport = () => running.snapshot().agents.find(({ managedBy }) => managedBy === agent);

  const scout = (await ask(agent, 'make')).content;
  expect(scout).toMatch(/^[0-9a-f]{64}$/);
  const first = await ask(scout, 'who');
  expect(first.pubkey).toBe(scout);
  expect(first.content).toContain('You are the scout.');
  expect(scoutReport()).toMatchObject({ name: 'Scout', pubkey: scout });
  const pid = scoutReport()?.processes[0]?.pid ?? 0;
  expect(isAlive(pid)).toBe(true);

  expect((await ask(agent, 'change')).content).toBe('systemPrompt');
  const second = await ask(scout, 'who now');
  expect(second.content).toContain('You are the mole.');
  expect(scoutReport()?.processes[0]?.pid).toBe(pid);

  expect((await ask(agent, 'delete')).content).toBe('Scout');
  await watch.until('the end of the program', () => stage.notes.find((note) => note.type === 'process_ended' && note.pid === pid));
  expect(isAlive(pid)).toBe(false);
  await owner.publish(9, { content: 'who still', tags: [['h', channelId], ['p', scout]] });
  // The control: what is asked afterwards is answered, and the mention before it is not.
  expect((await ask(agent, 'who')).pubkey).toBe(agent);
  expect(said.filter(({ pubkey }) => pubkey === scout)).toHaveLength(2);
  expect(scoutReport()).toBeUndefined();
});
