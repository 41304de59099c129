/**
 * What a recorder is told of one agent, in the order in which it happened. The supervisor knows no more of recording
 * than this: every call returns at once, throws nothing, and changes nothing.
 */
import type { CompiledTurn, OperatorTurnInput, TurnInput } from '../../compiler/index.ts';
import type { ChannelId, Milliseconds } from '../model/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';
import type { InboxMove } from './inbox/inbox.ts';
import type { Considered } from './intake.ts';

/** The gate's verdict on an event, and what it was told to reach it. */
export interface Arrival {
  readonly event: VerifiedEvent;
  readonly channelId: ChannelId;
  readonly considered: Considered;
  readonly atMs: Milliseconds;
}

/** A turn whose prompt has been written to the agent. */
export interface SentTurn {
  readonly turnId: string;
  readonly input: TurnInput;
  readonly output: CompiledTurn;
}

/** The same of one that no message asked for. */
export interface SentOperatorTurn {
  readonly input: OperatorTurnInput;
  readonly output: CompiledTurn;
}

export interface Tape {
  readonly arrived: (arrival: Arrival) => void;
  /** An `accepted` input comes after its arrival. What it tells is on disk. */
  readonly moved: (move: InboxMove) => void;
  readonly sent: (turn: SentTurn) => void;
  readonly prompted: (turn: SentOperatorTurn) => void;
}
