import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, watch, writeFileSync, writeSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { at, playing, said, startAgent, stopAll, updates } from './client.ts';

const children: number[] = [];

afterEach(async () => {
  for (const pid of children.splice(0)) end(pid);
  await stopAll();
});

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function appeared(directory: string, name: string): Promise<string> {
  const watcher = watch(directory);
  try {
    while (!existsSync(`${directory}/${name}`)) await once(watcher, 'change');
  } finally {
    watcher.close();
  }
  return readFileSync(`${directory}/${name}`, 'utf8');
}

describe('wait and mark', () => {
  it('leaves a mark with its pid and waits for a gate', async () => {
    const { agent, session } = await playing([{ mark: 'ready' }, { wait: 'go' }, { say: 'gone' }]);
    const answer = agent.prompt(session, 'x');
    expect(await appeared(agent.directory, 'ready')).toBe(String(agent.pid));
    expect(said(agent.frames)).toBe('');
    writeFileSync(`${agent.directory}/go`, '');
    await answer;
    expect(said(agent.frames)).toBe('gone');
  });

  it('passes a gate that is open already, and takes its gates beside the script', async () => {
    const { agent, session } = await playing([{ wait: 'script.json' }, { say: 'gone' }], { gates: '.' }, {
      SKEP_SCRIPT_GATES: '/nowhere',
    });
    await agent.prompt(session, 'x');
    expect(said(agent.frames)).toBe('gone');
  });

  it('waits for a signal, and keeps one that came before anybody waited', async () => {
    const wait = { signal: 'SIGUSR2' };
    const steps = [{ say: 'a' }, { wait }, { say: 'b' }, { wait }, { say: 'c' }];
    const { agent, session } = await playing(steps);
    agent.kill('SIGUSR2');
    const answer = agent.prompt(session, 'x');
    await agent.line((line) => line.includes('"b"'));
    expect(said(agent.frames)).toBe('ab');
    agent.kill('SIGUSR2');
    await answer;
    expect(said(agent.frames)).toBe('abc');
  });
});

describe('raw and stderr', () => {
  it('writes raw text and bytes between its frames', async () => {
    const bytes = Buffer.from('\u001b[31mred\u001b[0m\nné\n');
    const { agent, session } = await playing([
      { raw: 'noise\n' },
      { raw: { base64: bytes.toString('base64'), byteByByte: true } },
      { raw: { text: 'ab', repeat: 500_000 } },
      { raw: '\n' },
    ]);
    await agent.prompt(session, 'x');
    expect(agent.lines.slice(2, -1)).toEqual(['noise', '\u001b[31mred\u001b[0m', 'né', 'ab'.repeat(500_000)]);
  });

  it('writes a megabyte to stderr before it answers, and a text', async () => {
    const { agent, session } = await playing([{ stderr: 1_048_576 }, { stderr: { text: '\nerror {{n}}', repeat: 2 } }]);
    expect(at(await agent.prompt(session, 'x'), 'result', 'stopReason')).toBe('end_turn');
    await agent.stderrText('error 1\nerror 1');
    expect(agent.stderr()).toHaveLength(1_048_576 + 16);
  });

  it('sleeps', async () => {
    const { agent, session } = await playing([{ sleep: 30 }]);
    const before = performance.now();
    await agent.prompt(session, 'x');
    expect(performance.now() - before).toBeGreaterThan(29);
  });
});

