/**
 * Deleting what must not come back: a subject's versions, and a team with its versions in the order of NIP-AP "Deleting
 * a team". Both go on where a run before them ended: what is left stands on the relay, and nowhere else.
 */
import { later, pause, unreachable } from '../model/index.ts';
import type { Clock, Refusal } from '../model/index.ts';
import { beginDeletion, stepDeletion } from './deletion-machine.ts';
import type { DeletionCommand, DeletionInput } from './deletion-machine.ts';
import { nextPage } from './pages.ts';
import type { OwnerPorts } from './ports.ts';
import { endTeam } from './team-book.ts';
import type { BookRefusal } from './team-book.ts';
import type { TeamId } from './team-id.ts';
import { subjectFilter, versionDeletion } from './version.ts';
import type { Subject } from './version.ts';

export interface Patience {
  /** Monotonic: only pauses are measured by it. */
  readonly clock: Clock;
  /** Aborted: the deletion stops between two requests and says so. */
  readonly signal: AbortSignal;
  /** Called before each pause: the relay did not do what it was asked, or did not answer. */
  readonly onPause?: (pauseMs: number) => void;
}

/** `stopped` says that versions may be left; only `done` says that none is. */
export async function deleteVersions(ports: OwnerPorts, subject: Subject, { clock, signal, onPause }: Patience): Promise<'done' | 'stopped'> {
  let { state, commands } = beginDeletion();
  while (!signal.aborted) {
    const [command] = commands;
    if (command !== undefined) {
      ({ state, commands } = stepDeletion(state, await perform(ports, subject, command), clock.now()));
    } else if (state.status === 'waiting') {
      const pauseMs = Math.max(0, state.dueAt - clock.now());
      onPause?.(pauseMs);
      await pause(clock, pauseMs, signal);
      // The clock may be a hair behind the timer that it woke.
      ({ state, commands } = stepDeletion(state, { type: 'due' }, later(clock.now(), Math.max(0, state.dueAt - clock.now()))));
    } else {
      return 'done';
    }
  }
  return 'stopped';
}

async function perform(ports: OwnerPorts, subject: Subject, command: DeletionCommand): Promise<DeletionInput> {
  switch (command.type) {
    case 'list': {
      const next = await nextPage(ports.relay, subjectFilter(ports.key.pubkey, subject), undefined);
      if (!next.ok) return { type: 'list_failed' };
      return { type: 'listed', ids: next.page.status === 'end' ? [] : next.page.events.map(({ id }) => id) };
    }
    case 'delete': {
      const signed = await ports.key.sign(versionDeletion(command.id, ports.nowSec()));
      const sent = signed.ok ? await ports.relay.publish(signed.event) : undefined;
      return { type: 'answered', isAccepted: sent?.status === 'accepted' };
    }
    default:
      return unreachable(command);
  }
}

export type TeamDeletion =
  /** The record is ended and no version is left. */
  | { readonly status: 'done' }
  /** The record is ended; versions may be left, and `deleteTeam` again goes on. */
  | { readonly status: 'versions_left' }
  /** The record is as it was, or its end is not known to be stored: the team is not deleted. */
  | { readonly status: 'failed'; readonly refusal: Refusal<BookRefusal> };

/**
 * First the record, until the relay shows its end; then every version; then the record says that none is left. Whatever
 * stops it in between, the team does not come back with an older version as its current one.
 */
export async function deleteTeam(ports: OwnerPorts, id: TeamId, patience: Patience): Promise<TeamDeletion> {
  const ended = await endTeam(ports, { status: 'deleted', id, versions: 'left' });
  if (!ended.ok) return { status: 'failed', refusal: ended };
  if (await deleteVersions(ports, { type: 'team', team: id }, patience) === 'stopped') return { status: 'versions_left' };
  const closed = await endTeam(ports, { status: 'deleted', id, versions: 'gone' });
  return closed.ok ? { status: 'done' } : { status: 'versions_left' };
}
