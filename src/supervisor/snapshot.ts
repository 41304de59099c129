/** What an agent's driver tells about itself for `skep status`. Times in Unix milliseconds. */
import type { CanaryReport, ControlCounts, SignalReport, TelemetryStatus, UpstreamStatus } from '../broker/index.ts';
import type { ChannelId, Milliseconds, Pubkey } from '../model/index.ts';
import type { RefusedSetting } from '../acp/index.ts';
import type { OperatorReport } from './operator/settings.ts';
import type { SlotPhase } from './slot.ts';

export interface AgentSnapshot {
  readonly name: string;
  readonly pubkey: Pubkey;
  /** The agent that made it, where one did. */
  readonly managedBy?: Pubkey;
  /** Its owner has ended it (`!shutdown`), until the next start of skep. */
  readonly stoppedByOwner?: boolean;
  readonly processes: readonly {
    readonly pid?: number;
    readonly state: SlotPhase;
    readonly sessions: number;
    readonly lastEnd?: string;
  }[];
  /** Settings that the operator wishes and the agent does not grant; absent where there are none. */
  readonly refusedSettings?: readonly Pick<RefusedSetting, 'setting' | 'value' | 'offered'>[];
  readonly turns: readonly {
    readonly turnId: string;
    readonly channelId: ChannelId;
    readonly sinceMs: Milliseconds;
    readonly events: number;
    /** Permission requests that wait for the owner; absent where there are none. */
    readonly asking?: number;
  }[];
  readonly inbox: { readonly queued: number; readonly dispatched: number; readonly done: number; readonly dead: number };
  readonly controls: ControlCounts;
  readonly upstream: UpstreamStatus;
  readonly telemetry: TelemetryStatus;
  readonly signals: SignalReport;
  readonly canary?: CanaryReport;
  /** The provider of its model takes no more requests: how often in a row a turn has met it, and when the next may. */
  readonly limit?: { readonly times: number; readonly untilMs: Milliseconds };
  /** Turns that no message asked for, where the operator wants any. */
  readonly operator?: OperatorReport;
}
