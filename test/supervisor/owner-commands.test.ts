/** What an owner orders in chat, done to real agent processes. */
import { describe, expect, it } from 'vitest';
import { openBench } from './bench.ts';
import { ANSWER, answered, AT, HOLD, reports, running } from './orders.ts';
import { channel, friend, inThread, message } from './people.ts';

describe('a command in chat', () => {
  it('!cancel ends the turn of its channel and is never prompted, however often it comes', async () => {
    const bench = openBench({ script: { rules: [HOLD, ANSWER] } });
    const event = await running(bench, 'hold');
    const command = message({ content: ' !cancel\n' });
    await bench.hear(command);
    await bench.nth('turn_ended');
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!cancel', status: 'sent' }]);
    expect(bench.link.reports[0]).toMatchObject({ commandId: command.id, channelId: channel });
    expect(await bench.row(event)).toMatchObject({ status: 'done' });
    expect(await bench.row(command)).toMatchObject({ status: 'done' });
    await running(bench, 'hold on', 2);
    await bench.hear(command);
    await bench.hear(message({ content: 'control' }));
    expect(bench.seen('turn_ended')).toHaveLength(1);
    expect(reports(bench)).toHaveLength(1);
    await bench.agent.stop(0);
    const second = openBench({ store: bench.store, script: { rules: [{ match: 'hold', do: [{ say: 'came back' }] }, ANSWER] } });
    await second.hear(command);
    await second.nth('turn_ended', 2);
    expect(reports(second)).toEqual([]);
  });

  it('!cancel of a turn whose agent may be at work at a message of it elsewhere: its process gets no other turn', async () => {
    const bench = openBench({
      midTurn: 'steer',
      script: {
        initialize: { meta: { steering: { supported: true } } },
        onSteer: { answer: 'startedNewTurn' },
        onCancel: [{ mark: 'cancelling' }, { wait: 'end' }],
        rules: [HOLD, ANSWER],
      },
    });
    const event = await running(bench, 'hold');
    await bench.until(() => bench.isMarked('holding'));
    const second = message({ content: 'and this', tags: inThread(event.id) });
    await bench.hear(second);
    await bench.until(() => bench.isMarked('cancelling'));
    await bench.hear(message({ content: '!cancel' }));
    bench.openGate('end');
    await bench.nth('turn_ended');
    await bench.hear(message({ content: 'control' }));
    await bench.nth('turn_ended', 2);
    expect(bench.seen('process_ended')).toHaveLength(1);
    expect(answered(bench)).toMatchObject([{ content: 'control' }]);
    for (const one of [event, second]) expect(await bench.row(one)).toMatchObject({ status: 'done' });
  });

  it('!cancel says that there is nothing to end', async () => {
    const bench = openBench();
    await bench.hear(message({ content: '!cancel' }));
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!cancel', status: 'no_active_turn' }]);
  });

  it('!rotate ends it too, and what comes next is in a session of its own', async () => {
    const bench = openBench({ script: { rules: [HOLD, ANSWER] } });
    for (const content of ['one', 'two']) await bench.hear(message({ content }));
    await bench.nth('turn_ended', 2);
    await running(bench, 'hold', 3);
    await bench.hear(message({ content: '!rotate' }));
    await bench.nth('turn_ended', 3);
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!rotate', status: 'rotated' }]);
    await bench.hear(message({ content: 'three' }));
    await bench.nth('turn_ended', 4);
    const [one, two, three] = answered(bench);
    expect(two?.session).toBe(one?.session);
    expect(three?.session).not.toBe(one?.session);
    expect(bench.seen('process_started')).toHaveLength(1);
  });

  it('!shutdown asks for the end of the agent, and of no turn', async () => {
    const bench = openBench({ script: { rules: [{ match: 'hold', do: [{ wait: 'go' }, { say: 'done' }] }] } });
    await running(bench, 'hold');
    await bench.hear(message({ content: '!shutdown' }));
    expect(bench.shutdowns).toBe(1);
    expect(reports(bench)).toEqual([{ type: 'owner_command', command: '!shutdown', status: 'stopping' }]);
    bench.openGate('go');
    await bench.nth('turn_ended');
    expect(bench.answers).toEqual(['done']);
  });

  it('that is old is consumed without effect, and told so', async () => {
    const bench = openBench({ script: { rules: [HOLD, ANSWER] } });
    await running(bench, 'hold');
    for (const content of ['!cancel', '!rotate', '!shutdown']) await bench.hear(message({ content, at: AT - 301 }));
    expect(reports(bench).map((one) => (one as { readonly status: string }).status)).toEqual(['stale', 'stale', 'stale']);
    expect(bench.shutdowns).toBe(0);
    expect(bench.agent.snapshot().turns).toHaveLength(1);
  });

  it('of anybody else is a message like any other', async () => {
    const bench = openBench({ script: { rules: [ANSWER] } });
    await bench.hear(message({ content: '!cancel', by: friend }));
    // As any message of theirs in a channel of which nothing is known.
    expect(bench.seen('refused')).toMatchObject([{ reason: 'direct-message' }]);
    expect(reports(bench)).toEqual([]);
  });
});
