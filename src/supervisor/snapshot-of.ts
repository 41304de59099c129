/** One agent's snapshot, gathered from its parts. */
import type { AgentOptions } from './agent-options.ts';
import type { Flights } from './flights.ts';
import type { Operator } from './operator/operator.ts';
import type { Permissions } from './permissions.ts';
import type { Pool } from './pool.ts';
import type { ProviderLimit } from './provider-limit.ts';
import type { Wishes } from './sessions/wishes.ts';
import type { AgentSnapshot } from './snapshot.ts';

export interface SnapshotParts {
  readonly options: Pick<AgentOptions, 'name' | 'link' | 'managedBy'>;
  readonly pool: Pick<Pool, 'snapshot'>;
  readonly flights: Pick<Flights, 'snapshot'>;
  readonly permissions: Pick<Permissions, 'waitingIn'>;
  readonly operator: Pick<Operator, 'report'>;
  readonly limit: Pick<ProviderLimit, 'held'>;
  readonly wishes: Pick<Wishes, 'refused'>;
  readonly inbox: AgentSnapshot['inbox'];
}

export function snapshotOf({ options: { name, link, managedBy }, pool, flights, permissions, operator, limit, wishes, inbox }: SnapshotParts): AgentSnapshot {
  const asked = operator.report();
  const canary = link.canary();
  return {
    name,
    pubkey: link.pubkey,
    ...(managedBy && { managedBy }),
    processes: pool.snapshot(),
    ...(wishes.refused.length > 0 && { refusedSettings: wishes.refused.map(({ setting, value, offered }) => ({ setting, value, offered })) }),
    turns: flights.snapshot().map((turn) => {
      const asking = permissions.waitingIn(turn.turnId);
      return asking === 0 ? turn : { ...turn, asking };
    }),
    inbox,
    controls: link.controlCounts(),
    upstream: link.status(),
    telemetry: link.telemetry(),
    signals: link.signals(),
    ...(canary && { canary }),
    ...(limit.held && { limit: limit.held }),
    ...(asked && { operator: asked }),
  };
}
