/** How the benchmarks start `programs/burst-agent.ts` through src/acp. */
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { USAGE_BY_LOOKING } from '../adapters/index.ts';
import type { AgentProcess, LaunchPlan, StartOptions } from '../src/acp/index.ts';
import { silentLog } from '../src/model/index.ts';
import { steadyClock } from '../src/system/index.ts';

export const BURST_AGENT = fileURLToPath(new URL('programs/burst-agent.js', import.meta.url));
/** A bound that no benchmark meets. */
const PATIENCE_MS = 120_000;
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** An agent that says `words` words to a prompt. */
export function agentPlan(words = 1): LaunchPlan {
  return { agentName: 'bench', command: process.execPath, args: [BURST_AGENT, String(words)], cwd: tmpdir(), env: { PATH: process.env['PATH'] ?? '' } };
}

export function launchOf(plan: LaunchPlan): StartOptions {
  const nothing = (): void => undefined;
  return {
    plan, dialect: { standing: 'first-message', usage: USAGE_BY_LOOKING }, version: '0', clock: steadyClock, log: silentLog,
    permission: () => ({ requested: nothing, turnCancelled: nothing, turnOver: nothing, stopping: nothing, ended: nothing }),
    limits: { maxTextBytes: MAX_TEXT_BYTES },
  };
}

/** What the agent says to one prompt in a session of its own. */
export async function textOf(agent: AgentProcess): Promise<string> {
  const session = await agent.newSession({ cwd: tmpdir() });
  if (!session.ok) throw new Error(session.detail);
  return promptedText(agent, session.sessionId);
}

export async function promptedText(agent: AgentProcess, sessionId: string): Promise<string> {
  const outcome = await agent.prompt({ sessionId, blocks: ['go'], idleTimeoutMs: PATIENCE_MS, hardTimeoutMs: PATIENCE_MS });
  if (outcome.status !== 'ended') throw new Error(`the prompt ended as ${outcome.status}`);
  return outcome.seen.text;
}
