/**
 * The driver: from a feed of verified events to answered turns.
 * in: model, nostr, store, compiler, broker, acp. out: `openSupervisor`, what it takes and what it tells; the gate and
 * the inbox by themselves, for the replay of recorded streams.
 */
export { openSupervisor } from './supervisor.ts';
export type { Supervisor } from './supervisor.ts';
export type { AgentSnapshot } from './snapshot.ts';
export type { AgentOptions, ChangeableOptions } from './agent-options.ts';
export { noteLogger } from './note-log.ts';
export type { Note, Observer } from './notes.ts';
export type { ProfileFacts } from './directory.ts';
export type { AuthorFacts, GateRefusal, GateSettings, HopCounts, OwnerCommand, RespondTo } from './gate.ts';
export { acceptedInput, consider } from './intake.ts';
export type { Considered } from './intake.ts';
export { Inbox } from './inbox/inbox.ts';
export type { InboxMove } from './inbox/inbox.ts';
export type { Arrival, SentOperatorTurn, SentTurn, Tape } from './tape.ts';
export { entriesOf } from './inbox/entry.ts';
export type { CutTurn, MergeMode } from './inbox/entry.ts';
export { nextReadyAt } from './inbox/ready.ts';
export type { Apart, Ending, InboxCommand, InboxInput, Save } from './inbox/machine.ts';
export type { MidTurnPolicy } from './inbox/mid-turn.ts';
export type { SteerAnswer } from './inbox/step.ts';
