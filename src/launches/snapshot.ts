/** What is told of a start, for `skep status`: what an agent was started with, and what it would be started with now. */
import type { EventId, Pubkey, Seconds } from '../model/index.ts';
import type { LaunchPlan, SessionPolicy } from '../persona/index.ts';

export interface LaunchSnapshot {
  readonly name: string;
  readonly pubkey: Pubkey;
  readonly persona?: string;
  /** `reading`: what its owner says is being read, or could not be yet. `refused`: it is not started until that is mended. */
  readonly status: 'reading' | 'refused' | 'running';
  /** Why it is not started, or what of now is not known or would not be started. */
  readonly reason?: string;
  readonly runId?: string;
  readonly startedAtSec?: Seconds;
  readonly pinned?: LaunchedTexts;
  /** Absent while it is not known, and where nothing could be started. */
  readonly current?: LaunchedTexts;
  /** What a restart would change. */
  readonly drift: readonly Drift[];
  /** Records of starts that the relay does not have yet. */
  readonly pendingRecords: number;
}

export type Drift = 'instructions' | 'team-instructions' | 'session-policy' | 'model';

export interface LaunchedTexts {
  readonly own: LayerText & { readonly source: 'version' | 'definition' | 'legacy' | 'none'; readonly version?: EventId };
  readonly team: LayerText & { readonly teams: readonly { readonly id: string; readonly version?: EventId }[] };
  readonly sessionPolicy: SessionPolicy;
  /** Null: the program's own. */
  readonly model: { readonly id: string | null; readonly override?: string };
}

/** `sha256` is that of the text as it was handed over; null for none. */
interface LayerText {
  readonly sha256: string | null;
  /** Where the text came from that stands in the place of the owner's. */
  readonly override?: string;
}

export function textsOf({ layers, delivery, sessionPolicy, model }: LaunchPlan): LaunchedTexts {
  const { source } = layers.own;
  return {
    own: { source: source.type, ...(source.type === 'version' && { version: source.id }), ...layerText(delivery.own) },
    team: { teams: layers.team.teams.map(({ id, version }) => ({ id, ...(version && { version }) })), ...layerText(delivery.team) },
    sessionPolicy,
    model: { id: model.delivered ?? null, ...(model.override === undefined ? {} : { override: model.override }) },
  };
}

function layerText({ sha256, override }: LaunchPlan['delivery']['own']): LayerText {
  return { sha256: sha256 ?? null, ...(override === undefined ? {} : { override }) };
}

export function driftOf(pinned: LaunchedTexts, current: LaunchedTexts): readonly Drift[] {
  return [
    ...(pinned.own.sha256 === current.own.sha256 ? [] : ['instructions' as const]),
    ...(pinned.team.sha256 === current.team.sha256 ? [] : ['team-instructions' as const]),
    ...(pinned.sessionPolicy === current.sessionPolicy ? [] : ['session-policy' as const]),
    ...(pinned.model.id === current.model.id ? [] : ['model' as const]),
  ];
}
