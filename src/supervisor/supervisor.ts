/** All agents of one data directory: opened together, stopped together, told apart by name. */
import { Agent } from './agent.ts';
import type { AgentSnapshot } from './snapshot.ts';
import type { AgentOptions } from './agent-options.ts';

export interface Supervisor {
  snapshot(): readonly AgentSnapshot[];
  /** Turns under way get `graceMs`; then they are cancelled and kept for the next start. Twice is once. */
  close(graceMs: number): Promise<void>;
  /** Cancels every turn now: the second signal. */
  force(): void;
}

export function openSupervisor(agents: readonly AgentOptions[]): Supervisor {
  const running = agents.map((options) => new Agent(options));
  for (const agent of running) agent.open();
  let closing: Promise<void> | undefined;
  return {
    snapshot: () => running.map((agent) => agent.snapshot()),
    close: (graceMs) => (closing ??= Promise.all(running.map((agent) => agent.stop(graceMs))).then(() => undefined)),
    force: () => {
      for (const agent of running) agent.force();
    },
  };
}
