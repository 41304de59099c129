/**
 * What every stock agent program has to come through, one test file a program. To start one takes seconds of a processor,
 * so each suite has one of it for all its tests, which go on where the one before has left off; the suites run beside
 * each other, because much of their time is waiting.
 */
import { afterAll, describe } from 'vitest';
import type { RealAgent } from './agents.ts';
import { goesOn, isCancelled, isKilled, isStopped } from './endings.ts';
import { installed } from './installed.ts';
import { providerSaysNo } from './provider.ts';
import { answersByTool, asksItsOwner, isAsWished, isCutShort, isSteered, runsUnasked, switchesModel, takesSilenceForANo } from './scenarios.ts';
import { openScene } from './scene.ts';
import type { Scene } from './scene.ts';

const TEST_MS = 300_000;

export function describeAgent(real: RealAgent): void {
  const found = installed(real.name);
  const missing = 'missing' in found ? found.missing : undefined;
  describe.skipIf(missing !== undefined)(`${real.name}${missing === undefined ? '' : `: ${missing}`}`, { timeout: TEST_MS }, () => {
    beside('under permission: ask', () => {
      const scene = sceneOf(real, ['permission: ask', 'instructions: Speak of herons.']);
      answersByTool(scene);
      asksItsOwner(real, scene);
      isCancelled(real, scene);
      if (real.isSteered) isSteered(scene);
      else isCutShort(scene);
      isKilled(scene);
      isStopped(scene);
    });
    beside('under permission: reject', () => {
      const scene = sceneOf(real, ['permission: reject', 'instructions: Speak of herons.']);
      goesOn(real, scene);
      runsUnasked(real, scene, false);
    });
    beside('under permission: ask, and nobody answers', () => {
      const scene = sceneOf(real, ['permission: ask', 'ask-timeout: 1s']);
      takesSilenceForANo(real, scene);
      switchesModel(real, scene);
    });
    beside('under permission: allow, with a model and an effort of its config', () => {
      const scene = sceneOf(real, ['permission: allow', `model: ${real.otherModel.id}`, 'effort: high']);
      isAsWished(real, scene);
      runsUnasked(real, scene, true);
      providerSaysNo(real, scene);
    });
  });
}

/** Runs beside the others of its kind, its own tests one after the other. */
function beside(name: string, suite: () => void): void {
  describe.concurrent(name, () => {
    describe('in turn', { concurrent: false }, suite);
  });
}

function sceneOf(real: RealAgent, agent: readonly string[]): () => Promise<Scene> {
  let scene: Promise<Scene> | undefined;
  afterAll(async () => (await scene)?.close());
  return async () => {
    scene ??= openScene(real, { agent });
    const open = await scene;
    open.beginAnew();
    return open;
  };
}