describe('die', () => {
  it.each([
    [3, { code: 3, signal: null }],
    [0, { code: 0, signal: null }],
    ['SIGKILL', { code: null, signal: 'SIGKILL' }],
  ])('dies with %j before it answers, what it said is said', async (die, exit) => {
    const { agent, session } = await playing([{ say: { text: 'x', repeat: 300_000 } }, { die }]);
    const answer = agent.prompt(session, 'x');
    await expect(answer).rejects.toThrow('ended before');
    expect(await agent.exited).toEqual(exit);
    expect(said(agent.frames)).toHaveLength(300_000);
  });

  it('lets what other sessions are still writing out first', async () => {
    const say = { text: '0123456789', repeat: 100, byteByByte: true };
    const rules = [{ match: 'slow', do: [{ say }] }, { do: [{ die: 0 }] }];
    const agent = startAgent({ script: { v: 1, rules } });
    const [one, two] = [await agent.open(), await agent.open()];
    agent.prompt(one, 'slow').catch(() => undefined);
    await expect(agent.prompt(two, 'die')).rejects.toThrow('ended before');
    expect(said(agent.frames)).toHaveLength(1000);
  });

  it('dies after it answered', async () => {
    const { agent, session } = await playing([{ stop: 'end_turn' }, { die: 4 }]);
    expect((await agent.prompt(session, 'x'))['result']).toEqual({ stopReason: 'end_turn' });
    expect(await agent.exited).toEqual({ code: 4, signal: null });
  });

  it.each([
    ['at once', { dieAtStart: 1 }],
    ['after a while', { dieAtStart: { with: 1, afterMs: 20 } }],
    ['on initialize', { initialize: { dieBefore: 1 } }],
    ['while it reads its stdin', { stdin: { dieAfterBytes: 20 } }],
  ])('dies %s', async (_, members) => {
    const agent = startAgent({ script: { v: 1, rules: [], ...members } });
    await expect(agent.call('initialize', { protocolVersion: 1 })).rejects.toThrow('ended before');
    expect(await agent.exited).toEqual({ code: 1, signal: null });
  });
});

describe('a bad start', () => {
  it('answers initialize as the script says', async () => {
    const initialize = {
      protocolVersion: 2,
      capabilities: { loadSession: true },
      agentInfo: { name: 'goose', version: '9' },
      authMethods: [{ id: 'key', name: 'Key' }],
      meta: { steering: { supported: true } },
      delayMs: 5,
    };
    const agent = startAgent({ script: { v: 1, initialize, rules: [] } });
    expect((await agent.call('initialize', { protocolVersion: 1 }))['result']).toEqual({
      protocolVersion: 2,
      agentCapabilities: { loadSession: true },
      agentInfo: { name: 'goose', version: '9' },
      authMethods: [{ id: 'key', name: 'Key' }],
      _meta: { steering: { supported: true } },
    });
  });

  it('refuses, or never answers, initialize and session/new', async () => {
    const error = { code: -32000, message: 'log in first' };
    const refusing = startAgent({ script: { v: 1, initialize: { error }, rules: [] } });
    expect((await refusing.call('initialize'))['error']).toEqual(error);
    const closed = startAgent({ script: { v: 1, newSession: { error }, rules: [] } });
    await closed.call('initialize');
    expect((await closed.call('session/new', { cwd: '/', mcpServers: [] }))['error']).toEqual(error);

    const silent = startAgent({ script: { v: 1, initialize: { never: true }, rules: [] } });
    silent.send({ id: 'i', method: 'initialize', params: {} });
    await silent.call('no/such');
    expect(silent.frames).toHaveLength(1);
    const mute = startAgent({ script: { v: 1, newSession: { never: true }, rules: [] } });
    await mute.call('initialize');
    mute.send({ id: 'n', method: 'session/new', params: { cwd: '/', mcpServers: [] } });
    await mute.call('no/such');
    expect(mute.frames).toHaveLength(2);
  });

  it('offers modes, models and options, with updates before and after session/new is answered', async () => {
    const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }] };
    const newSession = {
      modes,
      models: { currentModelId: 'm', availableModels: [] },
      configOptions: [],
      before: [{ sessionUpdate: 'early' }],
      after: [{ sessionUpdate: 'late' }],
    };
    const agent = startAgent({ script: { v: 1, newSession, rules: [] } });
    await agent.open();
    await agent.line((line) => line.includes('late'));
    const kinds = agent.frames.slice(1).map((frame) => at(frame, 'params', 'update', 'sessionUpdate') ?? 'answer');
    expect(kinds).toEqual(['early', 'answer', 'late']);
    expect(agent.frames[2]?.['result']).toMatchObject({ modes, models: newSession.models, configOptions: [] });
  });

  it('prints a banner before its first frame, and echoes what it reads', async () => {
    const agent = startAgent({ script: { v: 1, banner: ['Welcome!', '', '{"not":"ours"}'], echo: true, rules: [] } });
    await agent.call('initialize', { protocolVersion: 1 });
    expect(agent.lines.slice(0, 3)).toEqual(['Welcome!', '', '{"not":"ours"}']);
    expect(agent.lines[3]).toContain('"method":"initialize"');
    expect(agent.lines[4]).toContain('"protocolVersion":1');
  });
});

