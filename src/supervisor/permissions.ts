/**
 * The permission requests of one agent's processes: a driver for each, what is known of their turns, and the way of the
 * owner's decisions to the process that waits for them.
 */
import type { OpenPermissionDesk } from '../acp/index.ts';
import type { ControlFrame } from '../broker/index.ts';
import { PermissionDriver } from '../permission/index.ts';
import type { TurnOrigin } from '../permission/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { ControlRequest } from './control-request.ts';
import type { Batch } from './inbox/entry.ts';
import type { Observation } from './observation.ts';

export type PermissionDecision = Extract<ControlRequest, { readonly type: 'permission_decision' }>;

export type PermissionParts = Pick<AgentOptions, 'link' | 'clock' | 'steadyClock' | 'random' | 'permission'> & {
  readonly gate: Pick<AgentOptions['gate'], 'owner'>;
};

const NO_PROCESS = { suspendIdle: () => undefined, resumeIdle: () => undefined, poison: () => undefined };

export class Permissions {
  readonly #parts: PermissionParts;
  readonly #observation: Pick<Observation, 'clean'> | undefined;
  readonly #origins = new Map<string, TurnOrigin>();
  readonly #drivers = new Set<PermissionDriver>();
  /** Where decisions go that nobody waits for: it says so to the owner, and nothing to strangers. */
  readonly #nobody: PermissionDriver;

  /** Without observation nobody is told, and nobody is asked. */
  constructor(parts: PermissionParts, observation?: Pick<Observation, 'clean'>) {
    this.#parts = parts;
    this.#observation = observation;
    this.#nobody = this.#newDriver(0)(NO_PROCESS);
  }

  /** For the processes of one slot, one life after another. */
  desk(agentIndex: number): OpenPermissionDesk {
    const open = this.#newDriver(agentIndex);
    return (doors) => {
      for (const driver of this.#drivers) if (driver.isOver) this.#drivers.delete(driver);
      const driver = open(doors);
      this.#drivers.add(driver);
      return driver;
    };
  }

  /** The turn is known as long as its prompt goes on. */
  during<T>({ turnId, channelId, entries: [first] }: Batch, prompt: () => Promise<T>): Promise<T> {
    return this.#known(turnId, { channelId, initiator: first.author, trigger: first.eventId, heartbeat: false }, prompt);
  }

  /** The same of a turn that no message asked for: no owner is asked in it (NIP-AO "Heartbeat turns"). */
  ofNobody<T>(turnId: string, prompt: () => Promise<T>): Promise<T> {
    return this.#known(turnId, { heartbeat: true }, prompt);
  }

  async #known<T>(turnId: string, origin: TurnOrigin, prompt: () => Promise<T>): Promise<T> {
    this.#origins.set(turnId, origin);
    try {
      return await prompt();
    } finally {
      this.#origins.delete(turnId);
    }
  }

  /** The decision of a control frame, to the process that waits for it; the frame is told its `control_result` from there. */
  decide({ sender, agent, createdAt, receivedAt }: ControlFrame, { channelId, requestNonce: nonce, optionId }: PermissionDecision): void {
    const holder = [...this.#drivers].find((driver) => driver.waitsFor(nonce)) ?? this.#nobody;
    holder.decide({ type: 'decided', nonce, optionId, channelId, sender, agent, createdAt, receivedAt });
  }

  /** Requests of that turn that the owner has not decided yet. */
  waitingIn(turnId: string): number {
    return [...this.#drivers].reduce((sum, driver) => sum + driver.waitingIn(turnId), 0);
  }

  #newDriver(agentIndex: number): (doors: ConstructorParameters<typeof PermissionDriver>[1]) => PermissionDriver {
    const { link, clock, steadyClock, random, permission: rule, gate: { owner } } = this.#parts;
    const observation = this.#observation;
    return (doors) => new PermissionDriver({
      agent: link.pubkey, owner, rule, agentIndex, clock, steadyClock, random,
      originOf: (turnId) => this.#origins.get(turnId),
      link: observation === undefined ? { ...link, tell: (frame) => { if (frame.kind === 'control_result') link.tell(frame); } } : link,
      clean: (text) => observation?.clean(text) ?? text,
      observerActive: () => observation !== undefined,
      relayReady: () => link.status().phase === 'ready',
    }, doors);
  }
}
