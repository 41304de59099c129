/**
 * One record on its way: performs the machine's commands one after the other and feeds back what came of each, until
 * a verdict is delivered. Decides nothing; that is `machine.ts`.
 */
import { unreachable } from '../../model/index.ts';
import type { Clock, EventId, Log } from '../../model/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { step } from './machine.ts';
import type { RecordCommand, RecordInput, RecordState } from './machine.ts';
import type { Aftermath, Operation, Plan, Settled, Wire } from './operation.ts';
import type { FoundRecord, LocalWrite, RecordKey, RowId, Rows } from './rows.ts';
import { ATTACHING, failed, indeterminate } from './verdict.ts';
import type { Evidence, Verdict } from './verdict.ts';

export interface FlyingRecord {
  readonly key: RecordKey;
  readonly digest: string;
  /** Absent for a record that is only resolved, never executed. */
  readonly operation?: Operation;
  state: RecordState;
  /** Of the record on disk, once it is known to be there. */
  row?: RowId;
  /** What this flight has planned, as long as its writes are not known to be on disk. */
  plan?: Plan;
}

export interface FlightTools {
  readonly rows: Rows;
  /** Asked only when an event is to be sent or looked for. */
  readonly wire: () => Wire;
  readonly clock: Clock;
  readonly log: Log;
  /** False when the namespace may hold no more records. */
  readonly admits: () => boolean;
  readonly aftermath?: Aftermath;
  readonly onClaimed: () => void;
}

const CONFLICT = 'the request id was used before with other bytes';
const FOREIGN = 'the action belongs to another run of the broker; retry the identical request later';
const FAULT = 'an unexpected fault in the broker';

/** Never rejects: a bug ends this flight, loudly, and no other. */
export async function fly(record: FlyingRecord, first: RecordInput, tools: FlightTools): Promise<Settled> {
  try {
    for (let input = first; ; ) {
      const { state, commands } = step(record.state, input, tools.clock.now());
      record.state = state;
      const [command, ...more] = commands;
      if (command === undefined || more.length > 0) throw new TypeError(`journal: ${state.status} has no way on`);
      if (command.type === 'deliver') {
        return { verdict: command.verdict, replayed: command.replayed, ...eventOf(state) };
      }
      input = await perform(command, record, tools);
    }
  } catch (error) {
    tools.log.error('journal: a record ended in a fault', { status: record.state.status, error });
    return { verdict: indeterminate('internal', FAULT), replayed: false, ...eventOf(record.state) };
  } finally {
    record.plan?.release?.();
  }
}

/** The event a record is about, where one was signed. */
export function eventOf(state: RecordState): { readonly eventId?: EventId } {
  return 'evidence' in state ? { eventId: state.evidence.event.id } : {};
}

/** Nobody needs to go on with the record. */
export function isAtRest({ status }: RecordState): boolean {
  return status === 'done' || status === 'lost' || status === 'discarded';
}

/** What a submission may know of a record that was there before it. */
export function encounter(found: FoundRecord, digest: string): RecordInput & { readonly type: 'taken' | 'refused' } {
  if (found.digest !== digest) return { type: 'refused', verdict: failed('request_id_conflict', CONFLICT) };
  const ended = isAtRest(found.state);
  if (found.ours || ended) return { type: 'taken', record: found.state };
  return { type: 'refused', verdict: indeterminate('outcome_unknown', FOREIGN) };
}

type Performed = Exclude<RecordCommand, { readonly type: 'deliver' }>;

async function perform(command: Performed, record: FlyingRecord, tools: FlightTools): Promise<RecordInput> {
  switch (command.type) {
    case 'store_claim':
      return await claim(record, command.evidence, tools);
    case 'execute':
      return await execute(record, operationOf(record), tools);
    case 'store_evidence':
      return await storeEvidence(record, command.evidence, tools);
    case 'publish':
      return await publish(record, command, tools);
    case 'look_up':
      return { type: await tools.wire().find(command.event) };
    case 'store_result':
      return await storeResult(record, command.verdict, tools);
    default:
      return unreachable(command);
  }
}

