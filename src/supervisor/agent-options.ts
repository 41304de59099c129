/** What an agent's driver is given: its settings from the config, and its doors. */
import type { Dialect } from '../../adapters/index.ts';
import type { LaunchPlan, Leak, WishedSettings } from '../acp/index.ts';
import type { AgentLink, SessionCredential } from '../broker/index.ts';
import type { Clock, Log, Pubkey, Random } from '../model/index.ts';
import type { PermissionRule } from '../permission/index.ts';
import type { Store } from '../store/index.ts';
import type { ProfileFacts } from './directory.ts';
import type { GateSettings } from './gate.ts';
import type { MidTurnPolicy } from './inbox/mid-turn.ts';
import type { Observer } from './notes.ts';
import type { OperatorSettings } from './operator/settings.ts';
import type { RestSettings } from './rest.ts';
import type { Tape } from './tape.ts';

export interface AgentOptions {
  readonly name: string;
  /** Our own version, told to the agent program. */
  readonly version: string;
  readonly gate: GateSettings;
  readonly session: 'channel' | 'thread';
  /** Turns of a session before a fresh one begins; 0 for no end. */
  readonly sessionTurns: number;
  /** A session that no turn has used for this long is closed, where the agent offers that; 0 for never. */
  readonly sessionIdleMs: number;
  /** Open in one process at once; the one used longest ago is closed. */
  readonly maxSessions: number;
  /** What every session is put to, where the agent offers it. */
  readonly wished: WishedSettings;
  readonly gatherMs: number;
  /** What becomes of a message that comes while a turn of its lane is under way. */
  readonly midTurn: MidTurnPolicy;
  readonly idleTimeoutMs: number;
  readonly hardTimeoutMs: number;
  readonly processes: number;
  readonly cwd: string;
  /** The operator's standing instructions for this agent, or those of the agent that made it. */
  readonly instructions?: string;
  /** Those of its teams, a text of their own. */
  readonly teamInstructions?: string;
  /** The agent that made it, where one did. */
  readonly managedBy?: Pubkey;
  readonly dialect: Dialect;
  /** Where the program takes its login from, for people. */
  readonly login?: string;
  readonly permission: PermissionRule;
  /** The whole launch of one process, its credential included. */
  readonly plan: (credential: SessionCredential) => LaunchPlan;
  readonly link: AgentLink;
  readonly store: Store;
  readonly clock: Clock;
  /** For deadlines that live in memory: nobody sets it. */
  readonly steadyClock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observe: Observer;
  /** What the owner is told of the agent at work; absent: nothing. */
  readonly observation?: {
    readonly livenessMs: number;
    readonly packed: boolean;
    /** What its processes are started as. */
    readonly program: { readonly command: string; readonly args: readonly string[] };
  };
  /** Whether and when it has no processes for want of work; absent: never. */
  readonly rest?: RestSettings;
  /** Turns that no message asks for; absent: none. */
  readonly operator?: OperatorSettings;
  /** Which live signals skep gives for it; absent: none. */
  readonly signals?: { readonly presence: boolean; readonly typing: boolean };
  /** Where a recorder listens. */
  readonly tape?: Tape;
  /** Every agent of this supervisor, by pubkey: known to be agents without asking a relay. */
  readonly ownAgents: ReadonlyMap<Pubkey, ProfileFacts>;
  /** Told of what is left of a process of it that has ended. */
  readonly onLeak?: (leak: Leak) => void;
  /** The disk or a bug stopped this agent: the supervisor must end. */
  readonly onFatal: (error: unknown) => void;
  /** Its owner wants it to stop: it is to be stopped as a signal would. Absent: it cannot be. */
  readonly onShutdown?: () => void;
}

/** What may become another while the agent runs; a session that is open keeps the instructions it was opened with. */
export type ChangeableOptions = Pick<AgentOptions, 'name' | 'gate'> & { readonly instructions: string };
