/**
 * What an owner is told of an agent at work (NIP-AO): the words and payloads of the frames, and what is taken out of them.
 * in: facts of a turn, lines of the conversation. out: frames without their place, which the supervisor knows. Pure.
 */
export {
  agentInitialized, harnessStarted, lineFrame, promptDelivered, promptSteered, runtimeLifecycle, sessionConfigured, sessionResolved, turnCompleted, turnFailed,
  turnLiveness, turnStarted,
} from './frames.ts';
export type { Delivery, Line, RuntimeState, Told, TurnFailure } from './frames.ts';
export { secretFilter } from './secrets.ts';
export type { SecretFilter } from './secrets.ts';
