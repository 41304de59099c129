/** The end of a turn waits for what is on its way into it. */
import { expect, it } from 'vitest';
import { TurnSteers } from '../../../src/supervisor/steering/turn-steers.ts';

it('waits for all that is on its way, whatever lets go first', async () => {
  const steers = new TurnSteers();
  const [first, second] = [steers.hold(), steers.hold()];
  let isOver = false;
  const over = steers.over().then(() => { isOver = true; });
  second.release();
  await new Promise((resolve) => { setImmediate(resolve); });
  expect(isOver).toBe(false);
  first.release();
  await over;
  expect(isOver).toBe(true);
});
