/**
 * What a supervisor says of itself, version 1: written by the supervisor, read back here by `skep status`. A reader
 * takes what it knows and passes over members of a later skep; another version is refused.
 */
import { z } from 'zod';
import type { CanaryReport, SignalReport, TelemetryStatus, UpstreamStatus } from '../broker/ports.ts';
import { asChannelId, asPubkey } from '../model/index.ts';
import type { ChannelId, Pubkey } from '../model/index.ts';
import { launchReport } from './launches.ts';
import type { LaunchReport } from './launches.ts';
import { branded, parseJson } from './reading.ts';

export interface StatusReport {
  readonly v: 1;
  readonly pid: number;
  /** Skep's own version. */
  readonly version: string;
  readonly startedAtMs: number;
  /** True from the first signal on: no new work is taken. */
  readonly stopping: boolean;
  /** Present with `relay: embedded`. */
  readonly embeddedRelay?: { readonly url: string; readonly connections: number };
  /** Present where turns are recorded. */
  readonly recording?: RecordingReport;
  /** What of agents still runs although it should not. Absent from a skep that did not look. */
  readonly leaks?: readonly LeakReport[];
  readonly agents: readonly AgentReport[];
  /** Agents that are started with what their owners say; those that are not started stand here alone. */
  readonly launches?: readonly LaunchReport[];
}

/** `survives`: it is the agent's and could not be ended; `escaped`: it may be, and nothing proves it. */
export interface LeakReport {
  readonly pid: number;
  readonly agent: string;
  readonly program: string;
  readonly why: 'survives' | 'escaped';
}

/** Turns and streams written since the start, and those that were not. */
export interface RecordingReport {
  readonly directory: string;
  readonly turns: number;
  readonly streams: number;
  readonly dropped: number;
  /** Why nothing can be written at present. */
  readonly problem?: string;
}

export interface AgentReport {
  readonly name: string;
  readonly pubkey: Pubkey;
  /** The agent that made it, where one did. */
  readonly managedBy?: Pubkey;
  /** Its owner has ended it, until the next start. */
  readonly stoppedByOwner?: boolean;
  /** Control frames of the owner that were taken, and frames that were dropped, whoever they were of. */
  readonly controls?: { readonly taken: number; readonly ignored: number };
  readonly upstream: UpstreamStatus;
  readonly processes: readonly ProcessReport[];
  /** Settings of the config that the agent program does not grant, and what it offers in their place. */
  readonly refusedSettings?: readonly RefusedSettingReport[];
  readonly turns: readonly TurnReport[];
  readonly inbox: InboxCounts;
  /** Absent from a skep that told its owner nothing. */
  readonly telemetry?: TelemetryStatus;
  /** Presence and typing; absent from a skep that gave none. */
  readonly signals?: SignalReport;
  /** Where there is one. */
  readonly canary?: Omit<CanaryReport, 'deaf'> & { readonly deaf: readonly { readonly subscription: string; readonly sinceMs: number }[] };
  /** The provider of its model takes no more requests: how often in a row that was met, and when it is tried again. */
  readonly limit?: { readonly times: number; readonly untilMs: number };
  /** Heartbeats and the initial prompt, where the operator asks for any. */
  readonly operator?: OperatorReport;
}

/** Turns that no message asked for. */
export interface OperatorReport {
  readonly turns: number;
  readonly skipped: number;
  readonly nextBeatAtMs?: number;
  readonly running?: 'heartbeat' | 'initial';
  readonly lastEnd?: string;
}

/** One place for a process; `pid` is absent while none runs. */
export interface ProcessReport {
  readonly pid?: number;
  /** `idle` and `busy` run; `backoff` waits before the next start; `broken` has given up for now; `asleep` waits for work. */
  readonly state: 'asleep' | 'starting' | 'idle' | 'busy' | 'stopping' | 'backoff' | 'broken';
  readonly sessions: number;
  readonly lastEnd?: string;
}

