/** A supervisor that has worked for long: `npm run bench -- soak` is 100,000 turns, `soak=5000` as many as it says. */
import { runLong } from './long-run.ts';
import type { Look } from './long-run.ts';
import type { BenchRow } from './row.ts';

const TURNS = 100_000;
const LOOKS = 20;
const PROCESSES = 4;

export async function run(turns = TURNS): Promise<BenchRow[]> {
  const { looks, outcomes, tookMs } = await runLong({ turns, looks: LOOKS, processes: PROCESSES });
  // What is kept for a while, and bounded, has filled by then.
  const middle = looks[LOOKS / 2];
  const last = looks.at(-1);
  if (middle === undefined || last === undefined) throw new TypeError('a long run without looks');
  const row = (name: string, unit: string, of: (look: Look) => number): BenchRow => ({
    goal: 'M1', name, ratio: of(last) / of(middle), unit: 'times the floor', floor: `after half of ${turns} turns; about 1`,
    detail: `${looks.filter((_, index) => index % 4 === 0).map((look) => of(look).toFixed(1)).join(', ')} ${unit}, from the first turn to the last`,
  });
  return [
    row('heap over a long run', 'MB', ({ heapMb }) => heapMb),
    row('handles over a long run', 'handles', ({ handles }) => handles),
    row('open files over a long run', 'files', ({ files }) => files),
    {
      ...row('memory of the agent over a long run', 'MB resident', ({ agentMb }) => agentMb),
      detail: `${middle.agentMb.toFixed(0)} MB, then ${last.agentMb.toFixed(0)} MB in ${PROCESSES} processes; turns ended as ${JSON.stringify(outcomes)}, ${((turns * 1000) / tookMs).toFixed(0)} a second`,
    },
  ];
}
