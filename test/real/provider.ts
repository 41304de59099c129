/** What becomes of a message when the provider of the model says no: nobody is logged in, or it takes no more requests. */
import { expect, it } from 'vitest';
import type { RealAgent } from './agents.ts';
import type { Scene } from './scene.ts';

/**
 * What the program tells of at once; other errors it tries again in silence, for longer than a test waits. To be the last
 * of its suite: after a limit the agent takes no turn.
 */
export function providerSaysNo({ tellsOf }: RealAgent, open: () => Promise<Scene>): void {
  it.runIf(tellsOf.includes(401))('is not logged in: the message is given up at once, and the notice says what is needed', async () => {
    const scene = await open();
    await scene.ask('fail 401');
    const notice = await scene.until('a notice', () => scene.answers[0]);
    expect(notice.content).toMatch(/^⚠️ This message could not be answered: the agent program is not logged in; its operator has to give it \S/u);
    expect(scene.notes.filter(({ type }) => type === 'turn_started')).toHaveLength(1);
    expect(agentOf(scene)?.inbox).toMatchObject({ queued: 0, dead: 1 });
  });

  it.runIf(tellsOf.includes(429))('meets a limit: the message waits, one notice says so, and the provider is left alone', async () => {
    const scene = await open();
    const { dead } = agentOf(scene)?.inbox ?? expect.fail('no agent');
    await scene.ask('fail 429');
    const notice = await scene.until('a notice', () => scene.answers[0]);
    expect(notice.content).toContain('takes no more requests for now');
    const agent = agentOf(scene);
    expect(agent).toMatchObject({ inbox: { queued: 1, dead }, limit: { times: 1 } });
    expect((agent?.limit?.untilMs ?? 0) - Date.now()).toBeGreaterThan(15_000);
  });
}

function agentOf({ stage }: Scene) {
  return stage.running.snapshot().agents[0];
}
