/** What an agent that is to be started is to this room, and what it is started with. */
import type { AgentLink } from '../broker/index.ts';
import type { Pubkey } from '../model/index.ts';
import type { LaunchOrder, LaunchPlan } from '../persona/index.ts';

export interface LaunchTarget {
  readonly name: string;
  readonly pubkey: Pubkey;
  readonly order: LaunchOrder;
  /** Whether the owner is told of the agent (NIP-AO). */
  readonly observed: boolean;
  /** Its link of now: another one after a restart. */
  readonly link: () => Pick<AgentLink, 'memory' | 'tell'>;
}

export interface LaunchStart {
  readonly target: LaunchTarget;
  readonly sessionPolicy: LaunchPlan['sessionPolicy'];
  readonly standing: LaunchPlan['delivery']['standing'];
  /** Undefined: the program's own. */
  readonly model: string | undefined;
  /** To be called when a process of it has started: from then on it may be handed its texts. More than once is once. */
  readonly onProcess: () => void;
}
