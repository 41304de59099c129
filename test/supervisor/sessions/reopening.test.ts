/**
 * A lane's conversation after its process is gone: gone on with where the agent resumes or loads it, begun anew where it
 * does not, or will not. Real processes; what is said in a session outlives them in a file.
 */
import { describe, expect, it } from 'vitest';
import { USAGE_BY_LOOKING } from '../../../adapters/index.ts';
import { sql } from '../../../src/store/index.ts';
import { openBench } from '../bench.ts';
import type { Bench, BenchOptions } from '../bench.ts';
import { nthResult, order } from '../orders.ts';
import { agent, inThread, message, otherChannel, owner } from '../people.ts';

/** Longer than the wait before a second start of the program, and before a first retry. */
const RESTART_MS = 7_000;
const SESSION_MS = 60_000;
const SAY = { do: [{ say: '{{session}}|{{turns}}|{{prompt}}' }] };
const root = message({ at: 1, content: 'the root' });
const GRACE_MS = 10_000;

interface Heard {
  readonly session: string;
  readonly turns: string;
  readonly prompt: string;
}

function heard({ answers }: Bench): readonly Heard[] {
  return answers.map((text) => {
    const [, session = '', turns = '', prompt = ''] = /^(.*?)\|(.*?)\|(.*)$/s.exec(text) ?? [];
    return { session, turns, prompt };
  });
}

function nth(bench: Bench, at: number): Heard {
  return heard(bench)[at] ?? expect.fail(`no answer ${at}`);
}

/** Told in the thread of `root`, which the relay has. */
async function ask(bench: Bench, count: number, at = count + 1): Promise<void> {
  const event = message({ at, content: `question ${count}`, tags: inThread(root.id) });
  bench.link.stored.push(event);
  await bench.hear(event);
  await bench.nth('turn_ended', count);
}

async function killed(bench: Bench, count = 1): Promise<void> {
  const { pid } = await bench.nth('process_started', count);
  process.kill(pid, 'SIGKILL');
  await bench.nth('process_ended', count);
  bench.clock.push(RESTART_MS);
  await bench.nth('process_started', count + 1);
}

function bench(options: BenchOptions & { readonly script: object }): Bench {
  const opened = openBench({ stored: [root], ...options });
  return opened;
}

function methods({ link }: Bench): readonly string[] {
  return link.told.filter(({ kind }) => kind === 'acp_write').map(({ payload }) => (JSON.parse(payload) as { readonly method: string }).method)
    .filter((method) => method.startsWith('session/') && method !== 'session/prompt');
}

const WATCHED = { observation: { livenessMs: 600_000, packed: false, program: { command: 'agent', args: [] } } };

