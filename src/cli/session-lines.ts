/** Sessions as lines for people. Pure: what comes from the outside is shortened and escaped. */
import type { SessionEntry } from '../broker/index.ts';
import { shortId } from '../model/index.ts';
import { ago, safe } from './print.ts';

export function sessionLines(sessions: readonly SessionEntry[], nowMs: number): readonly string[] {
  if (sessions.length === 0) return ['no sessions'];
  return sessions.map((session) => {
    const { id, sort, state, agent, label } = session;
    const name = label === undefined ? '' : ` "${safe(label)}"`;
    return `${safe(id)}  ${state.padEnd(8)}  ${safe(agent)}${name}: ${[...scopeOf(session), ...timesOf(session, nowMs), ...sortOf(sort, session)].join(', ')}`;
  });
}

function scopeOf({ actions, channels }: SessionEntry): readonly string[] {
  return [
    ...(actions === undefined ? [] : [`only ${actions.map(safe).join(' ')}`]),
    ...(channels === undefined ? [] : [`only in ${channels.map(shortId).join(' ')}`]),
  ];
}

function timesOf({ createdAtMs, expiresAtMs, revokedAtMs, usedAtMs, sort }: SessionEntry, nowMs: number): readonly string[] {
  const left = expiresAtMs === undefined ? undefined : expiresAtMs - nowMs;
  return [
    `${sort === 'issued' ? 'issued' : 'opened'} ${ago(nowMs - createdAtMs)} ago`,
    ...(sort === 'process' ? [] : [usedAtMs === undefined ? 'never used' : `used ${ago(nowMs - usedAtMs)} ago`]),
    ...(revokedAtMs === undefined ? [] : [`revoked ${ago(nowMs - revokedAtMs)} ago`]),
    ...(left === undefined || revokedAtMs !== undefined ? [] : [left > 0 ? `expires in ${ago(left)}` : `expired ${ago(-left)} ago`]),
  ];
}

function sortOf(sort: SessionEntry['sort'], { turn }: SessionEntry): readonly string[] {
  if (sort === 'issued') return [];
  return ['agent process', turn === undefined ? 'no turn' : `turn ${shortId(safe(turn.turnId))} in ${shortId(turn.channelId)}`];
}
