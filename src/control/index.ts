/**
 * A running supervisor, seen from outside its process: who holds the data directory, and how it is doing.
 * in: src/model, the broker's status types.
 * out: the directory's lock, the control socket, its client, the report's and the requests' types.
 */
export { askRestart, askSessions, askStatus } from './client.ts';
export { lockDataDirectory } from './lock.ts';
export type { DirectoryLock } from './lock.ts';
export { MAX_SOCKET_PATH_BYTES, socketPathOf } from './paths.ts';
export { openControl } from './server.ts';
export type { Control, ControlOptions } from './server.ts';
export type { AgentReport, InboxCounts, LeakReport, OperatorReport, ProcessReport, RecordingReport, RefusedSettingReport, StatusReport, TurnReport } from './report.ts';
export type { LaunchedReport, LaunchReport } from './launches.ts';
export type { Restart } from './restart.ts';
export type { SessionRequest } from './sessions.ts';