describe.each(['load', 'resume'] as const)('a process that is killed between two turns, where the agent offers session/%s', (way) => {
  it('has its conversation gone on with by the next one, and is told only what is new', async () => {
    const at = bench({ script: { sessions: { [way]: true }, rules: [SAY] }, ...WATCHED });
    await ask(at, 1);
    await killed(at);
    await ask(at, 2);
    const [first, second] = [nth(at, 0), nth(at, 1)];
    expect(second).toMatchObject({ session: first.session, turns: '2' });
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', way === 'load' ? 'loaded' : 'resumed']);
    expect(first.prompt).toContain('You are an agent in Buzz');
    expect(first.prompt).toContain('the root');
    expect(second.prompt).not.toContain('You are an agent in Buzz');
    expect(second.prompt).not.toContain('<recent-thread-delta');
    expect(second.prompt).toContain('History: already delivered');
    expect(methods(at)).toEqual(['session/new', `session/${way}`]);
  });

  it('gives nothing of what was said before to the owner or the channel a second time', async () => {
    const at = bench({ script: { sessions: { [way]: true }, rules: [{ do: [{ say: 'word {{turns}}' }] }] }, ...WATCHED });
    await ask(at, 1);
    await killed(at);
    await ask(at, 2);
    expect(at.answers).toEqual(['word 1', 'word 2']);
    const told = (text: string): number => at.link.told.filter(({ payload }) => payload.includes(text)).length;
    expect([told('word 1'), told('word 2'), told('user_message_chunk')]).toEqual([1, 1, 0]);
    const resolved = at.link.told.filter(({ kind }) => kind === 'session_resolved').map(({ payload }) => JSON.parse(payload) as unknown);
    expect(resolved).toMatchObject([{ isNewSession: true }, { isNewSession: false }]);
  });

  it('is given its context again in a fresh session where that fails, once', async () => {
    const failing = { answers: { [`session/${way}`]: { error: { code: 400, message: 'Invalid session identifier' } } } };
    const at = bench({ script: { sessions: { [way]: true }, rules: [SAY], ...failing }, ...WATCHED });
    await ask(at, 1);
    await killed(at);
    await ask(at, 2);
    expect(nth(at, 1).session).not.toBe(nth(at, 0).session);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'new']);
    for (const { prompt } of heard(at)) {
      expect(prompt).toContain('You are an agent in Buzz');
      expect(prompt).toContain('the root');
    }
    expect(nth(at, 1).prompt).toContain('question 1');
    await ask(at, 3);
    expect(methods(at)).toEqual(['session/new', `session/${way}`, 'session/new']);
  });

  it('is not hung up on by an agent that never answers: it is replaced, and a fresh session begins', async () => {
    const at = bench({ script: { sessions: { [way]: true }, rules: [SAY], answers: { [`session/${way}`]: { never: true } } } });
    await ask(at, 1);
    await killed(at);
    const event = message({ content: 'question 2', tags: inThread(root.id) });
    await at.hear(event);
    await at.until(() => at.clock.waits(SESSION_MS));
    at.clock.push(SESSION_MS);
    expect(await at.nth('turn_ended', 2)).toMatchObject({ outcome: 'session_timeout' });
    await at.nth('process_ended', 2);
    at.clock.push(2 * RESTART_MS);
    await at.nth('turn_ended', 3);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'new']);
  });

  it('is given up where the session kills its process again and again', async () => {
    const at = bench({ script: { sessions: { [way]: true }, rules: [SAY], answers: { [`session/${way}`]: { die: 3 } } } });
    await ask(at, 1);
    await killed(at);
    await at.hear(message({ content: 'question 2', tags: inThread(root.id) }));
    for (let crash = 2; crash <= 4; crash += 1) {
      await at.nth('process_ended', crash);
      await at.nth('turn_ended', crash);
      at.clock.push(400_000);
    }
    await at.until(() => at.answers.length === 2);
    expect(at.seen('turn_ended').map(({ outcome }) => outcome)).toEqual(['end_turn', 'session_process_ended', 'session_process_ended', 'session_process_ended', 'end_turn']);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'new']);
  });
});

describe('a process that is killed', () => {
  it('begins anew where the agent goes on with nothing: standing text and history again', async () => {
    const at = bench({ script: { rules: [SAY] }, ...WATCHED });
    await ask(at, 1);
    await killed(at);
    await ask(at, 2);
    expect(nth(at, 1).prompt).toContain('You are an agent in Buzz');
    expect(nth(at, 1).prompt).toContain('question 1');
    expect(methods(at)).toEqual(['session/new', 'session/new']);
    expect(await at.store.read(sql('SELECT lane FROM sessions'))).toEqual([]);
  });

  it('in mid-turn comes back to the session, and what it may not have read is told again', async () => {
    const FRESH = { unless: { merge_disposition: 'continue_prior_work' } };
    const at = bench({ script: { sessions: { resume: true }, rules: [{ match: 'question 1', ...SAY }, { ...FRESH, do: [{ die: 'SIGKILL' }] }, SAY] } });
    await ask(at, 1);
    const between = message({ at: 3, content: 'said between', tags: [['h', root.tags[0]?.[1] ?? ''], ['e', root.id, '', 'reply']] });
    at.link.stored.push(between);
    await ask(at, 2, 4);
    at.clock.push(RESTART_MS);
    await at.nth('turn_ended', 3);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'kept', 'resumed']);
    expect(nth(at, 1)).toMatchObject({ session: nth(at, 0).session, turns: '3' });
    expect(nth(at, 1).prompt).toContain('<interrupted-turn');
    expect(nth(at, 1).prompt).toContain('said between');
    expect(nth(at, 1).prompt).not.toContain('the root');
  });

  it('in its first turn leaves nothing to go on with', async () => {
    const FRESH = { unless: { merge_disposition: 'continue_prior_work' } };
    const at = bench({ script: { sessions: { resume: true }, rules: [{ ...FRESH, do: [{ die: 'SIGKILL' }] }, SAY] }, ...WATCHED });
    await ask(at, 1);
    at.clock.push(RESTART_MS);
    await at.nth('turn_ended', 2);
    expect(methods(at)).toEqual(['session/new', 'session/new']);
    expect(nth(at, 0).prompt).toContain('You are an agent in Buzz');
  });
});