describe('an agent that does not go', () => {
  it('ignores the end of stdin', async () => {
    // The agent's own pause: long enough for the end of stdin to reach one that heeds it.
    const steps = [{ sleep: 150 }, { say: 'still here' }];
    const { agent, session } = await playing(steps, { ignoreStdinEof: true });
    const answer = agent.prompt(session, 'x');
    agent.endStdin();
    await answer;
    expect(said(agent.frames)).toBe('still here');
    const heeding = await playing(steps);
    const none = expect(heeding.agent.prompt(heeding.session, 'x')).rejects.toThrow('ended before');
    heeding.agent.endStdin();
    await none;
  });

  it('ignores SIGTERM where the script says so, and dies of it otherwise', async () => {
    const stubborn = await playing([{ say: 'alive' }], { ignoreSigterm: true });
    stubborn.agent.kill('SIGTERM');
    await stubborn.agent.prompt(stubborn.session, 'x');
    expect(said(stubborn.agent.frames)).toBe('alive');
    const meek = await playing([]);
    meek.agent.kill('SIGTERM');
    expect(await meek.agent.exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('stops reading stdin', async () => {
    const script = { v: 1, echo: true, initialize: { delayMs: 150 }, rules: [] };
    const heard = async (more: object): Promise<boolean> => {
      const agent = startAgent({ script: { ...script, ...more } });
      const ready = agent.call('initialize', { protocolVersion: 1 });
      await agent.line((line) => line.includes('initialize'));
      agent.send({ id: 'second', method: 'no/such' });
      await ready;
      return agent.lines.some((line) => line.includes('second'));
    };
    expect(await heard({ stdin: { pauseAfterBytes: 10 } })).toBe(false);
    expect(await heard({})).toBe(true);
  });
});

describe('spawn', () => {
  const tellAndDie = [{ say: '{{child.pid}}' }, { stop: 'end_turn' }, { die: 0 }];

  it('starts a child that outlives it', async () => {
    const { agent, session } = await playing([{ spawn: true, as: 'child' }, ...tellAndDie]);
    await agent.prompt(session, 'x');
    const pid = Number(said(agent.frames));
    children.push(pid);
    await agent.exited;
    expect(isAlive(pid)).toBe(true);
  });

  it.each([true, false])('starts a child in a group of its own; it ignores SIGTERM: %j', async (trapTerm) => {
    const command = ['sh', '-c', 'read line < "$SKEP_SCRIPT_GATES/pipe"; echo survived'];
    const spawn = { command, detached: true, trapTerm, stdio: 'inherit' };
    const { agent, session } = await playing([{ spawn, as: 'child' }, ...tellAndDie]);
    execFileSync('mkfifo', [`${agent.directory}/pipe`]);
    await agent.prompt(session, 'x');
    const pid = Number(said(agent.frames));
    children.push(pid);
    await agent.exited;
    process.kill(-pid, 'SIGTERM');
    // Opened for reading too, so that writing waits for no reader: the one of the control is gone.
    const pipe = openSync(`${agent.directory}/pipe`, 'r+');
    writeSync(pipe, 'line\n');
    await agent.closed;
    closeSync(pipe);
    expect(agent.lines.includes('survived')).toBe(trapTerm);
  });

  it('runs a command, whose output may be the agent’s own', async () => {
    const command = ['sh', '-c', 'echo from the child; cd "$SKEP_SCRIPT_GATES"; echo $MARK > e; mv e env'];
    const { agent, session } = await playing([{ spawn: { command, stdio: 'inherit' } }], {}, { MARK: 'inherited' });
    await agent.prompt(session, 'x');
    await agent.line((line) => line === 'from the child');
    expect((await appeared(agent.directory, 'env')).trim()).toBe('inherited');
    expect(updates(agent.frames, 'agent_message_chunk')).toEqual([]);
  });
});
