/** The driver of an agent at work: which process gets a turn, in which session, and what the agent reads in it. */
import { describe, expect, it } from 'vitest';
import { seconds, settleable } from '../../src/model/index.ts';
import type { ChannelId } from '../../src/model/index.ts';
import { signEvent } from '../../src/nostr/index.ts';
import type { Tag, VerifiedEvent } from '../../src/nostr/index.ts';
import { openBench } from './bench.ts';
import { agent, channel, friend, inThread, message, otherChannel, owner } from './people.ts';

const SESSION = { do: [{ say: '{{session}}' }] };
const HOLD = { match: 'hold', do: [{ wait: 'go' }, { say: 'held' }] };

function metadata(of: ChannelId, ...tags: readonly Tag[]): VerifiedEvent {
  return signEvent({ created_at: seconds(1), kind: 39_000, tags: [['d', of], ['name', 'garden'], ...tags], content: '' }, owner.secretKey, new Uint8Array(32));
}

function there(content: string): VerifiedEvent {
  return message({ content, tags: [['h', otherChannel], ['p', agent.pubkey]] });
}

describe('lanes and processes', () => {
  it('gives a turn to the process that holds the session of its lane, not to the first that is free', async () => {
    const bench = openBench({ script: { rules: [HOLD, SESSION] }, processes: 2 });
    await bench.nth('process_started', 2);
    await bench.hear(message({ content: 'hold' }));
    await bench.nth('turn_started', 1);
    await bench.hear(there('in the second process'));
    await bench.nth('turn_ended', 1);
    bench.openGate('go');
    await bench.nth('turn_ended', 2);
    await bench.hear(there('again'));
    await bench.nth('turn_ended', 3);
    await bench.hear(message({ content: 'again' }));
    await bench.nth('turn_ended', 4);
    const [first, second, third, fourth] = bench.seen('turn_started').map(({ pid }) => pid);
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    expect(fourth).toBe(first);
    expect(bench.answers[2]).toBe(bench.answers[0]);
  });

  it('keeps direct messages in one lane under the thread policy, and lets threads of a channel run beside each other', async () => {
    const stored = [metadata(channel, ['t', 'stream']), metadata(otherChannel, ['hidden'])];
    const script = { rules: [HOLD, { match: 'wait', do: [{ wait: 'on' }, { say: 'waited' }] }, { do: [{ say: 'quick' }] }] };
    const bench = openBench({ script, processes: 2, session: 'thread', stored });
    await bench.nth('process_started', 2);
    const held = message({ content: 'hold' });
    await bench.hear(held);
    await bench.nth('turn_started', 1);
    await bench.hear(message());
    await bench.until(() => bench.answers.length === 1);
    bench.openGate('go');
    await bench.nth('turn_ended', 2);
    expect(bench.answers).toEqual(['quick', 'held']);
    expect(await bench.row(held)).toMatchObject({ lane: `${channel}/${held.id}` });

    const direct = there('wait');
    await bench.hear(direct);
    await bench.nth('turn_started', 3);
    await bench.hear(there('after it'));
    expect(bench.agent.snapshot().inbox).toMatchObject({ queued: 1, dispatched: 1 });
    bench.openGate('on');
    await bench.nth('turn_ended', 4);
    expect(bench.answers).toEqual(['quick', 'held', 'waited', 'quick']);
    expect(await bench.row(direct)).toMatchObject({ lane: otherChannel });
  });

  it('begins no turn while the relay is away, and looks for it again', async () => {
    const bench = openBench();
    await bench.nth('process_started');
    bench.link.phase = 'waiting';
    await bench.hear(message());
    expect(bench.agent.snapshot()).toMatchObject({ turns: [], inbox: { queued: 1, dispatched: 0 } });
    bench.link.phase = 'ready';
    await bench.until(() => bench.clock.waits(1_000));
    bench.clock.push(1_000);
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['answer']);
  });
});