describe('a new start of the supervisor', () => {
  const script = { sessions: { resume: true }, rules: [SAY] };

  it('goes on with every lane, and knows what was read in it', async () => {
    const before = bench({ script });
    await ask(before, 1);
    await before.agent.stop(GRACE_MS);
    const after = bench({ script, store: before.store, directory: before.directory, stored: before.link.stored });
    await ask(after, 1, 3);
    expect(nth(after, 0)).toMatchObject({ session: nth(before, 0).session, turns: '2' });
    expect(nth(after, 0).prompt).toContain('History: already delivered');
    expect(nth(after, 0).prompt).not.toContain('You are an agent in Buzz');
  });

  it('that found the turn cut short goes on with the session it was in', async () => {
    const hanging = { sessions: { resume: true }, rules: [{ match: 'question 1', ...SAY }, { do: [{ hang: true }] }] };
    const before = bench({ script: hanging });
    await ask(before, 1);
    const event = message({ at: 3, content: 'question 2', tags: inThread(root.id) });
    before.link.stored.push(event);
    await before.hear(event);
    await before.nth('turn_started', 2);
    before.agent.force();
    await before.agent.stop(GRACE_MS);
    const after = bench({ script, store: before.store, directory: before.directory, stored: before.link.stored });
    await after.nth('turn_ended');
    expect(nth(after, 0)).toMatchObject({ session: nth(before, 0).session, turns: '3' });
    expect(nth(after, 0).prompt).toContain('<interrupted-turn');
  });

  it.each([
    ['other instructions', { instructions: 'Be brief.' }, 'Be brief.'],
    ['the same', {}, undefined],
  ])('with %s', async (_, more, text) => {
    const before = bench({ script });
    await ask(before, 1);
    await before.agent.stop(GRACE_MS);
    const after = bench({ script, store: before.store, directory: before.directory, stored: before.link.stored, ...more });
    await ask(after, 1, 3);
    const isFresh = text !== undefined;
    expect(nth(after, 0).session === nth(before, 0).session).toBe(!isFresh);
    if (isFresh) expect(nth(after, 0).prompt).toContain(text);
  });
});

describe('instructions that change while the agent runs', () => {
  it('are those of sessions that begin from then on; one that is open keeps its own, and is not gone on with', async () => {
    const at = bench({ script: { sessions: { resume: true }, newSession: { systemPrompt: true }, rules: [{ do: [{ say: '{{session}}|{{turns}}|{{system}}' }] }] }, instructions: 'Be brief.', ...WATCHED });
    const standing = (): readonly string[] => at.link.told.filter(({ kind }) => kind === 'prompt_context_delivery')
      .map(({ payload }) => (JSON.parse(payload) as { contextManifest: { layers: { layer: string; version: string }[] } }).contextManifest.layers.find(({ layer }) => layer === 'persona_and_team_guidance')?.version ?? '');
    await ask(at, 1);
    at.agent.change({ name: 'helper', gate: { agent: agent.pubkey, owner: owner.pubkey, respondTo: 'anyone', allowlist: new Set(), subscribe: 'mentions' }, instructions: 'Be long.' });
    await ask(at, 2);
    await killed(at);
    await ask(at, 3);
    expect(heard(at).map(({ turns }) => turns)).toEqual(['1', '2', '1']);
    expect(nth(at, 1).prompt).toContain('Be brief.');
    expect(nth(at, 2).prompt).toContain('Be long.');
    const [first, second, third] = standing();
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });
});

describe('a session that is open in one process', () => {
  it('is not opened by another beside it: there the lane begins anew', async () => {
    const at = bench({ script: { sessions: { load: true }, rules: [{ match: 'hold', do: [{ wait: 'go' }, { say: 'held' }] }, SAY] }, processes: 2, ...WATCHED });
    await at.nth('process_started', 2);
    await ask(at, 1);
    await at.hear(message({ content: 'hold', tags: [['h', otherChannel], ['p', agent.pubkey]] }));
    await at.nth('turn_started', 2);
    await ask(at, 2);
    at.openGate('go');
    await at.nth('turn_ended', 3);
    const [first, held, second] = at.seen('turn_started').map(({ pid }) => pid);
    expect(held).toBe(first);
    expect(second).not.toBe(first);
    expect(nth(at, 1).session).not.toBe(nth(at, 0).session);
    expect(nth(at, 1).prompt).toContain('question 1');
    expect(methods(at)).toEqual(['session/new', 'session/new', 'session/new']);
  });
});

