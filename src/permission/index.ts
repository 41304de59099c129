/**
 * Who may say yes to an agent.
 * in: the raw params of a permission request and the policy. out: the answer and the reason word of NIP-AO.
 */
export { answerAtOnce } from './at-once.ts';
export { decidePermission, preflight } from './policy.ts';
export type { PermissionOption, PolicyDecision, PolicyReason, PreflightCode, SynchronousPolicy } from './policy.ts';