describe('a session', () => {
  it('is kept after a good turn and dropped after an error: the next turn begins a fresh one in the same process', async () => {
    const bench = openBench({ script: { rules: [{ match: 'fail', times: 1, do: [{ error: { code: -32_603, message: 'no' } }] }, SESSION] } });
    await bench.hear(message());
    await bench.nth('turn_ended', 1);
    await bench.hear(message());
    await bench.nth('turn_ended', 2);
    await bench.hear(message({ content: 'fail' }));
    expect(await bench.nth('turn_ended', 3)).toMatchObject({ outcome: 'error' });
    bench.clock.push(6_000);
    await bench.nth('turn_ended', 4);
    const [first, second, third] = bench.answers;
    expect(second).toBe(first);
    expect(third).toMatch(/^session-/);
    expect(third).not.toBe(first);
    expect(new Set(bench.seen('turn_started').map(({ pid }) => pid)).size).toBe(1);
  });

  it('hears the standing text in its first prompt alone, where there is no system role for it', async () => {
    const bench = openBench({ script: { rules: [{ do: [{ say: '{{prompt}}' }] }] } });
    await bench.hear(message());
    await bench.nth('turn_ended', 1);
    await bench.hear(message());
    await bench.nth('turn_ended', 2);
    await bench.hear(there('elsewhere'));
    await bench.nth('turn_ended', 3);
    expect(bench.answers.map((prompt) => prompt.includes('You are an agent in Buzz'))).toEqual([true, false, true]);
  });

  it('takes the standing text in the system role where there is one, and never in a prompt', async () => {
    const bench = openBench({ script: { newSession: { systemPrompt: true }, rules: [{ do: [{ say: '{{system}}<<>>{{prompt}}' }] }] } });
    await bench.hear(message());
    await bench.nth('turn_ended');
    const [system, prompt] = bench.answers[0]?.split('<<>>') ?? [];
    expect(system).toContain('You are an agent in Buzz');
    expect(prompt).toContain('<buzz-turn>');
    expect(prompt).not.toContain('You are an agent in Buzz');
  });
});

describe('what the agent is told', () => {
  it('leaves out of the history what is still to be answered, and has it once it was', async () => {
    // Each turn is in a session of its own, which has read nothing.
    const bench = openBench({ sessionTurns: 1, script: { rules: [{ match: 'root', do: [{ wait: 'go' }, { say: 'held' }] }, { do: [{ say: '{{prompt}}' }] }] } });
    const root = message({ at: 1, content: 'the root' });
    const mine = message({ at: 2, content: 'my question', tags: inThread(root.id) });
    const theirs = message({ at: 3, by: friend, content: 'another question', tags: inThread(root.id) });
    bench.link.stored.push(root, mine, theirs, metadata(channel));
    await bench.hear(root);
    await bench.nth('turn_started');
    await bench.hear(mine);
    await bench.hear(theirs);
    bench.openGate('go');
    await bench.nth('turn_ended', 3);
    const [, first = '', second = ''] = bench.answers;
    const history = (prompt: string): string => /<recent-thread-delta[\s\S]*<\/recent-thread-delta>/.exec(prompt)?.[0] ?? '';
    expect(history(first)).toContain('the root');
    expect(history(first)).not.toContain('question');
    expect(history(second)).toContain('my question');
    expect(history(second)).not.toContain('another question');
  });

  it('shows no message as history that comes while its turn is prepared, and has one of its own', async () => {
    const bench = openBench({ script: { rules: [{ do: [{ say: '{{prompt}}' }] }] } });
    const root = message({ content: 'the root' });
    bench.link.stored.push(root);
    await bench.hear(root);
    await bench.nth('turn_ended');
    const { promise, resolve } = settleable<undefined>();
    bench.link.held = promise.then(() => undefined);
    const [first, second] = [message({ content: 'the first', tags: inThread(root.id) }), message({ content: 'the second', tags: inThread(root.id) })];
    const asked = bench.link.asked.length;
    await bench.hear(first);
    await bench.until(() => bench.link.asked.length > asked);
    bench.link.stored.push(first, second);
    await bench.hear(second);
    resolve(undefined);
    await bench.nth('turn_ended', 3);
    const [, one, two] = bench.answers;
    expect(one).toContain('the first');
    expect(two).toContain('the second');
    expect(one).not.toContain('the second');
  });

  it.each(['joined', 'left'] as const)('asks for a channel anew when it was %s, and not before', async (type) => {
    const bench = openBench({ stored: [metadata(channel)] });
    const asked = (): number => bench.link.asked.filter(([filter]) => filter?.kinds?.includes(39_000)).length;
    for (let count = 1; count <= 2; count += 1) {
      await bench.hear(message());
      await bench.nth('turn_ended', count);
    }
    expect(asked()).toBe(1);
    await bench.link.give({ type, channelId: channel });
    await bench.hear(message());
    expect(asked()).toBe(2);
    await bench.nth('turn_ended', 3);
  });

  it('binds the credential to the turn, and to none when the turn is over', async () => {
    const bench = openBench();
    await bench.hear(message());
    const { turnId } = await bench.nth('turn_ended');
    expect(bench.link.calls).toEqual(['open s1', `bind s1 ${turnId}`, 'bind s1 -', `published ${turnId}`]);
  });
});