describe('a session that is gone on with', () => {
  const models = { currentModelId: 'small', availableModels: [{ modelId: 'small' }, { modelId: 'large' }] };

  it('gives way to a fresh one where only that has the model the owner has chosen', async () => {
    const script = { sessions: { resume: true, close: true }, newSession: { models }, rules: [{ do: [{ say: '{{session}}|{{turns}}|{{model}}' }] }] };
    const at = bench({ script: { ...script, answers: { 'session/resume': { result: {} } } } });
    await ask(at, 1);
    order(at, 'switch_model', { modelId: 'large' });
    await nthResult(at, 1);
    await killed(at);
    await ask(at, 2);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'new']);
    expect(nth(at, 1)).toMatchObject({ turns: '1', prompt: 'large' });
  });

  it('gives way to a fresh one where its standing text does not go into it again', async () => {
    const dialect = { standing: 'goose-method', usage: USAGE_BY_LOOKING } as const;
    const scripted = (answer: object): object => ({ sessions: { resume: true }, answers: { '_goose/unstable/session/system-prompt/set': answer }, rules: [SAY] });
    const at = bench({ script: scripted({ result: {} }), dialect });
    await ask(at, 1);
    at.play(scripted({ error: { code: -32_601, message: 'no such method' } }));
    await killed(at);
    await ask(at, 2);
    const [first, second] = [nth(at, 0), nth(at, 1)];
    expect(first.prompt).not.toContain('You are an agent in Buzz');
    expect(second.prompt).toContain('You are an agent in Buzz');
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'new']);
  });

  it('has the model the owner has chosen', async () => {
    const script = { sessions: { resume: true }, newSession: { models }, rules: [{ do: [{ say: '{{session}}|{{turns}}|{{model}}' }] }] };
    const at = bench({ script });
    await ask(at, 1);
    order(at, 'switch_model', { modelId: 'large' });
    await nthResult(at, 1);
    await killed(at);
    await ask(at, 2);
    expect(nth(at, 1)).toEqual({ session: nth(at, 0).session, turns: '2', prompt: 'large' });
  });

  it('keeps its conversation over a switch in mid-turn, though its process is replaced', async () => {
    const FRESH = { unless: { merge_disposition: 'continue_prior_work' } };
    const rules = [{ ...FRESH, match: 'hold', do: [{ say: 'half' }, { hang: true }] }, { do: [{ say: '{{session}}|{{turns}}|{{model}}' }] }];
    const at = bench({ script: { sessions: { resume: true }, newSession: { models }, rules } });
    await ask(at, 1);
    await at.hear(message({ content: 'hold', tags: inThread(root.id) }));
    await at.nth('turn_started', 2);
    order(at, 'switch_model', { modelId: 'large' });
    await at.nth('process_ended');
    at.clock.push(RESTART_MS);
    await at.nth('turn_ended', 3);
    expect(at.seen('turn_started').map(({ session }) => session)).toEqual(['new', 'kept', 'resumed']);
    expect(nth(at, 1)).toEqual({ session: nth(at, 0).session, turns: '3', prompt: 'large' });
    expect(await nthResult(at, 2)).toMatchObject({ status: 'switched' });
  });

  it('tells what models there are, as one that begins does', async () => {
    const script = { sessions: { resume: true }, newSession: { models }, rules: [SAY] };
    const before = bench({ script });
    await ask(before, 1);
    await before.agent.stop(GRACE_MS);
    const after = bench({ script, store: before.store, directory: before.directory, stored: before.link.stored });
    await ask(after, 1, 3);
    const { pid } = await after.nth('process_started');
    process.kill(pid, 'SIGKILL');
    await after.nth('process_ended');
    order(after, 'switch_model', { modelId: 'huge' });
    expect(await nthResult(after, 1)).toMatchObject({ status: 'unsupported_model' });
  });

  it('counts its metrics on, in a new start too', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const script = { sessions: { resume: true }, rules: [{ do: [{ say: 'x' }, { stop: { usage } }] }] };
    const before = bench({ script });
    await ask(before, 1);
    await killed(before);
    await ask(before, 2);
    await before.agent.stop(GRACE_MS);
    const after = bench({ script, store: before.store, directory: before.directory, stored: before.link.stored });
    await ask(after, 1, 4);
    const told = [...before.link.metrics, ...after.link.metrics].map((text) => JSON.parse(text) as { readonly sessionId: string; readonly turnSeq: number });
    expect(told.map(({ turnSeq }) => turnSeq)).toEqual([1, 2, 3]);
    expect(new Set(told.map(({ sessionId }) => sessionId)).size).toBe(1);
  });
});
