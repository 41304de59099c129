/**
 * What the owner is told of an agent as a whole (NIP-AO telemetry, in Buzz's words): how it is run, once, and whether its
 * processes can be had, whenever that changes. Nothing is told while the agent is being stopped.
 */
import { describeEnd } from '../acp/index.ts';
import { excerpt, unreachable, veiled, veiledArguments } from '../model/index.ts';
import { harnessStarted, runtimeLifecycle } from '../observer/index.ts';
import type { RuntimeState } from '../observer/index.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Observation } from './observation.ts';
import type { SlotChange, SlotPhase } from './slot.ts';

export class RuntimeWatch {
  readonly #options: Pick<AgentOptions, 'link' | 'processes' | 'observation'>;
  readonly #observation: Pick<Observation, 'tellOfAgent'> | undefined;
  readonly #relayUrl: string;
  readonly #phases: () => readonly SlotPhase[];
  #told: RuntimeState['lifecycle'] | undefined;
  #lastEnd: string | undefined;

  constructor(
    options: Pick<AgentOptions, 'link' | 'processes' | 'observation'>, observation: Pick<Observation, 'tellOfAgent'> | undefined,
    phases: () => readonly SlotPhase[],
  ) {
    this.#phases = phases;
    this.#options = options;
    this.#observation = observation;
    this.#relayUrl = veiled(options.link.status().url);
  }

  /** `asleep`: no process is started before there is work. */
  opened(asleep: boolean): void {
    const { processes: parallelism, observation } = this.#options;
    const { command, args } = observation?.program ?? { command: '', args: [] };
    this.#observation?.tellOfAgent(harnessStarted({
      relayUrl: this.#relayUrl, agentCommand: veiled(command), agentArgs: veiledArguments(args), parallelism,
    }));
    this.#tell(asleep ? 'listening' : 'waking');
  }

  changed(change: SlotChange): void {
    // What the breaker makes of an end is told before the end itself is.
    if (change.type === 'broken' || change.type === 'recovered') return;
    if (change.type === 'ended' || change.type === 'failed') this.#lastEnd = describeEnd(change.end);
    this.looked();
  }

  /** The phases of its slots may be others. */
  looked(): void {
    const state = stateOf(this.#phases());
    if (state !== undefined && state !== this.#told) this.#tell(state);
  }

  #tell(lifecycle: RuntimeState['lifecycle']): void {
    this.#told = lifecycle;
    const error = lifecycle === 'failed' && this.#lastEnd !== undefined ? { error: excerpt(this.#lastEnd, MAX_ERROR) } : {};
    this.#observation?.tellOfAgent(runtimeLifecycle(this.#options.link.pubkey, this.#relayUrl, { lifecycle, ...error }));
  }
}

const MAX_ERROR = 600;

/** Undefined while it is being stopped. */
function stateOf(phases: readonly SlotPhase[]): RuntimeState['lifecycle'] | undefined {
  if (phases.includes('stopping')) return undefined;
  if (phases.some(isReady)) return 'ready';
  if (phases.every((phase) => phase === 'asleep')) return 'listening';
  return phases.every((phase) => phase === 'broken') ? 'failed' : 'waking';
}

function isReady(phase: SlotPhase): boolean {
  switch (phase) {
    case 'idle':
    case 'busy':
      return true;
    case 'asleep':
    case 'backoff':
    case 'broken':
    case 'starting':
    case 'stopping':
      return false;
    default:
      return unreachable(phase);
  }
}
