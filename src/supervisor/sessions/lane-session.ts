/** A lane's conversation with an agent process, as the driver knows it. */
import type { Milliseconds } from '../../model/index.ts';
import type { StandingTexts } from '../turn-input.ts';
import type { DeliveredEvents } from './delivered.ts';

export interface LaneSession {
  readonly sessionId: string;
  readonly takesSystemPrompt: boolean;
  /** What it was told when it was opened, and knows as long as it lasts. */
  readonly standing: StandingTexts;
  /** Of what it was opened with; it goes on in another process only where that is the same. */
  readonly fingerprint: string;
  /** What makes earlier messages count as delivered. */
  readonly delivered: DeliveredEvents;
  /** The standing text is in it, where it goes by the first prompt. */
  standingSent: boolean;
  /** Turns that the agent ended, in whatever process. */
  turns: number;
  /** Turns whose usage was told (NIP-AM `turnSeq`). */
  turnSeq: number;
  /** On disk: it can be gone on with. */
  isKept: boolean;
  /** By the clock that nobody sets. */
  usedAtMs: Milliseconds;
}

/** How a turn came by its session: as it was in the process, gone on with from an earlier one, or begun for it. */
export type SessionOrigin = 'kept' | 'resumed' | 'loaded' | 'new';
