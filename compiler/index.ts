/**
 * The context compiler: a turn as data in; envelope, manifest and ledger out. Pure, and usable alone.
 * in: SHA-256 from node:crypto, nothing else. out: turn inputs checked, turns and steers compiled, ledgers kept.
 */
export { parseTurnInput, parseTurnText } from './input.ts';
export type { TurnParsed } from './input.ts';
export { lineOfPath, parseJsonText } from './json-text.ts';
export type { JsonParsed } from './json-text.ts';
export type { TurnRefusal } from './refusal.ts';
export { compileTurn } from './compile.ts';
export type { CompiledTurn } from './compile.ts';
export { compileOperatorTurn } from './operator.ts';
export type { OperatorTurnInput } from './operator.ts';
export { accountForLines } from './account.ts';
export type { LineAccount, LineRun } from './account.ts';
export { turnRoute } from './routing.ts';
export type { Route, Scope } from './routing.ts';
export { standingText } from './standing.ts';
export { compileSteer } from './steer.ts';
export type { CompiledSteer } from './steer.ts';
export { manifestOf } from './manifest.ts';
export type { Layer, Manifest } from './manifest.ts';
export { appendSteer, ledgerManifest, openLedger } from './ledger.ts';
export type { Ledger } from './ledger.ts';
export type {
  Channel, History, HistoryMessage, Interrupted, Profile, Profiles, Standing, StandingRole, TriggeredEvent, TurnEvent,
  TurnInput,
} from './turn.ts';
