/**
 * Agent processes: started in a group of their own, spoken to in ACP, ended as a whole.
 * in: a launch plan, a permission desk, clock, log, a store for the record of what runs.
 * out: `AgentProcess`, the environment a child gets, where a program is, the reaping of leftovers, the book of leaks, the breaker of a process slot.
 */
export { startAgent } from './start.ts';
export type { AgentStart, StartOptions } from './start.ts';
export { childEnvironment } from './environment.ts';
export type { EnvironmentSources } from './environment.ts';
export { findNotExecutable, findProgram } from './program.ts';
export { LeakBook } from './leaks.ts';
export type { Leak } from './leaks.ts';
export { reapLeftovers } from './leftovers.ts';
export type { ReapOptions } from './leftovers.ts';
export { describeEnd } from './ends.ts';
export { secretValues } from './redaction.ts';
export { mayStart, newBreaker, nextStartAt, stepBreaker } from './breaker-machine.ts';
export type { BreakerCommand, BreakerInput, BreakerState, BreakerStep } from './breaker-machine.ts';
export type { AcpLimits } from './limits.ts';
export { currentOf, routeTo } from './session-settings.ts';
export { ENV_PROCESS } from './mark.ts';
export { ENV_CREDENTIAL, ENV_ENDPOINT } from './ports.ts';
export type {
  IncomingRequest, OpenPermissionDesk, PermissionAnswer, PermissionDesk, PermissionDoors, PermissionReply, PermissionRequest, PoisonCause, RequestTurn,
} from './permission-ports.ts';
export type {
  AgentProcess, LaunchPlan, LineAbout, LineTap, ModelTrouble, ProcessEnd, PromptOutcome, PromptRequest, RefusedSetting, ReopenRequest, SessionRefused,
  SessionRequest, SessionSettings, SessionStarted, SettingChange, SettingName, SteerOutcome, StdioMcpServer, StopReason, TurnOutput, WishedSettings,
} from './ports.ts';
