/**
 * The journal of brokered operations: at most once, across retries and crashes (NIP-BA "Execution and retries").
 * in: src/model, src/nostr, src/store, the wire's results. out: the journal, its verdicts, the pursuit of doubts.
 */
export { openJournal } from './journal.ts';
export type { Journal, JournalOptions } from './journal.ts';
export type { Aftermath, Operation, Plan, SendOutcome, Settled, Wire } from './operation.ts';
export { openPursuit } from './pursuit.ts';
export type { Pursuit } from './pursuit.ts';
export type { Condition, LocalWrite, Namespace, RecordKey } from './rows.ts';
export { ATTACHING, failed, indeterminate, isForbidden } from './verdict.ts';
export type { Attached, Evidence, PublishingAction, Verdict } from './verdict.ts';
