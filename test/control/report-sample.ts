import type { StatusReport } from '../../src/control/index.ts';
import { channelId, eventId, pubkey } from '../../src/model/index.ts';

export const AGENT = pubkey('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');
export const MAKER = pubkey('c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5');
export const CHANNEL = channelId('6a3f3d52-7b1e-4b5c-9c43-0c4d7c1f6a11');

export function sampleReport(): StatusReport {
  return {
    v: 1,
    pid: process.pid,
    version: '0.1.0',
    startedAtMs: 1_790_000_000_000,
    stopping: false,
    recording: { directory: '/records', turns: 12, streams: 1, dropped: 3, problem: 'ENOSPC' },
    embeddedRelay: { url: 'ws://127.0.0.1:7447', connections: 2 },
    leaks: [{ pid: 4713, agent: 'helper', program: 'sleep', why: 'survives' }, { pid: 4714, agent: 'helper', program: 'daemon', why: 'escaped' }],
    agents: [{
      name: 'helper',
      pubkey: AGENT,
      managedBy: MAKER,
      stoppedByOwner: true,
      controls: { taken: 3, ignored: 1 },
      upstream: {
        agent: AGENT, url: 'ws://127.0.0.1:7447', phase: 'waiting', attempts: 3, channels: [CHANNEL],
        lastError: 'connection refused',
      },
      processes: [{ pid: 4711, state: 'busy', sessions: 2 }, { state: 'backoff', sessions: 0, lastEnd: 'exited with 1' }],
      refusedSettings: [{ setting: 'effort', value: 'ultra', offered: ['low', 'high'] }, { setting: 'model', value: 'huge', offered: [] }],
      turns: [{ turnId: 't-1', channelId: CHANNEL, sinceMs: 1_790_000_000_500, events: 3, asking: 1 }],
      inbox: { queued: 4, dispatched: 3, done: 20, dead: 1 },
      telemetry: { sent: 512, waiting: 2, dropped: 7, tooLong: 1, refused: 0 },
      canary: { subscriptions: 4, hearing: 2, deaf: [{ subscription: 'members', sinceMs: 1_790_000_000_000 }], deafened: 2, recovered: 1, refusal: 'restricted: no' },
      operator: { turns: 5, skipped: 1, nextBeatAtMs: 1_790_000_072_000, running: 'heartbeat', lastEnd: 'end_turn' },
      signals: { presence: 'online', sent: 40, dropped: 2 },
      limit: { times: 3, untilMs: 1_790_000_240_000 },
    }],
    launches: [{
      name: 'helper', pubkey: AGENT, persona: 'bee', status: 'running', reason: 'definition bee: its owner has none on the relay; skep persona new bee makes one',
      runId: '0123456789abcdef0123456789abcdef', startedAtSec: 1_790_000_000,
      pinned: {
        own: { source: 'version', version: eventId('a'.repeat(64)), sha256: 'c'.repeat(64), override: 'skep.yaml: agents.helper.instructions' },
        team: { teams: [{ id: 'bees', version: eventId('b'.repeat(64)) }, { id: 'ants' }], sha256: 'd'.repeat(64), override: 'skep.yaml: agents.helper.team-instructions' },
        sessionPolicy: 'channel', model: { id: 'large', override: 'skep.yaml: agents.helper.model' },
      },
      current: {
        own: { source: 'version', version: eventId('e'.repeat(64)), sha256: 'f'.repeat(64), override: 'skep.yaml: agents.helper.instructions' },
        team: { teams: [{ id: 'bees', version: eventId('b'.repeat(64)) }], sha256: null, override: 'skep.yaml: agents.helper.team-instructions' },
        sessionPolicy: 'thread', model: { id: null, override: 'skep.yaml: agents.helper.model' },
      },
      drift: ['instructions', 'team-instructions', 'session-policy', 'model'],
      pendingRecords: 1,
    }],
  };
}
