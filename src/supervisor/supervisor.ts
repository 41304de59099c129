/** All agents of one data directory: opened together and one by one, stopped together and one by one. */
import type { Pubkey } from '../model/index.ts';
import { Agent } from './agent.ts';
import type { AgentOptions, ChangeableOptions } from './agent-options.ts';
import type { AgentSnapshot } from './snapshot.ts';

export interface Supervisor {
  snapshot(): readonly AgentSnapshot[];
  /** One more agent, beside those it was opened with. Nothing any more once it closes. */
  start(options: AgentOptions): void;
  /** Gives a running agent other settings; no turn is lost, and none under way changes. */
  change(pubkey: Pubkey, changes: ChangeableOptions): void;
  /** Ends one agent as `close` ends them all. Its feed is not followed again. */
  stop(pubkey: Pubkey, graceMs: number): Promise<void>;
  /** The same, because its owner wants it; it is shown as stopped. True when no agent runs any more. Twice is once. */
  shutdown(pubkey: Pubkey, graceMs: number): Promise<boolean>;
  /** Turns under way get `graceMs`; then they are cancelled and kept for the next start. Twice is once. */
  close(graceMs: number): Promise<void>;
  /** Cancels every turn now: the second signal. */
  force(): void;
}

export function openSupervisor(agents: readonly AgentOptions[]): Supervisor {
  const running = new Map<Pubkey, Agent>();
  /** Stopped by their owners, or about to be. */
  const down = new Map<Pubkey, Promise<void>>();
  let closing: Promise<void> | undefined;
  const begin = (options: AgentOptions): Agent => {
    const agent = new Agent(options);
    running.set(options.link.pubkey, agent);
    return agent;
  };
  const first = agents.map(begin);
  for (const agent of first) agent.open();
  return {
    snapshot: () => [...running].map(([pubkey, agent]) => ({ ...agent.snapshot(), ...(down.has(pubkey) && { stoppedByOwner: true }) })),
    start(options) {
      if (closing === undefined) begin(options).open();
    },
    change: (pubkey, changes) => running.get(pubkey)?.change(changes),
    async stop(pubkey, graceMs) {
      await running.get(pubkey)?.stop(graceMs);
      running.delete(pubkey);
      down.delete(pubkey);
    },
    async shutdown(pubkey, graceMs) {
      const ended = down.get(pubkey) ?? running.get(pubkey)?.stop(graceMs) ?? Promise.resolve();
      if (running.has(pubkey)) down.set(pubkey, ended);
      await ended;
      return [...running.keys()].every((one) => down.has(one));
    },
    close: (graceMs) =>
      (closing ??= Promise.all([...running.values()].map((agent) => agent.stop(graceMs))).then(() => undefined)),
    force: () => {
      for (const agent of running.values()) agent.force();
    },
  };
}
