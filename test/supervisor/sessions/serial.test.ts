/** Two prompts never overlap in one session, whatever comes and from wherever; of several sessions some do. */
import { describe, expect, it } from 'vitest';
import { channelId } from '../../../src/model/index.ts';
import { openBench } from '../bench.ts';
import { agent, message } from '../people.ts';

const CHANNELS = [1, 2, 3].map((n) => channelId(`00000000-0000-4000-8000-00000000000${n}`));
const MESSAGES = 24;

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
}

describe('the prompts of a session', () => {
  it.each([1, 3])('come one after the other, in %i processes', async (processes) => {
    const held = CHANNELS.slice(0, processes).map((_, n) => ({ match: `hold-${n}`, do: [{ mark: `held-${n}` }, { wait: 'all' }, { say: '{{session}}' }] }));
    const bench = openBench({
      processes, script: { sessions: { load: true }, rules: [...held, { do: [{ sleep: 3 }, { say: '{{session}}' }] }] },
      observation: { livenessMs: 600_000, packed: false, program: { command: 'agent', args: [] } },
    });
    await bench.nth('process_started', processes);
    for (let n = 0; n < MESSAGES; n += 1) {
      const channel = CHANNELS[n % CHANNELS.length] ?? expect.fail('no channel');
      await bench.hear(message({ content: `hold-${n}`, tags: [['h', channel], ['p', agent.pubkey]] }));
      // The control: processes do work beside each other.
      if (n === held.length - 1) {
        await bench.until(() => held.every((_, at) => bench.isMarked(`held-${at}`)));
        bench.openGate('all');
      }
    }
    await bench.until(() => bench.agent.snapshot().inbox.done === MESSAGES);

    const waiting = new Map<string, string>();
    let most = 0;
    for (const { kind, payload, agentIndex } of bench.link.told) {
      const { id, method, params } = JSON.parse(payload) as Line;
      if (kind === 'acp_write' && method === 'session/prompt') {
        const session = `${agentIndex ?? 0} ${params?.sessionId ?? ''}`;
        expect([...waiting.values()]).not.toContain(session);
        waiting.set(`${agentIndex ?? 0} ${id ?? 0}`, session);
        most = Math.max(most, waiting.size);
      }
      if (kind === 'acp_read' && method === undefined) waiting.delete(`${agentIndex ?? 0} ${id ?? 0}`);
    }
    expect(waiting.size).toBe(0);
    expect(most).toBe(processes);
    expect(bench.seen('turn_ended').map(({ outcome }) => outcome)).not.toContain('error');
  });
});