async function claim(record: FlyingRecord, evidence: Evidence | undefined, tools: FlightTools): Promise<RecordInput> {
  const { key, digest, action, turnId } = operationOf(record);
  const carried = { ...(turnId === undefined ? {} : { turnId }), ...(evidence === undefined ? {} : { evidence }) };
  const claimed = tools.admits()
    ? await tools.rows.claim({ key, digest, action, ...carried })
    : await tools.rows.find(key);
  if (claimed === undefined) return { type: 'not_stored' };
  if (typeof claimed !== 'number') {
    record.row = claimed.row;
    return encounter(claimed, digest);
  }
  record.row = claimed;
  tools.onClaimed();
  return { type: 'stored' };
}

async function execute(
  record: FlyingRecord,
  { plan, withdrawn, action }: Operation,
  { log }: FlightTools,
): Promise<RecordInput> {
  try {
    const planned = await plan();
    record.plan = planned;
    // The effect's edge of what is published or written; an answer alone is withheld where it is released.
    const refusal = planned.type === 'end' && planned.writes === undefined ? undefined : withdrawn();
    if (refusal !== undefined) {
      planned.release?.();
      delete record.plan;
      return { type: 'decided', verdict: refusal };
    }
    if (planned.type === 'end') return { type: 'decided', verdict: planned.verdict };
    return { type: 'planned', evidence: evidenceOf(planned) };
  } catch (error) {
    // Planning has no effects, so a bug in it is a fault without any.
    log.error('journal: an action could not be planned', { action, error });
    return { type: 'decided', verdict: failed('internal', FAULT) };
  }
}

/** Member by member: what else a plan carries is none of the record's. */
function evidenceOf(planned: Plan & { readonly type: 'publish' }): Evidence {
  return planned.action === ATTACHING
    ? { action: planned.action, event: planned.event, accepted: planned.accepted }
    : { action: planned.action, event: planned.event };
}

async function storeEvidence(record: FlyingRecord, evidence: Evidence, tools: FlightTools): Promise<RecordInput> {
  const writes = record.plan?.writes ?? [];
  const type = await tools.rows.storeEvidence(rowOf(record), evidence, writes);
  if (writes.length > 0) tools.aftermath?.written();
  return { type };
}

async function storeResult(record: FlyingRecord, verdict: Verdict, tools: FlightTools): Promise<RecordInput> {
  const writes = [...endWrites(record, verdict), ...aftermathOf(record, verdict, tools)];
  const type = await tools.rows.storeResult(rowOf(record), verdict, writes);
  if (writes.length > 0) tools.aftermath?.written();
  return { type };
}

function endWrites({ plan }: FlyingRecord, verdict: Verdict): readonly LocalWrite[] {
  return plan?.type === 'end' && plan.verdict === verdict ? (plan.writes ?? []) : [];
}

/** Evidence that could not be stored may be on disk all the same, and its writes with it. */
function aftermathOf({ state, plan }: FlyingRecord, verdict: Verdict, { aftermath }: FlightTools): readonly LocalWrite[] {
  const planned = plan?.type === 'publish' ? evidenceOf(plan) : undefined;
  const evidence = 'evidence' in state ? state.evidence : planned;
  return evidence === undefined ? [] : (aftermath?.writes(evidence, verdict) ?? []);
}

interface Publication {
  readonly event: VerifiedEvent;
  readonly first: boolean;
}

async function publish(record: FlyingRecord, { event, first }: Publication, tools: FlightTools): Promise<RecordInput> {
  const refusal = first ? record.operation?.withdrawn() : undefined;
  if (refusal !== undefined) return { type: 'withdrawn', verdict: refusal };
  const outcome = await tools.wire().publish(event);
  switch (outcome.status) {
    case 'accepted':
      return { type: 'accepted' };
    case 'rejected':
      return { type: 'rejected', reason: outcome.reason };
    case 'unknown':
      return { type: 'unanswered', reason: outcome.reason };
    default:
      return unreachable(outcome);
  }
}

function rowOf({ row }: FlyingRecord): RowId {
  if (row === undefined) throw new TypeError('journal: nothing is stored of a record that was not claimed');
  return row;
}

function operationOf({ operation }: FlyingRecord): Operation {
  if (operation === undefined) throw new TypeError('journal: a recovered record executes nothing');
  return operation;
}
