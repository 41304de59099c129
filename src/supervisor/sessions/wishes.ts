/** Settings that an operator wishes and the agent does not grant: told once in the log, and shown as long as it is so. */
import type { RefusedSetting } from '../../acp/index.ts';
import type { Log } from '../../model/index.ts';

export class Wishes {
  readonly #log: Log;
  readonly #agent: string;
  #refused: readonly RefusedSetting[] = [];
  readonly #told = new Set<string>();

  constructor(log: Log, agent: string) {
    this.#log = log;
    this.#agent = agent;
  }

  /** Of the session opened last. */
  get refused(): readonly RefusedSetting[] {
    return this.#refused;
  }

  opened(refused: readonly RefusedSetting[]): void {
    this.#refused = refused;
    for (const { setting, value, offered, detail } of refused) {
      if (this.#told.has(setting)) continue;
      this.#told.add(setting);
      this.#log.warn(`agent ${this.#agent}: ${setting}: ${value} is not set; it goes on as it is`, {
        agent: this.#agent, setting, value, offered: offered.join(', '), detail,
      });
    }
  }
}
