/** A status report as lines for people. Pure: what comes from the outside is shortened and escaped. */
import type { SignalReport, TelemetryStatus } from '../broker/index.ts';
import type { AgentReport, LeakReport, OperatorReport, ProcessReport, RecordingReport, RefusedSettingReport, StatusReport, TurnReport } from '../control/index.ts';
import { shortId } from '../model/index.ts';
import { toNpub } from '../nostr/index.ts';
import { launchLines } from './launch-lines.ts';
import { ago, plural, row, safe } from './print.ts';

export function statusLines(report: StatusReport, nowMs: number): readonly string[] {
  const { version, pid, startedAtMs, stopping, embeddedRelay, recording, leaks, agents, launches = [] } = report;
  return [
    `skep ${safe(version)}, process ${pid}, ${stopping ? 'stopping, ' : ''}up since ${ago(nowMs - startedAtMs)}`,
    ...(embeddedRelay === undefined
      ? []
      : [`relay in the box ${safe(embeddedRelay.url)}, ${plural(embeddedRelay.connections, 'connection')}`]),
    ...(recording === undefined ? [] : [recordingText(recording)]),
    ...(leaks ?? []).map(leakText),
    ...agents.flatMap((agent) => ['', ...agentLines(agent, nowMs)]),
    ...launches.flatMap((launch) => ['', ...launchLines(launch, nowMs)]),
  ];
}

function leakText({ pid, agent, program, why }: LeakReport): string {
  const what = why === 'survives' ? 'of the agent could not be ended' : 'may have escaped from the agent, and is left alone';
  return `leak: process ${pid} (${safe(program)}) ${what}: ${safe(agent)}`;
}

function recordingText({ directory, turns, streams, dropped, problem }: RecordingReport): string {
  return [
    `recording in ${safe(directory)}: ${plural(turns, 'turn')}`, plural(streams, 'stream'), `${dropped} dropped`,
    ...(problem === undefined ? [] : [`cannot write: ${safe(problem)}`]),
  ].join(', ');
}

function agentLines(agent: AgentReport, nowMs: number): readonly string[] {
  const { name, pubkey, managedBy, stoppedByOwner, controls, upstream, processes, refusedSettings = [], turns, inbox, telemetry, signals, canary, limit, operator } = agent;
  const { phase, url, attempts, channels, lastError } = upstream;
  const trouble = [
    ...(attempts > 0 ? [plural(attempts, 'failed attempt')] : []),
    ...(lastError === undefined ? [] : [`last: ${safe(lastError)}`]),
  ];
  return [
    `${safe(name)}  ${toNpub(pubkey)}`,
    ...(managedBy === undefined ? [] : [row('made by', toNpub(managedBy))]),
    ...(stoppedByOwner === true ? [row('stopped', 'by its owner, until the next skep up')] : []),
    row('relay', `${phase}, ${safe(url)}, ${[plural(channels.length, 'channel'), ...trouble].join(', ')}`),
    row('inbox', `${inbox.queued} queued, ${inbox.dispatched} dispatched, ${inbox.done} done, ${inbox.dead} dead`),
    ...(telemetry === undefined ? [] : [row('owner', telemetryText(telemetry))]),
    ...(controls === undefined || controls.taken + controls.ignored === 0 ? [] : [row('orders', `${controls.taken} taken, ${controls.ignored} ignored`)]),
    ...(signals === undefined || signals.sent + signals.dropped === 0 ? [] : [row('signals', signalsText(signals))]),
    ...(limit === undefined ? [] : [row('limit', limitText(limit, nowMs))]),
    ...(canary === undefined ? [] : [row('canary', canaryText(canary, nowMs))]),
    ...(operator === undefined ? [] : [row('operator', operatorText(operator, nowMs))]),
    ...processes.map((process) => row('process', processText(process))),
    ...refusedSettings.map((refused) => row('not set', refusedText(refused))),
    ...(turns.length === 0 ? [row('turn', 'none in flight')] : turns.map((turn) => row('turn', turnText(turn, nowMs)))),
  ];
}

/** What did not get there is named only where there is some of it. */
function telemetryText({ sent, waiting, dropped, tooLong, refused }: TelemetryStatus): string {
  const lost = [[dropped, 'dropped'], [tooLong, 'too long'], [refused, 'refused']] as const;
  return [`told ${plural(sent, 'frame')}`, `${waiting} waiting`, ...lost.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : []))].join(', ');
}

function signalsText({ presence, sent, dropped }: SignalReport): string {
  return [presence ?? 'no presence told', `${sent} sent`, ...(dropped > 0 ? [`${dropped} dropped`] : [])].join(', ');
}

function limitText({ times, untilMs }: NonNullable<AgentReport['limit']>, nowMs: number): string {
  const next = untilMs > nowMs ? `in ${ago(untilMs - nowMs)}` : 'with the next message';
  return `the provider of its model takes no more requests, met ${plural(times, 'time')}; tried again ${next}`;
}

function canaryText({ subscriptions, hearing, deaf, deafened, recovered, refusal }: NonNullable<AgentReport['canary']>, nowMs: number): string {
  return [
    `${hearing} of ${plural(subscriptions, 'subscription')} proven`, ...deaf.map(({ subscription, sinceMs }) => `${safe(subscription)} deaf for ${ago(nowMs - sinceMs)}`),
    ...(deafened > 0 ? [`deaf ${plural(deafened, 'time')}, heard again ${plural(recovered, 'time')}`] : []), ...(refusal === undefined ? [] : [`the relay's no: ${safe(refusal)}`]),
  ].join(', ');
}

function operatorText({ turns, skipped, nextBeatAtMs, running, lastEnd }: OperatorReport, nowMs: number): string {
  return [
    plural(turns, 'turn'), ...(skipped > 0 ? [`${plural(skipped, 'beat')} skipped`] : []), ...(running === undefined ? [] : [`in one now (${running})`]),
    ...(lastEnd === undefined ? [] : [`last end: ${safe(lastEnd)}`]), ...(nextBeatAtMs === undefined ? [] : [`next beat in ${ago(nextBeatAtMs - nowMs)}`]),
  ].join(', ');
}

function turnText({ turnId, channelId, sinceMs, events, asking }: TurnReport, nowMs: number): string {
  return [
    `${shortId(safe(turnId))} in ${shortId(channelId)}`, plural(events, 'event'), `for ${ago(nowMs - sinceMs)}`,
    ...(asking === undefined ? [] : [`waits for the owner's word on ${plural(asking, 'request')}`]),
  ].join(', ');
}

function processText({ pid, state, sessions, lastEnd }: ProcessReport): string {
  return [
    pid === undefined ? state : `${pid} ${state}`,
    plural(sessions, 'session'),
    ...(lastEnd === undefined ? [] : [`last end: ${safe(lastEnd)}`]),
  ].join(', ');
}

function refusedText({ setting, value, offered }: RefusedSettingReport): string {
  return safe(`${setting} ${value}; it offers ${offered.length === 0 ? 'none' : offered.join(', ')}`);
}