export interface RefusedSettingReport {
  readonly setting: 'model' | 'mode' | 'effort';
  readonly value: string;
  readonly offered: readonly string[];
}

/** A turn in flight. */
export interface TurnReport {
  readonly turnId: string;
  readonly channelId: ChannelId;
  readonly sinceMs: number;
  readonly events: number;
  /** Permission requests that wait for the owner. */
  readonly asking?: number;
}

export interface InboxCounts {
  readonly queued: number;
  readonly dispatched: number;
  readonly done: number;
  readonly dead: number;
}

const whole = z.number().int().nonnegative();
const pubkey = z.string().transform((text, context): Pubkey => branded(asPubkey(text), context));
const channelId = z.string().transform((text, context): ChannelId => branded(asChannelId(text), context));

const upstream = z.object({
  agent: pubkey,
  url: z.string(),
  phase: z.enum(['idle', 'connecting', 'authenticating', 'ready', 'waiting', 'closed']),
  attempts: whole,
  channels: z.array(channelId),
  lastError: z.exactOptional(z.string()),
});

const agent = z.object({
  name: z.string(),
  pubkey,
  managedBy: z.exactOptional(pubkey),
  stoppedByOwner: z.exactOptional(z.boolean()),
  controls: z.exactOptional(z.object({ taken: whole, ignored: whole })),
  upstream,
  processes: z.array(z.object({
    pid: z.exactOptional(whole),
    state: z.enum(['asleep', 'starting', 'idle', 'busy', 'stopping', 'backoff', 'broken']),
    sessions: whole,
    lastEnd: z.exactOptional(z.string()),
  })),
  refusedSettings: z.exactOptional(z.array(z.object({ setting: z.enum(['model', 'mode', 'effort']), value: z.string(), offered: z.array(z.string()) }))),
  turns: z.array(z.object({ turnId: z.string(), channelId, sinceMs: whole, events: whole, asking: z.exactOptional(whole) })),
  inbox: z.object({ queued: whole, dispatched: whole, done: whole, dead: whole }),
  telemetry: z.exactOptional(z.object({ sent: whole, waiting: whole, dropped: whole, tooLong: whole, refused: whole })),
  signals: z.exactOptional(z.object({ presence: z.exactOptional(z.enum(['online', 'away', 'offline'])), sent: whole, dropped: whole })),
  limit: z.exactOptional(z.object({ times: whole, untilMs: whole })),
  canary: z.exactOptional(z.object({
    subscriptions: whole, hearing: whole, deaf: z.array(z.object({ subscription: z.string(), sinceMs: whole })), deafened: whole, recovered: whole,
    refusal: z.exactOptional(z.string()),
  })),
  operator: z.exactOptional(z.object({
    turns: whole, skipped: whole, nextBeatAtMs: z.exactOptional(whole), running: z.exactOptional(z.enum(['heartbeat', 'initial'])), lastEnd: z.exactOptional(z.string()),
  })),
});

const report = z.object({
  v: z.literal(1),
  pid: whole,
  version: z.string(),
  startedAtMs: z.number(),
  stopping: z.boolean(),
  embeddedRelay: z.exactOptional(z.object({ url: z.string(), connections: whole })),
  recording: z.exactOptional(z.object({
    directory: z.string(), turns: whole, streams: whole, dropped: whole, problem: z.exactOptional(z.string()),
  })),
  leaks: z.exactOptional(z.array(z.object({ pid: whole, agent: z.string(), program: z.string(), why: z.enum(['survives', 'escaped']) }))),
  agents: z.array(agent),
  launches: z.exactOptional(z.array(launchReport)),
});

/** The report in one line of JSON, or undefined for anything else. */
export function parseReport(line: string): StatusReport | undefined {
  const parsed = report.safeParse(parseJson(line));
  return parsed.success ? parsed.data : undefined;
}
