/** The subject of the second half of A3: one agent program started, asked one thing, its text printed, and ended. */
import { startAgent } from '../../src/acp/index.ts';
import { agentPlan, launchOf, textOf } from '../agent.ts';

const started = await startAgent(launchOf(agentPlan()));
if (!started.ok) throw new Error(JSON.stringify(started.end));
process.stdout.write(await textOf(started.process));
await started.process.stop();
