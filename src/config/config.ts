/** What a config file says, resolved: paths are absolute, durations in milliseconds, keys are keys, defaults are in. */
import type { AdapterProfile } from '../../adapters/index.ts';
import type { ChannelId, LogLevel, Pubkey } from '../model/index.ts';
import type { Attestation } from '../nostr/index.ts';
import type { TeamId } from '../persona/index.ts';

export interface Config {
  /** The file itself. */
  readonly file: string;
  readonly relay: RelayConfig;
  readonly broker: BrokerConfig;
  readonly dataDirectory: string;
  readonly logLevel: LogLevel;
  /** How long turns in flight may go on after the first signal, 0..600000. */
  readonly graceMs: number;
  /** Where turns and streams are recorded; absent: nowhere. */
  readonly recordDirectory?: string;
  /** By which owners' definitions are read; there is one where an agent has `launch`, and only then. */
  readonly ownerKey?: OwnerKeyConfig;
  /** At least one; names and keys are unique. */
  readonly agents: readonly AgentConfig[];
  /** What is allowed and yet worth a word at start, one line each. */
  readonly warnings: readonly string[];
}

export type RelayConfig =
  | { readonly type: 'remote'; readonly url: string }
  | {
      readonly type: 'embedded';
      readonly host: string;
      /** 0 takes a free port. */
      readonly port: number;
      /** What clients outside connect to, where a proxy stands in front. */
      readonly publicUrl?: string;
      readonly channels: readonly EmbeddedChannel[];
    };

/** Where the broker's endpoint listens. */
export interface BrokerConfig {
  /** 127.0.0.1, ::1, or with `tls` any address. */
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** PEM texts that belong together and are good at the time of loading. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** What programs outside connect to: a URL without a path. */
  readonly endpoint?: string;
}

export interface EmbeddedChannel {
  readonly id: ChannelId;
  readonly name: string;
}

export type OwnerKeyConfig =
  /** 32 bytes; for the broker alone. */
  | { readonly type: 'local'; readonly secretKey: Uint8Array; readonly pubkey: Pubkey }
  /** `address` is a secret, too. `file` is where it stands. */
  | { readonly type: 'bunker'; readonly address: string; readonly file: string };

/** What an agent is started with is its owner's word on the relay (NIP-AP). `instructions` beside it stand in its place. */
export interface LaunchConfig {
  /** Absent: the agent's own event says whether it has a definition. */
  readonly persona?: string;
  /** Teams it is a member of by the word of this file. */
  readonly teams: readonly TeamId[];
  /** In the place of its teams' instructions. */
  readonly teamInstructions?: string;
}

export type RespondTo = 'owner-only' | 'allowlist' | 'anyone' | 'nobody';
export type PermissionMode = 'reject' | 'allow' | 'ask';

export interface AgentConfig {
  readonly name: string;
  /** 32 bytes; for the broker alone. */
  readonly secretKey: Uint8Array;
  readonly pubkey: Pubkey;
  readonly owner: Pubkey;
  /** Checked against this agent's key. */
  readonly attestation?: Attestation;
  readonly adapter: AdapterProfile;
  /** Arguments after the adapter's own. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly respondTo: RespondTo;
  /** Empty unless `respondTo` is `allowlist`. */
  readonly allowlist: readonly Pubkey[];
  readonly subscribe: 'mentions' | 'all';
  /** Absent: every channel the agent is a member of. */
  readonly channels?: readonly ChannelId[];
  /** 1..32. */
  readonly processes: number;
  /** No process is started before there is work. */
  readonly lazyStart: boolean;
  /** Without work for this long its processes are ended until there is some; absent: never. */
  readonly idleSleepMs?: number;
  /** With a definition it is the definition's. */
  readonly session: 'channel' | 'thread';
  /** Turns of a session before a fresh one begins; 0 for no end. */
  readonly sessionTurns: number;
  /** After which an unused session is closed; 0 for never. */
  readonly sessionIdleMs: number;
  /** Open in one process at once; 1..256. */
  readonly maxSessions: number;
  /** What every session is put to, where the agent program offers it. */
  readonly wished: { readonly model?: string; readonly mode?: string; readonly effort?: string };
  /** 0..10000; 0 gathers nothing. */
  readonly gatherMs: number;
  /** What becomes of a message that comes while a turn of its conversation is under way. */
  readonly midTurn: 'steer' | 'queue' | 'interrupt' | 'owner-interrupt';
  /** Shorter than `hardTimeoutMs`. */
  readonly idleTimeoutMs: number;
  readonly hardTimeoutMs: number;
  /** Whether the owner is told of the agent at work; `batch` in one frame a second. */
  readonly observe: 'on' | 'batch' | 'off';
  /** Between two signs of life of a turn that the owner is told. */
  readonly livenessMs: number;
  /** Whether skep tells who is there that the agent is. */
  readonly presence: boolean;
  /** Whether skep tells that the agent is writing while it is in a turn. */
  readonly typing: boolean;
  /** How often each subscription at the relay is proven to deliver; absent: never. */
  readonly canaryMs?: number;
  /** A turn at an interval, given to nobody's message; absent: none. */
  readonly heartbeat?: { readonly everyMs: number; readonly prompt: string };
  /** A turn at the beginning: at each start, or once on this data directory; absent: none. */
  readonly initialPrompt?: { readonly prompt: string; readonly when: 'start' | 'once' };
  /** Whether such turns go on in one conversation of the process. */
  readonly operatorSession: 'kept' | 'fresh';
  readonly permission: PermissionMode;
  /** How long a request waits for the owner where they are asked; 1 s..300 s. */
  readonly askTimeoutMs: number;
  /** The broker's actions are offered as tools of an MCP server in every session. */
  readonly mcp: boolean;
  /** Whether it may make agents of its own, and these as well. */
  readonly manageAgents: boolean;
  /** The operator's standing text for this agent; line breaks are LF. */
  readonly instructions?: string;
  /** Absent: as this file says. */
  readonly launch?: LaunchConfig;
}
