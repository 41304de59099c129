import { expect, it } from 'vitest';
import { ago, plural } from '../../src/cli/print.ts';
import { statusLines } from '../../src/cli/status-lines.ts';
import type { LaunchReport } from '../../src/control/index.ts';
import { AGENT, sampleReport } from '../control/report-sample.ts';

const NOW_MS = 1_790_000_012_000;

it('tells everything of a report, one line a thing', () => {
  expect(statusLines(sampleReport(), NOW_MS)).toEqual([
    `skep 0.1.0, process ${process.pid}, up since 12 s`,
    'relay in the box ws://127.0.0.1:7447, 2 connections',
    'recording in /records: 12 turns, 1 stream, 3 dropped, cannot write: ENOSPC',
    'leak: process 4713 (sleep) of the agent could not be ended: helper',
    'leak: process 4714 (daemon) may have escaped from the agent, and is left alone: helper',
    '',
    'helper  npub10xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqpkge6d',
    '  made by  npub1ccz8l9zpa47k6vz9gphftsrumpw80rjt3nhnefat4symjhrsnmjs38mnyd',
    '  stopped  by its owner, until the next skep up',
    '  relay    waiting, ws://127.0.0.1:7447, 1 channel, 3 failed attempts, last: connection refused',
    '  inbox    4 queued, 3 dispatched, 20 done, 1 dead',
    '  owner    told 512 frames, 2 waiting, 7 dropped, 1 too long',
    '  orders   3 taken, 1 ignored',
    '  signals  online, 40 sent, 2 dropped',
    '  limit    the provider of its model takes no more requests, met 3 times; tried again in 3 min',
    '  canary   2 of 4 subscriptions proven, members deaf for 12 s, deaf 2 times, heard again 1 time, the relay\'s no: restricted: no',
    '  operator 5 turns, 1 beat skipped, in one now (heartbeat), last end: end_turn, next beat in 60 s',
    '  process  4711 busy, 2 sessions',
    '  process  backoff, 0 sessions, last end: exited with 1',
    '  not set  effort ultra; it offers low, high',
    '  not set  model huge; it offers none',
    '  turn     t-1 in 6a3f3d52, 3 events, for 11 s, waits for the owner\'s word on 1 request',
    '',
    'helper  of bee, started, run 01234567 since 12 s',
    '  now      definition bee: its owner has none on the relay; skep persona new bee makes one',
    '  told     version aaaaaaaa, sha256 cccccccccccc in its place (skep.yaml: agents.helper.instructions), session channel, model large (skep.yaml: agents.helper.model)',
    '  teams    2 teams, version bbbbbbbb, sha256 dddddddddddd in its place (skep.yaml: agents.helper.team-instructions)',
    '  now      version eeeeeeee, sha256 ffffffffffff in its place (skep.yaml: agents.helper.instructions), session thread',
    '  teams    1 team, version bbbbbbbb, nothing told in its place (skep.yaml: agents.helper.team-instructions)',
    '  restart  to take up: instructions, team-instructions, session-policy, model',
    '  records  1 start not recorded at the relay yet',
  ]);
});

it('tells of an agent that is not started why, and of one that is what it was told', () => {
  const report = sampleReport();
  const calm = { name: 'helper', pubkey: AGENT, drift: [], pendingRecords: 0 } as const;
  const linesOf = (one: LaunchReport): readonly string[] => statusLines({ ...report, agents: [], launches: [one] }, NOW_MS).slice(-3);
  expect(linesOf({ ...calm, status: 'refused', reason: 'definition bee: its owner has none on the relay; skep persona new bee makes one' })).toEqual(['', 'helper  of its own event, not started', '  because  definition bee: its owner has none on the relay; skep persona new bee makes one']);
  expect(linesOf({ ...calm, status: 'reading' }).at(-1)).toBe('helper  of its own event, not started yet: what its owner says is being read');
  const nothing = { own: { source: 'none', sha256: null }, team: { teams: [], sha256: null }, sessionPolicy: 'channel', model: { id: null } } as const;
  const told = (source: 'none' | 'legacy' | 'definition'): string | undefined =>
    linesOf({ ...calm, status: 'running', pinned: { ...nothing, own: { source, sha256: null } } }).at(-1);
  expect([told('none'), told('legacy'), told('definition')]).toEqual([
    '  told     no instructions, nothing told, session channel', '  told     the event\'s prompt, nothing told, session channel', '  told     the definition\'s prompt, nothing told, session channel',
  ]);
});

it('shows what a relay said on one line, escaped and without secrets', () => {
  const report = sampleReport();
  const [agent] = report.agents;
  if (agent === undefined) return expect.fail('no agent');
  const secret = 'nsec1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsmhltgl';
  const upstream = { ...agent.upstream, lastError: `no\n\u001B[31m\u202E${secret}` };
  const text = statusLines({ ...report, stopping: true, agents: [{ ...agent, upstream, turns: [] }] }, NOW_MS).join('|');
  expect(text).toContain('last: no\\u{a}\\u{1b}[31m\\u{202e}<redacted>|');
  expect(text).toContain(`, process ${process.pid}, stopping, up since 12 s|`);
  expect(text).toContain('|  turn     none in flight');
});

it('counts and tells time as people do', () => {
  expect([plural(0, 'turn'), plural(1, 'turn'), plural(2, 'process')]).toEqual(['0 turns', '1 turn', '2 processes']);
  expect([-5, 119_000, 120_000, 7_199_000, 11_100_000, 187_200_000].map(ago)).toEqual(
    ['0 s', '119 s', '2 min', '119 min', '3 h 5 min', '2 d 4 h'],
  );
});
