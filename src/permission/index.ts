/**
 * Who may say yes to an agent.
 * in: requests of an agent process, decisions of its owner, the policy. out: one answer each, cards, frames: a driver.
 */
export { answerAtOnce } from './at-once.ts';
export { PermissionDriver } from './driver.ts';
export type { DriverParts, PermissionRule, TurnOrigin } from './driver.ts';
export { decidePermission, preflight } from './policy.ts';
export type { PermissionOption, PolicyDecision, PolicyReason, PreflightCode, SynchronousPolicy } from './policy.ts';
