/** What an agent was started with and would be started with now, as lines of `skep status`. Pure. */
import type { LaunchedReport, LaunchReport } from '../control/index.ts';
import { excerpt, shortId } from '../model/index.ts';
import { ago, plural, row, safe } from './print.ts';

const STATES: Readonly<Record<LaunchReport['status'], string>> = {
  running: 'started', refused: 'not started', reading: 'not started yet: what its owner says is being read',
};

export function launchLines(report: LaunchReport, nowMs: number): readonly string[] {
  const { name, persona, status, reason, runId, startedAtSec, pinned, current, drift, pendingRecords } = report;
  const of = persona === undefined ? 'of its own event' : `of ${safe(persona)}`;
  const since = runId === undefined || startedAtSec === undefined ? [] : [`run ${safe(runId).slice(0, 8)} since ${ago(nowMs - startedAtSec * 1_000)}`];
  return [
    [`${safe(name)}  ${of}`, STATES[status], ...since].join(', '),
    ...(reason === undefined ? [] : [row(status === 'running' ? 'now' : 'because', excerpt(reason, 600))]),
    ...(pinned === undefined ? [] : [row('told', ownText(pinned)), ...teamRows(pinned)]),
    ...(current === undefined || drift.length === 0 ? [] : [row('now', ownText(current)), ...teamRows(current)]),
    ...(drift.length === 0 ? [] : [row('restart', `to take up: ${drift.join(', ')}`)]),
    ...(pendingRecords === 0 ? [] : [row('records', `${plural(pendingRecords, 'start')} not recorded at the relay yet`)]),
  ];
}

function ownText({ own, sessionPolicy, model }: LaunchedReport): string {
  const source = own.version === undefined ? (own.source === 'none' ? 'no instructions' : `the ${own.source === 'legacy' ? 'event' : own.source}'s prompt`) : `version ${shortId(own.version)}`;
  return [source, hashText(own), `session ${sessionPolicy}`, ...(model.id === null ? [] : [`model ${safe(model.id)}${model.override === undefined ? '' : ` (${safe(model.override)})`}`])].join(', ');
}

function teamRows({ team }: LaunchedReport): readonly string[] {
  if (team.teams.length === 0 && team.override === undefined) return [];
  const versions = team.teams.flatMap(({ version }) => version ?? []);
  const of = versions.length === 0 ? [] : [`version ${[...new Set(versions)].map(shortId).join(' ')}`];
  return [row('teams', [plural(team.teams.length, 'team'), ...of, hashText(team)].join(', '))];
}

function hashText({ sha256, override }: LaunchedReport['own'] | LaunchedReport['team']): string {
  const text = sha256 === null ? 'nothing told' : `sha256 ${safe(sha256).slice(0, 12)}`;
  return override === undefined ? text : `${text} in its place (${safe(override)})`;
}
