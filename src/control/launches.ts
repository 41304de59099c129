/** The part of a status report about agents that are started with what their owners say (docs/personas.md). */
import { z } from 'zod';
import { asEventId, asPubkey } from '../model/index.ts';
import type { EventId, Pubkey } from '../model/index.ts';
import { branded } from './reading.ts';

export interface LaunchReport {
  readonly name: string;
  readonly pubkey: Pubkey;
  readonly persona?: string;
  readonly status: 'reading' | 'refused' | 'running';
  /** Why it is not started, or what of now is not known or would not be started. */
  readonly reason?: string;
  readonly runId?: string;
  readonly startedAtSec?: number;
  /** What it was started with; an agent that runs keeps it. */
  readonly pinned?: LaunchedReport;
  /** What it would be started with now. */
  readonly current?: LaunchedReport;
  /** What a restart would change. */
  readonly drift: readonly ('instructions' | 'team-instructions' | 'session-policy' | 'model')[];
  /** Records of starts that the relay does not have yet. */
  readonly pendingRecords: number;
}

export interface LaunchedReport {
  readonly own: {
    readonly source: 'version' | 'definition' | 'legacy' | 'none';
    readonly version?: EventId;
    readonly sha256: string | null;
    readonly override?: string;
  };
  readonly team: {
    readonly teams: readonly { readonly id: string; readonly version?: EventId }[];
    readonly sha256: string | null;
    readonly override?: string;
  };
  readonly sessionPolicy: 'channel' | 'thread';
  readonly model: { readonly id: string | null; readonly override?: string };
}

const eventId = z.string().transform((text, context): EventId => branded(asEventId(text), context));
const sha256 = z.string().nullable();
const override = z.exactOptional(z.string());

const launched = z.object({
  own: z.object({ source: z.enum(['version', 'definition', 'legacy', 'none']), version: z.exactOptional(eventId), sha256, override }),
  team: z.object({ teams: z.array(z.object({ id: z.string(), version: z.exactOptional(eventId) })), sha256, override }),
  sessionPolicy: z.enum(['channel', 'thread']),
  model: z.object({ id: z.string().nullable(), override }),
});

export const launchReport = z.object({
  name: z.string(),
  pubkey: z.string().transform((text, context): Pubkey => branded(asPubkey(text), context)),
  persona: z.exactOptional(z.string()),
  status: z.enum(['reading', 'refused', 'running']),
  reason: z.exactOptional(z.string()),
  runId: z.exactOptional(z.string()),
  startedAtSec: z.exactOptional(z.number()),
  pinned: z.exactOptional(launched),
  current: z.exactOptional(launched),
  drift: z.array(z.enum(['instructions', 'team-instructions', 'session-policy', 'model'])),
  pendingRecords: z.number().int().nonnegative(),
});
