/** Where a conversation ends and a fresh one begins though its process goes on, and what counts as read in it. */
import { describe, expect, it } from 'vitest';
import { settleable } from '../../../src/model/index.ts';
import type { VerifiedEvent } from '../../../src/nostr/index.ts';
import { sql } from '../../../src/store/index.ts';
import { openBench } from '../bench.ts';
import type { Bench, BenchOptions } from '../bench.ts';
import { MODELS, order, reports } from '../orders.ts';
import { agent, channel, inThread, message, otherChannel } from '../people.ts';

const RESTART_MS = 7_000;
const root = message({ at: 1, content: 'the root' });
const SAY = { do: [{ say: '{{session}}|{{turns}}|{{prompt}}' }] };

function bench(options: BenchOptions): Bench {
  return openBench({ stored: [root], ...options });
}

async function ask(bench: Bench, count: number, content = `question ${count}`): Promise<void> {
  const event = message({ at: count + 1, content, tags: inThread(root.id) });
  bench.link.stored.push(event);
  await bench.hear(event);
  await bench.nth('turn_ended', count);
}

async function killed(bench: Bench): Promise<void> {
  const { pid } = await bench.nth('process_started');
  process.kill(pid, 'SIGKILL');
  await bench.nth('process_ended');
  bench.clock.push(RESTART_MS);
  await bench.nth('process_started', 2);
}

function origins(bench: Bench): readonly string[] {
  return bench.seen('turn_started').map(({ session }) => session);
}

function prompts(bench: Bench): readonly string[] {
  return bench.answers.filter((text) => text.includes('<buzz-turn>'));
}

describe('a fresh session begins', () => {
  it.each(['max_tokens', 'max_turn_requests'])('after %s: the full one is closed, and never gone on with', async (reason) => {
    const full = { match: 'full', do: [{ say: 'x' }, { stop: reason }] };
    const at = bench({ script: { sessions: { resume: true, close: true }, rules: [full, SAY] } });
    await ask(at, 1);
    await ask(at, 2, 'full');
    await ask(at, 3);
    expect(origins(at)).toEqual(['new', 'kept', 'new']);
    expect(prompts(at).at(-1)).toContain('the root');
    expect(prompts(at).at(-1)).toContain('You are an agent in Buzz');
    expect(new Set(at.seen('turn_started').map(({ pid }) => pid)).size).toBe(1);
  });

  it('after max_tokens also in another process', async () => {
    const full = { match: 'full', do: [{ say: 'x' }, { stop: 'max_tokens' }] };
    const at = bench({ script: { sessions: { resume: true }, rules: [full, SAY] } });
    await ask(at, 1);
    await ask(at, 2, 'full');
    await killed(at);
    await ask(at, 3);
    expect(origins(at)).toEqual(['new', 'kept', 'new']);
  });

  it('after as many turns as the operator says, those of an earlier process too', async () => {
    const at = bench({ sessionTurns: 2, script: { sessions: { resume: true }, rules: [SAY] } });
    await ask(at, 1);
    await killed(at);
    await ask(at, 2);
    await ask(at, 3);
    await ask(at, 4);
    await ask(at, 5);
    expect(origins(at)).toEqual(['new', 'resumed', 'new', 'kept', 'new']);
  });

  it('after !rotate, also where only the disk knows the old one', async () => {
    const at = bench({ script: { sessions: { resume: true }, rules: [SAY] } });
    await ask(at, 1);
    await killed(at);
    await at.hear(message({ content: '!rotate' }));
    await at.until(() => reports(at).length === 1);
    await ask(at, 2);
    expect(origins(at)).toEqual(['new', 'new']);
  });

  it('after !rotate in mid-turn: the turn is cancelled, and its session with it', async () => {
    const at = bench({ script: { sessions: { resume: true }, rules: [{ match: 'hang', do: [{ hang: true }] }, SAY] } });
    await ask(at, 1);
    const event = message({ at: 3, content: 'hang', tags: inThread(root.id) });
    await at.hear(event);
    await at.nth('turn_started', 2);
    await at.hear(message({ content: '!rotate' }));
    await at.nth('turn_ended', 2);
    await ask(at, 3);
    expect(origins(at)).toEqual(['new', 'kept', 'new']);
  });

  it('after an error, also in another process', async () => {
    const at = bench({ script: { sessions: { resume: true }, rules: [{ match: 'fail', times: 1, do: [{ error: { code: 7, message: 'no' } }] }, SAY] } });
    await ask(at, 1);
    await ask(at, 2, 'fail');
    await killed(at);
    await at.nth('turn_ended', 3);
    expect(origins(at)).toEqual(['new', 'kept', 'new']);
    expect(prompts(at).at(-1)).toContain('question 1');
  });
});

