/** The safety properties of NIP-BA "Execution and retries", by name: what no world of `namespaces.ts` may show. */
import type { Verdict } from '../../../src/broker/journal/verdict.ts';
import { effectsAt } from './namespaces.ts';
import type { Happening, Row, World } from './namespaces.ts';

/** True where the world breaks it. `owns` says whether a verdict is about a namespace's own operation. */
type Broken = (world: World, happened: Happening, owns: Owns) => boolean;
export type Owns = (by: number, verdict: Verdict) => boolean;

export const INVARIANTS: Readonly<Record<string, Broken>> = {
  // 2: "Only one executor may own K, including across replicas and restarts."
  'one executor for a key': (world) => world.effects.some(({ executions }) => executions > 1),
  // 2: "before any operation effect".
  'nothing is executed without a claim of its own': ({ run }, happened) => {
    if (happened.type !== 'executed') return false;
    const { rowBefore, flight } = happened;
    // A run that was taken over may plan, which has no effects; it can sign and store nothing.
    return rowBefore?.digest !== flight.digest || (rowBefore.status !== 'claimed' && flight.run === run);
  },
  // 3: "without overwriting the record or executing".
  'a conflict changes nothing': (_, happened) =>
    (happened.type === 'rewritten' && happened.rowBefore.digest !== happened.row.digest)
    || (happened.type === 'told'
      && happened.flight.waiters.some(({ digest }) => isConflict(happened.verdict) !== isOther(happened.row, digest))),
  // 3: "Replaying MUST NOT execute, republish, or renew"; 5: no fresh execution after a crash.
  'never a second event': (world, happened) =>
    world.effects.some(({ sent }) => sent.length > 1)
    || (happened.type === 'sent' && !maySend(world, happened)),
  // 6: "Store the result durably before delivering it."
  'no result before it is durable': (_, happened) =>
    happened.type === 'told' && isSaidOfRecord(happened) && happened.row !== undefined
    && !(happened.row.status === 'done' && happened.row.verdict?.status === happened.verdict.status),
  // 6: "failed requires proof that no operation effects occurred".
  'no false failure': (world) =>
    world.effects.some(({ kept, air, toldFailed }) => toldFailed && kept.length + air.length > 0),
  'no fabricated success': (world, happened) => {
    if (happened.type !== 'told' || happened.verdict.status !== 'succeeded') return false;
    const { outcome } = happened.verdict;
    const { kept, executions } = effectsAt(world, happened.flight.by);
    return 'eventId' in outcome ? !kept.includes(outcome.eventId) : executions === 0;
  },
  // 2: "a shared host MUST NOT allow one community to retrieve another's records".
  'nothing is released to another namespace': (_, happened, owns) =>
    happened.type === 'told' && happened.flight.waiters.some(({ by }) => !owns(by, happened.verdict)),
  // 6: "indeterminate may later resolve only from evidence".
  'doubt is resolved by evidence alone': (world) =>
    Object.values(world.rows).some(({ status, verdict, evidence }) => {
      if (status !== 'done' || evidence === undefined) return false;
      const effects = world.effects.find(({ sent }) => sent.includes(evidence.event.id));
      if (verdict?.status === 'succeeded') return effects?.kept.includes(evidence.event.id) !== true;
      return verdict?.status === 'failed' && effects?.refused === false;
    }),
  // "a durable tombstone MUST retain K and D and prevent re-execution".
  'a tombstone stays and tells nothing': ({ run }, happened) => {
    if (happened.type === 'rewritten') return happened.rowBefore.status === 'discarded';
    if (happened.type === 'executed') return happened.rowBefore?.status === 'discarded' && happened.flight.run === run;
    return happened.type === 'told' && happened.row?.status === 'discarded' && happened.replayed;
  },
  'every submission gets an answer': (_, { type }) => type === 'stuck',
};

export function brokenIn(world: World, owns: Owns): string | undefined {
  return Object.entries(INVARIANTS).find(([, broken]) => broken(world, world.happened, owns))?.[0];
}

function isConflict(verdict: Verdict): boolean {
  return verdict.status === 'failed' && verdict.error.code === 'request_id_conflict';
}

function isOther(row: Row | undefined, digest: string): boolean {
  return row !== undefined && row.digest !== digest;
}

/** Only the event on disk, and only while it is open; a run that was taken over may not know that it is not. */
function maySend({ run }: World, { flight, id, rowBefore }: Happening & { type: 'sent' }): boolean {
  return rowBefore?.evidence?.event.id === id && (rowBefore.status === 'signed' || flight.run !== run);
}

/** A conflict and a claim that could not be stored are answers about the submission, not about the record. */
function isSaidOfRecord({ verdict, row, flight }: Happening & { type: 'told' }): boolean {
  const unclaimed = verdict.status === 'failed' && flight.state.status === 'claiming';
  return verdict.status !== 'indeterminate' && !isConflict(verdict) && !unclaimed && row?.status !== 'discarded';
}
