/**
 * Recording: what the supervisor does, as fixtures that can be replayed.
 * in: model, nostr, compiler, replay, the supervisor's tape. out: `Recorder`.
 */
export { Recorder } from './recorder.ts';
export type { RecorderOptions, RecordingReport } from './recorder.ts';
