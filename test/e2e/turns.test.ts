/** What becomes of a message when things go wrong on the way, and what an owner sees of it. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Note } from '../../src/supervisor/index.ts';
import { openStage } from './stage.ts';
import type { Stage, StageOptions } from './stage.ts';

let open: Stage | undefined;

async function stageOf(options: StageOptions): Promise<Stage> {
  open = await openStage(options);
  return open;
}

afterEach(async () => {
  await open?.close();
  open = undefined;
});

const REPLY = { do: [{ reply: '{{count}}: {{content}}' }] };

function turns({ notes }: Stage): readonly Extract<Note, { type: 'turn_started' }>[] {
  return notes.filter((note) => note.type === 'turn_started');
}

function turnEnds({ notes }: Stage): readonly Extract<Note, { type: 'turn_ended' }>[] {
  return notes.filter((note) => note.type === 'turn_ended');
}

describe('coalescing', () => {
  it('quick messages in a thread are one turn; what comes during a turn is the next one where it waits', async () => {
    const stage = await stageOf({ rules: [{ match: 'hold', do: [{ wait: 'go' }, REPLY.do[0]] }, REPLY], agent: ['mid-turn: queue'] });
    const root = await stage.say(stage.owner, 'root');
    await stage.watch.until('an answer', () => stage.answers[0]);
    await stage.say(stage.owner, 'hold', root);
    await stage.watch.until('the held turn', () => turns(stage).length === 2);
    const three = [await stage.say(stage.owner, 'a', root), await stage.say(stage.owner, 'b', root), await stage.say(stage.owner, 'c', root)];
    stage.openGate('go');
    await stage.watch.until('three answers', () => stage.answers.length === 3);
    expect(turns(stage)[2]?.eventIds).toEqual(three.map((event) => event.id));
    expect(stage.answers[2]?.content).toBe('3: a\nb\nc');
  });
});

describe('a process that dies in mid-turn', () => {
  it('is replaced, and the message comes back as an interrupted turn, answered once', async () => {
    const stage = await stageOf({ rules: [{ unless: { merge_disposition: 'continue_prior_work' }, do: [{ die: 'SIGKILL' }] }, { do: [{ reply: 'again: {{interrupted}}' }] }] });
    await stage.say(stage.owner, 'hello');
    await stage.watch.until('an answer', () => stage.answers[0], 20_000);
    expect(stage.answers.map((event) => event.content)).toEqual(['again: hello']);
    expect(turns(stage).map((turn) => turn.interrupted)).toEqual([false, true]);
    expect(new Set(turns(stage).map((turn) => turn.pid)).size).toBe(2);
  });

  it('is not asked again when it had answered', async () => {
    const stage = await stageOf({ rules: [{ do: [{ reply: 'done' }, { die: 'SIGKILL' }] }] });
    await stage.say(stage.owner, 'hello');
    const end = await stage.watch.until('the end of the turn', () => turnEnds(stage)[0]);
    expect(end).toMatchObject({ outcome: 'process_ended' });
    expect(end.published).toHaveLength(1);
    await stage.watch.until('a fresh process', () => stage.notes.filter((note) => note.type === 'process_started').length === 2);
    await stage.say(stage.owner, 'control');
    await stage.watch.until('the control', () => stage.answers.length === 2);
    expect(turns(stage)).toHaveLength(2);
  });
});

describe('an agent that publishes nothing', () => {
  it('has its text sent as the answer', async () => {
    const stage = await stageOf({ rules: [{ do: [{ think: 'hm' }, { say: 'The answer ' }, { say: 'is 42.' }] }] });
    const question = await stage.say(stage.owner, 'what is it?');
    const answer = await stage.watch.until('an answer', () => stage.answers[0]);
    expect(answer.content).toBe('The answer is 42.');
    expect(answer.tags).toContainEqual(['e', question.id, '', 'reply']);
    expect(answer.tags.some((tag) => tag[0] === 'skep')).toBe(false);
  });

  it.each([
    ['no output', [{ stop: 'end_turn' }]],
    ['only thoughts', [{ think: 'hm' }]],
    ['only tool calls', [{ tool: 'Look around' }]],
  ])('and has %s gets one notice that wakes nobody', async (_, steps) => {
    const stage = await stageOf({ rules: [{ do: steps }] });
    await stage.say(stage.owner, 'what is it?');
    const notice = await stage.watch.until('a notice', () => stage.answers[0]);
    expect(notice.content).toMatch(/^⚠️ /u);
    expect(notice.tags.filter((tag) => tag[0] === 'p')).toEqual([]);
    expect(notice.tags).toContainEqual(['skep', 'notice']);
    const end = await stage.watch.until('the end', () => turnEnds(stage)[0]);
    expect(end.outcome).toBe('end_turn');
    expect(turns(stage)).toHaveLength(1);
  });
});

describe('the gate', () => {
  it('hears the owner and nobody else by default', async () => {
    const stage = await stageOf({ rules: [REPLY] });
    const guest = await stage.join('guest');
    const refused = await stage.say(guest, 'me too');
    await stage.watch.until('the refusal', () => stage.notes.find((note) => note.type === 'refused' && note.eventId === refused.id));
    await stage.say(stage.owner, 'control');
    await stage.watch.until('the control', () => stage.answers[0]);
    expect(stage.answers).toHaveLength(1);
    expect(stage.answers[0]?.content).toBe('1: control');
  });

  it('hears anyone where the operator says so', async () => {
    const stage = await stageOf({ rules: [REPLY], agent: ['respond-to: anyone'] });
    const guest = await stage.join('guest');
    await stage.say(guest, 'me too');
    await stage.watch.until('an answer', () => stage.answers[0]);
  });
});

describe('permission', () => {
  const ask = [{ ask: 'Run it', as: 'verdict' }, { reply: '{{verdict.outcome}} {{verdict.kind}}' }];

  it('is refused by default', async () => {
    const stage = await stageOf({ rules: [{ do: ask }] });
    await stage.say(stage.owner, 'go');
    expect((await stage.watch.until('an answer', () => stage.answers[0])).content).toBe('selected reject_once');
  });

  it('is given once under `allow`', async () => {
    const stage = await stageOf({ rules: [{ do: ask }], agent: ['permission: allow'] });
    await stage.say(stage.owner, 'go');
    expect((await stage.watch.until('an answer', () => stage.answers[0])).content).toBe('selected allow_once');
  });
});

describe('the agent’s environment', () => {
  it('is the allow-list, whatever the supervisor was started with', async () => {
    const stage = await stageOf({
      rules: [{ do: [{ env: true }] }],
      agent: ['env: { EXTRA: yes-please }'],
      environment: { NODE_OPTIONS: '--no-warnings', CLAUDECODE: '1', SECRET_TOKEN: 'tok', NOSTR_KEY: 'nsec1qqqq', LC_TIME: 'C' },
    });
    await stage.say(stage.owner, 'show me');
    const answer = await stage.watch.until('an answer', () => stage.answers[0]);
    const names = Object.keys(JSON.parse(answer.content) as object);
    expect(names).toEqual(expect.arrayContaining(['EXTRA', 'LC_TIME', 'PATH', 'SKEP_BROKER_URL', 'SKEP_CREDENTIAL']));
    for (const name of ['NODE_OPTIONS', 'CLAUDECODE', 'SECRET_TOKEN', 'NOSTR_KEY']) expect(names).not.toContain(name);
    const key = readFileSync(`${stage.directory}/agent.key`, 'utf8');
    expect(answer.content).not.toContain(key);
  });
});

describe('lanes', () => {
  it('threads run beside each other under the thread policy, with two processes', async () => {
    const stage = await stageOf({
      rules: [{ match: 'slow', do: [{ wait: 'go' }, { reply: 'slow' }] }, { do: [{ reply: 'quick' }] }],
      agent: ['session: thread', 'processes: 2'],
    });
    await stage.say(stage.owner, 'slow');
    await stage.watch.until('the slow turn', () => turns(stage).length === 1);
    await stage.say(stage.owner, 'quick');
    await stage.watch.until('the quick answer', () => stage.answers[0]);
    stage.openGate('go');
    await stage.watch.until('the slow answer', () => stage.answers[1]);
    expect(stage.answers.map((event) => event.content)).toEqual(['quick', 'slow']);
  });

  it('never put two turns into one process, however many wait and whenever they come', async () => {
    const texts = ['one', 'two', 'three', 'four', 'five'];
    const stage = await stageOf({
      rules: texts.map((text) => ({ match: text, do: [{ wait: text }, { reply: text }] })), agent: ['session: thread'],
    });
    for (const [n, text] of texts.entries()) {
      // Every message but the first comes while the turn that began when another ended is under way.
      const { id } = await stage.say(stage.owner, text);
      await stage.watch.until('acceptance', () => stage.notes.find((note) => note.type === 'accepted' && note.eventId === id));
      await stage.watch.until('the turn before', () => turns(stage).length === Math.max(n, 1));
      expect(stage.running.snapshot().agents[0]?.inbox).toMatchObject({ queued: Math.min(n, 1), dispatched: 1 });
      if (n > 0) stage.openGate(texts[n - 1] ?? '');
      await stage.watch.until('the next turn', () => turns(stage).length === n + 1);
    }
    stage.openGate('five');
    await stage.watch.until('every end', () => turnEnds(stage).length >= texts.length);
    const order = stage.notes.flatMap((note) => (note.type === 'turn_started' ? [1] : note.type === 'turn_ended' ? [-1] : []));
    let open = 0;
    expect(Math.max(...order.map((step) => (open += step)))).toBe(1);
    expect(stage.answers.map((event) => event.content)).toEqual(texts);
  });

  it('a channel waits for its turn under the channel policy', async () => {
    const stage = await stageOf({
      rules: [{ match: 'slow', do: [{ wait: 'go' }, { reply: 'slow' }] }, { do: [{ reply: 'quick' }] }], agent: ['processes: 2'],
    });
    await stage.say(stage.owner, 'slow');
    await stage.watch.until('the slow turn', () => turns(stage).length === 1);
    const second = await stage.say(stage.owner, 'quick');
    await stage.watch.until('acceptance', () => stage.notes.find((note) => note.type === 'accepted' && note.eventId === second.id));
    expect(stage.running.snapshot().agents[0]?.inbox).toMatchObject({ queued: 1, dispatched: 1 });
    stage.openGate('go');
    await stage.watch.until('both answers', () => stage.answers.length === 2);
    expect(stage.answers.map((event) => event.content)).toEqual(['slow', 'quick']);
  });
});

describe('history', () => {
  it('of the thread is in the envelope where the session has not read it, and not at the top of the channel', async () => {
    const stage = await stageOf({ rules: [{ match: 'show', do: [{ reply: '{{prompt}}' }] }, { do: [{ reply: 'noted' }] }] });
    const root = await stage.say(stage.owner, 'the first word');
    await stage.watch.until('an answer', () => stage.answers.length === 1);
    await stage.say(stage.owner, 'show', root);
    const known = await stage.watch.until('the second', () => stage.answers[1]);
    expect(known.content).toContain('History: already delivered; retrieve: channel.read');
    expect(known.content).not.toContain('the first word');
    await stage.say(stage.owner, '!rotate');
    await stage.say(stage.owner, 'show', root);
    const inThread = await stage.watch.until('the third', () => stage.answers[2]);
    expect(inThread.content).toContain('<recent-thread-delta included="4" total="4" truncated="false">');
    expect(inThread.content).toContain(`${stage.owner.pubkey}: the first word`);
    expect(inThread.content).toContain('helper: noted');
    expect(inThread.content).toContain('Channel: garden');
    await stage.say(stage.owner, 'show');
    const atTop = await stage.watch.until('the fourth', () => stage.answers[3]);
    expect(atTop.content).toContain('History: already delivered; retrieve: channel.read');
  });
});

describe('a message that cannot be answered', () => {
  it('is told in its thread when the agent is not logged in, and not tried again', async () => {
    const stage = await stageOf({ rules: [{ match: 'x', do: [{ error: { code: -32_000, message: 'Authentication required' } }] }, REPLY] });
    const question = await stage.say(stage.owner, 'x');
    const notice = await stage.watch.until('a notice', () => stage.answers[0]);
    expect(notice.content).toBe('⚠️ This message could not be answered: the agent program is not logged in.');
    expect(notice.tags).toContainEqual(['e', question.id, '', 'reply']);
    expect(notice.tags.some((tag) => tag[0] === 'p')).toBe(false);
    await stage.say(stage.owner, 'control');
    await stage.watch.until('the control', () => stage.answers[1]);
    expect(turns(stage)).toHaveLength(2);
    expect(stage.running.snapshot().agents[0]?.inbox).toMatchObject({ dead: 1 });
  });

  it('is given up after the hard timeout, with the true reason', async () => {
    const busy = Array.from({ length: 30 }, () => [{ think: 'still busy' }, { sleep: 100 }]).flat();
    const stage = await stageOf({ rules: [{ do: busy }], agent: ['idle-timeout: 1s', 'hard-timeout: 1500ms'] });
    await stage.say(stage.owner, 'go');
    const notice = await stage.watch.until('a notice', () => stage.answers[0]);
    expect(notice.content).toBe('⚠️ This message could not be answered: not finished after 2 s.');
    expect(turns(stage)).toHaveLength(1);
  });
});

describe('an agent program that cannot be started', () => {
  it('is told once, and the message waits', async () => {
    const stage = await stageOf({ rules: [REPLY], adapter: '{ command: /nowhere/agent }' });
    await stage.say(stage.owner, 'one');
    const notice = await stage.watch.until('a notice', () => stage.answers[0]);
    expect(notice.content).toContain('cannot be started (not found)');
    const second = await stage.say(stage.owner, 'two');
    await stage.watch.until('acceptance', () => stage.notes.find((note) => note.type === 'accepted' && note.eventId === second.id));
    expect(stage.running.snapshot().agents[0]).toMatchObject({
      processes: [{ state: 'broken', lastEnd: 'not_found' }], inbox: { queued: 2, dispatched: 0 },
    });
    expect(stage.answers).toHaveLength(1);
  });
});

describe('an agent that ends its turns with a word of its own', () => {
  it('has answered: what it said is sent once', async () => {
    const stage = await stageOf({ rules: [{ match: 'control', do: [REPLY.do[0]] }, { do: [{ say: 'the answer' }, { stop: 'finished' }] }] });
    await stage.say(stage.owner, 'one');
    await stage.watch.until('an answer', () => stage.answers[0]);
    await stage.say(stage.owner, 'control');
    await stage.watch.until('the control', () => stage.answers.find(({ content }) => content.includes('control')));
    expect(stage.answers.map(({ content }) => content)).toEqual(['the answer', '1: control']);
    expect(turnEnds(stage).map(({ outcome }) => outcome)[0]).toBe('end_turn');
    expect(stage.running.snapshot().agents[0]?.inbox).toMatchObject({ queued: 0, dead: 0 });
  });
});

describe('leaving a channel', () => {
  it('ends what is under way there and forgets what waits, without a word', async () => {
    const stage = await stageOf({ rules: [{ do: [{ wait: 'never' }] }] });
    await stage.say(stage.owner, 'one');
    await stage.watch.until('the turn', () => turns(stage)[0]);
    const second = await stage.say(stage.owner, 'two');
    await stage.watch.until('acceptance', () => stage.notes.find((note) => note.type === 'accepted' && note.eventId === second.id));
    await stage.owner.publish(9001, { content: '', tags: [['h', stage.channelId], ['p', stage.agent]] });
    await stage.watch.until('the end', () => turnEnds(stage)[0]);
    expect(stage.running.snapshot().agents[0]).toMatchObject({ turns: [], inbox: { queued: 0, dispatched: 0, done: 0, dead: 2 } });
    expect(stage.answers).toEqual([]);
  });
});
