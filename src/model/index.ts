/**
 * The words every room speaks.
 * in: nothing; this room imports nothing of ours.
 * out: ids, units of time, bounded waits, failures and refusals, what the disk's errors mean, safe excerpts and veiled texts, the log.
 */
export { asChannelId, asEventId, asPubkey, channelId, eventId, pubkey, shortId } from './ids.ts';
export type { ChannelId, EventId, Pubkey } from './ids.ts';
export { later, MAX_TIMER_MS, milliseconds, millisecondsOf, seconds, secondsOf } from './time.ts';
export type { Clock, Milliseconds, Random, Seconds } from './time.ts';
export { exitCodeOf, Failure, FAILURES, refuse } from './failure.ts';
export type { FailureCode, Refusal } from './failure.ts';
export { DISK_FULL, diskTrouble, errorCode } from './disk.ts';
export type { DiskTrouble } from './disk.ts';
export { excerpt, redact } from './excerpt.ts';
export { LOG_LEVELS, silentLog } from './log.ts';
export type { Log, LogLevel } from './log.ts';
export { isSecretName, REDACTED, veiled, veiledArguments } from './veil.ts';
export { pause, settleable, within } from './waiting.ts';
export type { Waited } from './waiting.ts';
export { unreachable } from './unreachable.ts';