describe('what a session has read', () => {
  const HANG = { match: 'hang', do: [{ say: 'half' }, { mark: 'hanging' }, { hang: true }] };

  it('is what its good turns held, and what it has said itself', async () => {
    const at = bench({ script: { rules: [SAY] } });
    await ask(at, 1);
    const own = message({ at: 3, content: 'from elsewhere', tags: inThread(root.id) });
    at.link.stored.push(own);
    await ask(at, 2);
    await ask(at, 3);
    const [first, second, third] = prompts(at);
    expect(first).toContain('the root');
    expect(second).toContain('included="1" total="1" truncated="false"');
    expect(second).toContain('from elsewhere');
    expect(second).not.toContain('question 1');
    expect(third).toContain('History: already delivered');
  });

  it('holds a turn that its owner has cancelled and the agent has stopped', async () => {
    const at = bench({ script: { rules: [HANG, SAY] } });
    await ask(at, 1);
    const event = message({ at: 3, content: 'hang', tags: inThread(root.id) });
    at.link.stored.push(event);
    await at.hear(event);
    await at.nth('turn_started', 2);
    order(at, 'cancel_turn');
    await at.nth('turn_ended', 2);
    await ask(at, 3);
    expect(origins(at)).toEqual(['new', 'kept', 'kept']);
    expect(prompts(at).at(-1)).toContain('History: already delivered');
  });

  it('does not hold what the agent refuses: ACP leaves that out of the conversation, and its standing text with it', async () => {
    const at = bench({ script: { rules: [{ match: 'refuse', do: [{ say: 'no' }, { stop: 'refusal' }] }, SAY] } });
    await ask(at, 1, 'refuse');
    await ask(at, 2);
    await ask(at, 3);
    const [second, third] = prompts(at);
    expect(origins(at)).toEqual(['new', 'kept', 'kept']);
    expect(second).toContain('You are an agent in Buzz');
    expect(second).toContain('refuse');
    expect(third).not.toContain('You are an agent in Buzz');
  });

  it('is said of the channel too: earlier messages there were delivered', async () => {
    const at = bench({ script: { rules: [SAY] } });
    await at.hear(message());
    await at.nth('turn_ended', 1);
    await at.hear(message());
    await at.nth('turn_ended', 2);
    expect(prompts(at).map((prompt) => /History: [a-z ]+/.exec(prompt)?.[0])).toEqual(['History: not loaded', 'History: already delivered']);
  });
});

describe('a lane with a session in each of two processes, of which one is in a turn: the other is forgotten at once', () => {
  const elsewhere = (content: string): VerifiedEvent => message({ content, tags: [['h', otherChannel], ['p', agent.pubkey]] });

  it.each<readonly [string, (at: Bench) => Promise<void>]>([
    ['left', async (at) => {
      await at.link.give({ type: 'left', channelId: channel });
      await at.link.give({ type: 'joined', channelId: channel });
    }],
    ['!rotate', (at) => at.hear(message({ content: '!rotate' }))],
  ])('%s', async (_, forget) => {
    const at = bench({ processes: 2, script: { rules: [{ match: 'hold', do: [{ wait: 'go' }, { say: 'held' }] }, { match: 'hang', do: [{ hang: true }] }, SAY] } });
    await at.nth('process_started', 2);
    await at.hear(message());
    await at.nth('turn_ended', 1);
    await at.hear(elsewhere('hold'));
    await at.nth('turn_started', 2);
    await at.hear(message());
    await at.nth('turn_ended', 2);
    at.openGate('go');
    await at.nth('turn_ended', 3);
    await at.hear(message({ content: 'hang' }));
    await at.nth('turn_started', 4);
    expect(at.agent.snapshot().processes.map(({ sessions }) => sessions)).toEqual([2, 1]);
    await forget(at);
    await at.nth('turn_ended', 4);
    await at.hear(message());
    await at.nth('turn_ended', 5);
    expect(origins(at)).toEqual(['new', 'new', 'new', 'kept', 'new']);
  });
});

describe('a channel that the agent leaves', () => {
  const CLOSING = { sessions: { resume: true, close: true } };
  const kept = async (at: Bench): Promise<number> => (await at.store.read(sql('SELECT 1 FROM sessions'))).length;

  it('has no sessions any more, open or on disk, and no model of its own; the others have theirs', async () => {
    const at = bench({ script: { ...CLOSING, newSession: MODELS, rules: [{ do: [{ say: '{{session}} {{model}}' }] }] } });
    await ask(at, 1);
    order(at, 'switch_model', { modelId: 'large' });
    await at.until(() => at.link.told.some(({ kind }) => kind === 'control_result'));
    await at.hear(message({ tags: [['h', otherChannel], ['p', agent.pubkey]] }));
    await at.nth('turn_ended', 2);
    expect([at.agent.snapshot().processes[0]?.sessions, await kept(at)]).toEqual([2, 2]);
    await at.link.give({ type: 'left', channelId: channel });
    expect([at.agent.snapshot().processes[0]?.sessions, await kept(at)]).toEqual([1, 1]);
    await at.link.give({ type: 'joined', channelId: channel });
    await ask(at, 3);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'new', 'new']);
    expect(at.answers[2]).toMatch(/ small$/);
  });

  it('while its session is in a turn that is not begun yet: that one neither', async () => {
    const at = bench({ script: { ...CLOSING, rules: [SAY] } });
    await ask(at, 1);
    const { promise: held, resolve: release } = settleable<undefined>();
    at.link.held = held;
    const asked = at.link.asked.length;
    await at.hear(message({ at: 3, tags: inThread(root.id) }));
    await at.until(() => at.link.asked.length > asked);
    await at.link.give({ type: 'left', channelId: channel });
    release(undefined);
    await at.nth('turn_ended', 2);
    expect([at.agent.snapshot().processes[0]?.sessions, await kept(at)]).toEqual([0, 0]);
    expect(at.answers).toHaveLength(1);
  });
});
